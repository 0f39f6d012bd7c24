import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import pg from 'pg';
import { Database } from '../../src/kernel/database/database.ts';
import { isConnectionError } from '../../src/kernel/database/postgres-errors.ts';
import { PrimaryClient } from '../../src/kernel/database/primary-client.ts';
import { UnavailableError } from '../../src/kernel/errors.ts';
import { SERVICE_ROLE } from '../../src/postgres/bundled-postgres.ts';
import { startApp, type TestCompany } from '../harness/app.ts';
import { testQuery } from '../harness/query.ts';
import { until } from '../harness/until.ts';

/** What happens to requests whose database connection ends, or hangs behind another statement. */

const app = await startApp();

const APP = `datname = current_database() AND application_name = 'case-records'`;

/** Holds the locks of `statement` while `work` runs. */
async function holding(
  statement: string,
  values: unknown[],
  work: (holder: pg.Client) => Promise<void>,
): Promise<void> {
  const holder = new pg.Client(app.connection);
  await holder.connect();
  try {
    await holder.query('BEGIN');
    await holder.query(statement, values);
    await work(holder);
  } finally {
    await holder.end();
  }
}

const waiting = async (forMs = 0) =>
  Number(
    (
      await app.sql(
        `SELECT count(*) AS count FROM pg_stat_activity
          WHERE ${APP} AND wait_event_type = 'Lock' AND clock_timestamp() - query_start > make_interval(secs => $1)`,
        [forMs / 1000],
      )
    )[0]?.count,
  );

const endThose = (which: string) =>
  app.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${APP} AND ${which}`);

async function call(company: TestCompany): Promise<string> {
  const made = await company.post(`${company.path}/interactions`, { type: 'phone', notes: '' });
  assert.equal(made.status, 200, made.text);
  return made.body.id;
}

test('a transaction whose connection ends is a 503, leaves nothing, and the service goes on', async () => {
  const company = await app.company();
  await holding('LOCK TABLE idempotency_keys IN EXCLUSIVE MODE', [], async (holder) => {
    const write = company.post(
      `${company.path}/interactions`,
      { type: 'phone', notes: 'lost' },
      { 'idempotency-key': 'k' },
    );
    await until(async () => (await waiting()) === 1);
    await endThose(`wait_event_type = 'Lock'`);
    const answer = await write;
    assert.equal(answer.status, 503, answer.text);
    assert.equal(answer.headers['retry-after'], '1');
    await holder.query('ROLLBACK');
  });
  assert.deepEqual((await company.get(`${company.path}/interactions`)).body, []);
  const again = await company.post(
    `${company.path}/interactions`,
    { type: 'phone', notes: '' },
    { 'idempotency-key': 'k' },
  );
  assert.equal(again.status, 200);
});

test('a write whose connection ends is a 503 and is not retried', async () => {
  const company = await app.company();
  await holding('LOCK TABLE interactions IN EXCLUSIVE MODE', [], async (holder) => {
    const write = company.post(`${company.path}/interactions`, { type: 'phone', notes: '' });
    await until(async () => (await waiting()) === 1);
    await endThose(`wait_event_type = 'Lock'`);
    assert.equal((await write).status, 503);
    await holder.query('ROLLBACK');
  });
  assert.deepEqual((await company.get(`${company.path}/interactions`)).body, []);
});

for (const [what, table, path] of [
  ['a list of a case', 'interactions', (company: TestCompany) => `${company.path}/interactions`],
  ['a page of a list', 'interactions', (company: TestCompany) => `${company.path}/interactions?page=1`],
  ['a list of the company', 'custom_tags', () => '/manage/custom-tags'],
  ['the event log', 'events', () => '/events'],
] as const) {
  test(`${what}, whose connection ends, is answered on another`, async () => {
    const company = await app.company();
    await holding(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`, [], async (holder) => {
      const read = company.get(path(company));
      await until(async () => (await waiting()) === 1);
      await endThose(`wait_event_type = 'Lock'`);
      await until(async () => (await waiting()) === 1);
      await holder.query('ROLLBACK');
      assert.equal((await read).status, 200);
    });
  });
}

test('after all connections have ended, reads are answered and writes are again', async () => {
  const company = await app.company();
  await Promise.all(Array.from({ length: 40 }, () => call(company)));
  await endThose('true');
  const answers = await Promise.all(Array.from({ length: 30 }, () => company.get(`${company.path}/interactions`)));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  await until(async () => (await company.post(`${company.path}/interactions`, { type: 'phone' })).status === 200);
});

test('later statements do not wait behind one that hangs', async () => {
  const company = await app.company();
  const id = await call(company);
  await holding('SELECT 1 FROM interactions WHERE id = $1 FOR UPDATE', [id], async (holder) => {
    const stuck = Array.from({ length: 4 }, () =>
      company.patch(`${company.path}/interactions/${id}`, { type: 'letter' }),
    );
    await until(async () => (await waiting(300)) === 4);
    await Promise.all(Array.from({ length: 60 }, () => call(company)));
    assert.equal(await waiting(), 4);
    await holder.query('ROLLBACK');
    for (const answer of await Promise.all(stuck)) assert.equal(answer.status, 200);
  });
});

