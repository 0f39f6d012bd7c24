import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestCompany } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import {
  APPOINTMENTS,
  app,
  assertBatched,
  assertFaultyFields,
  type Case,
  DELETIONS,
  ENTRIES,
  type Fields,
  fullState,
  heading,
  history,
  INTERACTIONS,
  INVOICES,
  type Kind,
  largestBatch,
  lastOf,
  line,
  make,
  makeAll,
  makeSome,
  person,
  type Shape,
  sendAll,
  times,
} from './harness/batching-kinds.ts';
import type { Event } from './harness/events.ts';
import type { Answer } from './harness/http.ts';
import { meetingWorker, openZoom } from './harness/meeting-worker.ts';
import { Recorder } from './harness/message-worker.ts';
import { CREDENTIALS } from './harness/zoom.ts';

const zoom = await openZoom();
const post = new Recorder();
const worker = meetingWorker(app, zoom, { sender: post });

/** Texts with a special meaning in PostgreSQL arrays, JSON or SQL. */
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
  test(`concurrent ${kind.name} keep every text as it was sent: quotes, braces, commas, NULL, nothing at all`, async () => {
    const company = await app.company();
    const cases = await makeSome(kind, company, 48);
    for (const [n, one] of cases.entries()) one.body = sent(company, n);
    // These bodies need other parts of the statement than those that `sendAll` prepares: the first round prepares them.
    for (const round of [cases.slice(0, 16), cases.slice(16)])
      for (const { status, text } of await sendAll(kind, round)) assert.equal(status, 200, text);
    for (const one of cases) {
      const { after } = await lastOf(one);
      // What was sent, in the form of the log.
      const { address, ...data } = one.body;
      const expected = { ...one.body, data, address: { data: address } };
      assert.deepEqual(read(after), read({ items: [], ...expected }), JSON.stringify(one.body));
    }
    assert.ok((await largestBatch(kind.type, cases)) >= 3);
  });
}

/** Sends the bad requests among the good ones, which must all succeed once. Returns the answers to the bad ones. */
async function sendAmongGood(kind: Kind, good: Case[], bad: Case[]): Promise<Answer[]> {
  const answers = await sendAll(kind, good.toSpliced(15, 0, ...bad));
  const refused = answers.splice(15, bad.length);
  for (const { status, text } of answers) assert.equal(status, 200, text);
  for (const one of good) assert.equal((await history(one)).length, 2);
  return refused;
}

test('a database error fails the request whose record causes it, and not the others in its batch', async () => {
  await app.sql(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'never'; END $$;
    CREATE TRIGGER refuse BEFORE UPDATE ON interactions FOR EACH ROW WHEN (new.notes = 'never') EXECUTE FUNCTION refuse()`);
  const [bad = assert.fail(), ...good] = await makeSome(INTERACTIONS, await app.company(), 31);
  bad.body = { type: 'phone', notes: 'never' };
  const [answer] = await sendAmongGood(INTERACTIONS, good, [bad]);
  assert.equal(answer?.status, 500);
  assert.equal((await history(bad)).length, 1);
});

test('a taken invoice number fails the request that asks for it; of several concurrent ones for a free number one succeeds', async () => {
  const company = await app.company();
  const cases = await makeSome(INVOICES, company, 34);
  const [one = assert.fail(), two = assert.fail(), three = assert.fail(), ...good] = cases;
  one.body = { ...one.body, invoice_number: 'M-5' };
  for (const same of [two, three]) same.body = { ...same.body, invoice_number: 'the same' };
  // The invoice that has this number also sends it.
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
  bad.body = { email_recipient: 'unknown@client.example' };
  const [answer] = await sendAmongGood(APPOINTMENTS, good, [bad]);
  assertFaultyFields(answer, 'email_recipient');
  assert.equal((await history(bad)).length, 1);
});

test('invoices updated concurrently, paid, part paid and not: each has its own day of payment', async () => {
  const company = await app.company();
  const cases: Case[] = [];
  for (let n = 0; n < 40; n++) {
    const one = await make(INVOICES, company, n, { paid: [0, 40, 100][n % 3] ?? 0, sent: (_company, n) => heading(n) });
    // A lowered total turns a part payment into a full one, a raised total does the opposite.
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

test('invoices updated concurrently: the items of one are replaced, of another added to, removed or left alone', async () => {
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

test('items added concurrently to several invoices come after the existing ones', async () => {
  const shape = INVOICES.shapes[2] ?? assert.fail();
  let most = 0;
  // A first statement checks the limit of items, so which requests meet in the second one is chance.
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

test('appointments deleted concurrently: confirmed ones get a cancellation, no reminder is sent, no meeting stays', async () => {
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

test('the primary key is the only index that begins with the case, so all plans visit records in its order', async () => {
  const others = await app.sql(
    `SELECT tablename, indexname FROM pg_indexes
      WHERE tablename = ANY ($1) AND indexdef LIKE '%(company_id, case_id, %' AND indexname <> tablename || '_pkey'`,
    [['people', 'addresses', 'interactions', 'invoices', 'appointments', 'customers']],
  );
  assert.deepEqual(others, []);
});

test('batches that visit the same records in another order do not deadlock', async () => {
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
    // The first of each kind go singly, the following ones in batches of eight.
    const one = [...of(heading, 9, 10), ...of(items, 2, 3, 4), ...of(heading, 20, 21)];
    const other = [...of(heading, 11, 12), ...of(items, 9, 13, 14), ...of(heading, 22, 23)];
    const answers = await sendAll(INVOICES, [...of(heading, 1), ...of(heading, 2), ...one, ...other]);
    for (const { status, text } of answers) assert.equal(status, 200, text);
  }
  assert.equal(await deadlocks(), before);
});
