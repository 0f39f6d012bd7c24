import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import fc from 'fast-check';
import { phoneLibrary } from '../src/kernel/validation/phone.ts';
import { wordsOf } from '../src/search/document.ts';
import { type Fragment, fragmentOf } from '../src/search/fragment.ts';
import { Matcher } from '../src/search/matcher.ts';
import { conditionsOf, parseQuery } from '../src/search/query.ts';
import { fold } from '../src/search/words.ts';

/** How texts and queries become words. */

const REGION = 'GB';
/** Whether a text is a hit, which is what the words of the index say. */
function isFound(stored: string, typed: string, field = 'notes', region = REGION): boolean {
  const terms = parseQuery(typed, region);
  const matcher = new Matcher(terms, region);
  const isHit = matcher.isMatch([matcher.find(field, stored)]);
  const { words, phones } = wordsOf(field, stored, region);
  const begins = (word: string) =>
    words.has(word) || (word.length > 1 && [...words].some((one) => one.startsWith(word)));
  const ends = (digits: string) => phones.some((one) => one.startsWith(digits));
  const isIndexed = terms.every(
    (term) => term.words.every(begins) || term.phone?.starts.some(begins) || term.phone?.ends.some(ends),
  );
  assert.equal(isHit, isIndexed, `${JSON.stringify(stored)} by ${JSON.stringify(typed)}`);
  return isHit;
}

/** What a hit shows of a text; undefined if nothing matches. */
function fragmentIn(field: string, text: string, typed: string): Fragment | undefined {
  const found = new Matcher(parseQuery(typed, REGION), REGION).find(field, text);
  return found.ranges.length > 0 ? fragmentOf({ field, text, ...found }) : undefined;
}

/** Texts of letters, digits, signs and marks of many scripts, and of what people write. */
const texts = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc
    .array(
      fc.constantFrom(
        ...[
          "O'Brien",
          'INV-0042',
          'INV0042',
          'Łódź',
          'ﬁrm',
          'Ｓｍｉｔｈ',
          'Strauß',
          'İzmir',
          'ΟΔΟΣ',
          '½',
          'ǆ',
          '東京',
          '00',
          '007',
        ],
        ...[
          'john.smith@client.example',
          '+44 (0)7700-900123',
          '07700 900123',
          '2026-11-19',
          'a',
          'İ̇',
          'e\u0301',
          '...',
          '\n',
        ],
      ),
      { maxLength: 8 },
    )
    .map((words) => words.join(' ')),
);

test('a text is found by the same text, whatever its characters', () => {
  fc.assert(
    fc.property(texts, (text) => isFound(text, text)),
    { numRuns: 1_000 },
  );
});

test('a text is found by its words in any order, and by the beginning of each that has two letters', () => {
  const word = fc.string({ unit: fc.constantFrom(...'abcdéèüñøßłИж'), minLength: 2, maxLength: 12 });
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 6 }), fc.infiniteStream(fc.nat()), (words, numbers) => {
      const beginnings = words.map((one) => one.slice(0, 2 + ((numbers.next().value ?? 0) % one.length)));
      const order = beginnings.toSorted(() => ((numbers.next().value ?? 0) % 2) - 0.5);
      return isFound(words.join(' '), order.join(' '));
    }),
    { numRuns: 500 },
  );
});

test('hits have what the index finds: any part of any text', () => {
  fc.assert(
    fc.property(fc.array(texts), fc.infiniteStream(fc.nat()), (several, numbers) => {
      const text = several.join(' ');
      const next = (below: number) => (numbers.next().value ?? 0) % below;
      for (let i = 0; i < 5; i++) {
        const start = next(text.length + 1);
        isFound(text, text.slice(start, start + 1 + next(12)));
      }
    }),
    { numRuns: 300 },
  );
});

test('folding a folded text changes nothing', () => {
  fc.assert(
    fc.property(texts, (text) => fold(fold(text)) === fold(text)),
    { numRuns: 1_000 },
  );
});

test('accents, case, ligatures, width and undecomposed letters do not matter', () => {
  for (const [stored, typed] of [
    ['Żółtowski', 'zoltowski'],
    ['Strauß', 'STRAUSS'],
    ['Søndergaard', 'sondergaard'],
    ['Þórsson', 'thorsson'],
    ['Æthelred', 'aethelred'],
    ['ﬁrm', 'firm'],
    ['Ｓｍｉｔｈ', 'smith'],
    ['İzmir', 'izmir'],
    ['Yılmaz', 'yilmaz'],
    ['ΟΔΟΣ', 'οδος'],
    ['e\u0301tude', 'étude'],
  ] as const) {
    assert.ok(isFound(stored, typed), `${stored} by ${typed}`);
    assert.ok(isFound(typed, stored), `${typed} by ${stored}`);
  }
});