test('a cancelled statement is a 503, leaves nothing, and the connection stays in use', async () => {
  const company = await app.company();
  for (const headers of [{}, { 'idempotency-key': 'given-up' }]) {
    await holding('LOCK TABLE interactions IN EXCLUSIVE MODE', [], async (holder) => {
      const write = company.post(`${company.path}/interactions`, { type: 'phone', notes: 'given up' }, headers);
      await until(async () => (await waiting()) === 1);
      // As the server does after the time-out.
      await app.sql(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE ${APP} AND wait_event_type = 'Lock'`);
      const answer = await write;
      assert.deepEqual([answer.status, answer.headers['retry-after']], [503, '1'], answer.text);
      await holder.query('ROLLBACK');
    });
    assert.deepEqual((await company.get(`${company.path}/interactions`)).body, []);
  }
  await call(company);
});

test('statements behind one that is cancelled before it is prepared are unavailable too', async (t) => {
  const db = new Database({ connection: { ...app.connection, user: SERVICE_ROLE }, poolSize: 1 });
  t.after(() => db.close());
  const asked = testQuery('test.unprepared', 'SELECT 1 FROM interactions');
  const isAway = (error: unknown) => error instanceof UnavailableError;
  await holding('LOCK TABLE interactions IN ACCESS EXCLUSIVE MODE', [], async (holder) => {
    let ended = false;
    const answers = Promise.all(Array.from({ length: 3 }, () => assert.rejects(db.queryRows(asked), isAway))).finally(
      () => {
        ended = true;
      },
    );
    // First the statement that is being prepared, then one of those that are retried.
    const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE ${APP} AND wait_event_type = 'Lock'`;
    await until(async () => {
      await app.sql(cancel);
      return ended;
    });
    await answers;
    await holder.query('ROLLBACK');
  });
});

test('on every kind of connection a statement, and a pause within a transaction, has its time', async () => {
  const text = `SELECT current_setting('statement_timeout') || ' ' || current_setting('idle_in_transaction_session_timeout')`;
  const { db } = app;
  const asked = testQuery('test.times', text);
  const pieces: string[] = [];
  for await (const piece of db.streamRows(asked)) pieces.push(piece);
  const times = [
    await db.queryJson(asked),
    await db.queryJson(testQuery('test.times_long', text, [], 'search')),
    await db.transaction((held) => held.queryJson(asked)),
    ...pieces,
  ];
  assert.deepEqual(times, Array(4).fill('15s 10s'));
});

test('a server that takes a connection and says nothing is away: it is not waited for without end', async (t) => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const db = new Database({ connection: { connectionString: `postgresql://x@127.0.0.1:${port}/x` }, poolSize: 1 });
  const sockets: Socket[] = [];
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    silent.close();
    await db.close();
  });
  silent.on('connection', (socket) => sockets.push(socket));
  const asked = testQuery('test.silent', 'SELECT 1');
  t.mock.timers.enable({ apis: ['setTimeout'] });
  for (const ask of [
    () => db.queryRows(asked),
    () => db.transaction((held) => held.queryRows(asked)),
    () => db.streamRows(asked).next(),
  ]) {
    const answer = assert.rejects(ask(), (error: unknown) => error instanceof UnavailableError);
    let done = false;
    answer.finally(() => {
      done = true;
    });
    // A statement that only reads is retried once.
    while (!done) {
      t.mock.timers.tick(10_000);
      await new Promise(setImmediate);
    }
    await answer;
  }
});

test('a server that falls silent in the middle of a transaction is waited for once, and not for each rollback', async (t) => {
  const connection = { ...app.connection, user: SERVICE_ROLE };
  const db = new Database({ connection, poolSize: 1, responseTimeoutMs: 500 });
  t.after(() => db.close());
  const asked = testQuery('test.stuck', 'SELECT 1 FROM interactions');
  const sent: string[] = [];
  db.pool.on('connect', (client) => {
    const { query } = client;
    client.query = ((statement: string | { text: string }) => {
      sent.push(typeof statement === 'string' ? statement : statement.text);
      return Reflect.apply(query, client, [statement]);
    }) as typeof query;
  });
  await holding('LOCK TABLE interactions IN ACCESS EXCLUSIVE MODE', [], async (holder) => {
    // On a loaded machine an earlier statement can be the one that is waited for.
    await until(async () => {
      sent.length = 0;
      const work = db.transaction((held) => held.transaction((inner) => inner.queryRows(asked)));
      await assert.rejects(work, (error: unknown) => error instanceof UnavailableError);
      return sent.length >= 4;
    }, 'a transaction that gets as far as the lock');
    assert.deepEqual(sent, ['BEGIN', 'SAVEPOINT s1', 'SAVEPOINT s2', 'SELECT 1 FROM interactions']);
    await holder.query('ROLLBACK');
  });
  assert.equal((await db.transaction((held) => held.queryRows(testQuery('test.after', 'SELECT 1')))).length, 1);
});

test('what ends a connection is told by its code: the system, the resolver, TLS and streams, and no mistake of a program', () => {
  const coded = (code: string) => Object.assign(new Error('as it happens'), { code });
  for (const code of [
    'ECONNRESET',
    'EAI_AGAIN',
    'ENOTFOUND',
    'ERR_SSL_BAD_RECORD_MAC',
    'ERR_STREAM_DESTROYED',
    'ERR_SOCKET_CLOSED',
  ])
    assert.ok(isConnectionError(coded(code)), code);
  for (const code of ['ERR_INVALID_ARG_TYPE', 'ERR_OUT_OF_RANGE', '']) assert.ok(!isConnectionError(coded(code)), code);
});

test('a connection whose settings cannot be made is not left open', async () => {
  const name = 'case-records test settings';
  const client = new PrimaryClient({
    ...app.connection,
    application_name: name,
    firstStatement: { text: 'SELECT 1 / 0' },
  });
  await assert.rejects(client.connect(), /division by zero/);
  const open = () => app.sql('SELECT 1 FROM pg_stat_activity WHERE application_name = $1', [name]);
  await until(async () => (await open()).length === 0, 'the connection to be closed');
});
