import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import pg from 'pg';
import { startApp } from './harness/app.ts';
import { concurrentRequests } from './harness/batching.ts';
import { FILL_INTERACTIONS } from './harness/bodies.ts';
import type { Answer } from './harness/http.ts';
import { testQuery } from './harness/query.ts';
import { slowDatabase } from './harness/slow-database.ts';
import { until } from './harness/until.ts';

/**
 * One deadline covers all statements of a request. Here it is shorter than one late answer, so a request can send one
 * statement and no second one. `test/slow/deadline.test.ts` has the limits of production.
 */

const DEADLINE_MS = 800;
const LATE_MS = 1_000;
const RESPONSE_TIMEOUT_MS = 1_500;

const slow = await slowDatabase();
const app = await startApp(
  {},
  { port: slow.port, requestDeadlineMs: DEADLINE_MS, responseTimeoutMs: RESPONSE_TIMEOUT_MS },
);
const company = await app.company();
const interactions = `${company.path}/interactions`;
const NOTE = { type: 'phone', notes: 'a note' };

type Send = () => Promise<Answer>;

/** Sends the requests concurrently while each answer of the database is late. None waits for a second one. */
async function whileSlow(delayMs: number, ...requests: Send[]): Promise<Answer[]> {
  slow.delayMs = delayMs;
  const start = performance.now();
  const maxMs = 2 * (delayMs === Infinity ? RESPONSE_TIMEOUT_MS : LATE_MS);
  try {
    const answers = await Promise.all(requests.map((send) => send()));
    const ms = performance.now() - start;
    assert.ok(ms < maxMs, `${ms} ms`);
    return answers;
  } finally {
    slow.delayMs = 0;
  }
}

function assertUnavailable({ status, headers, text }: Answer): void {
  assert.equal(status, 503, text);
  assert.equal(headers['retry-after'], '1');
}

