import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Database } from '../../src/kernel/database/database.ts';
import { startBundledPostgres } from '../../src/postgres/bundled-postgres.ts';
import { commandOutput, runCommand } from '../harness/command-line.ts';
import { temporaryDataDirectory } from '../harness/data-directory.ts';
import { urlOf } from '../harness/service.ts';
import { CREDENTIALS } from '../harness/zoom.ts';

/** The doctor checks no data on a server that could lose a write, so these tests have a durable server. */

const home = await temporaryDataDirectory('initialised');
const server = await startBundledPostgres({ dataDir: home.path, log: () => {} });
after(async () => {
  await server.stop();
  await home.remove();
});

const DATABASE_URL = urlOf(server.connection);
const [KEY, OTHER_KEY] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64')) as [string, string];
const ROTATED = `${OTHER_KEY},${KEY}`;
const doctor = (settings: Record<string, string> = {}) => runCommand({ DATABASE_URL, ...settings }, 'doctor');
const run = (...args: string[]) => commandOutput({ DATABASE_URL, SECRETS_KEY: KEY }, ...args);

async function query(text: string): Promise<void> {
  const db = new Database({ connection: server.connection, poolSize: 1 });
  await db.pool.query(text);
  await db.close();
}

test('the doctor says which migrations are missing, and what to do', async () => {
  const { code, out } = await doctor();
  assert.equal(code, 1);
  assert.match(out, /fault +migrations +0001_case_records\.sql.*case-records migrate/);
  const refused = await runCommand({ DATABASE_URL }, 'company', 'list');
  assert.equal(refused.code, 1);
  assert.match(refused.err, /lacks the migrations 0001_case_records\.sql/);
  await run('migrate');
  assert.equal((await doctor()).code, 0);
});

test('the doctor says which time zones are unknown', async () => {
  const id = await run('company', 'create', '--name', 'First', '--only', 'id');
  assert.equal((await doctor()).code, 0);
  await query(`UPDATE companies SET time_zone = 'Mars/Olympus' WHERE id = '${id}'`);
  assert.match((await doctor()).out, /fault +time zones +unknown to this version of Node: Mars\/Olympus/);
  await query(`UPDATE companies SET time_zone = 'Europe/London' WHERE id = '${id}'`);
});

test('the doctor tells of failing endpoints and of webhook secrets that no key opens', async () => {
  await run('webhook', 'create', '--url', 'https://firm.example/hooks', '--type', '*');
  const found = async (SECRETS_KEY: string) => (await doctor({ SECRETS_KEY })).out;
  assert.match(await found(KEY), /ok +webhooks +1 secrets, all can be decrypted/);
  assert.match(await found(OTHER_KEY), /fault +webhooks +1 of 1 secrets cannot be decrypted/);
  assert.match(await found(ROTATED), /warning +webhooks .*secrets reencrypt/);
  const rotated = { DATABASE_URL, SECRETS_KEY: ROTATED };
  assert.deepEqual(JSON.parse(await commandOutput(rotated, 'secrets', 'reencrypt', '--json')), {
    accounts: 0,
    webhook_secrets: 1,
    one_time_codes: 0,
    reencrypted: 1,
    undecryptable: 0,
  });
  await query(`UPDATE webhook_endpoints SET state = 'failing'`);
  assert.match(await found(OTHER_KEY), /warning +webhooks +1 endpoints are failing/);
});

test('the doctor tells of video accounts that the first key cannot open', async () => {
  const { account_id, client_id, client_secret, user } = CREDENTIALS;
  const account = ['--account-id', account_id, '--client-id', client_id, '--user', user];
  await run('adviser', 'create', '--email', 'a@firm.example', '--name', 'A');
  await run('adviser', 'connect', 'a@firm.example', '--provider', 'zoom', ...account, '--client-secret', client_secret);
  for (const [settings, found] of [
    [{ SECRETS_KEY: KEY }, /ok +video +1 accounts/],
    [
      { SECRETS_KEY: ROTATED },
      /warning +video +1 of 1 accounts need an older key than the first\. Run "case-records secrets reencrypt"/,
    ],
    [{ SECRETS_KEY: OTHER_KEY }, /fault +video +1 of 1 accounts cannot be decrypted\..*SECRETS_KEY/],
    [{}, /fault +video +1 of 1 accounts cannot be decrypted/],
  ] as const) {
    assert.match((await doctor(settings)).out, found);
  }
  await commandOutput({ DATABASE_URL, SECRETS_KEY: ROTATED }, 'secrets', 'reencrypt');
  assert.match((await doctor({ SECRETS_KEY: OTHER_KEY })).out, /ok +video +1 accounts/);
});
