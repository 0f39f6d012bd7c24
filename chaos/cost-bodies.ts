/** Bodies of a given size that cost more than their size, by what is in them. */

export type HostileBody = (bytes: number) => string;

/** `first`, then as many of `one` as fit into an array of an unknown field. */
const filled =
  (one: string, first = ''): HostileBody =>
  (bytes) => {
    const [open, close] = [`{${first}"x":[`, ']}'];
    const count = Math.max(1, Math.floor((bytes - open.length - close.length + 1) / (one.length + 1)));
    return open + Array(count).fill(one).join(',') + close;
  };

const nested =
  (open: string, middle: string, close: string, first = ''): HostileBody =>
  (bytes) => {
    const depth = Math.max(1, Math.floor((bytes - first.length - 8) / (open.length + close.length)));
    return `{${first}"x":${open.repeat(depth)}${middle}${close.repeat(depth)}}`;
  };

const NUL = '"y":"\\u0000",';
const LONG = '"y":12345678901234567890.5,';

export const BODIES: Record<string, HostileBody> = {
  'one text': (bytes) => `{"x":"${'x'.repeat(bytes - 8)}"}`,
  'one long number, then short ones': filled('1', LONG),
  'long numbers': filled('1234567890123456'),
  'long exponents': filled('1.00000000000000e399'),
  'one long number, then texts': filled('""', LONG),
  'one long number, then objects': filled('{"a":1}', LONG),
  'a NUL, then lists': filled('[]', NUL),
  'a NUL, then objects': filled('{"a":1}', NUL),
  'NUL characters': filled('"\\u0000"'),
  'unpaired surrogates': filled('"\\ud800"'),
  'deep lists': nested('[', '', ']'),
  'deep lists with a NUL': nested('[', '', ']', NUL),
  'deep lists with a long number': nested('[', '', ']', LONG),
  'deep objects': nested('{"a":', '1', '}'),
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
