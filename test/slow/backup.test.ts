import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { zstdCompress } from 'node:zlib';
import { Client } from 'pg';
import { chooseBackup } from '../../src/backup/list.ts';
import { restoreDatabase } from '../../src/backup/restore.ts';
import { findBundledPostgres, startBundledPostgres } from '../../src/postgres/bundled-postgres.ts';
import { commandOutput, runCommand } from '../harness/command-line.ts';
import { makeDataDirectory } from '../harness/data-directory.ts';
import { launch, printed, type Running, startProcess, temporaryDirectory } from '../harness/service.ts';
import { until } from '../harness/until.ts';

/** Backups of a real service and its bundled database. The paths have blanks, and the tests use one database in turn. */

let home: Awaited<ReturnType<typeof temporaryDirectory>>;
let folder: string;
let first: string;
let second: string;
const times: Record<string, Temporal.Instant> = {};
const LATER_SEGMENTS = 6;
/** Until the files are copied, on a machine whose disk is busy. */
const MAX_COPY_MS = 180_000;

before(async () => {
  home = await temporaryDirectory();
  folder = join(home.path, 'the backups');
  first = join(home.path, 'first service');
  second = join(home.path, 'second service');
  await makeDataDirectory('started', first);
});

after(() => home.remove());

const settings = (dataDir: string) => ({ DATA_DIR: dataDir, WORKER_CONCURRENCY: '0', BACKUP_DIR: folder });
const start = (dataDir: string, more: Record<string, string> = {}): Promise<Running> =>
  startProcess({ ...settings(dataDir), BACKUP_SCHEDULE: 'off', ...more });

