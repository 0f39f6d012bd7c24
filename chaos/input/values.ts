import fc from 'fast-check';
import { edgeText, shortText, text } from './hostile-texts.ts';
import { JsonMembers, type JsonNode, KnownValue, RawJson } from './json.ts';

/** Generates values for a schema: valid ones, ones at its limits, and invalid ones. */

export type Schema = {
  type?: string | string[];
  enum?: (string | boolean | null)[];
  pattern?: string;
  maxLength?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  examples?: unknown[];
};

const raw = (text: string) => new RawJson(text);

const NUMBERS = [
  ...[
    '0',
    '-0',
    '1',
    '-1',
    '0.1',
    '1e400',
    '-1e400',
    '1e-400',
    '1e3',
    '1E+2',
    '5e-324',
    '1.7976931348623157e308',
    '0.005',
  ],
  ...['9999999999.99', '10000000000', '9999999999.995', '-9999999999.99', '9007199254740993', '0.30000000000000004'],
  ...['123456789012345678901234567890', '1.0000000000000000000000001', '2147483648', '-2147483649', '1e99999', '0e0'],
];
const INVALID_JSON = [
  'NaN',
  'Infinity',
  '01',
  '+1',
  '.5',
  '1.',
  '0x10',
  "'x'",
  'undefined',
  '',
  '-',
  '1e',
  '"\\x"',
  '"a\nb"',
];
const SURROGATES = [
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"x\\ud83d"',
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\ud83d\\ude00"',
  '"\\\\u0000"',
];
const deep = (open: string, close: string, depth: number) => raw(open.repeat(depth) + close.repeat(depth));
const DEEP = [deep('[', ']', 2_000), deep('{"a":', '}', 2_000).text.replace('"a":}', '"a":1}'), deep('[', ']', 50)];

const scalar: fc.Arbitrary<JsonNode> = fc.oneof(
  fc.constantFrom(...NUMBERS).map(raw),
  text,
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom(...SURROGATES).map(raw),
);

/** Any JSON value, and some invalid JSON. */
export const anything: fc.Arbitrary<JsonNode> = fc.oneof(
  { weight: 12, arbitrary: scalar },
  { weight: 2, arbitrary: fc.array(scalar, { maxLength: 4 }) },
  {
    weight: 2,
    arbitrary: fc.array(fc.tuple(text, scalar), { maxLength: 4 }).map((entries) => new JsonMembers(entries)),
  },
  fc
    .constantFrom('__proto__', 'constructor')
    .map((key) => new JsonMembers([[key, new JsonMembers([['polluted', true]])]])),
  fc.constantFrom(...DEEP.map((value) => (typeof value === 'string' ? raw(value) : value))),
  fc.constantFrom(...INVALID_JSON).map(raw),
);

const digits = (maxLength: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength }).map((d) => d.join(''));

/** A decimal with up to six digits before the point, as a number or as text. */
const decimals: fc.Arbitrary<JsonNode> = fc
  .tuple(fc.constantFrom('', '-'), fc.integer({ min: 0, max: 999_999 }), fc.option(digits(20)), fc.boolean())
  .map(([sign, whole, fraction, quoted]) => {
    const plain = `${sign}${whole}${fraction === null ? '' : `.${fraction}`}`;
    return quoted ? plain : raw(plain);
  });

const twoDigits = (n: number) => String(n).padStart(2, '0');
export const times: fc.Arbitrary<string> = fc
  .record({
    year: fc.oneof(
      { weight: 5, arbitrary: fc.integer({ min: 2024, max: 2030 }) },
      fc.constantFrom(1000, 1582, 1900, 9999),
    ),
    month: fc.integer({ min: 1, max: 12 }),
    day: fc.integer({ min: 1, max: 31 }),
    hour: fc.integer({ min: 0, max: 23 }),
    minute: fc.integer({ min: 0, max: 59 }),
    form: fc.constantFrom('wall', 'short', 'Z', 'offset', 'fraction', 'nanoseconds'),
  })
  .map(({ year, month, day, hour, minute, form }) => {
    const date = `${year}-${twoDigits(month)}-${twoDigits(day)}`;
    const time = `${twoDigits(hour)}:${twoDigits(minute)}`;
    return {
      wall: `${date} ${time}:07`,
      short: `${date} ${time}`,
      Z: `${date}T${time}:59Z`,
      offset: `${date}T${time}+05:30`,
      fraction: `${date}T${time}:01.123456Z`,
      nanoseconds: `${date}T${time}:01.999999999-11:00`,
    }[form] as string;
  });

const uuids = fc.uuid().map((id) => id as JsonNode);
const known = (name: string) => new KnownValue(name);

