import assert from 'node:assert/strict';
import { beforeEach } from 'node:test';
import { startApp, type TestCompany } from './app.ts';
import { ok } from './assert.ts';
import { concurrentRequests, headersOf } from './batching.ts';
import type { Event } from './events.ts';
import { type Answer, caller } from './http.ts';
import { secrets } from './meeting-worker.ts';

/** Concurrent requests of one shape are served by one statement, and each gets the result that it would get alone. */

export const app = await startApp({ secrets });

const NOW = '2026-06-01T09:00:00Z';
beforeEach(() => app.clock.set(NOW));

export type Fields = Record<string, unknown>;

/**
 * Concurrent requests of one shape are served by one statement. `alone`: never, or only if what each asks first happens
 * to be answered at the same moment. `paid`: what was paid of the invoice before.
 */
export type Shape = {
  made?: (company: TestCompany) => Fields;
  paid?: number;
  alone?: true;
  sent: (company: TestCompany, n: number) => Fields;
};
export type Kind = {
  name: string;
  /** The type of its event. */
  type: string;
  list: string;
  made: (company: TestCompany, n: number) => Fields;
  shapes: [Shape, ...Shape[]];
  /** The table, one of its text columns, and how the audit log shows that column. */
  table: string;
  column: string;
  shown: (image: Event['before']) => unknown;
  deletes?: boolean;
};

/** Another subset of the fields for each n, so that the requests of a batch differ. */
const someFields = (n: number, fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter((_field, i) => ((n + 1) >> (i % 5)) % 2 === 1));
export const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));
export const line = (n: number) => (i: number) => ({
  description: `line ${i} of ${n}`,
  quantity: i + 1,
  rate: `${n}.2575`,
  amount: `${n * (i + 1)}.99`,
});

export const heading = (n: number): Fields => ({
  invoice_number: `C-${n}`,
  sender_id: `5f0c1c62-5d3b-4a64-9a0e-0d3a1c2b4e${10 + (n % 80)}`,
  date_created: `2026-05-${10 + (n % 20)} 10:00:00`,
  date_due: `2026-06-${10 + (n % 20)} 17:30:00`,
  vat: n % 21,
  total: 100 + n,
  sub_total: `${90 + n}.5`,
  ...someFields(n, { payment_terms: n % 4 === 0 ? null : `${n} days`, vat_amount: n }),
});

export const person = (n: number): Fields => ({
  entity_id: 'person',
  title: `Dr ${n}`,
  first_names: `Jo ${n}`,
  last_name: `Doe ${n}`,
});
const details = (n: number): Fields => ({
  middle_names: `Mary ${n}`,
  known_as: `Jay ${n}`,
  tel_1: `07400 1112${10 + n}`,
  tel_2: `0113 4960${100 + n}`,
  email: `jo-${n}@client.example`,
  gender: `gender ${n}`,
  dob: `${10 + (n % 18)}/01/1970`,
  marital_status: `widowed ${n}`,
  occupation: `Baker ${n}`,
  preferred_name: `Dee ${n}`,
  alias: `J. Dough ${n}`,
  them_pronoun: `her ${n}`,
  they_pronoun: `she ${n}`,
  their_pronoun: `hers ${n}`,
});
const cleared = (n: number) => ({
  occupation: null,
  ...someFields(n, { gender: null, tel_2: null, dob: null, email: null, alias: null }),
});
export const address = (n: number) =>
  someFields(n, { address_1: `Flat ${n}`, address_2: null, address_3: `Town ${n}`, postcode: `LS${n} 2AB` });
const relationship = ({ customers: [john, ann] }: TestCompany, n: number) =>
  someFields(n, { [john.id]: `uncle ${n}`, [ann.id]: `aunt ${n}` });
const tags = ({ customTags }: TestCompany, n: number) => ({
  tags: ['executor', 'trustee', 'guardian'].slice(n % 3),
  custom_tags: customTags.slice(n % 3),
});

const at = (n: number) => ({
  start_time: `2026-06-${10 + (n % 20)} 10:${10 + (n % 40)}:00`,
  end_time: `2026-06-${10 + (n % 20)} 12:00:00`,
});
const texts = (n: number): Fields => ({
  ...someFields(n, { notes: `notes ${n}` }),
  location: n % 3 ? `room ${n}` : null,
});

export const INTERACTIONS: Kind = {
  name: 'updates of interactions',
  type: 'interaction.updated',
  list: '/interactions',
  made: (_company, n) => ({ type: 'email', notes: `before ${n}`, sender: 'Alex', recipient: 'John' }),
  shapes: [
    {
      sent: (_company, n) => ({
        type: ['phone', 'letter', 'SMS'][n % 3],
        ...someFields(n, { sender: `sender ${n}`, notes: `after ${n}`, recipient: `recipient ${n}` }),
        ...(n % 5 === 0 && { sender: null, notes: null }),
        ...(n % 3 === 0 && { when: n % 2 ? null : `2026-05-${10 + (n % 20)} 10:15:30` }),
      }),
    },
  ],
  table: 'interactions',
  column: 'notes',
  shown: (image) => image?.notes,
};

