/** Request bodies of a given size that may cost far more than a normal body of that size. */

export type HostileBody = (bytes: number) => string;

/** Returns `firstField`, then an unknown field with as many copies of `element` as fit. */
const arrayOf =
  (element: string, firstField = ''): HostileBody =>
  (bytes) => {
    const [open, close] = [`{${firstField}"x":[`, ']}'];
    const count = Math.max(1, Math.floor((bytes - open.length - close.length + 1) / (element.length + 1)));
    return open + Array(count).fill(element).join(',') + close;
  };

const nestedBody =
  (open: string, middle: string, close: string, firstField = ''): HostileBody =>
  (bytes) => {
    const depth = Math.max(1, Math.floor((bytes - firstField.length - 8) / (open.length + close.length)));
    return `{${firstField}"x":${open.repeat(depth)}${middle}${close.repeat(depth)}}`;
  };

const NUL_FIELD = '"y":"\\u0000",';
const LONG_NUMBER_FIELD = '"y":12345678901234567890.5,';

export const HOSTILE_BODIES: Record<string, HostileBody> = {
  'one text': (bytes) => `{"x":"${'x'.repeat(bytes - 8)}"}`,
  'one long number, then short ones': arrayOf('1', LONG_NUMBER_FIELD),
  'long numbers': arrayOf('1234567890123456'),
  'long exponents': arrayOf('1.00000000000000e399'),
  'one long number, then texts': arrayOf('""', LONG_NUMBER_FIELD),
  'one long number, then objects': arrayOf('{"a":1}', LONG_NUMBER_FIELD),
  'a NUL, then lists': arrayOf('[]', NUL_FIELD),
  'a NUL, then objects': arrayOf('{"a":1}', NUL_FIELD),
  'NUL characters': arrayOf('"\\u0000"'),
  'unpaired surrogates': arrayOf('"\\ud800"'),
  'deep lists': nestedBody('[', '', ']'),
  'deep lists with a NUL': nestedBody('[', '', ']', NUL_FIELD),
  'deep lists with a long number': nestedBody('[', '', ']', LONG_NUMBER_FIELD),
  'deep objects': nestedBody('{"a":', '1', '}'),
  brackets: (bytes) => '['.repeat(bytes),
  'one number': (bytes) => `{"x":${'1'.repeat(bytes - 6)}}`,
  'many fields': (bytes) => `{${Array.from({ length: Math.floor(bytes / 12) }, (_, i) => `"k${i}":1`).join(',')}}`,
  'many items': (bytes) =>
    `{"items":[${Array(Math.floor(bytes / 9))
      .fill('{"q":1}')
      .join(',')}]}`,
  'wrong items': (bytes) =>
    `{"items":[${Array(Math.min(1_000, Math.ceil(bytes / 60)))
      .fill('{"description":1,"quantity":"x","rate":"y","amount":"z"}')
      .join(',')}]}`,
  'many tags': (bytes) =>
    `{"tags":[${Array(Math.floor(bytes / 4))
      .fill('"a"')
      .join(',')}]}`,
  blanks: (bytes) => `{"notes":"${' '.repeat(Math.min(9_999, bytes - 30))}","location":"${' '.repeat(9_999)}\\n"}`,
  backslashes: (bytes) => `{"notes":"${'\\\\'.repeat((bytes - 14) >> 1)}"}`,
};
