import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import pg from 'pg';
import { COMPANY_SCOPES } from '../src/kernel/scopes.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import { concurrentRequests, headersOf } from './harness/batching.ts';
import { type Event, eventsOf } from './harness/events.ts';
import { type Answer, caller } from './harness/http.ts';
import { meetingWorker, openZoom, secrets } from './harness/meeting-worker.ts';
import { Recorder } from './harness/message-worker.ts';
import { untilBlocked } from './harness/overlap.ts';
import { CREDENTIALS } from './harness/zoom.ts';

/** Requests of the same moment that ask for the same are one statement, and none of them notices. */

const app = await startApp({ secrets });
const zoom = await openZoom();
const post = new Recorder();
const worker = meetingWorker(app, zoom, { sender: post });

const NOW = '2026-06-01T09:00:00Z';
beforeEach(() => app.clock.set(NOW));

type Fields = Record<string, unknown>;

/**
 * Requests of one shape are made by one statement. `alone`: those that never are, or only where what each asks before
 * happens to be answered at the same moment. `paid`: what was paid of the invoice before.
 */
type Shape = {
  made?: (company: TestCompany) => Fields;
  paid?: number;
  alone?: true;
  sent: (company: TestCompany, n: number) => Fields;
};
type Kind = {
  name: string;
  /** What the log says of it. */
  type: string;
  list: string;
  made: (company: TestCompany, n: number) => Fields;
  shapes: [Shape, ...Shape[]];
  /** The table, its column with a text, and that text as the log shows it. */
  table: string;
  column: string;
  shown: (image: Event['before']) => unknown;
  deletes?: boolean;
};

/** Another subset of the fields for each n, so that the requests of a batch differ. */
const someFields = (n: number, fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter((_field, i) => ((n + 1) >> (i % 5)) % 2 === 1));
const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));
const line = (n: number) => (i: number) => ({
  description: `line ${i} of ${n}`,
  quantity: i + 1,
  rate: `${n}.2575`,
  amount: `${n * (i + 1)}.99`,
});

const heading = (n: number): Fields => ({
  invoice_number: `C-${n}`,
  sender_id: `5f0c1c62-5d3b-4a64-9a0e-0d3a1c2b4e${10 + (n % 80)}`,
  date_created: `2026-05-${10 + (n % 20)} 10:00:00`,
  date_due: `2026-06-${10 + (n % 20)} 17:30:00`,
  vat: n % 21,
  total: 100 + n,
  sub_total: `${90 + n}.5`,
  ...someFields(n, { payment_terms: n % 4 === 0 ? null : `${n} days`, vat_amount: n }),
});

