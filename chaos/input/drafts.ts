import fc from 'fast-check';
import { HOSTILE_BODIES } from '../hostile-bodies.ts';
import { HOSTILE_TEXTS, text } from './hostile-texts.ts';
import { JsonMembers, type JsonNode, RawJson } from './json.ts';
import type { Operation } from './operations.ts';
import { anything, hostile, object, valid } from './values.ts';

/** A request with placeholders such as `{caseId}`, which depend on the sender. */
export type Draft = {
  method: string;
  target: string;
  headers: readonly (readonly [string, string])[];
  body: JsonNode | Uint8Array | undefined;
  /** How the bytes of the body are damaged. */
  damage: Damage;
};

export type Damage = (typeof DAMAGES)[number];
const DAMAGES = [
  ...['none', 'bom', 'utf8', 'overlong', 'latin1', 'cut', 'trailing', 'padded', 'tooLarge', 'chunked'],
  // The declared length differs from the actual one.
  ...['short', 'long', 'noLength', 'badLength', 'twoLengths', 'badChunks'],
] as const;

const weighted = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });

/** Invalid values for an identifier in the path. */
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
    .map(([index, strange, how]) => {
      const changed = [...parts];
      if (how === 'in') changed.splice(index, 0, strange);
      else if (how === 'after') changed[index] += strange;
      else changed[index] = strange;
      return changed.join('/');
    });
  const unusual = fc.constantFrom(
    `${template}/`,
    `/${template}`,
    template.toUpperCase(),
    `${template}#x`,
    `http://x${template}`,
    `http://evil.example:81${template}`,
  );
  const path = fc.oneof(weighted(18, fc.constant(template)), weighted(2, spoiled), weighted(1, unusual));
  return fc.tuple(path, search(query)).map((both) => both.join(''));
}

function search(query: Operation['query']): fc.Arbitrary<string> {
  const named = query.map(({ name, schema, example }) =>
    fc
      .oneof(weighted(3, valid(schema)), weighted(1, hostile(schema)), ...withExample(example))
      .map((value) => `${name}=${encodeURIComponent(plain(value))}`),
  );
  const strange = fc.oneof(
    fc.constantFrom('%', '%zz', '&&&', '=', '__proto__=1', '__proto__[x]=1', 'page[]=1', 'a=%00', '?', '%ff=%ff', '+'),
    text.map((word) => `x=${encodeURIComponent(word)}`),
    ...query.map(({ name }) => fc.constantFrom(...HOSTILE_TEXTS).map((word) => `${name}=${encodeURIComponent(word)}`)),
    ...query.map(({ name }) => fc.constantFrom(`${name}=%ff`, `${name}=%`, `${name}`, `${name}=1&${name}=2`)),
  );
  const every = fc.oneof(...named, weighted(Math.max(1, named.length), strange));
  const some = fc.array(every, { minLength: 1, maxLength: 3 });
  // Without these a request is refused before its values are looked at.
  const required = named.filter((_, i) => query[i]?.required);
  const all = required.length > 0 ? fc.tuple(fc.tuple(...required), fc.oneof(fc.constant([]), some)) : fc.tuple(some);
  const several = all.map((parts) => `?${parts.flat().join('&')}`);
  return fc.oneof(weighted(query.length > 0 ? 2 : 12, fc.constant('')), weighted(3, several));
}

/** The example alone and within other texts, so that searches have hits. */
const withExample = (example: string | undefined) =>
  example === undefined
    ? []
    : [
        weighted(2, fc.constant(example)),
        weighted(
          2,
          fc.tuple(text, text).map((around) => around.join(` ${example} `)),
        ),
      ];

const plain = (node: JsonNode): string =>
  typeof node === 'string' ? node : node instanceof RawJson ? node.text : String(node);

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
  weighted(40, fc.constant([])),
  weighted(10, fc.array(header, { minLength: 1, maxLength: 3 })),
  weighted(1, fc.constant(TWO_HOSTS)),
);

/** Bodies that are expensive to parse. */
const costly = fc
  .tuple(fc.constantFrom(...Object.values(HOSTILE_BODIES)), fc.constantFrom(100, 5_000, 50_000))
  .map(([make, bytes]) => Buffer.from(make(bytes)));

function body({ body: schema }: Operation): fc.Arbitrary<JsonNode | Uint8Array | undefined> {
  if (!schema)
    return fc.oneof(
      weighted(8, fc.constant(undefined)),
      weighted(1, anything),
      weighted(1, fc.constant(new JsonMembers([]))),
    );
  const names = Object.keys(schema.properties ?? {});
  const spoil = fc.oneof(
    ...Object.entries(schema.properties ?? {}).map(([name, part]) =>
      hostile(part, name).map((node): [string, JsonNode] => [name, node]),
    ),
    fc.tuple(fc.constantFrom('__proto__', 'constructor', 'id', 'company_id', 'case_id', 'version', ...names), anything),
  );
  const validBody = object(schema, valid);
  const spoiled = fc
    .tuple(validBody, fc.array(spoil, { minLength: 1, maxLength: 3 }), fc.boolean())
    .map(([{ entries }, others, twice]) => {
      const replaced = entries.filter(([name]) => twice || !others.some(([other]) => other === name));
      return new JsonMembers([...replaced, ...others]);
    });
  const without = fc
    .tuple(validBody, fc.nat())
    .map(([{ entries }, at]) => new JsonMembers(entries.filter((_, i) => i !== at % Math.max(1, entries.length))));
  return fc.oneof(
    weighted(8, validBody),
    weighted(8, spoiled),
    weighted(1, without),
    weighted(1, anything),
    weighted(1, fc.uint8Array({ maxLength: 40 })),
    weighted(1, costly),
    weighted(1, fc.constant(undefined)),
  );
}

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'get', 'X'];

export const drafts = (operation: Operation): fc.Arbitrary<Draft> =>
  fc.record({
    method: fc.oneof(weighted(30, fc.constant(operation.method)), weighted(1, fc.constantFrom(...METHODS))),
    target: target(operation),
    headers,
    body: body(operation),
    damage: fc.oneof(weighted(20, fc.constant<Damage>('none')), weighted(1, fc.constantFrom(...DAMAGES))),
  });
