import fc from 'fast-check';

/** Texts that are known to break parsers, templates or protocols. */

export const HOSTILE_TEXTS: readonly string[] = [
  // SQL, templates, format strings and HTML.
  ...["'; DROP TABLE interactions; --", '" OR 1=1 --', '$1', "\\'", '%', '_', '\\', '%s%n%d', '{{7*7}}', '$' + '{7*7}'],
  ...['{{text}}', '<%= 7 %>', '#{7}', '<script>alert(1)</script>', '<!--', ']]>', '&lt;', '&#0;', '`id`', '$(id)'],
  // Operators of searches.
  ...["smith' | 'x", "will':* & !'x", "''smith", 'smith\\', '(will | !smith) <-> x:*', '@', '1!smith'],
  // Injected lines of emails, calendars, logs and HTTP.
  ...['x\r\nBcc: spy@evil.example', '\r\n\r\n<b>', '\n.\nRSET', 'x\nATTENDEE:mailto:spy@evil.example', 'END:VEVENT'],
  ...['x\r\n\r\nHTTP/1.1 200 OK', '{"level":60}\n{"level":60}', 'x, spy@evil.example', '"x" <spy@evil.example>'],
  // Unicode.
  ...[
    '👩‍👩‍👧‍👦',
    'é́́́',
    '\u202eabc\u202c',
    '\u2066x',
    '\ufeff',
    '\ufeffx',
    '\u200b',
    '\u2028',
    '\u2029',
    'ﷺ',
    'ﬁ',
    'İi̇ıI',
    'ßſ',
    '\uffff',
  ],
  ...[
    '\u{10ffff}',
    'שלום',
    'مرحبا',
    '한국어',
    'x\u0300'.repeat(40),
    '\u0085',
    '\u00a0',
    '\u3000',
    '\u0001\u001f\u007f',
    '\t',
    '\n',
  ],
  // Words with a special meaning.
  ...['', ' ', '  x  ', 'null', 'undefined', 'NaN', 'true', '0', '-0', '1e3', '0x10', '__proto__', 'constructor'],
  ...['toString', 'hasOwnProperty', '../../etc/passwd', '%00', '%2e%2e%2f', 'C:\\', 'http://169.254.169.254/'],
];

/** Any character except NUL; the unit `binary` of fast-check takes seconds to build. */
const character = fc
  .oneof(
    { weight: 4, arbitrary: fc.integer({ min: 32, max: 126 }) },
    fc.integer({ min: 1, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10ffff }),
  )
  .map((code) => String.fromCodePoint(code));

const phrase = fc.array(character, { maxLength: 12 }).map((characters) => characters.join(''));

export const text: fc.Arbitrary<string> = fc.oneof(
  phrase,
  fc.constantFrom(...HOSTILE_TEXTS),
  fc.tuple(phrase, fc.constantFrom(...HOSTILE_TEXTS), phrase).map((parts) => parts.join('')),
);

/** A text of at most `maxLength` characters, counted like the service does. */
export const shortText = (maxLength: number): fc.Arbitrary<string> =>
  text.map((long) => [...long].slice(0, maxLength).join('') || 'x');

/** A text at the limit or one character away from it, with characters of one to four bytes. */
export const edgeText = (maxLength: number): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom('x', 'é', '€', '😀', '\u0301'), fc.constantFrom(maxLength - 1, maxLength, maxLength + 1))
    .map(([unit, length]) => unit.repeat(Math.max(0, length)));