export const INVOICES: Kind = {
  name: 'updates of invoices',
  type: 'invoice.updated',
  list: '/invoices',
  made: (_company, n) => ({
    ...heading(n),
    invoice_number: `M-${n}`,
    total: 100,
    payment_terms: `before ${n}`,
    items: times(1 + (n % 3), line(n)),
  }),
  shapes: [
    { sent: (_company, n) => heading(n) },
    { sent: (_company, n) => ({ ...heading(n), items: times(1 + (n % 4), line(n)) }) },
    {
      alone: true,
      sent: (_company, n) => ({ ...heading(n), items: times(1 + (n % 4), line(n)), keep_existing_items: true }),
    },
    { sent: (_company, n) => ({ ...heading(n), keep_existing_items: false }) },
    { paid: 100, sent: (_company, n) => ({ ...heading(n), total: n % 2 ? 100 : 60 + n / 2 }) },
    {
      paid: 100,
      alone: true,
      sent: (_company, n) => ({
        ...heading(n),
        total: 99,
        items: times(1 + (n % 4), line(n)),
        keep_existing_items: true,
      }),
    },
  ],
  table: 'invoices',
  column: 'payment_terms',
  shown: (image) => image?.payment_terms,
};

export const ENTRIES: Kind = {
  name: 'updates of address book entries',
  type: 'address_book_entry.updated',
  list: '/address-book/entry',
  made: (company, n) => ({
    ...person(100 + n),
    ...details(100 + n),
    known_as: `before ${n}`,
    relationship: relationship(company, n + 1),
    address: { address_1: `1 High Street ${n}`, postcode: 'AB1 2CD' },
    tags: ['executor'],
  }),
  shapes: [
    { sent: (_company, n) => ({ ...person(n), ...someFields(n, details(n)) }) },
    { sent: (company, n) => ({ ...person(n), ...someFields(n, tags(company, n)) }) },
    { sent: (_company, n) => ({ ...person(n), ...someFields(n, details(n)), ...cleared(n) }) },
    { sent: (company, n) => ({ ...person(n), relationship: n % 4 === 3 ? null : relationship(company, n) }) },
    { sent: (_company, n) => ({ ...person(n), address: n % 4 === 3 ? null : address(n) }) },
    {
      sent: (company, n) => ({
        ...person(n),
        ...cleared(n),
        ...tags(company, n),
        relationship: relationship(company, n),
        address: address(n),
      }),
    },
  ],
  table: 'people',
  column: 'known_as',
  shown: (image) => image?.data.known_as,
};

const BOOKED = {
  list: '/appointments',
  made: (company: TestCompany, n: number) => ({
    adviser_email: company.adviser,
    ...at(n),
    email_recipient: company.customers[0].email,
    sms_recipient: '07400 123456',
    email_notification: true,
    sms_notification: n % 2 === 0,
    notes: `before ${n}`,
  }),
  table: 'appointments',
  column: 'notes',
  shown: (image: Event['before']) => image?.notes,
};

const withMeeting = (company: TestCompany) => ({ adviser_email: company.adviserWithVideo, video_meeting: true });

export const APPOINTMENTS: Kind = {
  ...BOOKED,
  name: 'updates of appointments',
  type: 'appointment.updated',
  shapes: [
    { sent: (_company, n) => texts(n) },
    { sent: (_company, n) => ({ ...texts(n), ...at(n + 7) }) },
    // The answer reads the states of the messages from what the statement wrote, so these are never batched.
    {
      alone: true,
      sent: (_company, n) => ({ ...texts(n), email_confirmation: true, ...(n % 2 && { sms_confirmation: true }) }),
    },
    { alone: true, sent: (_company, n) => ({ ...texts(n), sms_notification: n % 2 ? null : false }) },
    { sent: (company, n) => ({ ...texts(n), email_recipient: n % 4 === 3 ? null : company.customers[n % 2]?.email }) },
    { made: withMeeting, sent: (_company, n) => ({ ...texts(n), ...at(n + 9) }) },
  ],
};

export const DELETIONS: Kind = {
  ...BOOKED,
  name: 'deletions of appointments',
  type: 'appointment.deleted',
  shapes: [
    { sent: () => ({}) },
    { made: withMeeting, sent: () => ({}) },
    { made: () => ({ email_confirmation: true }), sent: () => ({}) },
  ],
  deletes: true,
};

/** Sent in one tick, they go to the first two connections in batches of eight. */
const OF_A_SHAPE = 16;

/** A record and the request that changes it. */
export type Case = {
  company: TestCompany;
  token: string;
  path: string;
  id: string;
  body: Fields;
  shape: Shape;
  requestId: string;
};

export const { exchange, sendInOneTick } = concurrentRequests(app);

export function send({ deletes }: Kind, { token, path, body, requestId }: Case): Promise<Answer> {
  const headers = headersOf(token, requestId);
  return deletes ? exchange('DELETE', path, headers) : exchange('PATCH', path, headers, body);
}

export const prepared = new Set<Shape | Kind>();

