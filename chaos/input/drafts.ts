import fc from 'fast-check';
import { BODIES } from '../cost-bodies.ts';
import { Members, type Node, Raw } from './json.ts';
import type { Operation } from './operations.ts';
import { NASTY, text } from './texts.ts';
import { anything, hostile, object, valid } from './values.ts';

/** A request before it is known who sends it: `{caseId}` and such are still to be filled in. */
export type Draft = {
  method: string;
  target: string;
  headers: readonly (readonly [string, string])[];
  body: Node | Uint8Array | undefined;
  /** What is done to the bytes of the body. */
  damage: Damage;
};

export type Damage = (typeof DAMAGES)[number];
const DAMAGES = [
  ...['none', 'bom', 'utf8', 'overlong', 'latin1', 'cut', 'trailing', 'padded', 'tooLarge', 'chunked'],
  // The length that is named is not the one that comes.
  ...['short', 'long', 'noLength', 'badLength', 'twoLengths', 'badChunks'],
] as const;

const some = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });

/** Percent-encoded, or broken: what stands where an identifier is asked for. */
const segment: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    ...[
      '%00',
      '%',
      '%zz',
      '%ff',
      '%c0%ae',
      '%2e%2e',
      '..',
      '.',
      '%2f',
      '%5c',
      'null',
      '0',
      "'",
      '%27',
      '%20',
      ';',
      ':x',
    ],
    ...[
      '00000000-0000-0000-0000-000000000000',
      '{caseId}0',
      '{caseId}%20',
      '%7BcaseId%7D',
      'x'.repeat(5_000),
      '*',
      '~',
    ],
  ),
  text.map((word) => encodeURIComponent(word) || '-'),
  fc.uuid(),
  fc.uuid().map((id) => id.toUpperCase()),
);

function target({ template, query }: Operation): fc.Arbitrary<string> {
  const parts = template.split('/');
  const spoiled = fc
    .tuple(fc.integer({ min: 1, max: parts.length - 1 }), segment, fc.constantFrom('in', 'instead', 'after'))
    .map(([at, strange, how]) => {
      const kept = [...parts];
      if (how === 'in') kept.splice(at, 0, strange);
      else if (how === 'after') kept[at] += strange;
      else kept[at] = strange;
      return kept.join('/');
    });
  const odd = fc.constantFrom(
    `${template}/`,
    `/${template}`,
    template.toUpperCase(),
    `${template}#x`,
    `http://x${template}`,
    `http://evil.example:81${template}`,
  );
  const path = fc.oneof(some(18, fc.constant(template)), some(2, spoiled), some(1, odd));
  return fc.tuple(path, search(query)).map((both) => both.join(''));
}

function search(query: Operation['query']): fc.Arbitrary<string> {
  const named = query.map(({ name, schema }) =>
    fc
      .oneof(some(3, valid(schema)), some(1, hostile(schema)))
      .map((value) => `${name}=${encodeURIComponent(plain(value))}`),
  );
  const strange = fc.oneof(
    fc.constantFrom('%', '%zz', '&&&', '=', '__proto__=1', '__proto__[x]=1', 'page[]=1', 'a=%00', '?', '%ff=%ff', '+'),
    text.map((word) => `x=${encodeURIComponent(word)}`),
    ...query.map(({ name }) => fc.constantFrom(...NASTY).map((word) => `${name}=${encodeURIComponent(word)}`)),
    ...query.map(({ name }) => fc.constantFrom(`${name}=%ff`, `${name}=%`, `${name}`, `${name}=1&${name}=2`)),
  );
  const every = fc.oneof(...named, some(Math.max(1, named.length), strange));
  const several = fc.array(every, { minLength: 1, maxLength: 3 }).map((parts) => `?${parts.join('&')}`);
  return fc.oneof(some(query.length > 0 ? 2 : 12, fc.constant('')), some(3, several));
}

const plain = (node: Node): string =>
  typeof node === 'string' ? node : node instanceof Raw ? node.text : String(node);

