import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import pg from 'pg';
import { Database } from '../../src/kernel/database/database.ts';
import type { PoolName } from '../../src/kernel/sql/statement.ts';
import { type BundledPostgres, SERVICE_ROLE, startBundledPostgres } from '../../src/postgres/bundled-postgres.ts';
import { temporaryDataDirectory } from '../harness/data-directory.ts';
import { caller } from '../harness/http.ts';
import { testQuery } from '../harness/query.ts';
import { launch, printed, type Settings, startProcess, urlOf } from '../harness/service.ts';
import { until } from '../harness/until.ts';

/** An acknowledged write waits for the disk, whatever a role, a database or the server is configured to do. */

const ROLE = `ALTER ROLE ${SERVICE_ROLE}`;
const shown = (pool: PoolName) =>
  testQuery(`shown ${pool}`, `SELECT current_setting('synchronous_commit') AS value`, [], pool);

/** The settings on a connection of each kind that a Database opens. */
async function settingsOf(db: Database): Promise<string[]> {
  const values: string[] = [];
  for (const pool of ['short', 'list', 'search'] as const) {
    values.push((await db.queryFirst<{ value: string }>(shown(pool)))?.value ?? '');
  }
  values.push((await db.transaction((t) => t.queryFirst<{ value: string }>(shown('short'))))?.value ?? '');
  for await (const value of db.streamRows(shown('short'))) values.push(value);
  return values;
}

describe('on a server that is told otherwise', () => {
  let server: BundledPostgres;
  let owner: pg.Client;
  let service: { host: string; user: string; database: string };
  const opened: Database[] = [];
  const open = () => {
    const db = new Database({ connection: service, poolSize: 1 });
    opened.push(db);
    return db;
  };
  let remove: () => Promise<void>;

  before(async () => {
    const data = await temporaryDataDirectory('initialised');
    remove = data.remove;
    server = await startBundledPostgres({ dataDir: data.path, log: () => {} });
    owner = new pg.Client(server.connection);
    await owner.connect();
    await owner.query(`CREATE ROLE ${SERVICE_ROLE} LOGIN`);
    service = { ...server.connection, user: SERVICE_ROLE };
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((db) => db.close()));
    await owner.query(`${ROLE} RESET synchronous_commit`);
    await owner.query('ALTER DATABASE case_records RESET synchronous_commit');
    await set('synchronous_commit', 'on');
  });
  after(async () => {
    await owner.end();
    await server.stop();
    await remove();
  });

  async function set(setting: string, value: string): Promise<void> {
    await owner.query(`ALTER SYSTEM SET ${setting} = '${value}'`);
    await owner.query('SELECT pg_reload_conf()');
    await until(async () => (await owner.query(`SHOW ${setting}`)).rows[0][setting] === value, `${setting} ${value}`);
  }

  for (const unsafe of ['off', 'local']) {
    test(`every connection waits for the disk and the standbys if its role has ${unsafe}`, async () => {
      await owner.query(`${ROLE} SET synchronous_commit = ${unsafe}`);
      assert.deepEqual(await settingsOf(open()), Array(5).fill('on'));
    });

    test(`every connection waits for the disk and the standbys if its database has ${unsafe}`, async () => {
      await owner.query(`ALTER DATABASE case_records SET synchronous_commit = ${unsafe}`);
      assert.deepEqual(await settingsOf(open()), Array(5).fill('on'));
    });

    test(`open connections go on waiting if the server is told ${unsafe} while they live`, async () => {
      const db = open();
      assert.deepEqual(await settingsOf(db), Array(5).fill('on'));
      await set('synchronous_commit', unsafe);
      assert.deepEqual(await settingsOf(db), Array(5).fill('on'));
    });
  }

  for (const stronger of ['remote_write', 'remote_apply']) {
    test(`a role that has ${stronger} keeps it`, async () => {
      await owner.query(`${ROLE} SET synchronous_commit = ${stronger}`);
      assert.deepEqual(await settingsOf(open()), Array(5).fill(stronger));
    });
  }
});

const REASON = `The role "${SERVICE_ROLE}" has synchronous_commit off`;

/** The output of a command that must end with 1. A command that keeps running is stopped. */
async function refusal(settings: Settings, command: string): Promise<string> {
  const launched = launch(settings, command);
  printed(launched, /listens on|worker is running/).then(
    () => launched.child.kill(),
    () => {},
  );
  const code = await launched.ended();
  const output = launched.output.join('\n');
  assert.equal(code, 1, output);
  return output;
}

describe('a service', () => {
  let DATA_DIR: string;
  let remove: () => Promise<void>;
  before(async () => {
    const data = await temporaryDataDirectory('started');
    DATA_DIR = data.path;
    remove = data.remove;
  });
  after(() => remove());

  test('goes on if its role is told so after the start, is refused at the next start, and the doctor says why', async () => {
    const service = await startProcess({ DATA_DIR, WORKER_CONCURRENCY: '0' });
    const bundled = { host: join(DATA_DIR, 'postgres'), user: 'postgres', database: 'case_records' };
    const owner = new pg.Client(bundled);
    await owner.connect();
    try {
      await owner.query(`${ROLE} SET synchronous_commit = off`);
      await owner.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${SERVICE_ROLE}'`);
      const demo = JSON.parse(await readFile(join(DATA_DIR, 'demo.json'), 'utf8'));
      const write = async () =>
        (await caller(service.url, demo.token).post(`/cases/${demo.case_id}/interactions`, { type: 'phone' })).status;
      // Requests in between meet connections that have just been ended.
      await until(async () => (await write()) === 200, 'a write on new connections');
      assert.match(await refusal({ DATA_DIR }, 'doctor'), new RegExp(`fault +database +${REASON}`));
      assert.match(await refusal({ DATA_DIR }, 'worker'), new RegExp(REASON));
      const both = { DATABASE_OWNER_URL: urlOf(bundled), DATABASE_URL: urlOf({ ...bundled, user: SERVICE_ROLE }) };
      assert.match(await refusal({ ...both, DATA_DIR: join(DATA_DIR, 'unused') }, 'serve'), new RegExp(REASON));
    } finally {
      await owner.query(`${ROLE} RESET synchronous_commit`);
      await owner.end();
      await service.stop();
    }
    const doctor = launch({ DATA_DIR }, 'doctor');
    await printed(doctor, /(ok|warning) +database +/);
    assert.equal(await doctor.ended(), 0, doctor.output.join('\n'));
  });
});