test('names and numbers are found with and without their signs', () => {
  for (const [stored, ...queries] of [
    ["O'Brien", 'obrien', 'o brien', "o'brien", 'O’Brien', 'brien'],
    ['Smith-Jones', 'smithjones', 'jones smith', 'smith-jo'],
    ['INV-2026-0042', 'inv-2026-0042', '2026-0042', '0042', '42', 'inv 42', 'inv20260042'],
    ['INV0042', 'INV-0042', 'inv 42', '0042', 'inv0042'],
    [
      'john.smith@client.example',
      'john.smith@client.example',
      '@client.example',
      'smith@cli',
      'client.example',
      'john',
    ],
    ['東京都', '東京', '京'],
  ] as const) {
    for (const typed of queries) assert.ok(isFound(stored, typed), `${stored} by ${typed}`);
  }
  assert.ok(!isFound('Smithson', 'mithson'));
  assert.ok(!isFound('Smith', 'smithson'));
  assert.ok(!isFound('Adam', 'a d'), 'one letter is a whole word');
});

test('a phone number is found however it is stored and typed', () => {
  const stored = [
    '07700 900123',
    '+44 7700 900123',
    '+447700900123',
    '(07700) 900-123',
    '+44 (0)7700-900123',
    '0044 7700 900123',
  ];
  const typed = [
    '07700900123',
    '07700 900 123',
    '+44 7700 900123',
    '+44(0)7700900123',
    '900123',
    '900 123',
    '07700 900',
    '077009',
    '0123',
  ];
  for (const number of stored) {
    for (const text of typed) assert.ok(isFound(`call ${number}.`, text), `${number} by ${text}`);
    assert.ok(isFound(`call ${number}.`, `${number} call`), number);
    assert.ok(!isFound(`call ${number}.`, '07700 900124'), number);
    assert.ok(!isFound(`call ${number}.`, '00901'), `${number}: neither its beginning nor its end`);
  }
});

test('a phone number is found by its last digits if at least four are typed, and leading zeros count', () => {
  for (const typed of ['0001', '0021', '0121', '00121', 'INV-0001', 'INV-0121', '000121']) {
    assert.ok(!isFound('call 07700 945121', typed), typed);
  }
  for (const typed of ['0001', '00001', '900001', 'INV-0001']) {
    assert.ok(isFound('call INV 07700 900001', typed), typed);
  }
  assert.ok(!isFound('Flat 12', '0001'), 'one digit is a whole word');
  const [asked = ''] = conditionsOf(parseQuery('0001', REGION), { company: 7, signs: ['own'], mode: 'prefix' });
  assert.match(asked, /'7:1'/);
  assert.doesNotMatch(asked, /'7:1':\*/, 'one digit is a whole word in the index');
});

test('each of several phone numbers in a text is found', () => {
  const [first, second] = ['07700 900123', '020 7946 0958'];
  for (const between of ['\n', '\r\n', ' / ', '/', ' ', ' - ', '-', '\t', ' (', ', ', ' or ']) {
    for (const texts of [
      [first, second],
      [second, first],
      [first, second, first],
    ]) {
      const text = texts.join(between);
      for (const typed of ['07700900123', '+44 7700 900123', '900123', '02079460958', '+442079460958', '460958']) {
        assert.ok(isFound(text, typed), `${JSON.stringify(text)} by ${typed}`);
        const marked = fragmentIn('notes', text, typed)?.pieces.find(({ match }) => match);
        assert.ok(
          (marked?.text.length ?? 0) <= second.length + 1,
          `${JSON.stringify(text)} by ${typed}: ${marked?.text}`,
        );
      }
    }
  }
  const american = (typed: string) => isFound('212 555 0123 646 555 0199', typed, 'notes', 'US');
  for (const typed of ['(212) 555-0123', '+1 646 555 0199', '5550123', '550199']) assert.ok(american(typed), typed);
  for (const stored of ['030/1234567', '+49 30/1234567', '(030) 123/4567', '030 1234567/030 7654321']) {
    for (const typed of ['0301234567', '+49 30 1234567', '34567']) {
      assert.ok(isFound(stored, typed, 'notes', 'DE'), `${stored} by ${typed}`);
    }
  }
  // A slash separates only what can be a number without what follows it.
  for (const [region, stored, typed] of [
    ['CH', '044/123 45 67', '0441234567'],
    ['CH', '044/123 45 67', '+41 44 123 45 67'],
    ['DE', '030 / 1234567', '0301234567'],
    ['DE', '030/12 34 56 7', '+49 30 1234567'],
    ['BE', '0475/12.34.56', '+32 475 12 34 56'],
  ] as const) {
    assert.ok(isFound(stored, typed, 'notes', region), `${stored} by ${typed}`);
  }
});

