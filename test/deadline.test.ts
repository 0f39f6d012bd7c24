import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import pg from 'pg';
import { startApp, type TestApp } from './harness/app.ts';
import { concurrentRequests } from './harness/batching.ts';
import { FILL_INTERACTIONS } from './harness/bodies.ts';
import type { Answer } from './harness/http.ts';
import { testQuery } from './harness/query.ts';
import { type SlowConnection, slowDatabase } from './harness/slow-database.ts';
import { until, within } from './harness/until.ts';

/**
 * One deadline covers all statements of a request. Here it is shorter than one late answer, so a request can send one
 * statement and no second one. `test/slow/deadline.test.ts` has the limits of production.
 *
 * On a loaded machine any request can reach the deadline, so one that is to succeed is repeated, and no time is
 * measured: after the deadline nothing is sent, so nothing is waited for either.
 */

const DEADLINE_MS = 800;
const LATE_MS = 1_000;

const slow = await slowDatabase();
const app = await startApp({}, { port: slow.port, requestDeadlineMs: DEADLINE_MS });
const company = await app.company();
const interactions = `${company.path}/interactions`;
const NOTE = { type: 'phone', notes: 'a note' };

type Send = () => Promise<Answer>;

/** Sends the requests concurrently while each answer of the database is late. None sends a statement too late. */
async function whileSlow(delayMs: number, ...requests: Send[]): Promise<Answer[]> {
  // Opening a connection has no deadline.
  const connections = [...slow.connections];
  for (const { traffic } of connections) traffic.length = 0;
  slow.delayMs = delayMs;
  try {
    const answers = await within(Promise.all(requests.map((send) => send())), 'the answers');
    for (const connection of connections) assertNothingSentLate(connection);
    return answers;
  } finally {
    slow.delayMs = 0;
  }
}

/** The deadline of a request is at most DEADLINE_MS after it first sent something. */
function assertNothingSentLate({ traffic }: SlowConnection): void {
  const deadline = Number(traffic[0]?.at) + DEADLINE_MS;
  const late = traffic.findIndex(({ from, at }) => from === 'database' && at > deadline);
  if (late === -1) return;
  const sent = traffic.slice(late).filter(({ from }) => from === 'app');
  assert.deepEqual(sent, [], 'was sent after an answer that came after the deadline');
}

const statementsSent = () =>
  [...slow.connections].flatMap(({ traffic }) => traffic).filter(({ from }) => from === 'app').length;

/** Repeats the request while it reaches the deadline, or the server still ends the one before with the same key. */
const answered = (send: Send): Promise<Answer> =>
  until(async () => {
    const answer = await send();
    if (answer.status === 503 || answer.body?.code === 'request_in_progress') return undefined;
    assert.equal(answer.status, 200, answer.text);
    return answer;
  }, 'an answer before the deadline');

function assertUnavailable({ status, headers, text }: Answer): void {
  assert.equal(status, 503, text);
  assert.equal(headers['retry-after'], '1');
}

