import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { endHalfSentTransactions } from '../src/kernel/database/half-sent-transactions.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import { halfSent } from './harness/half-sent.ts';
import type { Answer } from './harness/http.ts';
import { testQuery } from './harness/query.ts';

const app = await startApp();
const nextOf = (answer: Answer) => /^<([^>]+)>; rel="next"$/.exec(String(answer.headers.link))?.[1] ?? '';
const idIn = (link: string) => new URLSearchParams(link.split('?')[1]).get('after');

async function call(company: TestCompany, notes: string): Promise<void> {
  assert.equal((await company.post(`${company.path}/interactions`, { type: 'phone', notes })).status, 200);
}

/** Takes positions of the log, like a write that is rolled back. */
async function undoneWrite(): Promise<void> {
  await app.sql(`SELECT nextval('event_positions') FROM generate_series(1, 40)`);
}

for (const types of ['', '&types=interaction.*']) {
  test(`the link behind the last page names the last event, also after a write that was undone${types}`, async () => {
    const company = await app.company();
    await call(company, 'one');
    await undoneWrite();
    const page = await company.get(`/events?limit=500${types}`);
    assert.equal(idIn(nextOf(page)), page.body.at(-1).id);
    const empty = await company.get(nextOf(page));
    assert.deepEqual(empty.body, []);
    assert.equal(nextOf(empty), nextOf(page), 'a page without events leads to itself');
  });
}

test('after=latest leads on from the last event, whatever undone writes came behind it', async () => {
  const company = await app.company();
  await call(company, 'one');
  const { body } = await company.get('/events?limit=500');
  await undoneWrite();
  for (const path of ['/events', `${company.path}/events`]) {
    assert.equal(idIn(nextOf(await company.get(`${path}?after=latest`))), body.at(-1).id, path);
  }
});

test('a follower whose filter matches nothing moves on to the last event that was looked at', async () => {
  const company = await app.company();
  await call(company, 'one');
  const { body } = await company.get('/events?limit=500');
  await undoneWrite();
  const page = await company.get('/events?types=invoice.*');
  assert.deepEqual(page.body, []);
  assert.equal(idIn(nextOf(page)), body.at(-1).id);
});

test('a transaction that a broken line left half sent is ended, and followers see what came after it', async () => {
  const company = await app.company();
  const latest = await company.get('/events?after=latest');
  const { ended } = await halfSent(app.connection);
  await call(company, 'behind it');
  assert.deepEqual((await company.get(nextOf(latest))).body, [], 'followers wait for the open transaction');
  assert.equal(await endHalfSentTransactions(app.db), 0, 'it has not waited long enough');
  assert.equal(await endHalfSentTransactions(app.db, 0), 1);
  await ended;
  const shown = await company.get(nextOf(latest));
  assert.deepEqual(
    shown.body.map(({ after }: { after: { notes: string } }) => after.notes),
    ['behind it'],
  );
});

test('transactions that are idle, that run, or that are of another role are not ended', async () => {
  const owners = new pg.Client({ ...app.connection, application_name: 'case-records' });
  await owners.connect();
  await owners.query('BEGIN; SELECT 1');
  const running = app.db.queryRows(testQuery('test.sleep', 'SELECT pg_sleep(0.3)'));
  const idle = await app.db.transaction(async (db) => {
    await db.queryRows(testQuery('test.one', 'SELECT 1'));
    return endHalfSentTransactions(app.db, 0);
  });
  assert.equal(idle, 0);
  await running;
  await owners.query('COMMIT');
  await owners.end();
});

test('/readyz and a metric show for how long the event log has been stalled', async () => {
  const company = await app.company();
  const { ended } = await halfSent(app.connection);
  const readiness = async () => (await app.anonymous.get('/readyz', { 'content-type': undefined })).body;
  const metric = async () => /^event_log_stalled_seconds (\S+)$/m.exec((await app.anonymous.get('/metrics')).text)?.[1];
  assert.deepEqual(await readiness(), { status: 'ok' });
  app.clock.advance({ seconds: 19 });
  assert.deepEqual(await readiness(), { status: 'ok' });
  assert.equal(await metric(), '19');
  app.clock.advance({ seconds: 6 });
  await call(company, 'records are written all the same');
  assert.deepEqual(await readiness(), { status: 'degraded', event_log_stalled_seconds: 25 });
  await endHalfSentTransactions(app.db, 0);
  await ended;
  assert.deepEqual(await readiness(), { status: 'ok' });
  assert.equal(await metric(), '0');
});

test('after a crash that gives positions again, a slow writer is waited for', async () => {
  const company = await app.company();
  await call(company, 'before');
  const [{ last } = { last: '0' }] = await app.sql<{ last: string }>('SELECT last_value AS last FROM event_positions');
  await undoneWrite();
  const next = nextOf(await company.get('/events?limit=500'));
  // The state after recovery: every connection has ended, and the positions of the rolled-back write are reused.
  await app.sql(
    `SELECT setval('event_positions', $1), pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'case-records'`,
    [last],
  );
  const slow = await halfSent(app.connection);
  await call(company, 'after');
  const waiting = await company.get(next);
  assert.ok(waiting.status === 503 || waiting.body.length === 0, 'nothing behind the slow writer is shown');
  await endHalfSentTransactions(app.db, 0);
  await slow.ended;
  const { body } = await company.get(next);
  assert.deepEqual(
    body.map(({ after }: { after: { notes: string } }) => after.notes),
    ['after'],
  );
});

test('every connection has limits that the server keeps when the line is broken', async () => {
  const version = Number((await app.sql<{ v: string }>(`SELECT current_setting('server_version_num') AS v`))[0]?.v);
  const shown = `SELECT current_setting('transaction_timeout', true) AS whole`;
  const single = await app.db.queryFirst(testQuery('test.limits', shown));
  const long = await app.db.transaction((db) => db.queryFirst(testQuery('test.limits_long', shown)));
  assert.deepEqual(
    [single, long].map((row) => row?.whole),
    version < 170_000 ? [null, null] : ['30s', '1min'],
  );
});