const person = (n: number): Fields => ({
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
const address = (n: number) =>
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

const INTERACTIONS: Kind = {
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

const INVOICES: Kind = {
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

const ENTRIES: Kind = {
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

const APPOINTMENTS: Kind = {
  ...BOOKED,
  name: 'updates of appointments',
  type: 'appointment.updated',
  shapes: [
    { sent: (_company, n) => texts(n) },
    { sent: (_company, n) => ({ ...texts(n), ...at(n + 7) }) },
    // What their answers say of the messages is looked for in what the statement wrote.
    {
      alone: true,
      sent: (_company, n) => ({ ...texts(n), email_confirmation: true, ...(n % 2 && { sms_confirmation: true }) }),
    },
    { alone: true, sent: (_company, n) => ({ ...texts(n), sms_notification: n % 2 ? null : false }) },
    { sent: (company, n) => ({ ...texts(n), email_recipient: n % 4 === 3 ? null : company.customers[n % 2]?.email }) },
    { made: withMeeting, sent: (_company, n) => ({ ...texts(n), ...at(n + 9) }) },
  ],
};

const DELETIONS: Kind = {
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

const UPDATES = [INTERACTIONS, INVOICES, ENTRIES, APPOINTMENTS];
const KINDS = [...UPDATES, DELETIONS];

/** Sent in one tick, they go to the first two connections in batches of eight. */
const OF_A_SHAPE = 16;

/** A record, and what is to become of it. */
type Case = {
  company: TestCompany;
  token: string;
  path: string;
  id: string;
  body: Fields;
  shape: Shape;
  requestId: string;
};

const { exchange, sendInOneTick } = concurrentRequests(app);

function send({ deletes }: Kind, { token, path, body, requestId }: Case): Promise<Answer> {
  const headers = headersOf(token, requestId);
  return deletes ? exchange('DELETE', path, headers) : exchange('PATCH', path, headers, body);
}

const prepared = new Set<Shape | Kind>();

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
async function sendAll(kind: Kind, cases: Case[]): Promise<Answer[]> {
  await prepare(kind, cases);
  return sendInOneTick(cases, (one) => send(kind, one));
}

/** Shape by shape, so that those of one moment are of one statement. */
async function sendByShape(kind: Kind, cases: Case[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const ofShape of Map.groupBy(cases, ({ shape }) => shape).values()) {
    answers.push(...(await sendAll(kind, ofShape)));
  }
  return answers;
}

async function make(kind: Kind, company: TestCompany, n: number, shape: Shape = kind.shapes[0], token = company.token) {
  const who = caller(app.baseUrl, token);
  const { id } = await ok(
    who.post(`${company.path}${kind.list}`, { ...kind.made(company, n), ...shape.made?.(company) }),
  );
  const path = `${company.path}${kind.list}/${id}`;
  const { paid } = shape;
  if (paid) await ok(who.post(`${path}/payments`, { amount: paid, paid_at: `2026-05-${10 + (n % 20)} 12:00:00` }));
  return { company, token, path, id, shape, body: shape.sent(company, n), requestId: `request-${n}` } as Case;
}

/** In the order of their shapes; `staff` take turns, each with credentials of their own. */
async function makeAll(
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

const makeSome = (kind: Kind, company: TestCompany, count: number, shape = kind.shapes[0]) =>
  makeAll(kind, [{ company, token: company.token }], [shape], count);

type Creation = { company: TestCompany; token: string; path: string; body: Fields; requestId: string };

/** Of a record that is to be made. */
const newRecord = (kind: Kind, company: TestCompany, n: number, token = company.token): Creation => ({
  company,
  token,
  path: `${company.path}${kind.list}`,
  body: kind.made(company, n),
  requestId: `request-${n}`,
});
const sendCreation = ({ token, path, body, requestId }: Creation) =>
  exchange('POST', path, headersOf(token, requestId), body);

/** Sends all creations in one tick. */
async function createAll(kind: Kind, all: Creation[]): Promise<Answer[]> {
  if (!prepared.has(kind)) {
    prepared.add(kind);
    const company = await app.company();
    const two = times(2, (n) => newRecord(kind, company, n));
    await sendInOneTick(two, sendCreation);
  }
  return sendInOneTick(all, sendCreation);
}

async function history({ company, path }: Pick<Case, 'company' | 'path'>): Promise<Event[]> {
  return ok(company.get(`${path}/history`));
}

const lastOf = async (one: Case): Promise<Event> => (await history(one)).at(-1) ?? assert.fail();

/** How many entries of the log one statement has written. */
async function largestBatch(type: string, cases: { id: string }[]): Promise<number> {
  const [row] = await app.sql<{ most: number }>(
    `SELECT max(count)::int AS most FROM (
       SELECT count(*) FROM events WHERE type = $1 AND record_id = ANY ($2::uuid[]) GROUP BY xmin::text, cmin::text) counts`,
    [type, cases.map(({ id }) => id)],
  );
  return row?.most ?? 0;
}

async function assertBatched(kind: Kind, cases: Case[]): Promise<void> {
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

/** All that there is of it: as it is read, its history, and what belongs to an appointment. */
async function fullState(one: Pick<Case, 'company' | 'path' | 'id'>): Promise<unknown> {
  const read = await one.company.get(one.path, { 'x-request-id': 'read' });
  const stored = await Promise.all(STORED.map((text) => app.sql(text, [one.id])));
  return withoutIdentifiers(one.company, [read.body, await history(one), stored]);
}

/** Without what two companies have of their own: identifiers and addresses. */
function withoutIdentifiers(
  { caseId, companyId, customers: [john, ann], adviser, adviserWithVideo }: TestCompany,
  value: unknown,
) {
  const own = { caseId, companyId, john: john.id, johnAt: john.email, ann: ann.id, annAt: ann.email };
  let text = JSON.stringify(value);
  for (const [name, id] of Object.entries({ ...own, adviser, adviserWithVideo })) text = text.replaceAll(id, name);
  return JSON.parse(text.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|evt_[\w-]{22}/g, 'id'));
}

/** Two companies, and two people in each who take turns. */
async function staffOfTwoCompanies() {
  const companies = [await app.company(), await app.company({ timeZone: 'America/New_York' })];
  const staff: { company: TestCompany; token: string }[] = [];
  for (let i = 0; i < 2; i++) {
    for (const company of companies) staff.push({ company, token: await company.tokenFor(COMPANY_SCOPES) });
  }
  return staff;
}

for (const kind of KINDS) {
  test(`${kind.name} at once do to each record what each alone would have done`, async () => {
    const [cases, twins] = [
      await makeAll(kind, await staffOfTwoCompanies()),
      await makeAll(kind, await staffOfTwoCompanies()),
    ];
    const answers = await sendByShape(kind, cases);
    const alone: Answer[] = [];
    for (const twin of twins) alone.push(await send(kind, twin));
    const [became, expected] = [await Promise.all(cases.map(fullState)), await Promise.all(twins.map(fullState))];
    for (const [i, one] of cases.entries()) {
      const [answer = assert.fail(), same = assert.fail()] = [answers[i], alone[i]];
      assert.deepEqual([answer.status, same.status], [200, 200], answer.text);
      assert.deepEqual(
        withoutIdentifiers(one.company, answer.body),
        withoutIdentifiers(twins[i]?.company ?? assert.fail(), same.body),
      );
      assert.deepEqual(became[i], expected[i], JSON.stringify(one.body));
    }
    await assertBatched(kind, cases);
  });

  test(`${kind.name} at once each have one entry in the log, with who, in which request, and what was before`, async () => {
    const cases = await makeAll(kind, await staffOfTwoCompanies());
    const before = await Promise.all(cases.map(lastOf));
    await sendByShape(kind, cases);
    for (const [i, one] of cases.entries()) {
      const events = await history(one);
      assert.equal(events.length, one.shape.paid ? 3 : 2);
      const last = events.at(-1);
      assert.deepEqual([last?.type, last?.request_id], [kind.type, one.requestId]);
      assert.deepEqual(last?.actor, before[i]?.actor);
      assert.deepEqual(last?.before, before[i]?.after);
    }
    assert.equal(new Set(before.map(({ actor }) => actor.id)).size, 4);
    await assertBatched(kind, cases);
  });

  test(`${kind.name} at once: one of another company, of another case, unknown or deleted is not found, the others are made`, async () => {
    const [company, stranger] = [await app.company(), await app.company()];
    const gone = await make(kind, company, 42);
    if (kind !== INVOICES) await ok(company.delete(gone.path));
    const good = await makeSome(kind, company, 30);
    const theirs = await make(kind, stranger, 40);
    const ours = await make(kind, company, 41);
    const under = (path: string, id: string): Case => ({ ...ours, path: `${path}${kind.list}/${id}` });
    const bad = [
      under(company.path, theirs.id),
      under(stranger.path, theirs.id),
      under(`/cases/${await company.openCase()}`, ours.id),
      under(company.path, randomUUID()),
      ...(kind === INVOICES ? [] : [gone]),
    ];
    const before = await Promise.all([theirs, ours].map(fullState));
    const answers = await sendAll(kind, good.toSpliced(15, 0, ...bad));
    const refused = answers.splice(15, bad.length);
    for (const { status, body } of refused) assert.deepEqual([status, body.code], [404, 'not_found']);
    for (const [i, { status, body }] of answers.entries()) assert.deepEqual([status, body.id], [200, good[i]?.id]);
    assert.deepEqual(await Promise.all([theirs, ours].map(fullState)), before);
    for (const one of good) assert.equal((await history(one)).length, 2);
    assert.ok((await largestBatch(kind.type, good)) >= 3);
  });

  test(`${kind.name} at once: one whose record somebody else is changing waits, and the log has what it really was`, async () => {
    const company = await app.company();
    const cases = await makeSome(kind, company, 20);
    const held = cases[10] ?? assert.fail();
    const holder = new pg.Client(app.connection);
    await holder.connect();
    try {
      await holder.query('BEGIN');
      await holder.query(`SELECT 1 FROM ${kind.table} WHERE id = $1 FOR UPDATE`, [held.id]);
      const answers = sendAll(kind, cases);
      await untilBlocked(app);
      await holder.query(`UPDATE ${kind.table} SET ${kind.column} = 'by hand', version = version + 1 WHERE id = $1`, [
        held.id,
      ]);
      await holder.query('COMMIT');
      for (const { status, text } of await answers) assert.equal(status, 200, text);
    } finally {
      await holder.end();
    }
    for (const [n, one] of cases.entries()) {
      const events = await history(one);
      assert.equal(events.length, 2);
      assert.equal(kind.shown(events[1]?.before ?? null), one === held ? 'by hand' : `before ${n}`);
    }
    assert.ok((await largestBatch(kind.type, cases)) >= 3);
  });
}

for (const kind of UPDATES) {
  test(`${kind.name} at once, several of them of one record: each is made onto the one before it`, async () => {
    const company = await app.company();
    const cases = await makeSome(kind, company, 24);
    const one = cases[5] ?? assert.fail();
    const more = times(5, (i) => ({
      ...one,
      body: kind.shapes[0].sent(company, 30 + i),
      requestId: `request-${30 + i}`,
    }));
    const answers = await sendAll(kind, [...cases.slice(0, 12), ...more, ...cases.slice(12)]);
    for (const { status, text } of answers) assert.equal(status, 200, text);
    const [made, ...updates] = await history(one);
    let was = made?.after;
    for (const { before, after } of updates) {
      assert.deepEqual(before, was);
      was = after;
    }
    assert.deepEqual(
      updates.map(({ request_id }) => request_id).sort(),
      [one, ...more].map(({ requestId }) => requestId).sort(),
    );
    for (const other of cases) if (other !== one) assert.equal((await history(other)).length, 2);
    assert.ok((await largestBatch(kind.type, cases)) >= 3);
  });
}

for (const kind of UPDATES) {
  const type = kind.type.replace('updated', 'created');
  const of = `${type} at once`;

  test(`${of}: each record is what it would have been alone, and has one entry in the log`, async () => {
    const made = async (sendThem: (all: Creation[]) => Promise<Answer[]>) => {
      const staff = await staffOfTwoCompanies();
      const all = times(40, (n) => {
        const { company, token } = staff[n % staff.length] ?? assert.fail();
        return newRecord(kind, company, n, token);
      });
      const answers = await sendThem(all);
      return all.map(({ company, path }, i) => {
        const { status, text, body } = answers[i] ?? assert.fail();
        assert.equal(status, 200, text);
        return { company, answer: withoutIdentifiers(company, body), id: body.id, path: `${path}/${body.id}` };
      });
    };
    const records = await made((all) => createAll(kind, all));
    const twins = await made(async (all) => {
      const answers: Answer[] = [];
      for (const one of all) answers.push(await sendCreation(one));
      return answers;
    });
    for (const [i, one] of records.entries()) {
      const twin = twins[i] ?? assert.fail();
      assert.deepEqual(one.answer, twin.answer);
      assert.deepEqual(await fullState(one), await fullState(twin));
      const events = await history(one);
      assert.deepEqual([events.length, events[0]?.type, events[0]?.request_id], [1, type, `request-${i}`]);
    }
    assert.equal(new Set(records.map(({ id }) => id)).size, 40);
    assert.ok((await largestBatch(type, records)) >= 3);
  });

  test(`${of}: one of an unknown case, or of a case of another company, is not found, the others are made`, async () => {
    const [company, stranger] = [await app.company(), await app.company()];
    const good = times(30, (n) => newRecord(kind, company, n));
    const bad = [stranger.path, `/cases/${randomUUID()}`].map((path) => ({
      ...newRecord(kind, company, 40),
      path: `${path}${kind.list}`,
    }));
    const answers = await createAll(kind, good.toSpliced(15, 0, ...bad));
    const statuses = answers.map(({ status }) => status);
    assert.deepEqual(statuses.splice(15, 2), [404, 404]);
    assert.deepEqual(statuses, Array(30).fill(200));
    const record = type.split('.', 1)[0] ?? '';
    assert.equal((await eventsOf(company, record)).length, 30);
    assert.deepEqual(await eventsOf(stranger, record), []);
  });
}

test('invoices made at once with the same number: one of them has it, and no other one is refused', async () => {
  const company = await app.company();
  const all = times(30, (n) => newRecord(INVOICES, company, n));
  for (const n of [3, 12, 13, 14, 28]) (all[n] ?? assert.fail()).body.invoice_number = 'the same';
  const answers = await createAll(INVOICES, all);
  const refused = answers.filter(({ status }) => status !== 200);
  assert.equal(refused.length, 4);
  for (const answer of refused) assertFaultyFields(answer, 'invoice_number');
  assert.equal((await eventsOf(company, 'invoice')).length, 26);
  assert.equal((await ok(company.get(`${company.path}/invoices`))).length, 26);
});

test('deletions of appointments at once, several of them of one: one is made, the others find nothing', async () => {
  const company = await app.company();
  const cases = await makeSome(DELETIONS, company, 24);
  const [one = assert.fail()] = cases;
  const answers = await sendAll(DELETIONS, [...cases.slice(1), one, one, one]);
  const statuses = answers.map(({ status }) => status);
  assert.deepEqual(statuses.splice(23).sort(), [200, 404, 404]);
  assert.deepEqual(statuses, Array(23).fill(200));
  assert.equal((await eventsOf(company, 'appointment')).length, 48);
});

/** What has a meaning where lists are written as text, or none in JSON. */
const DIFFICULT = [
  '{"a","b\\"}',
  `O'Brien, "the \\ baker"`,
  'NULL',
  '"NULL"',
  'null',
  '',
  ' ',
  '{}',
  '{,}',
  '},{',
  'a,b',
  '\\',
  '\\"',
  '\\\\"',
  '"',
  "''",
  'line\nbreak\r\n\ttab',
  '😀 é ß 漢',
  '$1 $2::text[]',
  "'); DROP TABLE events; --",
  '(1,"x")',
  '\u2028\u0001\u007f',
  '[1:2]={a,b}',
  '%s %L \\x41 \\N \\.',
];
const difficult = (n: number) => DIFFICULT[n % DIFFICULT.length] ?? '';

const WRITTEN: [
  kind: Kind,
  sent: (company: TestCompany, n: number) => Fields,
  read: (record: Event['after']) => unknown,
][] = [
  [
    INTERACTIONS,
    (_company, n) => ({ type: 'phone', notes: difficult(n), sender: difficult(n + 1), recipient: difficult(n + 2) }),
    (image) => [image?.notes, image?.sender, image?.recipient],
  ],
  [
    INVOICES,
    (_company, n) => ({
      ...heading(n),
      invoice_number: `${n}${difficult(n)}`,
      payment_terms: difficult(n + 1),
      items: times(n % 5, (i) => ({ ...line(n)(i), description: difficult(n + i) })),
    }),
    (image) => [
      image?.invoice_number,
      image?.payment_terms,
      image?.items.map(({ description }: Fields) => description),
    ],
  ],
  [
    ENTRIES,
    ({ customers: [john, ann] }, n) => ({
      ...person(n),
      first_names: difficult(n),
      last_name: difficult(n + 1),
      occupation: difficult(n + 2),
      gender: null,
      relationship: { [ann.id]: `${difficult(n)}.`, [john.id]: `${difficult(n + 1)},` },
      address: {
        address_1: difficult(n),
        address_2: difficult(n + 1),
        address_3: difficult(n + 2),
        postcode: difficult(n + 3),
      },
    }),
    (image) => [
      image?.data.first_names,
      image?.data.last_name,
      image?.data.occupation,
      image?.data.relationship,
      image?.address.data,
    ],
  ],
  [
    APPOINTMENTS,
    (_company, n) => ({ notes: difficult(n), location: difficult(n + 1) }),
    (image) => [image?.notes, image?.location],
  ],
];

for (const [kind, sent, read] of WRITTEN) {
  test(`${kind.name} at once keep every text as it was sent: quotes, braces, commas, NULL, nothing at all`, async () => {
    const company = await app.company();
    const cases = await makeSome(kind, company, 48);
    for (const [n, one] of cases.entries()) one.body = sent(company, n);
    for (const { status, text } of await sendAll(kind, cases)) assert.equal(status, 200, text);
    for (const one of cases) {
      const { after } = await lastOf(one);
      // As the log would show what was sent.
      const { address, ...data } = one.body;
      const expected = { ...one.body, data, address: { data: address } };
      assert.deepEqual(read(after), read({ items: [], ...expected }), JSON.stringify(one.body));
    }
    assert.ok((await largestBatch(kind.type, cases)) >= 3);
  });
}

function assertFaultyFields(answer: Answer | undefined, ...fields: string[]): void {
  assert.ok(answer);
  assert.equal(answer.status, 400, answer.text);
  assert.deepEqual(
    answer.body.errors.map(({ field }: { field: string }) => field),
    fields,
  );
}

/** Sends the bad ones in the middle of the good ones, which are all made, each once. Gives the answers to the bad ones. */
async function sendAmongGood(kind: Kind, good: Case[], bad: Case[]): Promise<Answer[]> {
  const answers = await sendAll(kind, good.toSpliced(15, 0, ...bad));
  const refused = answers.splice(15, bad.length);
  for (const { status, text } of answers) assert.equal(status, 200, text);
  for (const one of good) assert.equal((await history(one)).length, 2);
  return refused;
}

test('a fault in the database is that of the one whose record has it, and not of those who shared its statement', async () => {
  await app.sql(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'never'; END $$;
    CREATE TRIGGER refuse BEFORE UPDATE ON interactions FOR EACH ROW WHEN (new.notes = 'never') EXECUTE FUNCTION refuse()`);
  const [bad = assert.fail(), ...good] = await makeSome(INTERACTIONS, await app.company(), 31);
  bad.body = { type: 'phone', notes: 'never' };
  const [answer] = await sendAmongGood(INTERACTIONS, good, [bad]);
  assert.equal(answer?.status, 500);
  assert.equal((await history(bad)).length, 1);
});

test('an invoice number that is taken is the fault of the one that asks for it, of several of the same moment too', async () => {
  const company = await app.company();
  const cases = await makeSome(INVOICES, company, 34);
  const [one = assert.fail(), two = assert.fail(), three = assert.fail(), ...good] = cases;
  one.body = { ...one.body, invoice_number: 'M-5' };
  for (const same of [two, three]) same.body = { ...same.body, invoice_number: 'the same' };
  // Which the invoice with that number sends as well.
  const stays = good[2] ?? assert.fail();
  assert.equal(stays.body.invoice_number, 'C-5');
  stays.body = { ...stays.body, invoice_number: 'M-5' };
  const [first, ...both] = await sendAmongGood(INVOICES, good, [one, two, three]);
  assertFaultyFields(first, 'invoice_number');
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 400]);
  assertFaultyFields(
    both.find(({ status }) => status === 400),
    'invoice_number',
  );
  assert.equal((await history(one)).length, 1);
  assert.equal((await history(two)).length + (await history(three)).length, 3);
});

test('an unknown tag, custom tag or customer is the fault of the one that names it', async () => {
  const company = await app.company();
  const stranger = await app.company();
  const good = await makeSome(ENTRIES, company, 30);
  const bad = await makeSome(ENTRIES, company, 4);
  const foreign = stranger.customers[0].id;
  const faults: [Fields, string][] = [
    [{ tags: ['executor', '{"a","b"}'] }, 'tags[1]'],
    [{ tags: ['NULL'] }, 'tags[0]'],
    [{ custom_tags: [company.customTags[0], 'executor'] }, 'custom_tags[1]'],
    [{ relationship: { [foreign]: 'uncle' } }, `relationship.${foreign}`],
  ];
  for (const [i, one] of bad.entries()) one.body = { ...one.body, ...faults[i]?.[0] };
  const answers = await sendAmongGood(ENTRIES, good, bad);
  for (const [i, answer] of answers.entries()) assertFaultyFields(answer, faults[i]?.[1] ?? '');
  for (const one of bad) assert.equal((await history(one)).length, 1);
  assert.ok((await largestBatch(ENTRIES.type, good)) >= 3);
});

test('an unknown recipient of an appointment is the fault of the one that names it', async () => {
  const company = await app.company();
  const shape = APPOINTMENTS.shapes[4] ?? assert.fail();
  const good = await makeSome(APPOINTMENTS, company, 30, shape);
  const [bad = assert.fail()] = await makeSome(APPOINTMENTS, company, 1, shape);
  bad.body = { email_recipient: 'nobody@client.example' };
  const [answer] = await sendAmongGood(APPOINTMENTS, good, [bad]);
  assertFaultyFields(answer, 'email_recipient');
  assert.equal((await history(bad)).length, 1);
});

test('invoices updated at once, paid, part paid and not: each has its own day of payment', async () => {
  const company = await app.company();
  const cases: Case[] = [];
  for (let n = 0; n < 40; n++) {
    const one = await make(INVOICES, company, n, { paid: [0, 40, 100][n % 3] ?? 0, sent: (_company, n) => heading(n) });
    // What was paid in part reaches a total that is lowered; what was paid is no longer enough for one that is raised.
    one.body.total = { 0: 30, 1: 200 }[Math.floor(n / 3) % 3] ?? 100;
    cases.push(one);
  }
  const answers = await sendAll(INVOICES, cases);
  for (const [n, one] of cases.entries()) {
    const paid = Number(one.shape.paid);
    const isPaid = paid > 0 && paid >= Number(one.body.total);
    const day = isPaid ? `2026-05-${10 + (n % 20)}T11:00:00.000000Z` : null;
    assert.equal(answers[n]?.body.date_paid, day);
    const { date_paid, status } = await ok(company.get(one.path));
    assert.deepEqual([date_paid, status], [day, isPaid ? 'Paid' : paid ? 'Part Paid' : 'Not Paid']);
  }
  assert.ok((await largestBatch(INVOICES.type, cases)) >= 3);
});

test('invoices updated at once: the items of one are replaced, of another added to, removed or left alone', async () => {
  const company = await app.company();
  const { shapes } = INVOICES;
  const cases = await makeAll(INVOICES, [{ company, token: company.token }], shapes.slice(0, 4), 10);
  await sendAll(INVOICES, cases);
  for (const [n, { path, shape }] of cases.entries()) {
    const before = times(1 + (n % 3), (i) => `line ${i} of ${n}`);
    const added = times(1 + (n % 4), (i) => `line ${i} of ${n}`);
    const expected = [before, added, [...before, ...added], []][shapes.indexOf(shape)];
    const { items } = await ok(company.get(path));
    assert.deepEqual(
      items.map(({ description }: Fields) => description),
      expected,
    );
  }
  const ids = await app.sql('SELECT 1 FROM invoice_items WHERE company_id = $1 GROUP BY id HAVING count(*) > 1', [
    company.companyId,
  ]);
  assert.deepEqual(ids, []);
  await assertBatched(INVOICES, cases);
});

test('items added at once to several invoices come behind those that each has', async () => {
  const shape = INVOICES.shapes[2] ?? assert.fail();
  let most = 0;
  // Whether there is room for them is asked first, and who is answered at the same moment is chance.
  for (let round = 0; most < 3; round++) {
    assert.ok(round < 20, 'never together');
    const cases = await makeSome(INVOICES, await app.company(), 40, shape);
    await sendAll(INVOICES, cases);
    for (const [n, one] of cases.entries()) {
      const { before, after } = await lastOf(one);
      const names = (items: Fields[]) => items.map(({ description }) => description);
      const [had, added] = [times(1 + (n % 3), line(n)), times(1 + (n % 4), line(n))];
      assert.deepEqual(names(before?.items), names(had));
      assert.deepEqual(names(after?.items), names([...had, ...added]));
    }
    most = await largestBatch(INVOICES.type, cases);
  }
});

test('appointments deleted at once: who was told of one is told that it is off, no reminder goes out, no meeting stays', async () => {
  await app.sql(`UPDATE messages SET state = 'cancelled' WHERE state IN ('scheduled', 'sending')`);
  await app.sql(`UPDATE meetings SET state = 'none' WHERE state = 'pending'`);
  const company = await app.company();
  const [{ id: adviser = '' } = {}] = await ok(company.get(`/manage/advisers?search=${company.adviser}`));
  await ok(company.send('PUT', `/manage/advisers/${adviser}/video-account`, { provider: 'zoom', ...CREDENTIALS }));
  const cases: Case[] = [];
  for (let n = 0; n < 40; n++) {
    const made = () => ({ email_confirmation: n % 3 === 0, video_meeting: n % 4 === 0, sms_notification: true });
    cases.push(await make(DELETIONS, company, n, { made, sent: () => ({}) }));
  }
  const stays = await make(DELETIONS, company, 41, { made: () => ({ video_meeting: true }), sent: () => ({}) });
  const told = cases.filter((_one, n) => n % 3 === 0).map(({ id }) => id);
  await worker.runOnce();
  assert.deepEqual(post.sent.map(({ appointmentId }) => appointmentId).sort(), told.toSorted());
  assert.equal(zoom.meetings.size, 11);
  post.sent.length = 0;
  const stayed = await fullState(stays);

  const answers = await sendAll(DELETIONS, cases);
  for (const [i, { status, body }] of answers.entries()) assert.deepEqual([status, body.id], [200, cases[i]?.id]);
  assert.ok((await largestBatch(DELETIONS.type, cases)) >= 3);
  const messages = await app.sql<{ appointment_id: string; id: string; kind: string; state: string }>(
    'SELECT appointment_id, id, kind, state FROM messages WHERE company_id = $1 AND appointment_id <> $2',
    [company.companyId, stays.id],
  );
  const cancellations = messages.filter(({ kind }) => kind === 'cancellation');
  assert.deepEqual(cancellations.map(({ appointment_id }) => appointment_id).sort(), told.toSorted());
  assert.equal(new Set(messages.map(({ id }) => id)).size, messages.length);
  const reminders = messages.filter(({ kind }) => kind === 'reminder');
  assert.deepEqual(
    reminders.map(({ state }) => state),
    Array(80).fill('cancelled'),
  );
  await worker.runOnce();
  const sent = post.sent.map(({ kind, appointmentId, recipient }) => [kind, appointmentId, recipient]);
  assert.deepEqual(sent.sort(), told.map((id) => ['cancellation', id, company.customers[0].email]).sort());
  assert.equal(zoom.meetings.size, 1);
  assert.deepEqual(await fullState(stays), stayed);
  post.sent.length = 0;
  app.clock.set('2026-07-10T09:00:00Z');
  await worker.runOnce();
  assert.deepEqual(
    post.sent.filter(({ appointmentId }) => appointmentId !== stays.id),
    [],
  );
});

test('nothing but its key leads to a record: no other index of its table begins with the case', async () => {
  const others = await app.sql(
    `SELECT tablename, indexname FROM pg_indexes
      WHERE tablename = ANY ($1) AND indexdef LIKE '%(company_id, case_id, %' AND indexname <> tablename || '_pkey'`,
    [['people', 'addresses', 'interactions', 'invoices', 'appointments', 'customers']],
  );
  assert.deepEqual(others, []);
});

test('what comes by the same records in another order is not waited for in a circle', async () => {
  const [heading, items] = INVOICES.shapes as [Shape, Shape, ...Shape[]];
  const deadlocks = async () => {
    const found = 'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()';
    return (await app.sql<{ deadlocks: string }>(found))[0]?.deadlocks;
  };
  const before = await deadlocks();
  for (let round = 0; round < 6; round++) {
    const company = await app.company();
    const made: Case[] = [];
    for (let n = 0; n < 24; n++) made.push(await make(INVOICES, company, n));
    const of = (shape: Shape, ...places: number[]) =>
      places.map((n) => {
        const one = made[n] ?? assert.fail();
        return { ...one, shape, body: { ...shape.sent(company, 100 + n), invoice_number: `M-${n}` } };
      });
    // The first of each go by themselves, and what follows is gathered by eights.
    const one = [...of(heading, 9, 10), ...of(items, 2, 3, 4), ...of(heading, 20, 21)];
    const other = [...of(heading, 11, 12), ...of(items, 9, 13, 14), ...of(heading, 22, 23)];
    const answers = await sendAll(INVOICES, [...of(heading, 1), ...of(heading, 2), ...one, ...other]);
    for (const { status, text } of answers) assert.equal(status, 200, text);
  }
  assert.equal(await deadlocks(), before);
});
