import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { Database } from '../../src/kernel/database/database.ts';
import { Listener } from '../../src/kernel/database/listener.ts';
import { isConnectionError, isTransient } from '../../src/kernel/database/postgres-errors.ts';
import { startBundledPostgres } from '../../src/postgres/bundled-postgres.ts';
import { temporaryDataDirectory } from '../harness/data-directory.ts';
import { type Answer, caller } from '../harness/http.ts';
import { testQuery } from '../harness/query.ts';
import { launch, type Running, startProcess, urlOf } from '../harness/service.ts';
import { until } from '../harness/until.ts';

/** What a service sees during a failover; `npm run chaos -- --only failover` does it with real servers. */

const data = await temporaryDataDirectory('started');
const DATA_DIR = data.path;
const socket = { host: join(DATA_DIR, 'postgres'), user: 'postgres', database: 'case_records' };
let service: Running;
let owner: pg.Client;
let demo: { token: string; case_id: string };
let company: ReturnType<typeof caller>;

before(async () => {
  service = await startProcess({ DATA_DIR, WORKER_CONCURRENCY: '0' });
  demo = JSON.parse(await readFile(join(DATA_DIR, 'demo.json'), 'utf8'));
  company = caller(service.url, demo.token);
  owner = new pg.Client(socket);
  await owner.connect();
});
after(async () => {
  await owner.end();
  await service.stop();
  await data.remove();
});

const note = (notes: string, headers = {}) =>
  company.post(`/cases/${demo.case_id}/interactions`, { type: 'phone', notes }, headers);

async function set(setting: string, value: string): Promise<void> {
  await owner.query(`ALTER SYSTEM SET ${setting} = '${value}'`);
  await owner.query('SELECT pg_reload_conf()');
  await until(async () => (await owner.query(`SHOW ${setting}`)).rows[0][setting] === value);
}

