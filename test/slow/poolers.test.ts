import assert from 'node:assert/strict';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import pg from 'pg';
import { readWatermark } from '../../src/events/watermark.ts';
import { Database } from '../../src/kernel/database/database.ts';
import { endHalfSentTransactions } from '../../src/kernel/database/half-sent-transactions.ts';
import { startBundledPostgres } from '../../src/postgres/bundled-postgres.ts';
import { startApp } from '../harness/app.ts';
import { commandOutput, runCommand } from '../harness/command-line.ts';
import { makeDataDirectory } from '../harness/data-directory.ts';
import { halfSent } from '../harness/half-sent.ts';
import { caller } from '../harness/http.ts';
import { findPgbouncers, startPgbouncer } from '../harness/pgbouncer.ts';
import { launch, type Settings, startProcess, temporaryDirectory, urlOf } from '../harness/service.ts';
import { until } from '../harness/until.ts';

/** A real PgBouncer between the real service and its database. */

const found = await findPgbouncers();
const [anyPgbouncer] = found;
const recent = found.find(({ sharesPrepared }) => sharesPrepared);
const old = found.find(({ sharesPrepared }) => !sharesPrepared);
const skip = anyPgbouncer ? false : 'There is no PgBouncer: test/slow/packages.sh installs it.';
const skipRecent = recent ? false : 'There is no PgBouncer 1.21 or later: test/slow/packages.sh looks for one.';
const skipOld = old ? false : 'There is no PgBouncer older than 1.21.';

const PLAN_SETTINGS = ['plan_cache_mode', 'jit', 'enable_seqscan', 'statement_timeout', 'transaction_timeout'];

