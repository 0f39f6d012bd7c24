import assert from 'node:assert/strict';
import { type ChildProcess, execFile, fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { chmod, chown, cp, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { Client } from 'pg';
import {
  type BundledPostgres,
  BundledPostgresError,
  findBundledPostgres,
  type ServerConnection,
  startBundledPostgres,
  startCopy,
} from '../../src/postgres/bundled-postgres.ts';
import { readPostmasterFile } from '../../src/postgres/postmaster.ts';
import { findObstacle, installedRelease, type Release, serverProgram } from '../../src/postgres/release.ts';
import { releaseCopiesFolder, releaseReachableBy, runnableRelease } from '../../src/postgres/release-copy.ts';
import { serverUser } from '../../src/postgres/server-user.ts';
import { until, within } from '../harness/until.ts';

const linuxOnly = { skip: process.platform !== 'linux' && 'looks at processes in /proc' };
const rootOnly = { skip: process.getuid?.() !== 0 && 'needs root' };

const UNPRIVILEGED = { uid: 65534, gid: 65534 };

const SERVICE = `
  import { startBundledPostgres } from ${JSON.stringify(import.meta.resolve('../../src/postgres/bundled-postgres.ts'))};
  try {
    const server = await startBundledPostgres({ dataDir: process.argv[2], log() {}, settings: { fsync: 'off' } });
    process.on('message', () => server.stop().then(() => process.disconnect()));
    process.send({ pid: server.pid, adopted: server.adopted });
  } catch (error) {
    process.send({ error: error.message });
    process.disconnect();
  }
`;

const started: Promise<BundledPostgres>[] = [];

let initialised: string;

before(async () => {
  initialised = await mkdtemp(join(tmpdir(), 'case-records-test-'));
  const server = await start(initialised);
  await server.stop();
});

after(() => rm(initialised, { recursive: true }));

function start(dataDir: string, settings: Record<string, string> = { fsync: 'off' }): Promise<BundledPostgres> {
  const server = startBundledPostgres({ dataDir, log: () => {}, settings });
  started.push(server);
  return server;
}

async function stopStarted(): Promise<void> {
  for (const start of await Promise.allSettled(started.splice(0))) {
    if (start.status === 'fulfilled') await start.value.stop();
  }
}

async function emptyDataDir(t: TestContext): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'case-records-test-'));
  t.after(async () => {
    await stopStarted();
    const strays = processesIn(dataDir);
    for (const pid of strays) process.kill(pid, 'SIGKILL');
    await rm(dataDir, { recursive: true, maxRetries: 20 });
    assert.deepEqual(strays, [], 'processes were left behind');
  });
  return dataDir;
}

async function initialisedDataDir(t: TestContext): Promise<string> {
  const dataDir = await emptyDataDir(t);
  await promisify(execFile)('cp', ['-a', `${initialised}/.`, dataDir]);
  return dataDir;
}

async function startService(dataDir: string, options: { uid?: number; gid?: number } = {}): Promise<ChildProcess> {
  const script = join(dataDir, 'service.mjs');
  await writeFile(script, SERVICE);
  return fork(script, [dataDir], { execArgv: [], ...options });
}

async function reportOf(service: ChildProcess): Promise<{ pid?: number; adopted?: boolean; error?: string }> {
  const [report] = await within(once(service, 'message'), 'the report of the service');
  return report;
}

async function stopService(service: ChildProcess): Promise<void> {
  const ended = once(service, 'exit');
  service.send('stop');
  await within(ended, 'the end of the service');
}

async function killService(service: ChildProcess): Promise<void> {
  const ended = once(service, 'exit');
  service.kill('SIGKILL');
  await within(ended, 'the end of the service');
}

async function query(connection: ServerConnection, sql: string): Promise<Record<string, unknown>> {
  const client = new Client(connection);
  await client.connect();
  try {
    return (await client.query(sql)).rows[0];
  } finally {
    await client.end();
  }
}