/** Cancels every wait for a standby meanwhile. PostgreSQL then reports the commit as done. */
async function withoutWaiting(answer: Promise<Answer>): Promise<Answer> {
  let answered = false;
  const told = answer.finally(() => {
    answered = true;
  });
  await until(async () => {
    await owner.query(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`);
    return answered;
  });
  return told;
}

test('a write that its standby does not have is not acknowledged, nor is its answer given again', async () => {
  const keyed = { 'idempotency-key': 'unreplicated' };
  await set('synchronous_standby_names', 'unknown_standby');
  try {
    for (const headers of [{}, keyed, keyed]) {
      const answer = await withoutWaiting(note('on one server only', headers));
      assert.equal(answer.status, 503, answer.text);
      assert.equal(answer.headers['retry-after'], '1');
    }
  } finally {
    await set('synchronous_standby_names', '');
  }
  const answer = await note('on one server only', keyed);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers['idempotency-replayed'], 'true');
  const { rows } = await owner.query(`SELECT count(*)::int AS n FROM interactions WHERE notes = 'on one server only'`);
  assert.equal(rows[0].n, 2);
});

test('a connection to a read-only server is closed', async () => {
  const services = `FROM pg_stat_activity WHERE application_name = 'case-records'`;
  await owner.query('ALTER DATABASE case_records SET default_transaction_read_only = on');
  await owner.query(`SELECT pg_terminate_backend(pid) ${services}`);
  const keyed = { 'idempotency-key': 'read-only' };
  for (const headers of [{}, {}, keyed, keyed]) {
    const answer = await note('on a standby', headers);
    assert.equal(answer.status, 503, answer.text);
    assert.equal(answer.headers['retry-after'], '1');
  }
  await owner.query('ALTER DATABASE case_records RESET default_transaction_read_only');
  await until(async () => (await owner.query(`SELECT ${services}`)).rowCount === 0);
  for (const headers of [{}, keyed]) assert.equal((await note('on a standby', headers)).status, 200);
});

/** Blocks requests for interactions until `ended` was applied to their connections. */
async function whileLocked<T>(work: Promise<T>, ended: 'pg_cancel_backend' | 'pg_terminate_backend'): Promise<T> {
  const waiting = `FROM pg_stat_activity WHERE wait_event_type = 'Lock'`;
  await until(async () => (await owner.query(`SELECT ${ended}(pid) ${waiting}`)).rowCount);
  return work;
}

test('a list whose connection is lost before its first entry is unavailable, and so is what waits for too long', async () => {
  const db = new Database({ connection: socket, poolSize: 1 });
  const other = new pg.Client(socket);
  await other.connect();
  await other.query('BEGIN; LOCK TABLE interactions');
  try {
    const first = db.streamRows(testQuery('listed', 'SELECT notes FROM interactions')).next();
    await whileLocked(assert.rejects(first, { code: 'unavailable' }), 'pg_terminate_backend');
    // Like the statement time-out.
    const answer = await whileLocked(note('behind a lock'), 'pg_cancel_backend');
    assert.equal(answer.status, 503, answer.text);
  } finally {
    await other.end();
    await db.close();
  }
});

test('a server that has given up a transaction, after what was sent to it was lost for a while, is unavailable', () => {
  const error = new pg.DatabaseError('terminating connection due to idle-in-transaction timeout', 0, 'error');
  error.code = '25P03';
  assert.ok(isConnectionError(error) && isTransient(error));
});

test('a server that does not wait for its own disk or for its standbys is refused', async () => {
  for (const [commit, standbys] of [
    ['off', ''],
    ['local', 'unknown_standby'],
  ] as const) {
    await owner.query(`ALTER DATABASE case_records SET synchronous_commit = ${commit}`);
    await set('synchronous_standby_names', standbys);
    const { child, output, ended } = launch({ DATABASE_URL: urlOf(socket), DATA_DIR });
    child.stdout?.once('data', () => child.kill());
    const code = await ended();
    await set('synchronous_standby_names', '');
    assert.equal(code, 1, output.join('\n'));
    assert.match(output.join('\n'), new RegExp(`synchronous_commit ${commit}`));
  }
  await owner.query('ALTER DATABASE case_records RESET synchronous_commit');
});

test('a listener notices that the server is no longer there', async () => {
  const sockets: Socket[] = [];
  const relay = createServer((near) => {
    const far = connect(join(socket.host, '.s.PGSQL.5432'));
    sockets.push(near, far);
    near.pipe(far).pipe(near);
    for (const end of [near, far]) end.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const { port } = relay.address() as AddressInfo;
  const connectionString = `postgresql://postgres@127.0.0.1:${port}/case_records`;
  let heard = 0;
  const listener = new Listener({ connectionString }, 'a_channel', () => heard++, 20);
  try {
    await listener.open();
    assert.ok(listener.listening);
    const [near, far] = sockets as [Socket, Socket];
    // No data passes any more, and neither end is told.
    near.unpipe(far);
    far.unpipe(near);
    far.resume();
    await until(() => !listener.listening);
    await until(() => listener.listening);
    const before = heard;
    await owner.query('NOTIFY a_channel');
    await until(() => heard !== before);
  } finally {
    await listener.close();
    for (const end of sockets) end.destroy();
    relay.close();
  }
});

test('a standby is not read from', async () => {
  const standby = await temporaryDataDirectory('initialised');
  await writeFile(join(standby.path, 'postgres', 'standby.signal'), '');
  const server = await startBundledPostgres({ dataDir: standby.path, log: () => {} });
  const db = new Database({ connection: server.connection, poolSize: 2 });
  try {
    const asked = () => db.queryRows(testQuery('asked', 'SELECT pg_is_in_recovery() AS standby'));
    for (let i = 0; i < 3; i++) await assert.rejects(asked(), { code: 'unavailable' });
    await assert.rejects(
      db.transaction(async () => {}),
      { code: 'unavailable' },
    );
  } finally {
    await db.close();
    await server.stop();
    await standby.remove();
  }
});