describe('behind PgBouncer', { skip }, async () => {
  if (!anyPgbouncer) return;
  const home = await temporaryDirectory();
  const dataDir = join(home.path, 'database');
  await makeDataDirectory('initialised', dataDir);
  const server = await startBundledPostgres({ dataDir, log: () => {} });
  // PgBouncer runs as the user of the server, and enters the folders above its socket.
  for (const folder of [home.path, dataDir]) await chmod(folder, 0o755);
  const address = { ...server.connection, host: join(dataDir, 'postgres') };
  const direct = { DATABASE_DIRECT_URL: urlOf(address) };
  after(async () => {
    await server.stop();
    await home.remove();
  });

  async function start(pooler: Parameters<typeof startPgbouncer>, more: Settings = {}) {
    const { url, stop } = await startPgbouncer(...pooler);
    after(stop);
    return { DATABASE_URL: url, DATA_DIR: join(home.path, 'data'), ...more };
  }

  async function refusal(settings: Settings): Promise<string> {
    const { output, ended } = launch(settings);
    assert.equal(await ended(), 1);
    return output.join('\n');
  }

  /** Creates a company with the command line, books an appointment over HTTP, and waits for its confirmation. */
  async function bookAndConfirm(settings: Settings, reference: string): Promise<void> {
    const service = await startProcess(settings);
    after(() => service.child.kill('SIGKILL'));
    const adviser = 'adviser@company.example';
    const email = 'john.smith@client.example';
    const company = [
      '--company',
      await commandOutput(settings, 'company', 'create', '--name', reference, '--only', 'id'),
    ];
    await commandOutput(settings, 'adviser', 'create', ...company, '--email', adviser, '--name', 'Adviser');
    const caseOptions = ['--reference', reference, '--only', 'id'];
    const caseId = await commandOutput(settings, 'case', 'create', ...company, ...caseOptions);
    const names = ['--title', 'Mr', '--first-names', 'John', '--last-name', 'Smith'];
    await commandOutput(settings, 'customer', 'create', ...company, '--case', caseId, ...names, '--email', email);
    const key = ['--name', 'all', '--scope', 'appointments:write,appointments:read', '--only', 'key'];
    const token = await commandOutput(settings, 'key', 'create', ...company, ...key);
    const api = caller(service.url, token);
    const booked = await api.post(`/cases/${caseId}/appointments`, {
      adviser_email: adviser,
      start_time: '2035-06-14 10:00:00',
      end_time: '2035-06-14 11:00:00',
      email_recipient: email,
      email_confirmation: true,
    });
    assert.equal(booked.status, 200, booked.text);
    const appointment = `/cases/${caseId}/appointments/${JSON.parse(booked.text).id}`;
    const isSent = async () => JSON.parse((await api.get(appointment)).text).email_confirmation === 'sent';
    await until(isSent, 'the confirmation to be sent');
    assert.equal(await service.stop(), 0);
  }

  test('that keeps sessions, the service applies its migrations, writes, and hears of due work', async () => {
    const settings = await start([anyPgbouncer, address, { poolMode: 'session' }]);
    await bookAndConfirm(settings, 'Kept');
  });

  test('that shares sessions, the start is refused, with the settings to change', async () => {
    const settings = await start([anyPgbouncer, address, { poolMode: 'transaction' }]);
    const text = await refusal(settings);
    assert.match(text, /^case-records: The connection pooler .*Set DATABASE_DIRECT_URL .* set pool_mode to "session"/m);
  });

  test('that shares sessions, the commands of the owner are refused before they change anything', async () => {
    const settings = await start([anyPgbouncer, address, { poolMode: 'transaction' }]);
    await commandOutput({ ...settings, DATABASE_URL: urlOf(address) }, 'migrate');
    const file = join(home.path, 'company.zip');
    for (const words of ['held hold', 'company export any', 'company import', 'company remove any']) {
      const args = words.split(' ');
      if (/export|import/.test(words)) args.push(file);
      const { err } = await runCommand(settings, ...args);
      assert.match(err, /^The connection pooler gives each transaction another session/, words);
    }
  });

  test('that shares sessions and forgets prepared statements, the start is refused', { skip: skipOld }, async () => {
    if (!old) return;
    const settings = await start([old, address, { poolMode: 'transaction' }], direct);
    assert.match(await refusal(settings), /^case-records: .* does not keep prepared statements: use PgBouncer 1\.21/m);
  });

  test('that is recent and is told not to keep prepared statements, it is refused', { skip: skipRecent }, async () => {
    if (!recent) return;
    const settings = await start([recent, address, { poolMode: 'transaction', maxPrepared: 0 }], direct);
    assert.match(await refusal(settings), /max_prepared_statements above 0/);
  });

  test('a direct address of another database is refused', { skip: skipRecent }, async () => {
    if (!recent) return;
    const settings = await start([recent, address, { poolMode: 'transaction' }]);
    const elsewhere = { DATABASE_DIRECT_URL: urlOf({ ...address, database: 'postgres' }) };
    assert.match(await refusal({ ...settings, ...elsewhere }), /DATABASE_DIRECT_URL must lead to the same server/);
  });

  test('that shares sessions, all works, and other programs keep their settings', { skip: skipRecent }, async () => {
    if (!recent) return;
    const settings = await start([recent, address, { poolMode: 'transaction', poolSize: 5 }], direct);
    await bookAndConfirm(settings, 'Shared');
    const show = `SELECT pg_backend_pid() AS pid, array_agg(name || '=' || setting ORDER BY name) AS settings
                    FROM pg_settings WHERE name = ANY ($1)`;
    const defaults = new pg.Client(address);
    await defaults.connect();
    const expected = (await defaults.query(show, [PLAN_SETTINGS])).rows[0].settings;
    await defaults.end();
    // As many open transactions as there are sessions see all of them.
    const clients = Array.from({ length: 5 }, () => new pg.Client(settings.DATABASE_URL));
    for (const client of clients) await client.connect();
    for (const client of clients) await client.query('BEGIN');
    const seen = await Promise.all(clients.map(async (client) => (await client.query(show, [PLAN_SETTINGS])).rows[0]));
    for (const client of clients) await client.end();
    assert.equal(new Set(seen.map(({ pid }) => pid)).size, 5);
    for (const row of seen) assert.deepEqual(row.settings, expected);
  });
});

test('behind a pooler that hides crashes, followers wait for an open transaction instead of using what was read', async () => {
  const app = await startApp();
  const connectionString = urlOf(app.connection);
  const db = new Database({ connection: { connectionString, directUrl: connectionString }, poolSize: 1 });
  try {
    await readWatermark(db);
    const { ended } = await halfSent(app.connection);
    await assert.rejects(readWatermark(db), /taking long/);
    await endHalfSentTransactions(app.db, 0);
    await ended;
    await readWatermark(db);
  } finally {
    await db.close();
  }
});
