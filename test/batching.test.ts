import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import pg from 'pg';
import { COMPANY_SCOPES } from '../src/kernel/scopes.ts';
import type { TestCompany } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import { headersOf } from './harness/batching.ts';
import {
  APPOINTMENTS,
  app,
  assertBatched,
  assertFaultyFields,
  type Case,
  DELETIONS,
  ENTRIES,
  exchange,
  type Fields,
  fullState,
  history,
  INTERACTIONS,
  INVOICES,
  type Kind,
  largestBatch,
  lastOf,
  make,
  makeAll,
  makeSome,
  prepared,
  send,
  sendAll,
  sendInOneTick,
  times,
  withoutIdentifiers,
} from './harness/batching-kinds.ts';
import { eventsOf } from './harness/events.ts';
import type { Answer } from './harness/http.ts';
import { untilBlocked } from './harness/overlap.ts';

const UPDATES = [INTERACTIONS, INVOICES, ENTRIES, APPOINTMENTS];
const KINDS = [...UPDATES, DELETIONS];

/** Sends shape by shape, so that concurrent requests share a statement. */
async function sendByShape(kind: Kind, cases: Case[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const ofShape of Map.groupBy(cases, ({ shape }) => shape).values()) {
    answers.push(...(await sendAll(kind, ofShape)));
  }
  return answers;
}

type Creation = { company: TestCompany; token: string; path: string; body: Fields; requestId: string };

/** The request that creates record n. */
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

/** Four callers: two in each of two companies. */
async function staffOfTwoCompanies() {
  const companies = [await app.company(), await app.company({ timeZone: 'America/New_York' })];
  const staff: { company: TestCompany; token: string }[] = [];
  for (let i = 0; i < 2; i++) {
    for (const company of companies) staff.push({ company, token: await company.tokenFor(COMPANY_SCOPES) });
  }
  return staff;
}

for (const kind of KINDS) {
  test(`concurrent ${kind.name} do to each record what each alone would have done`, async () => {
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

  test(`concurrent ${kind.name} have one event each, with the actor, the request and the state before`, async () => {
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

  test(`concurrent ${kind.name}: one of another company, of another case, unknown or deleted is not found, the others succeed`, async () => {
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

  test(`concurrent ${kind.name}: one whose record is locked waits, and the log has the state that it then found`, async () => {
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
  test(`concurrent ${kind.name}, several of them of one record: each is made onto the one before it`, async () => {
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

test('invoices created concurrently with the same number: one gets it, and only the others with that number are refused', async () => {
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

test('concurrent deletions of appointments, several of one: one succeeds, the others find nothing', async () => {
  const company = await app.company();
  const cases = await makeSome(DELETIONS, company, 24);
  const [one = assert.fail()] = cases;
  const answers = await sendAll(DELETIONS, [...cases.slice(1), one, one, one]);
  const statuses = answers.map(({ status }) => status);
  assert.deepEqual(statuses.splice(23).sort(), [200, 404, 404]);
  assert.deepEqual(statuses, Array(23).fill(200));
  assert.equal((await eventsOf(company, 'appointment')).length, 48);
});