function processesIn(dataDir: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`).startsWith(dataDir);
      } catch {
        return false;
      }
    })
    .map(Number);
}

test('the server understands Unicode, keeps what it acknowledged and has no TCP port', linuxOnly, async (t) => {
  const server = await start(await initialisedDataDir(t), {});
  assert.equal(server.adopted, false);
  assert.deepEqual(await query(server.connection, `SELECT lower('ÄÉЖ') AS lower, 'Ärger' ILIKE 'ä%' AS matches`), {
    lower: 'äéж',
    matches: true,
  });
  const settings = await query(
    server.connection,
    `SELECT current_database() AS database, current_setting('data_checksums') AS checksums,
       current_setting('fsync') AS fsync, current_setting('listen_addresses') AS addresses,
       current_setting('timezone') AS timezone`,
  );
  assert.deepEqual(settings, {
    database: 'case_records',
    checksums: 'on',
    fsync: 'on',
    addresses: '',
    timezone: 'UTC',
  });
});

test('personal data in statements and errors stays out of the log', linuxOnly, async (t) => {
  const dataDir = await initialisedDataDir(t);
  const server = await start(dataDir);
  await assert.rejects(query(server.connection, `SELECT 'Erika Mustermann'::uuid`), /Erika Mustermann/);
  await assert.rejects(query(server.connection, 'SELECT erika_mustermann'), /erika_mustermann/);
  await server.stop();
  const log = await readFile(join(dataDir, 'postgres.log'), 'utf8');
  assert.match(log, /database system is shut down/);
  assert.doesNotMatch(log, /mustermann/i);
});

test('the log is moved aside when it has grown large', linuxOnly, async (t) => {
  const dataDir = await initialisedDataDir(t);
  await writeFile(join(dataDir, 'postgres.log'), Buffer.alloc(11 * 1024 * 1024, '\n'));
  await (await start(dataDir)).stop();
  assert.ok((await stat(join(dataDir, 'postgres.log'))).size < 10_000);
  assert.ok((await stat(join(dataDir, 'postgres.log.1'))).size > 10_000_000);
});

test('stop can be called again and frees the data directory', linuxOnly, async (t) => {
  const dataDir = await initialisedDataDir(t);
  const server = await start(dataDir);
  await assert.rejects(start(dataDir), new RegExp(`pid ${process.pid}\\b`));
  assert.deepEqual(await findBundledPostgres(dataDir), server.connection);
  await Promise.all([server.stop(), server.stop()]);
  await server.stop();
  assert.equal(await findBundledPostgres(dataDir), undefined);
  await (await start(dataDir)).stop();
});

test('nothing is found if no service has ever run', async () => {
  assert.equal(await findBundledPostgres(join(tmpdir(), 'case-records-test-missing')), undefined);
});

test('a server whose service was killed is adopted and then stopped', linuxOnly, async (t) => {
  const dataDir = await initialisedDataDir(t);
  const killed = await startService(dataDir);
  const { pid } = await reportOf(killed);
  await killService(killed);
  const server = await start(dataDir);
  assert.equal(server.adopted, true);
  assert.equal(server.pid, pid);
  await query(server.connection, 'CREATE TABLE kept ()');
  await server.stop();
  assert.deepEqual(processesIn(dataDir), []);
});

test('a server that a killed upgrade has left read-only is replaced by one that can be written to', async (t) => {
  const dataDir = await initialisedDataDir(t);
  const settings = { default_transaction_read_only: 'on', fsync: 'off' };
  await startCopy({ logFolder: dataDir, directory: join(dataDir, 'postgres'), settings });
  const server = await start(dataDir);
  assert.equal(server.adopted, false);
  await query(server.connection, 'CREATE TABLE written ()');
  await server.stop();
});

test('a server that does not answer is named, and adopted when it does again', linuxOnly, async (t) => {
  const dataDir = await initialisedDataDir(t);
  const killed = await startService(dataDir);
  const { pid } = await reportOf(killed);
  await killService(killed);
  assert.ok(pid);
  process.kill(pid, 'SIGSTOP');
  await assert.rejects(start(dataDir), new RegExp(`pid ${pid}.*does not answer`));
  process.kill(pid, 'SIGCONT');
  const server = await start(dataDir);
  assert.equal(server.adopted, true);
  await server.stop();
});

test('a server that is just stopping is awaited', linuxOnly, async (t) => {
  const dataDir = await initialisedDataDir(t);
  const killed = await startService(dataDir);
  const { pid } = await reportOf(killed);
  await killService(killed);
  assert.ok(pid);
  process.kill(pid, 'SIGINT');
  const server = await start(dataDir);
  await query(server.connection, 'SELECT 1');
  assert.notEqual(server.pid, pid);
});

test('a server that crashed is reported, and the next start recovers', linuxOnly, async (t) => {
  const dataDir = await initialisedDataDir(t);
  const crashed = await start(dataDir);
  await query(crashed.connection, 'CREATE TABLE survivor ()');
  process.kill(crashed.pid, 'SIGKILL');
  const reason = await crashed.exited;
  assert.match(reason.message, /ended unexpectedly \(signal SIGKILL\), see .*postgres\.log/);
  await crashed.stop();
  const recovered = await start(dataDir);
  assert.equal(recovered.adopted, false);
  await query(recovered.connection, 'SELECT FROM survivor');
});

test('a query that outlives the crash of its server delays the next start only', linuxOnly, async (t) => {
  const dataDir = await initialisedDataDir(t);
  const crashed = await start(dataDir);
  const client = new Client(crashed.connection);
  await client.connect();
  const endless = client.query(`SELECT count(*) FROM generate_series(1, 1e9) n WHERE md5(n::text) = ''`);
  const interrupted = assert.rejects(endless);
  const busy = `SELECT count(*)::int AS queries FROM pg_stat_activity WHERE state = 'active' AND query ~ 'series'`;
  await until(async () => (await query(crashed.connection, busy)).queries === 2);
  process.kill(crashed.pid, 'SIGKILL');
  await crashed.exited;
  await crashed.stop();
  const recovered = start(dataDir);
  await client.end();
  await interrupted;
  await query((await recovered).connection, 'SELECT 1');
});

test('a pid that another program has got by now does not prevent a start', linuxOnly, async (t) => {
  const dataDir = await initialisedDataDir(t);
  const directory = join(dataDir, 'postgres');
  const other = spawn('sleep', ['600'], { ...(await serverUser(directory)), stdio: 'ignore' });
  t.after(() => other.kill());
  await writeFile(join(directory, 'postmaster.pid'), `${other.pid}\n/proc/self/cwd\n1\n5432\n.\n\n  1  1\nready   \n`);
  await writeFile(join(directory, '.s.PGSQL.5432.lock'), `${other.pid}\n`);
  const server = await start(dataDir);
  assert.equal(server.adopted, false);
  assert.equal(other.exitCode, null);
});

test('a server that belongs to another user is left alone', linuxOnly, async (t) => {
  const dataDir = await initialisedDataDir(t);
  const directory = join(dataDir, 'postgres');
  const user = await serverUser(directory);
  const copies = releaseCopiesFolder(dataDir);
  const runnable = await runnableRelease(await installedRelease(), copies);
  const foreign = spawn(
    serverProgram(await releaseReachableBy(user, runnable, copies)),
    ['-D', '/proc/self/cwd', '-c', 'fsync=off', '-c', 'listen_addresses=', '-c', 'unix_socket_directories=.'],
    { ...user, cwd: directory, stdio: 'ignore' },
  );
  await until(async () => (await readPostmasterFile(directory))?.status === 'ready');
  await assert.rejects(start(dataDir), /A PostgreSQL that this service did not start/);
  assert.equal(foreign.exitCode, null);
  const ended = once(foreign, 'exit');
  foreign.kill('SIGINT');
  await within(ended, 'the end of the other server');
});

test('of two services that start concurrently on an empty directory one wins', linuxOnly, async (t) => {
  const dataDir = await emptyDataDir(t);
  const services = await Promise.all([startService(dataDir), startService(dataDir)]);
  const reports = await Promise.all(services.map(reportOf));
  const winner = services[reports.findIndex((report) => report.pid)];
  assert.ok(winner);
  const errors = reports.flatMap(({ error }) => error ?? []);
  assert.equal(errors.length, 1);
  assert.match(errors[0] ?? '', new RegExp(`^Another Case Records service \\(pid ${winner.pid}\\)`));
  await stopService(winner);
});

test('a service that is killed during its first start leaves nothing in the way', linuxOnly, async (t) => {
  const dataDir = await emptyDataDir(t);
  const drafts = async () => (await readdir(dataDir)).filter((name) => name.startsWith('postgres.new-'));
  const killed = await startService(dataDir);
  await until(async () => (await drafts()).length > 0 && processesIn(dataDir).length > 0);
  await killService(killed);
  await (await start(dataDir)).stop();
  assert.deepEqual(await drafts(), []);
  await until(() => processesIn(dataDir).length === 0);
});

test('a data directory with a very long path works', linuxOnly, async (t) => {
  const parent = await initialisedDataDir(t);
  const dataDir = join(parent, 'long'.repeat(50), 'longer'.repeat(40));
  await mkdir(dataDir, { recursive: true });
  await promisify(execFile)('mv', [join(parent, 'postgres'), dataDir]);
  const server = await start(dataDir);
  await query(server.connection, 'SELECT 1');
  const found = await findBundledPostgres(dataDir);
  assert.ok(found);
  await query(found, 'SELECT 1');
});

test('data of another major version is refused and not touched', async (t) => {
  const dataDir = await emptyDataDir(t);
  const directory = join(dataDir, 'postgres');
  await mkdir(directory);
  await writeFile(join(directory, 'PG_VERSION'), '17\n');
  await assert.rejects(
    start(dataDir),
    /holds data of PostgreSQL 17, and this version of the service has 18. Run "case-records upgrade"/,
  );
  assert.deepEqual(await readdir(directory), ['PG_VERSION']);
  assert.deepEqual(await readdir(dataDir), ['postgres']);
});

test('a directory with other files is refused', async (t) => {
  const dataDir = await emptyDataDir(t);
  await mkdir(join(dataDir, 'postgres'));
  await writeFile(join(dataDir, 'postgres', 'holiday.jpg'), '');
  await assert.rejects(start(dataDir), /is not empty/);
});

test('a failure to start carries the reason of PostgreSQL in one line', linuxOnly, async (t) => {
  const dataDir = await initialisedDataDir(t);
  await assert.rejects(start(dataDir, { shared_buffers: 'plenty' }), (error) => {
    assert.ok(error instanceof BundledPostgresError);
    assert.match(error.message, /^The bundled PostgreSQL did not start: .*shared_buffers.*postgres\.log/);
    return true;
  });
  await (await start(dataDir)).stop();
});

test('a platform without a release is pointed to DATABASE_URL', async (t) => {
  const original = Object.getOwnPropertyDescriptor(process, 'platform') as PropertyDescriptor;
  t.after(() => Object.defineProperty(process, 'platform', original));
  Object.defineProperty(process, 'platform', { ...original, value: 'sunos' });
  await assert.rejects(installedRelease(), /cannot run here \(sunos\/.*DATABASE_URL .* PostgreSQL 15 or later/);
});

test('a program that does not run is explained', async (t) => {
  const dataDir = await emptyDataDir(t);
  const broken = { ...(await installedRelease()), folder: dataDir };
  await writeFile(join(dataDir, 'pg-symlinks.json'), '[]');
  await mkdir(join(dataDir, 'bin'));
  await writeFile(serverProgram(broken), '#!/bin/sh\necho "libicu is missing" >&2\nexit 127\n', { mode: 0o700 });
  await assert.rejects(runnableRelease(broken, dataDir), /cannot run here .*: libicu is missing\..*DATABASE_URL/);
  await writeFile(serverProgram(broken), '#!/lib/missing-loader\n');
  await assert.rejects(runnableRelease(broken, dataDir), /glibc.*DATABASE_URL/);
});

test('a release that the server user cannot reach is copied once', { ...linuxOnly, ...rootOnly }, async (t) => {
  const closed = await emptyDataDir(t);
  const copies = join(await mkdtemp(join(tmpdir(), 'case-records-test-')), 'copies');
  t.after(() => rm(join(copies, '..'), { recursive: true }));
  await chmod(join(copies, '..'), 0o755);
  const installed = await releaseIn(closed);
  const release = await runnableRelease(installed, copies);
  assert.equal(release, installed);
  assert.match((await findObstacle(release, UNPRIVILEGED)) ?? '', /EACCES/);
  const reachable = await Promise.all([1, 2].map(() => releaseReachableBy(UNPRIVILEGED, release, copies)));
  for (const copy of reachable) assert.equal(await findObstacle(copy, UNPRIVILEGED), undefined);
  assert.equal((await readdir(copies)).length, 1);
  assert.equal((await releaseReachableBy(UNPRIVILEGED, release, copies)).folder, reachable[0]?.folder);
});

/** A copy without the symbolic links, as npm unpacks it. */
async function releaseIn(dataDir: string): Promise<Release> {
  const installed = await installedRelease();
  const folder = join(dataDir, 'native');
  await cp(installed.folder, folder, {
    recursive: true,
    filter: async (path) => !(await lstat(path)).isSymbolicLink(),
  });
  return { ...installed, folder };
}

const unprivilegedCanRunNode = () => spawnSync(process.execPath, ['--version'], UNPRIVILEGED).status === 0;

test('a service without root runs the server as itself', { ...linuxOnly, ...rootOnly }, async (t) => {
  if (!unprivilegedCanRunNode()) return t.skip('the checkout is closed to other users');
  const dataDir = await emptyDataDir(t);
  await chown(dataDir, UNPRIVILEGED.uid, UNPRIVILEGED.gid);
  const service = await startService(dataDir, UNPRIVILEGED);
  const { pid } = await reportOf(service);
  assert.equal((await stat(`/proc/${pid}`)).uid, UNPRIVILEGED.uid);
  await stopService(service);

  const asRoot = await start(dataDir);
  assert.equal((await stat(`/proc/${asRoot.pid}`)).uid, UNPRIVILEGED.uid);
  await asRoot.stop();
});

test('a data directory that root has restored is given to the server user', {
  ...linuxOnly,
  ...rootOnly,
}, async (t) => {
  const dataDir = await initialisedDataDir(t);
  await promisify(execFile)('chown', ['-R', '0:0', dataDir]);
  await (await start(dataDir)).stop();
});