/** Valid values of fields whose schema does not describe them completely. */
const VALID_FIELD_VALUES: Record<string, fc.Arbitrary<JsonNode>> = {
  adviser_email: fc.constantFrom(known('adviser'), known('adviserWithVideo')),
  email_recipient: fc.constantFrom<JsonNode>(known('email'), ''),
  sms_recipient: fc.constantFrom('07400 123456', '+44 7400 654321', '+33612345678', '(07400) 123-456'),
  phone: fc.constantFrom('07400 123456', '+44 7400 654321'),
  relationship: fc.oneof(
    shortText(100).map((word) => new JsonMembers([[known('customer'), word]])),
    fc.constant(new JsonMembers([])),
  ),
  tags: fc.subarray(['executor', 'next-of-kin', 'executor']),
  custom_tags: fc.constantFrom<JsonNode>([], [known('customTag')], [known('customTag'), known('customTag')]),
  tag: fc.constantFrom('further-tag', 'x', 'a-b-c'),
  email: fc.constantFrom('jane@client.example', "o'hara+tag@client.example", 'ü@münchen.example', 'a@b.c'),
  sender_address: fc.constantFrom('office@company.example', 'ü@münchen.example'),
  contact_email: fc.constantFrom('office@company.example'),
  client_contact_email: fc.constantFrom('office@company.example'),
  client_contact_phone: fc.constantFrom('020 7946 0018'),
  dob: fc.constantFrom('31/01/1970', '29/02/2000', '01/01/1000'),
  time_zone: fc.constantFrom('Europe/London', 'Asia/Kolkata', 'america/new_york', 'UTC', 'Pacific/Kiritimati'),
  phone_region: fc.constantFrom('GB', 'DE'),
  url: fc.constantFrom(
    'https://company.example/hook',
    'https://company.example/hook?a=%20b',
    'https://xn--mnchen-3ya.example/',
  ),
  types: fc.subarray(['*', 'invoice.*', 'interaction.created']),
  reminder_lead_days: fc.constantFrom<JsonNode>('1', raw('30'), raw('2')),
  overlap_hours: fc.constantFrom<JsonNode>('0', raw('168')),
  invoice_number: fc.uuid().chain((id) => shortText(13).map((word) => `${word}${id}`)),
  sender_id: uuids,
};

const typesOf = ({ type }: Schema) => [type ?? 'object'].flat();

export function valid(schema: Schema, name = ''): fc.Arbitrary<JsonNode> {
  const fieldValues = VALID_FIELD_VALUES[name];
  if (fieldValues) return fieldValues;
  const types = typesOf(schema);
  if (schema.enum) return fc.constantFrom(...(schema.enum as JsonNode[]));
  if (schema.pattern?.startsWith('^-?[0-9]+')) return decimals;
  if (schema.pattern?.includes('\\d\\d:\\d\\d')) return times;
  if (schema.pattern?.startsWith('^[0-9a-fA-F]{8}')) return uuids;
  if (types.includes('boolean')) return fc.boolean();
  if (types.includes('string')) return shortText(schema.maxLength ?? 200);
  if (types.includes('array')) return fc.array(valid(schema.items ?? {}), { maxLength: 4 });
  return object(schema, valid);
}

/** Generates an object with its required fields and some of the optional ones. */
export function object(schema: Schema, value: typeof valid): fc.Arbitrary<JsonMembers> {
  const fields = Object.entries(schema.properties ?? {}).map(([name, part]) => {
    const member = value(part, name).map((node): [string, JsonNode] => [name, node]);
    return schema.required?.includes(name) ? member : fc.option(member);
  });
  return fc.tuple(...fields).map((entries) => new JsonMembers(entries.filter((entry) => entry !== null)));
}

/** Generates values at or beyond the limits of a schema, or of another type. */
export function hostile(schema: Schema, name = ''): fc.Arbitrary<JsonNode> {
  const { maxLength, maxItems, items, properties, pattern } = schema;
  const choices: fc.Arbitrary<JsonNode>[] = [anything, anything, fc.constant(null)];
  if (typesOf(schema).includes('string')) choices.push(edgeText(maxLength ?? 1_000), text, text);
  if (pattern?.startsWith('^-?[0-9]+')) {
    choices.push(fc.constantFrom(...NUMBERS), fc.constantFrom(...NUMBERS).map(raw), digits(30), digits(30).map(raw));
  }
  if (pattern?.includes('\\d\\d:\\d\\d')) {
    choices.push(
      fc.constantFrom(
        '0000-01-01 00:00',
        '9999-12-31 23:59:59',
        '2026-02-30 10:00',
        '2026-06-01 24:00',
        '2026-06-01T10:00:60Z',
        '2026-03-29 01:30',
        '2026-06-01T10:00+99:99',
      ),
    );
  }
  if (maxItems && items) {
    const part = valid(items, name === 'tags' ? 'tag' : '');
    choices.push(
      fc.tuple(part, fc.constantFrom(maxItems, maxItems + 1)).map(([element, count]) => Array(count).fill(element)),
    );
    choices.push(fc.array(hostileLater(items), { maxLength: 3 }));
  }
  if (properties) choices.push(object(schema, mixed));
  if (name === 'relationship') choices.push(fc.tuple(text, text).map(([key, word]) => new JsonMembers([[key, word]])));
  return fc.oneof(...choices);
}

const hostileLater = (schema: Schema): fc.Arbitrary<JsonNode> =>
  schema.properties ? object(schema, mixed) : hostile(schema);

/** Mostly valid values. */
const mixed: typeof valid = (schema, name) =>
  fc.oneof({ weight: 5, arbitrary: valid(schema, name) }, { weight: 1, arbitrary: hostile(schema, name) });