/** No connection is in use, and none is left in a transaction. */
async function assertIdle(): Promise<void> {
  await until(() => app.db.connections.busy === 0 && app.db.connections.waiting === 0);
  const left = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
    AND application_name = 'case-records' AND state <> 'idle'`;
  await until(async () => (await app.sql(left)).length === 0);
}

const read = () => company.get(interactions);
const write = (notes: string, headers = {}) => company.post(interactions, { ...NOTE, notes }, headers);
const createKey = (name: string, headers = {}) => company.post('/manage/keys', { name, scopes: ['manage'] }, headers);
const count = async (notes: string) =>
  (await app.sql('SELECT 1 FROM interactions WHERE company_id = $1 AND notes = $2', [company.companyId, notes])).length;
const keyNames = async () => (await company.get('/manage/keys')).body.map(({ name }: { name: string }) => name);

/** Opening a connection takes several late answers, so each test begins with open ones, however long they take. */
beforeEach(async () => {
  const keyed = () => write('before', { 'idempotency-key': crypto.randomUUID() });
  const sends = [read, () => write('before'), keyed, () => createKey('before'), () => createKey('before')];
  await until(async () => (await Promise.all(sends.map((send) => send()))).every(({ status }) => status === 200));
});

test('a request that needs one statement has the whole time of a statement', async () => {
  const answers = await whileSlow(LATE_MS, read, () => write('one statement'));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  );
  assert.equal(await count('one statement'), 1);
  await assertIdle();
});

test('a transaction that is not complete at the deadline is a 503 and has changed nothing', async () => {
  const [answer] = await whileSlow(LATE_MS, () => createKey('never made'));
  assertUnavailable(answer as Answer);
  await assertIdle();
  assert.ok(!(await keyNames()).includes('never made'));
});

test('wherever the deadline falls in a transaction, a 503 means that nothing was changed', async () => {
  const statuses = new Set<number>();
  for (const delayMs of [0, 50, 60, 70, 85, 110, 140, 190, 300, 500]) {
    const name = `after ${delayMs}`;
    const [answer] = await whileSlow(delayMs, () => createKey(name));
    const made = (await keyNames()).includes(name);
    assert.deepEqual([answer?.status, made], answer?.status === 200 ? [200, true] : [503, false], name);
    statuses.add(answer?.status ?? 0);
  }
  assert.deepEqual(statuses, new Set([200, 503]));
  await assertIdle();
});

test('after a 503 the same key settles the outcome', async () => {
  const made = await write('changed once');
  const path = `${interactions}/${made.body.id}`;
  const { etag = '' } = (await company.get(path)).headers;
  const keyed = { 'idempotency-key': 'settles' };
  const conditional = { 'idempotency-key': 'settles-too', 'if-match': String(etag) };
  const sends = [
    () => write('created once', keyed),
    () => company.patch(path, { ...NOTE, notes: 'patched once' }, conditional),
    () => createKey('key once', { 'idempotency-key': 'settles-as-well' }),
  ];
  for (const answer of await whileSlow(LATE_MS, ...sends)) {
    if (answer.status !== 200) assertUnavailable(answer);
  }
  await assertIdle();
  for (const send of sends) {
    const again = await send();
    assert.equal(again.status, 200, again.text);
  }
  assert.equal(await count('created once'), 1);
  assert.equal(await count('patched once'), 1);
  assert.equal((await keyNames()).filter((name: string) => name === 'key once').length, 1);
});

test('the time of finding the caller counts', async () => {
  app.clock.advance({ seconds: 5 });
  const [answer] = await whileSlow(LATE_MS, () => write('caller found late'));
  assertUnavailable(answer as Answer);
  assert.equal(await count('caller found late'), 0);
  await assertIdle();
});

test('a list that is sent in pieces is a 503 if it has not begun at the deadline, and whole if it has', async () => {
  const caseId = await company.openCase();
  await app.sql(FILL_INTERACTIONS, [company.companyId, caseId, 1_200]);
  const list = () => company.get(`/cases/${caseId}/interactions`);
  assert.equal((await list()).body.length, 1_200);
  const [late] = await whileSlow(LATE_MS, list);
  assertUnavailable(late as Answer);
  await assertIdle();
  // Three statements before the deadline, and the other pieces after it.
  assert.equal((await list()).status, 200);
  slow.delayMs = 60;
  const whole = await list();
  slow.delayMs = 0;
  assert.equal(whole.body.length, 1_200);
  await assertIdle();
});

test('the event log and the token endpoint, which need two statements, are a 503', async () => {
  const client = (await company.post('/manage/clients', { name: 'a client', scopes: ['manage'] })).body;
  const events = () => company.get('/events');
  const token = () =>
    app.anonymous.post('/oauth/token', {
      grant_type: 'client_credentials',
      client_id: client.id,
      client_secret: client.client_secret,
    });
  for (const send of [events, token]) assert.equal((await send()).status, 200);
  for (const answer of await whileSlow(LATE_MS, events, token)) assertUnavailable(answer);
  await assertIdle();
});

test('a body that is too large is answered', async () => {
  const [answer] = await whileSlow(LATE_MS, () => write('x'.repeat(1024 * 1024)));
  assert.equal(answer?.status, 413);
  await assertIdle();
});

test('a server that falls silent is a 503 for every kind of request, and its connections are closed', async () => {
  const sends = [
    read,
    () => write('silent'),
    () => write('silent and keyed', { 'idempotency-key': 'silent' }),
    () => createKey('silent'),
  ];
  for (const answer of await whileSlow(Infinity, ...sends)) assertUnavailable(answer);
  await assertIdle();
  const again = await write('silent and keyed', { 'idempotency-key': 'silent' });
  assert.equal(again.status, 200, again.text);
  assert.equal(await count('silent and keyed'), 1);
});

test('a batch that fails after the deadline is not sent again', async () => {
  const { sendInOneTick } = concurrentRequests(app);
  const sendAll = (notes: string) => sendInOneTick(Array(16).fill(notes), write);
  // Every connection prepares the statement.
  for (let round = 0; round < 4; round++) await sendAll('prepared');
  const { onBatch } = app.db;
  let failed = 0;
  app.db.onBatch = (_statement, requests, succeeded) => {
    if (!succeeded) failed += requests;
  };
  const holder = new pg.Client(app.connection);
  await holder.connect();
  try {
    await holder.query('BEGIN; LOCK TABLE interactions IN EXCLUSIVE MODE');
    const answers = sendAll('batched');
    const waiting = `FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    // A request has its deadline before it sends the statement.
    const age = `SELECT extract(epoch FROM clock_timestamp() - max(query_start)) * 1000 AS ms ${waiting}`;
    await until(async () => Number((await app.sql(age))[0]?.ms) > DEADLINE_MS);
    await app.sql(`SELECT pg_cancel_backend(pid) ${waiting}`);
    const cancelled = performance.now();
    for (const answer of await answers) assertUnavailable(answer);
    // Statements that are sent again would be given up after this time.
    assert.ok(performance.now() - cancelled < RESPONSE_TIMEOUT_MS);
    assert.ok(failed > 0, 'there was no batch');
  } finally {
    await holder.end();
    app.db.onBatch = onBatch;
  }
  assert.equal(await count('batched'), 0);
  await assertIdle();
});

test('background work has no deadline', async () => {
  const asked = testQuery('test.slow', 'SELECT 1');
  slow.delayMs = DEADLINE_MS / 2;
  const rows = await app.db.transaction((transaction) => transaction.queryRows(asked));
  slow.delayMs = 0;
  assert.equal(rows.length, 1);
});