test('the first 100 phone numbers of a text are found as numbers, further ones as words', () => {
  const number = (n: number) => `07700 ${900_000 + n}`;
  const international = (n: number) => `+447700${900_000 + n}`;
  const text = Array.from({ length: 101 }, (_, n) => `12 rings of ${number(n)}`).join(', ');
  for (const n of [0, 99]) assert.ok(isFound(text, international(n)), number(n));
  assert.ok(!isFound(text, international(100)));
  assert.ok(isFound(text, '07700 900100'));
  const last = (q: string) => fragmentIn('notes', text, q)?.pieces.find((p) => p.match)?.text;
  assert.equal(last(international(99)), number(99));
});

test('a text of nothing but digits has few words, and few of its numbers are read', () => {
  const parse = mock.method(phoneLibrary(), 'parsePhoneNumberFromString');
  try {
    for (const unit of [
      '07700 900123 ',
      '07700900123/',
      '1 ',
      '0 ',
      '1/',
      '123 ',
      '1234567/',
      '(1234567',
      '+441',
      `${'7'.repeat(99)} `,
    ]) {
      const text = unit.repeat(100_000 / unit.length);
      parse.mock.resetCalls();
      const { words, phones } = wordsOf('notes', text, REGION);
      assert.ok(words.size <= 310 && phones.length <= 100, `${unit}: ${words.size} words, ${phones.length} phones`);
      assert.ok(parse.mock.callCount() <= 2_000, `${unit}: ${parse.mock.callCount()} numbers read`);
    }
  } finally {
    parse.mock.restore();
  }
});

test('a postcode is found with and without its space', () => {
  for (const stored of ['AB1 2CD', 'ab12cd']) {
    for (const typed of ['AB1 2CD', 'ab12cd', 'AB1', '2cd']) {
      assert.ok(isFound(stored, typed, 'postcode'), `${stored} by ${typed}`);
      assert.ok(fragmentIn('postcode', stored, typed), `${stored} marked for ${typed}`);
    }
  }
});

test('words of a question are ignored, unless there are no others', () => {
  const typed = (text: string) => parseQuery(text, REGION).map(({ words }) => words.join());
  assert.deepEqual(typed('the man who rang about the Smith will'), ['man', 'rang', 'smith', 'will']);
  assert.deepEqual(typed('The Who'), ['the', 'who']);
  assert.deepEqual(typed(' … !'), []);
});

test('marked are the parts of words that match, or the words whose parts match only together', () => {
  for (const [text, typed, marked] of [
    ["Call  O'Brien\n now: O'Brien", 'brien', "Call  O'[Brien]\n now: O'[Brien]"],
    ["Call  O'Brien\n now", 'obrien', "Call  [O'Brien]\n now"],
    ['Smith-Jones, (Smithson)', 'smith', '[Smith]-Jones, ([Smithson])'],
    ['paid INV-0042 / INV0042', '42', 'paid INV-[0042] / [INV0042]'],
    ['ring 07700 900123, 0123 times', '0123', 'ring [07700 900123], [0123] times'],
    ['ring\t+44 7700 900123.', '07700 900', 'ring\t[+44 7700 900123].'],
    ['Smith™ of ™Smith & Smith', 'smith', '[Smith]™ of ™[Smith] & [Smith]'],
  ] as const) {
    const pieces = fragmentIn('notes', text, typed)?.pieces ?? [];
    assert.equal(pieces.map(({ text: piece, match }) => (match ? `[${piece}]` : piece)).join(''), marked, typed);
  }
});

test('the pieces of a fragment are a part of the text, and every match is marked', () => {
  fc.assert(
    fc.property(texts, texts, texts, (before, match, after) => {
      const text = `${before} ${match} ${after}`;
      const fragment = fragmentIn('notes', text, match);
      if (parseQuery(match, REGION).length === 0) return fragment === undefined;
      return (
        fragment !== undefined &&
        text.includes(fragment.pieces.map((piece) => piece.text).join('')) &&
        fragment.pieces.some((piece) => piece.match) &&
        fragment.pieces.every((piece) => piece.text !== '')
      );
    }),
    { numRuns: 1_000 },
  );
});
