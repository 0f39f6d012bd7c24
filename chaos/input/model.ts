/**
 * Predicts what GET returns after a write. It implements the specification a second time, without code of the service,
 * for the four kinds of records that the twelve operations write.
 */

// biome-ignore lint/suspicious/noExplicitAny: any body and any answer
export type Any = any;
export type ShownRecord = Record<string, Any>;
export type Kind = 'entryID' | 'interactionId' | 'invoiceId' | 'appointmentID';

/** Parses a body and keeps the digits of every number. */
export const parseBody = (text: string): ShownRecord =>
  JSON.parse(text, ((_key, value, { source } = { source: '' }) =>
    typeof value === 'number' ? new ExactNumber(source) : value) as (
    key: string,
    value: Any,
    context?: { source: string },
  ) => Any);

class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Returns the expected fields after a write. `before`: the expected fields so far; undefined for a new record. */
export const expectedFields = (
  kind: Kind,
  body: ShownRecord,
  before: ShownRecord | undefined,
  now: Temporal.Instant,
): ShownRecord => MODELS[kind](body, before, now);

const MODELS: Record<Kind, (body: ShownRecord, before: ShownRecord | undefined, now: Temporal.Instant) => ShownRecord> =
  {
    interactionId: (body, before, now) => ({
      type: body.type,
      notes: body.notes === undefined ? (before?.notes ?? '') : (body.notes ?? ''),
      recipient: body.recipient === undefined ? (before?.recipient ?? '') : (body.recipient ?? ''),
      sender: body.sender === undefined ? (before?.sender ?? null) : body.sender,
      when: body.when === undefined && before ? before.when : wall(body.when ? instant(body.when) : now),
    }),
    entryID: (body, before) => ({
      ...Object.fromEntries(
        STRINGS.map((field) => [field, body[field] === undefined ? (before?.[field] ?? '') : (body[field] ?? '')]),
      ),
      ...Object.fromEntries(
        NULLABLE.map((field) => [field, body[field] === undefined ? (before?.[field] ?? null) : body[field]]),
      ),
      relationship: body.relationship === undefined ? (before?.relationship ?? {}) : (body.relationship ?? {}),
      tags: union(before?.tags, body.tags),
      custom_tags: union(before?.custom_tags, body.custom_tags),
      address: Object.fromEntries(
        ['address_1', 'address_2', 'address_3', 'postcode'].map((field) => {
          const sent = body.address === null ? null : body.address?.[field];
          return [field, sent === undefined ? (before?.address[field] ?? '') : (sent ?? '')];
        }),
      ),
    }),
    invoiceId: (body, before) => {
      const total = amount(body.total, 2);
      const subtotal = amount(body.sub_total, 2);
      const items = (body.items ?? []).map(itemOf);
      const replaced =
        body.keep_existing_items === false || (body.items !== undefined && body.keep_existing_items !== true);
      return {
        invoice_number: body.invoice_number,
        date_created: wall(instant(body.date_created)),
        date_due: iso(instant(body.date_due)),
        total: number(total, 2),
        subtotal: number(subtotal, 2),
        vat_amount: number(body.vat_amount == null ? total - subtotal : amount(body.vat_amount, 2), 2),
        payment_terms:
          body.payment_terms === undefined && before ? before.payment_terms : (body.payment_terms ?? '30 days'),
        items: before && !replaced ? [...before.items, ...items] : items,
      };
    },
    appointmentID: (body, before) => ({
      start_time: body.start_time === undefined ? before?.start_time : iso(instant(body.start_time)),
      end_time: body.end_time === undefined ? before?.end_time : wall(instant(body.end_time)),
      email_recipient:
        body.email_recipient === undefined ? (before?.email_recipient ?? '') : (body.email_recipient ?? ''),
      sms_recipient: body.sms_recipient === undefined ? (before?.sms_recipient ?? null) : body.sms_recipient,
      notes: body.notes === undefined ? (before?.notes ?? null) : body.notes,
      location: body.location === undefined ? (before?.location ?? null) : body.location,
    }),
  };