/**
 * A statement that a connection has not prepared is sent singly. Two requests in one tick prepare it on the first two
 * connections, which are also the first to be used by a test.
 */
async function prepare(kind: Kind, cases: Case[]): Promise<void> {
  const shapes = new Set(cases.map(({ shape }) => shape));
  for (const shape of shapes.isSubsetOf(new Set(kind.shapes)) ? shapes : kind.shapes) {
    if (prepared.has(shape)) continue;
    prepared.add(shape);
    const two = await makeSome(kind, await app.company(), 2, shape);
    await sendInOneTick(two, (one) => send(kind, one));
  }
}

/** Sends all requests in one tick. */
export async function sendAll(kind: Kind, cases: Case[]): Promise<Answer[]> {
  await prepare(kind, cases);
  return sendInOneTick(cases, (one) => send(kind, one));
}

export async function make(
  kind: Kind,
  company: TestCompany,
  n: number,
  shape: Shape = kind.shapes[0],
  token = company.token,
) {
  const who = caller(app.baseUrl, token);
  const { id } = await ok(
    who.post(`${company.path}${kind.list}`, { ...kind.made(company, n), ...shape.made?.(company) }),
  );
  const path = `${company.path}${kind.list}/${id}`;
  const { paid } = shape;
  if (paid) await ok(who.post(`${path}/payments`, { amount: paid, paid_at: `2026-05-${10 + (n % 20)} 12:00:00` }));
  return { company, token, path, id, shape, body: shape.sent(company, n), requestId: `request-${n}` } as Case;
}

/** Makes records in the order of their shapes. The callers in `staff` take turns, each with its own credentials. */
export async function makeAll(
  kind: Kind,
  staff: { company: TestCompany; token: string }[],
  shapes: Shape[] = kind.shapes,
  each = OF_A_SHAPE,
) {
  const wanted = shapes.flatMap((shape) => times(each, () => shape));
  const made = wanted.map((shape, n) => {
    const { company, token } = staff[n % staff.length] ?? assert.fail();
    return make(kind, company, n, shape, token);
  });
  return Promise.all(made);
}

export const makeSome = (kind: Kind, company: TestCompany, count: number, shape = kind.shapes[0]) =>
  makeAll(kind, [{ company, token: company.token }], [shape], count);

export async function history({ company, path }: Pick<Case, 'company' | 'path'>): Promise<Event[]> {
  return ok(company.get(`${path}/history`));
}

export const lastOf = async (one: Case): Promise<Event> => (await history(one)).at(-1) ?? assert.fail();

/** The largest number of events that one statement has written. */
export async function largestBatch(type: string, cases: { id: string }[]): Promise<number> {
  const [row] = await app.sql<{ most: number }>(
    `SELECT max(count)::int AS most FROM (
       SELECT count(*) FROM events WHERE type = $1 AND record_id = ANY ($2::uuid[]) GROUP BY xmin::text, cmin::text) counts`,
    [type, cases.map(({ id }) => id)],
  );
  return row?.most ?? 0;
}

export async function assertBatched(kind: Kind, cases: Case[]): Promise<void> {
  for (const [shape, ofShape] of Map.groupBy(cases, ({ shape }) => shape)) {
    if (shape.alone) continue;
    const most = await largestBatch(kind.type, ofShape);
    assert.ok(most >= 3, `${most} together in shape ${kind.shapes.indexOf(shape)}`);
  }
}

const STORED = [
  `SELECT channel, kind, state, start_at, due_at, day_before, recipient, withdrawn, created_at, updated_at FROM messages
    WHERE appointment_id = $1 ORDER BY kind, channel, start_at, state, recipient`,
  `SELECT start_at, end_at, wished, wanted, state, due_at, created_at, updated_at FROM meetings WHERE appointment_id = $1`,
];

/** The complete state of a record: as it is read, its history, and the messages and meeting of an appointment. */
export async function fullState(one: Pick<Case, 'company' | 'path' | 'id'>): Promise<unknown> {
  const read = await one.company.get(one.path, { 'x-request-id': 'read' });
  const stored = await Promise.all(STORED.map((text) => app.sql(text, [one.id])));
  return withoutIdentifiers(one.company, [read.body, await history(one), stored]);
}

/** Replaces the identifiers and addresses, which differ between two companies. */
export function withoutIdentifiers(
  { caseId, companyId, customers: [john, ann], adviser, adviserWithVideo }: TestCompany,
  value: unknown,
) {
  const own = { caseId, companyId, john: john.id, johnAt: john.email, ann: ann.id, annAt: ann.email };
  let text = JSON.stringify(value);
  for (const [name, id] of Object.entries({ ...own, adviser, adviserWithVideo })) text = text.replaceAll(id, name);
  return JSON.parse(text.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|evt_[\w-]{22}/g, 'id'));
}

export function assertFaultyFields(answer: Answer | undefined, ...fields: string[]): void {
  assert.ok(answer);
  assert.equal(answer.status, 400, answer.text);
  assert.deepEqual(
    answer.body.errors.map(({ field }: { field: string }) => field),
    fields,
  );
}