async function write(service: Running, dataDir: string, notes: string): Promise<void> {
  const { token, case_id } = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8'));
  const answer = await fetch(`${service.url}/cases/${case_id}/interactions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'phone', notes }),
  });
  assert.equal(answer.status, 200, await answer.text());
  times[notes] = Temporal.Now.instant();
}

let restoredFolders = 0;
/** Restores into a new folder, and returns what the database has. */
async function restored(...args: string[]): Promise<string[]> {
  const dataDir = join(home.path, `restored ${++restoredFolders}`);
  await commandOutput({ DATA_DIR: dataDir }, 'restore', folder, ...args);
  return notesIn(dataDir);
}

/** With archiving, as the service does: without it the WAL of the new timeline would have a gap. */
async function notesIn(dataDir: string): Promise<string[]> {
  const server = await startBundledPostgres({ dataDir, log: () => {}, settings: { archive_mode: 'on', fsync: 'off' } });
  try {
    return await query(server.connection, 'SELECT notes AS value FROM interactions ORDER BY created_at');
  } finally {
    await server.stop();
  }
}

async function query(connection: { host: string; user: string; database: string }, sql: string): Promise<string[]> {
  const client = new Client(connection);
  await client.connect();
  try {
    return (await client.query(sql)).rows.map(({ value }) => value);
  } finally {
    await client.end();
  }
}

/** Runs a command in a process of its own: `backup create` and `backup verify` lower the priority of theirs for good. */
async function runApart(dataDir: string, ...args: string[]): Promise<{ code: number | null; text: string }> {
  const command = launch({ DATA_DIR: dataDir }, ...args);
  const code = await command.ended();
  return { code, text: command.output.join('\n') };
}

const backups = async () => (await readdir(folder).catch((): string[] => [])).filter((name) => /^\d/.test(name));
const atTime = (name: string) => ['--at', String(times[name]?.toString({ smallestUnit: 'millisecond' }))];

test('a service makes a backup that is due, shows its age, and archives every change until it has stopped', async () => {
  const service = await start(first, { BACKUP_SCHEDULE: '0 3 * * *' });
  const connection = (await findBundledPostgres(first)) ?? assert.fail();
  // The backup waits for a checkpoint that takes minutes unless another one hurries it.
  const waiting = `SELECT pid AS value FROM pg_stat_activity WHERE wait_event = 'CheckpointDone'`;
  await until(
    async () => (await query(connection, waiting)).length > 0 || (await backups()).length === 1,
    'the checkpoint of the backup',
  );
  await query(connection, 'CHECKPOINT');
  await until(async () => (await backups()).length === 1, 'the backup');
  await write(service, first, 'one');
  await write(service, first, 'two');
  // Later WAL without a transaction.
  for (let segment = 0; segment < LATER_SEGMENTS; segment++) {
    await query(connection, `SELECT pg_logical_emit_message(false, 'later', 'x') AS value`);
    await query(connection, 'SELECT pg_switch_wal() AS value');
  }
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  assert.match(metrics, /^backup_age_seconds \d/m);
  assert.equal(await service.stop(), 0, service.output.join('\n'));
  assert.match(await commandOutput({ DATA_DIR: first }, 'backup', 'list', folder), /^BACKUP +FROM +UNTIL/);
});

test('a backup that is verified is good, and the copy is gone afterwards', async () => {
  const [name] = await backups();
  const { code, text } = await runApart(first, 'backup', 'verify', join(folder, name as string));
  assert.equal(code, 0, text);
  assert.match(text, /is good: \d+ files, .* indexes are intact/);
  assert.deepEqual(
    (await readdir(folder)).filter((entry) => entry.startsWith('.')),
    [],
  );
});

test('a signal during a verification stops the server of the copy', async () => {
  const [name] = await backups();
  const verifying = launch({ DATA_DIR: first }, 'backup', 'verify', join(folder, name as string));
  const pidOfCopy = async () => {
    const [trial = ''] = (await readdir(folder)).filter((entry) => entry.startsWith('.verify-'));
    const content = await readFile(join(folder, trial, 'postgres/postmaster.pid'), 'utf8').catch(() => '');
    return Number.parseInt(content, 10);
  };
  const pid = await until(pidOfCopy, 'the server of the copy', MAX_COPY_MS);
  verifying.child.kill('SIGINT');
  assert.equal(await verifying.ended(), 1, verifying.output.join('\n'));
  assert.throws(() => process.kill(pid, 0), /ESRCH/);
});

test('a time between two changes has the first one only, and later WAL is not copied', async () => {
  const at = Temporal.Instant.from(atTime('one')[1] as string);
  const steps: string[] = [];
  const onProgress = (text: string) => void steps.push(text);
  await restoreDatabase({ path: folder, at, dataDir: second, onProgress, onServer: () => {} });
  const [, added] = /^Adding WAL: 1 of (\d+)$/m.exec(steps.join('\n')) ?? assert.fail();
  const { following } = await chooseBackup(folder, at);
  assert.ok(Number(added) <= following.length - LATER_SEGMENTS / 2, `${added} of ${following.length}`);
  assert.deepEqual(await notesIn(second), ['one']);
});

test('a time after the last change, but before the end of the archive, has the last state', async () => {
  assert.deepEqual(await restored(...atTime('two')), ['one', 'two']);
});

test('a database is not restored over another one', async () => {
  const { code, err } = await runCommand({ DATA_DIR: second }, 'restore', folder);
  assert.equal(code, 1);
  assert.match(err, /There is a database in .*second service.*move that folder away/);
  assert.deepEqual(await notesIn(second), ['one']);
});

test('a restored service writes to the folder when it has taken it over, and every earlier time stays within reach', async () => {
  const refused = launch({ ...settings(second), BACKUP_SCHEDULE: 'off' });
  const started = printed(refused, /listens on/).then(
    () => refused.child.kill() && 'it has started',
    () => undefined,
  );
  assert.equal(await Promise.race([refused.ended(), started]), 1);
  assert.match(refused.output.join('\n'), /another installation, in .*first service on .*backup take-over/);
  await commandOutput(settings(second), 'backup', 'take-over', folder);
  const service = await start(second);
  await write(service, second, 'three');
  assert.equal(await service.stop(), 0, service.output.join('\n'));
  const [newest, earlier] = await Promise.all([restored(), restored(...atTime('two'))]);
  assert.deepEqual(newest, ['one', 'three']);
  assert.deepEqual(earlier, ['one', 'two']);
  const other = await runApart(first, 'backup', 'create', folder);
  assert.match(other.text, /another installation, in .*second service/);
});

test('the database from before a restore cannot write where the restored one has gone on', async () => {
  await commandOutput(settings(first), 'backup', 'take-over', folder);
  const { text } = await runApart(first, 'backup', 'create', folder);
  assert.match(text, /that a restore made of this one \(timeline \d; this is 1\)/);
  const refused = launch({ ...settings(first), BACKUP_SCHEDULE: 'off' });
  assert.equal(await refused.ended(), 1, refused.output.join('\n'));
  assert.match(refused.output.join('\n'), /that a restore made of this one/);
  await commandOutput(settings(second), 'backup', 'take-over', folder);
});

test('WAL that cannot be read ends the restore with an error and leaves no database', async () => {
  const [archive] = (await readdir(folder)).filter((name) => name.startsWith('wal-'));
  const path = join(folder, archive as string);
  const newest = (await readdir(path)).filter((name) => /^00000002[0-9A-F]{16}/.test(name)).sort();
  await writeFile(join(path, newest.at(-1) as string), await promisify(zstdCompress)(Buffer.alloc(16 * 1024 * 1024)));
  const dataDir = join(home.path, 'not restored');
  const { code, err } = await runCommand({ DATA_DIR: dataDir }, 'restore', folder);
  assert.equal(code, 1);
  assert.match(err, /cannot be read beyond the change of .*Restore with --at a time before/);
  assert.deepEqual(
    (await readdir(dataDir)).filter((name) => name.startsWith('postgres') && name !== 'postgres.log'),
    [],
  );
});

test('a damaged backup is neither good nor restored', async () => {
  const [name] = await backups();
  const path = join(folder, name as string, 'base.tar.zst');
  const content = await readFile(path);
  const middle = content.length >> 1;
  content[middle] = (content[middle] as number) ^ 1;
  await writeFile(path, content);
  for (const args of [
    ['backup', 'verify', join(folder, name as string)],
    ['restore', folder],
  ]) {
    const { code, text } = await runApart(join(home.path, 'damaged'), ...args);
    assert.deepEqual([code, /is damaged: .*\. Use another backup\./.test(text)], [1, true], text);
  }
});

test('a service whose backups fail runs, logs it and mails it', async () => {
  const dataDir = join(home.path, 'third service');
  await makeDataDirectory('started', dataDir);
  const file = join(home.path, 'a file');
  await writeFile(file, '');
  const failing = launch({
    DATA_DIR: dataDir,
    BACKUP_DIR: file,
    BACKUP_EMAIL: 'operator@example.com',
    WORKER_CONCURRENCY: '0',
  });
  await printed(failing, /"reason":"[^"]*it is not a folder[^"]*","msg":"(Archiving|The backup) failed"/);
  await printed(failing, /listens on/);
  const outbox = join(dataDir, 'outbox');
  await until(async () => {
    const mails = await readdir(outbox).catch((): string[] => []);
    const texts = await Promise.all(mails.map((name) => readFile(join(outbox, name), 'utf8')));
    return texts.some((text) => /^To: operator@example.com/m.test(text) && /backup of Case Records failed/.test(text));
  });
  failing.child.kill('SIGTERM');
  assert.equal(await failing.ended(), 0, failing.output.join('\n'));
});