/** No connection is in use, and none is left in a transaction. */
async function assertIdle({ db, sql }: TestApp = app): Promise<void> {
  await until(() => db.connections.busy === 0 && db.connections.waiting === 0);
  const left = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
    AND application_name = 'case-records' AND state <> 'idle'`;
  await until(async () => (await sql(left)).length === 0);
}

const read = () => company.get(interactions);
const write = (notes: string, headers = {}) => company.post(interactions, { ...NOTE, notes }, headers);
const createKey = (name: string, headers = {}) => company.post('/manage/keys', { name, scopes: ['manage'] }, headers);
const count = async (notes: string) =>
  (await app.sql('SELECT 1 FROM interactions WHERE company_id = $1 AND notes = $2', [company.companyId, notes])).length;
const keyNames = async (): Promise<string[]> =>
  (await answered(() => company.get('/manage/keys'))).body.map(({ name }: { name: string }) => name);

/** Opening a connection takes several late answers, so each test begins with open ones, however long they take. */
beforeEach(async () => {
  const keyed = () => write('before', { 'idempotency-key': crypto.randomUUID() });
  const sends = [read, () => write('before'), keyed, () => createKey('before'), () => createKey('before')];
  await until(async () => (await Promise.all(sends.map((send) => send()))).every(({ status }) => status === 200));
});

test('a request that needs one statement has the whole time of a statement', async () => {
  let created = 0;
  await until(async () => {
    const answers = await whileSlow(LATE_MS, () => write('one statement'), read);
    if (answers[0]?.status === 200) created++;
    return answers.every(({ status }) => status === 200);
  }, 'two answers of 200');
  assert.equal(await count('one statement'), created);
  await assertIdle();
});

test('a transaction that is not complete at the deadline is a 503 and has changed nothing', async () => {
  const [answer] = await whileSlow(LATE_MS, () => createKey('never made'));
  assertUnavailable(answer as Answer);
  await assertIdle();
  assert.ok(!(await keyNames()).includes('never made'));
});

test('wherever the deadline falls in a transaction, a 503 means that nothing was changed', async () => {
  let keys = 0;
  const statusAfter = async (delayMs: number): Promise<number | undefined> => {
    const name = `key ${++keys} after ${delayMs} ms`;
    // A connection whose transaction reached the deadline was closed, so another one is opened.
    await answered(() => createKey('before'));
    const [answer] = await whileSlow(delayMs, () => createKey(name));
    const made = (await keyNames()).includes(name);
    assert.deepEqual([answer?.status, made], answer?.status === 200 ? [200, true] : [503, false], name);
    return answer?.status;
  };
  await until(async () => (await statusAfter(0)) === 200, 'a transaction before the deadline');
  for (const delayMs of [50, 60, 70, 85, 110, 140, 190, 300, 500]) await statusAfter(delayMs);
  assert.equal(await statusAfter(LATE_MS), 503);
  await assertIdle();
});

test('after a 503 the same key settles the outcome', async () => {
  const made = await answered(() => write('changed once'));
  const path = `${interactions}/${made.body.id}`;
  const { etag = '' } = (await answered(() => company.get(path))).headers;
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
  for (const send of sends) await answered(send);
  assert.equal(await count('created once'), 1);
  assert.equal(await count('patched once'), 1);
  assert.equal((await keyNames()).filter((name) => name === 'key once').length, 1);
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
  assert.equal((await answered(list)).body.length, 1_200);
  const [late] = await whileSlow(LATE_MS, list);
  assertUnavailable(late as Answer);
  await assertIdle();
  // Three statements before the deadline, and the other pieces after it.
  await answered(list);
  slow.delayMs = 60;
  const whole = await answered(list);
  slow.delayMs = 0;
  assert.equal(whole.body.length, 1_200);
  await assertIdle();
});

test('the event log and the token endpoint, which need two statements, are a 503', async () => {
  const make = () => company.post('/manage/clients', { name: 'a client', scopes: ['manage'] });
  const client = (await answered(make)).body;
  const events = () => company.get('/events');
  const token = () =>
    app.anonymous.post('/oauth/token', {
      grant_type: 'client_credentials',
      client_id: client.id,
      client_secret: client.client_secret,
    });
  for (const send of [events, token]) await answered(send);
  for (const answer of await whileSlow(LATE_MS, events, token)) assertUnavailable(answer);
  await assertIdle();
});

test('a body that is too large is answered', async () => {
  const [answer] = await whileSlow(LATE_MS, () => write('x'.repeat(1024 * 1024)));
  assert.equal(answer?.status, 413);
  await assertIdle();
});

test('a server that falls silent is a 503 for every kind of request, and its connections are closed', async () => {
  const silent = await slowDatabase();
  const own = await startApp({}, { port: silent.port, requestDeadlineMs: DEADLINE_MS, responseTimeoutMs: 1_500 });
  const { path, get, post } = await own.company();
  const list = `${path}/interactions`;
  const keyed = () => post(list, { ...NOTE, notes: 'keyed' }, { 'idempotency-key': 'silent' });
  const createOwnKey = () => post('/manage/keys', { name: 'silent', scopes: ['manage'] });
  const sends = [() => get(list), () => post(list, NOTE), keyed, createOwnKey];
  for (const send of [() => get(list), () => post(list, NOTE), createOwnKey]) await answered(send);
  silent.delayMs = Infinity;
  const answers = await within(Promise.all(sends.map((send) => send())), 'the answers');
  silent.delayMs = 0;
  for (const answer of answers) assertUnavailable(answer);
  await assertIdle(own);
  await answered(keyed);
  const stored = await own.sql(`SELECT 1 FROM interactions WHERE notes = 'keyed'`);
  assert.equal(stored.length, 1);
});

test('a batch that fails after the deadline is not sent again', async () => {
  const { sendInOneTick } = concurrentRequests(app);
  const sendAll = (notes: string) => sendInOneTick(Array(16).fill(notes), write);
  // Every connection prepares the statement.
  for (let round = 0; round < 4; round++) {
    await until(async () => (await sendAll('prepared')).every(({ status }) => status === 200), '16 answers of 200');
  }
  const { onBatch } = app.db;
  let failed = 0;
  app.db.onBatch = (_statement, requests, succeeded) => {
    if (!succeeded) failed += requests;
  };
  const holder = new pg.Client(app.connection);
  await holder.connect();
  try {
    await holder.query('BEGIN; LOCK TABLE interactions IN EXCLUSIVE MODE');
    const waiting = `FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    // A request has its deadline before it sends the statement.
    const age = `SELECT extract(epoch FROM clock_timestamp() - max(query_start)) * 1000 AS ms ${waiting}`;
    // Requests that reach the deadline before their statement is sent are no batch.
    await until(async () => {
      let unanswered = true;
      const answers = sendAll('batched').finally(() => {
        unanswered = false;
      });
      await until(async () => !unanswered || Number((await app.sql(age))[0]?.ms) > DEADLINE_MS);
      const sent = statementsSent();
      await app.sql(`SELECT pg_cancel_backend(pid) ${waiting}`);
      for (const answer of await answers) assertUnavailable(answer);
      assert.equal(statementsSent(), sent);
      return failed > 0;
    }, 'a batch that fails');
  } finally {
    await holder.end();
    app.db.onBatch = onBatch;
  }
  assert.equal(await count('batched'), 0);
  await assertIdle();
});

test('a statement that takes longer than it may is a 503 that says so', async () => {
  const own = await startApp();
  const { path, get } = await own.company();
  const holder = new pg.Client(own.connection);
  await holder.connect();
  try {
    await holder.query('BEGIN; LOCK TABLE interactions');
    const answer = get(`${path}/interactions`);
    // What a statement timeout does to the statement.
    const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await until(async () => (await own.sql(cancel)).length > 0);
    assertUnavailable(await answer);
    assert.match((await answer).body.detail, /^The database answers too slowly/);
  } finally {
    await holder.end();
  }
});

test('background work has no deadline', async () => {
  const asked = testQuery('test.slow', 'SELECT 1');
  slow.delayMs = DEADLINE_MS / 2;
  const rows = await app.db.transaction((transaction) => transaction.queryRows(asked));
  slow.delayMs = 0;
  assert.equal(rows.length, 1);
});