const HEADERS: readonly string[] = [
  'idempotency-key',
  'if-match',
  'if-none-match',
  'x-request-id',
  'accept',
  'origin',
  'expect',
];
const HEADER_VALUES = [
  ...[
    'x',
    '"x"',
    '*',
    'W/"x"',
    '"a", "b"',
    '"',
    '',
    'a'.repeat(255),
    'a'.repeat(256),
    'é',
    '\x7f',
    '\t',
    "'; --",
    '$' + '{7*7}',
  ],
  ...[
    'x\r\nX-Injected: 1',
    '%0d%0aSet-Cookie: x',
    '\0',
    '100-continue',
    'null',
    '{{7}}',
    '1',
    'gzip',
    'x'.repeat(20_000),
  ],
];

const header: fc.Arbitrary<readonly [string, string]> = fc.oneof(
  fc.tuple(fc.constantFrom(...HEADERS), fc.constantFrom(...HEADER_VALUES)),
  fc.tuple(fc.constant('idempotency-key'), fc.uuid()),
  fc.constantFrom<readonly [string, string]>(
    ...([
      ['content-type', 'text/plain'],
      ['content-type', 'application/json; charset=utf-16'],
      ['content-type', 'application/json\0'],
      ['content-encoding', 'gzip'],
      ['content-encoding', 'br, identity'],
      ['content-encoding', 'identity'],
      ['authorization', 'Bearer x'],
      ['authorization', 'Basic eDp5'],
      ['authorization', ''],
      ['host', ''],
      ['host', 'evil.example'],
      ['host', 'evil.example:99999'],
      ['host', 'evil example'],
      ['host', '[::1'],
      ['x-forwarded-for', '127.0.0.1'],
      ['x-http-method-override', 'DELETE'],
      ['connection', 'close'],
      ['connection', 'upgrade'],
      ['upgrade', 'websocket'],
      ['cookie', 'x='.padEnd(9_000, 'x')],
      ['__proto__', 'x'],
      ['bad name', 'x'],
      ['', 'x'],
    ] as const),
  ),
);
const TWO_HOSTS = [
  ['host', 'localhost'],
  ['host', 'evil.example'],
] as const;
const headers = fc.oneof(
  some(40, fc.constant([])),
  some(10, fc.array(header, { minLength: 1, maxLength: 3 })),
  some(1, fc.constant(TWO_HOSTS)),
);

/** What costs more than its size to read. */
const costly = fc
  .tuple(fc.constantFrom(...Object.values(BODIES)), fc.constantFrom(100, 5_000, 50_000))
  .map(([make, bytes]) => Buffer.from(make(bytes)));

function body({ body: schema }: Operation): fc.Arbitrary<Node | Uint8Array | undefined> {
  if (!schema)
    return fc.oneof(some(8, fc.constant(undefined)), some(1, anything), some(1, fc.constant(new Members([]))));
  const names = Object.keys(schema.properties ?? {});
  const spoil = fc.oneof(
    ...Object.entries(schema.properties ?? {}).map(([name, part]) =>
      hostile(part, name).map((node): [string, Node] => [name, node]),
    ),
    fc.tuple(fc.constantFrom('__proto__', 'constructor', 'id', 'company_id', 'case_id', 'version', ...names), anything),
  );
  const inOrder = object(schema, valid);
  const spoiled = fc
    .tuple(inOrder, fc.array(spoil, { minLength: 1, maxLength: 3 }), fc.boolean())
    .map(([{ entries }, others, twice]) => {
      const replaced = entries.filter(([name]) => twice || !others.some(([other]) => other === name));
      return new Members([...replaced, ...others]);
    });
  const without = fc
    .tuple(inOrder, fc.nat())
    .map(([{ entries }, at]) => new Members(entries.filter((_, i) => i !== at % Math.max(1, entries.length))));
  return fc.oneof(
    some(8, inOrder),
    some(8, spoiled),
    some(1, without),
    some(1, anything),
    some(1, fc.uint8Array({ maxLength: 40 })),
    some(1, costly),
    some(1, fc.constant(undefined)),
  );
}

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'get', 'X'];

export const drafts = (operation: Operation): fc.Arbitrary<Draft> =>
  fc.record({
    method: fc.oneof(some(30, fc.constant(operation.method)), some(1, fc.constantFrom(...METHODS))),
    target: target(operation),
    headers,
    body: body(operation),
    damage: fc.oneof(some(20, fc.constant<Damage>('none')), some(1, fc.constantFrom(...DAMAGES))),
  });
