import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import pino from 'pino';
import { Database } from '../src/kernel/database/database.ts';
import { PREVIOUS_RELEASE_MIGRATION } from '../src/kernel/schema/previous-release.ts';
import { buildApp } from '../src/server/app.ts';
import { caller } from './harness/http.ts';
import { app, plain } from './harness/metrics.ts';

/* ---- health ---- */

test('/healthz says that the process is alive', async () => {
  const answer = await plain('/healthz');
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.body, { status: 'ok' });
});

test('/readyz says that the service can do its work', async () => {
  const answer = await plain('/readyz');
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.body, { status: 'ok' });
});

async function whileGone(taken: pg.QueryResultRow[], putBack: () => Promise<unknown>): Promise<void> {
  assert.ok(taken.length > 0);
  try {
    const answer = await plain('/readyz');
    assert.equal(answer.status, 503, answer.text);
    assert.match(String(answer.headers['content-type']), /^application\/problem\+json/);
    assert.equal(answer.body.code, 'unavailable');
    assert.equal((await plain('/healthz')).status, 200);
  } finally {
    await putBack();
  }
  assert.equal((await plain('/readyz')).status, 200);
}

test('/readyz is not ready while a migration of the previous release is missing, but /healthz is ok', async () => {
  const taken = await app.sql<{ row: object }>(
    'DELETE FROM migrations m WHERE version >= $1 RETURNING to_jsonb(m) AS row',
    [PREVIOUS_RELEASE_MIGRATION],
  );
  await whileGone(taken, async () => {
    for (const { row } of taken)
      await app.sql('INSERT INTO migrations SELECT * FROM jsonb_populate_record(NULL::migrations, $1)', [row]);
  });
});

test('/readyz stays ready when the next release has migrated the database', async () => {
  await app.sql(
    `INSERT INTO migrations SELECT (jsonb_populate_record(m, '{"version": 9999, "name": "9999_later"}')).* FROM migrations m LIMIT 1`,
  );
  assert.equal((await plain('/readyz')).status, 200);
  await app.sql('DELETE FROM migrations WHERE version = 9999');
});

test('connections that broke are replaced without a caller noticing', async () => {
  const company = await app.company();
  assert.equal((await company.get(`${company.path}/interactions`)).status, 200);
  const client = new pg.Client({ ...app.connection, database: 'postgres' });
  await client.connect();
  await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [
    app.connection.database,
  ]);
  await client.end();
  const answer = await company.get(`${company.path}/interactions`);
  assert.equal(answer.status, 200, answer.text);
  assert.equal((await plain('/readyz')).status, 200);
});

/** A second app that reaches the same database through a proxy, which can be stopped. */
async function appBehindGate(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'case-records-gate-'));
  const [, name = ''] = /(\.s\.PGSQL\.\d+)$/.exec(await socketOf(app.connection.host)) ?? [];
  const open = new Set<Socket>();
  const gate = createServer((inside) => {
    const outside = connect(join(app.connection.host, name));
    for (const [one, other] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      open.add(one);
      one.on('error', () => {});
      one.on('close', () => other.destroy());
      one.pipe(other);
    }
  });
  const letIn = () => once(gate.listen(join(folder, name)), 'listening');
  const shut = async () => {
    const closed = once(gate, 'close');
    gate.close();
    for (const socket of open) socket.destroy();
    open.clear();
    await closed;
  };
  await letIn();
  const db = new Database({ connection: { ...app.connection, host: folder }, poolSize: 2 });
  const server = await buildApp({ db, clock: app.clock.read, logger: pino({ level: 'silent' }) });
  const baseUrl = await server.listen({ host: '127.0.0.1', port: 0 });
  t.after(async () => {
    await server.close();
    await db.close();
    if (gate.listening) await shut();
    await rm(folder, { recursive: true });
  });
  return { letIn, shut, as: (token?: string) => caller(baseUrl, token) };
}

async function socketOf(folder: string): Promise<string> {
  const found = (await readdir(folder)).find((name) => /^\.s\.PGSQL\.\d+$/.test(name));
  return join(folder, found ?? assert.fail(`no socket in ${folder}`));
}

test('without its database the service lives, is not ready, answers 503 and recovers by itself', async (t) => {
  const company = await app.company();
  const server = await appBehindGate(t);
  const list = () => server.as(company.token).get(`${company.path}/interactions`);
  assert.equal((await list()).status, 200);

  await server.shut();
  for (const answer of [await list(), await server.as().get('/readyz'), await list()]) {
    assert.equal(answer.status, 503, answer.text);
    assert.match(String(answer.headers['content-type']), /^application\/problem\+json/);
    assert.deepEqual(Object.keys(answer.body).sort(), ['code', 'detail', 'request_id', 'status', 'title', 'type']);
    assert.equal(answer.body.code, 'unavailable');
    assert.doesNotMatch(answer.text, /PGSQL|ENOENT|ECONN|gate|terminat/);
  }
  assert.equal((await server.as().get('/healthz')).status, 200);

  await server.letIn();
  assert.equal((await list()).status, 200);
  assert.equal((await server.as().get('/readyz')).status, 200);
});

test('a database that takes no connections is unavailable, and back when it takes them', async (t) => {
  const company = await app.company();
  const { database } = app.connection;
  const administrator = new pg.Client({ ...app.connection, database: 'postgres' });
  await administrator.connect();
  const allow = (allowed: boolean) => administrator.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS ${allowed}`);
  t.after(async () => {
    await allow(true);
    await administrator.end();
  });
  await allow(false);
  await administrator.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [database]);
  app.clock.advance({ seconds: 5 });
  const refused = await company.get(`${company.path}/interactions`);
  assert.equal(refused.status, 503, refused.text);
  assert.equal(refused.body.code, 'unavailable');
  assert.equal(refused.headers['retry-after'], '1');
  await allow(true);
  assert.equal((await company.get(`${company.path}/interactions`)).status, 200);
});

for (const [code, what, status] of [
  ['53000', 'insufficient resources', 503],
  ['53200', 'out of memory', 503],
  ['53300', 'too many connections', 503],
  ['40P01', 'a deadlock', 503],
  ['53100', 'a full disk', 500],
  ['53400', 'a limit that the statement exceeds', 500],
  ['42P01', 'a missing table', 500],
] as const) {
  test(`${what} (${code}) is ${status}: ${status === 503 ? 'it passes' : 'trying again would not help'}`, async (t) => {
    const company = await app.company();
    const list = () => company.get(`${company.path}/interactions`);
    assert.equal((await list()).status, 200);
    const failing = Object.assign(new pg.DatabaseError('it did not work', 0, 'error'), { code });
    type Told = (error: Error) => void;
    t.mock.method(pg.Client.prototype, 'query', ({ callback }: { callback: Told }, told: Told = callback) =>
      told(failing),
    );
    const answer = await list();
    assert.equal(answer.status, status, answer.text);
    assert.equal(answer.body.code, status === 503 ? 'unavailable' : 'internal');
    t.mock.restoreAll();
    assert.equal((await list()).status, 200);
  });
}

test('/metrics is there while the database is away, when it is needed most', async (t) => {
  const server = await appBehindGate(t);
  await server.shut();
  const answer = await server.as().get('/metrics');
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.text, /^# TYPE http_requests_total counter$/m);
});