/** Returns the fields of a response of GET in the form of `expectedFields`. */
export function shownFields(kind: Kind, record: Any, addresses?: Map<string, Any>): ShownRecord {
  if (kind === 'entryID') {
    const { data } = record;
    const address = addresses?.get(data.address);
    const fields = Object.fromEntries([...STRINGS, ...NULLABLE, 'relationship'].map((field) => [field, data[field]]));
    return {
      ...fields,
      tags: data.tags.toSorted(),
      custom_tags: data.custom_tags.toSorted(),
      ...(address && { address }),
    };
  }
  const items = record.items?.map(
    ({ description, quantity, rate, amount, subtotal, vat_amount, has_vat }: ShownRecord) => ({
      ...{ description, quantity, rate, amount, subtotal, vat_amount, has_vat },
    }),
  );
  return Object.fromEntries(FIELDS[kind].map((field) => [field, field === 'items' ? items : record[field]]));
}

const STRINGS = ['title', 'gender', 'last_name', 'first_names', 'marital_status'];
const NULLABLE = [
  ...['middle_names', 'known_as', 'tel_1', 'tel_2', 'email', 'dob', 'occupation', 'preferred_name', 'alias'],
  ...['their_pronoun', 'them_pronoun', 'they_pronoun'],
];
const FIELDS: Record<Exclude<Kind, 'entryID'>, string[]> = {
  interactionId: ['type', 'notes', 'recipient', 'sender', 'when'],
  invoiceId: [
    'invoice_number',
    'date_created',
    'date_due',
    'total',
    'subtotal',
    'vat_amount',
    'payment_terms',
    'items',
  ],
  appointmentID: ['start_time', 'end_time', 'email_recipient', 'sms_recipient', 'notes', 'location'],
};

const union = (before: string[] = [], sent: string[] | null = []): string[] =>
  [...new Set([...before, ...(sent ?? [])])].sort();

function itemOf(item: ShownRecord): ShownRecord {
  const [quantity, rate, whole] = [amount(item.quantity, 0), amount(item.rate, 4), amount(item.amount, 2)];
  const subtotal = rounded(quantity * rate, 4, 2);
  return {
    description: item.description,
    quantity: Number(quantity),
    rate: number(rate, 4),
    amount: number(whole, 2),
    subtotal: number(subtotal, 2),
    vat_amount: number(whole - subtotal, 2),
    has_vat: whole !== subtotal,
  };
}

/** Parses a number into units of the last stored decimal, rounding half away from zero. */
function amount(sent: ExactNumber | string, scale: number): bigint {
  const text = sent instanceof ExactNumber ? sent.text : sent;
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  const places = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  const units = places > 1_000 ? 0n : rounded(digits, places, scale);
  return sign === '-' ? -units : units;
}

function rounded(units: bigint, places: number, scale: number): bigint {
  if (places <= scale) return units * 10n ** BigInt(scale - places);
  const divisor = 10n ** BigInt(places - scale);
  const half = units < 0n ? -divisor / 2n : divisor / 2n;
  return (units + half) / divisor;
}

const number = (units: bigint, scale: number): number => Number(`${units}e-${scale}`);

const ZONE = 'Europe/London';

function instant(text: string): Temporal.Instant {
  if (text.includes('T')) return Temporal.Instant.from(text);
  return Temporal.PlainDateTime.from(text).toZonedDateTime(ZONE).toInstant();
}

const iso = (at: Temporal.Instant): string => at.toString({ fractionalSecondDigits: 6 });
const wall = (at: Temporal.Instant): string =>
  at.toZonedDateTimeISO(ZONE).toPlainDateTime().toString({ fractionalSecondDigits: 0 }).replace('T', ' ');
