import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { after, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import pino from 'pino';
import { countAccounts, reencryptAccounts } from '../src/cases/appointments/meetings/accounts/verbs.ts';
import { ConfigError, readConfig } from '../src/config.ts';
import { SecretBox } from '../src/kernel/secret-box.ts';
import { buildApp } from '../src/server/app.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import { ok, refused } from './harness/assert.ts';
import { commandOutput, runCommand } from './harness/command-line.ts';
import { caller } from './harness/http.ts';
import { KEYS, meetingWorker, openZoom, secrets } from './harness/meeting-worker.ts';
import { overlapping } from './harness/overlap.ts';
import { urlOf } from './harness/service.ts';
import { CREDENTIALS } from './harness/zoom.ts';

/** How an adviser's video account is connected, and where its secret may and may not be. */

const app = await startApp({ secrets });
const zoom = await openZoom();
const worker = meetingWorker(app, zoom);
const ZOOM = { provider: 'zoom', ...CREDENTIALS };
const SECRET = CREDENTIALS.client_secret;

beforeEach(() => zoom.reset());

async function accountOf(company: TestCompany): Promise<{ id: string; adviser: string; account: string }> {
  const [{ id = '' } = {}] = await ok(company.get(`/manage/advisers?search=${company.adviser}`));
  return { id, adviser: `/manage/advisers/${id}`, account: `/manage/advisers/${id}/video-account` };
}

async function book(company: TestCompany): Promise<string> {
  const { id } = await ok(
    company.post(`${company.path}/appointments`, {
      adviser_email: company.adviser,
      start_time: '2026-06-10 10:00:00',
      end_time: '2026-06-10 11:00:00',
      video_meeting: true,
    }),
  );
  return `${company.path}/appointments/${id}`;
}

const sealedOf = async (company: TestCompany) =>
  (
    await app.sql('SELECT sealed_secret FROM video_accounts WHERE company_id = $1 ORDER BY id', [company.companyId])
  ).map(({ sealed_secret }) => sealed_secret);

// Connecting

test('a connected account is shown without its secret, and the adviser names the provider', async () => {
  const company = await app.company();
  const { id, adviser, account } = await accountOf(company);
  assert.equal((await company.get(account)).status, 404);
  const connected = await ok(company.send('PUT', account, ZOOM));
  const { client_secret: _, ...shown } = ZOOM;
  assert.deepEqual(connected, { adviser_id: id, ...shown, updated_at: '2026-06-01T09:00:00.000000Z' });
  assert.deepEqual(await ok(company.get(account)), connected);
  assert.equal((await ok(company.get(adviser))).video_provider, 'zoom');
  const jitsi = await ok(company.send('PUT', account, { provider: 'jitsi', client_secret: 'ignored' }));
  assert.deepEqual(jitsi, { ...connected, provider: 'jitsi', account_id: null, client_id: null, user: null });
  assert.equal((await ok(company.get(adviser))).video_provider, 'jitsi');
});

test('a disconnected account is gone, and a second time is 404', async () => {
  const company = await app.company();
  const { id, adviser, account } = await accountOf(company);
  await ok(company.send('PUT', account, ZOOM));
  assert.deepEqual(await ok(company.delete(account)), {
    adviser_id: id,
    disconnected_at: '2026-06-01T09:00:00.000000Z',
  });
  assert.equal((await ok(company.get(adviser))).video_provider, null);
  assert.equal((await company.get(account)).status, 404);
  assert.equal((await company.delete(account)).status, 404);
});

for (const [what, body, faults] of [
  ['nothing', {}, { provider: 'required' }],
  ['another provider', { provider: 'phone' }, { provider: 'not_allowed' }],
  [
    'Zoom without credentials',
    { provider: 'zoom' },
    { account_id: 'required', client_id: 'required', client_secret: 'required', user: 'required' },
  ],
  ['empty and wrong credentials', { ...ZOOM, user: '', account_id: 5 }, { user: 'too_short', account_id: 'type' }],
  ['a secret of 501 characters', { ...ZOOM, client_secret: '🙂'.repeat(501) }, { client_secret: 'too_long' }],
] as const) {
  test(`${what} connects nothing`, async () => {
    const company = await app.company();
    const { adviser, account } = await accountOf(company);
    await refused(company.send('PUT', account, body), faults);
    assert.equal((await ok(company.get(adviser))).video_provider, null);
    assert.deepEqual(await sealedOf(company), []);
  });
}

test('accounts of another company’s advisers, of unknown ones and of removed ones without any are 404, whatever the body holds', async () => {
  const [company, other] = [await app.company(), await app.company()];
  const removed = await accountOf(company);
  await ok(company.delete(removed.adviser));
  const unknown = '/manage/advisers/0198c0de-0000-7000-8000-000000000000/video-account';
  for (const account of [(await accountOf(other)).account, removed.account, unknown]) {
    for (const body of [ZOOM, {}, 'no JSON']) assert.equal((await company.send('PUT', account, body)).status, 404);
    assert.equal((await company.get(account)).status, 404);
    assert.equal((await company.delete(account)).status, 404);
  }
});

test('the account of a removed adviser can be seen and disconnected, but no other connected', async () => {
  const company = await app.company();
  const { adviser, account } = await accountOf(company);
  const connected = await ok(company.send('PUT', account, ZOOM));
  await book(company);
  await worker.runOnce();
  await ok(company.delete(adviser));
  assert.deepEqual(await ok(company.get(account)), connected);
  assert.equal((await company.send('PUT', account, ZOOM)).status, 404);
  await ok(company.delete(account));
  await worker.runOnce();
  assert.deepEqual([await sealedOf(company), zoom.meetings.size], [[null], 0]);
  for (const method of ['GET', 'DELETE']) assert.equal((await company.send(method, account)).status, 404);
  assert.equal((await ok(company.post(`${adviser}/restore`))).video_provider, null);
});

test('accounts ask for the scope manage', async () => {
  const company = await app.company();
  const { account } = await accountOf(company);
  const other = await company.withScopes('appointments:read', 'appointments:write');
  for (const method of ['GET', 'PUT', 'DELETE']) assert.equal((await other.send(method, account)).status, 403);
});

test('the field video_provider takes Jitsi and null, and Zoom only if an account is connected', async () => {
  const company = await app.company();
  const { adviser, account } = await accountOf(company);
  await refused(company.patch(adviser, { video_provider: 'zoom' }), { video_provider: 'invalid_state' });
  const eve = { email: 'eve@firm.example', name: 'Eve', video_provider: 'zoom' };
  await refused(company.post('/manage/advisers', eve), { video_provider: 'invalid_state' });
  await ok(company.patch(adviser, { video_provider: 'jitsi' }));
  await ok(company.send('PUT', account, ZOOM));
  for (const video_provider of ['jitsi', null]) {
    await refused(company.patch(adviser, { video_provider }), { video_provider: 'invalid_state' });
  }
  assert.equal((await ok(company.patch(adviser, { video_provider: 'zoom', name: 'New' }))).video_provider, 'zoom');
  assert.equal((await ok(company.patch(adviser, { name: 'Newer' }))).video_provider, 'zoom');
});

// The secret

test('the secret is in no answer, no log and, in clear, nowhere in the database', async () => {
  const company = await app.company();
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const logger = pino({ level: 'trace' }, destination);
  const server = await buildApp({ db: app.db, clock: app.clock.read, logger, secrets });
  after(() => server.close());
  const manager = caller(await server.listen({ host: '127.0.0.1', port: 0 }), company.token);
  const { adviser, account } = await accountOf(company);
  const answers = [
    await manager.send('PUT', account, ZOOM),
    await manager.send('PUT', account, { ...ZOOM, user: '' }),
    await manager.get(account),
    await manager.get(adviser),
    await manager.get('/manage/advisers'),
  ].map(({ text }) => text);
  await book(company);
  await worker.runOnce();
  const tables = await app.sql(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
  );
  const stored: string[] = [];
  for (const { name } of tables) {
    stored.push(...(await app.sql(`SELECT row_to_json(t)::text AS text FROM ${name} t`)).map(({ text }) => text));
  }
  const bytes = Buffer.from(SECRET);
  for (const telltale of [SECRET, bytes.toString('hex'), bytes.toString('base64'), bytes.toString('base64url')]) {
    for (const text of [...answers, ...lines, ...stored]) assert.ok(!text.includes(telltale), text);
  }
  assert.match((await sealedOf(company))[0], /^v1\./);
});

test('the same secret is sealed differently each time, and opens for its own adviser alone', () => {
  const [one, two] = [secrets.seal(SECRET, ['c', 'a']), secrets.seal(SECRET, ['c', 'a'])];
  assert.notEqual(one, two);
  assert.equal(secrets.open(one, ['c', 'a']), SECRET);
  for (const owner of [['c', 'b'], ['d', 'a'], ['ca'], []]) assert.equal(secrets.open(one, owner), undefined);
  assert.equal(new SecretBox([KEYS[1]]).open(one, ['c', 'a']), undefined);
  assert.equal(secrets.open(`${one.slice(0, -2)}AA`, ['c', 'a']), undefined);
  for (const broken of ['', 'v1.', 'v1.AAAA', one.replace('v1', 'v2')])
    assert.equal(secrets.open(broken, []), undefined);
});

test('an identifier in capitals connects an account that can be used', async () => {
  const company = await app.company();
  const { id } = await accountOf(company);
  await ok(company.send('PUT', `/manage/advisers/${id.toUpperCase()}/video-account`, ZOOM));
  const path = await book(company);
  await worker.runOnce();
  assert.equal((await ok(company.get(`${path}/meeting`))).state, 'ready');
});

test('a new key in front seals, and the old ones behind it still open', async () => {
  const company = await app.company();
  const { account } = await accountOf(company);
  await ok(company.send('PUT', account, ZOOM));
  const rotated = new SecretBox([KEYS[1], KEYS[0]]);
  const path = await book(company);
  await meetingWorker(app, zoom, { secrets: rotated }).runOnce();
  assert.equal((await ok(company.get(`${path}/meeting`))).state, 'ready');
  assert.equal(secrets.open(rotated.seal('x', []), []), undefined);
});

/** Encrypts the secret with the second key, as if the account was connected before the keys were rotated. */
async function underOldKey(company: TestCompany): Promise<void> {
  const sealed = new SecretBox([KEYS[1]]).seal(SECRET, [company.companyId, (await accountOf(company)).id]);
  await app.sql('UPDATE video_accounts SET sealed_secret = $2 WHERE company_id = $1', [company.companyId, sealed]);
}
const rotating = new SecretBox(KEYS);

test('secrets under an old key are re-encrypted with the first, for all companies and removed advisers', async () => {
  const companies = [await app.company(), await app.company()];
  for (const company of companies) {
    const { adviser, account } = await accountOf(company);
    await ok(company.send('PUT', account, ZOOM));
    await underOldKey(company);
    if (company === companies[1]) await ok(company.delete(adviser));
  }
  const { outdated, undecryptable } = await countAccounts(app, rotating);
  assert.deepEqual([outdated, undecryptable], [2, 0]);
  assert.equal((await reencryptAccounts(app, rotating)).reencrypted, 2);
  assert.equal((await countAccounts(app, secrets)).undecryptable, 0);
  assert.equal((await countAccounts(app, rotating)).outdated, 0);
  const [company = assert.fail()] = companies;
  const path = await book(company);
  await worker.runOnce();
  assert.equal((await ok(company.get(`${path}/meeting`))).state, 'ready');
});

test('a secret that is replaced while the old one is re-encrypted is kept', async () => {
  const company = await app.company();
  await ok(company.send('PUT', (await accountOf(company)).account, ZOOM));
  await underOldKey(company);
  const replace = 'UPDATE video_accounts SET sealed_secret = $2 WHERE company_id = $1';
  const [done] = await overlapping(
    app,
    [[replace, [company.companyId, 'another']]],
    [() => reencryptAccounts(app, rotating)],
  );
  assert.deepEqual([await sealedOf(company), done?.reencrypted], [['another'], 0]);
  await app.sql(replace, [company.companyId, null]);
});

test('without SECRETS_KEY Zoom cannot be connected, and the answer names the setting', async () => {
  const company = await app.company();
  const server = await buildApp({ db: app.db, clock: app.clock.read, logger: pino({ level: 'silent' }) });
  after(() => server.close());
  const manager = caller(await server.listen({ host: '127.0.0.1', port: 0 }), company.token);
  const { account } = await accountOf(company);
  const { body } = await refused(manager.send('PUT', account, ZOOM), { client_secret: 'invalid_state' });
  assert.match(body.errors[0].message, /SECRETS_KEY/);
  assert.equal((await manager.get(account)).status, 404);
  await ok(manager.send('PUT', account, { provider: 'jitsi' }));
});

test('a disconnected account keeps its secret until its last meeting is removed, and no longer', async () => {
  const company = await app.company();
  const { account } = await accountOf(company);
  await ok(company.send('PUT', account, ZOOM));
  await book(company);
  await worker.runOnce();
  await ok(company.delete(account));
  assert.equal(typeof (await sealedOf(company))[0], 'string');
  await worker.runOnce();
  assert.deepEqual([await sealedOf(company), zoom.meetings.size], [[null], 0]);
});

test('an account without meetings loses its secret immediately, and so does one that is replaced', async () => {
  const company = await app.company();
  const { account } = await accountOf(company);
  await ok(company.send('PUT', account, ZOOM));
  await ok(company.send('PUT', account, { ...ZOOM, account_id: 'acc-2' }));
  const [first, second] = await sealedOf(company);
  assert.deepEqual([first, typeof second], [null, 'string']);
  await ok(company.delete(account));
  assert.deepEqual(await sealedOf(company), [null, null]);
});

test('a meeting whose account is forgotten is let go when its appointment is deleted later', async () => {
  const company = await app.company();
  const { account } = await accountOf(company);
  await ok(company.send('PUT', account, ZOOM));
  const path = await book(company);
  await worker.runOnce();
  app.clock.set('2026-06-10T12:00:00Z');
  await ok(company.delete(account));
  await ok(company.delete(path));
  await worker.runOnce();
  assert.equal((await ok(company.get('/meetings')))[0].state, 'none');
  app.clock.set('2026-06-01T09:00:00Z');
});

test('the database refuses a meeting at an account of another company, and an adviser with an account of another', async () => {
  const [company, other] = [await app.company(), await app.company()];
  const { id, account } = await accountOf(company);
  await ok(company.send('PUT', account, ZOOM));
  await ok(other.send('PUT', (await accountOf(other)).account, ZOOM));
  await book(company);
  const [{ foreign } = { foreign: '' }] = await app.sql(
    'SELECT id AS foreign FROM video_accounts WHERE company_id = $1',
    [other.companyId],
  );
  const broken = { code: '23503' };
  const { companyId } = company;
  await assert.rejects(
    app.sql('UPDATE meetings SET account_id = $2 WHERE company_id = $1', [companyId, foreign]),
    broken,
  );
  const set = 'UPDATE advisers SET video_account_id = $2 WHERE company_id = $1 AND id = $3';
  await assert.rejects(app.sql(set, [companyId, foreign, id]), broken);
  const colleague = `UPDATE advisers SET video_provider = 'zoom', video_account_id = (
    SELECT id FROM video_accounts WHERE company_id = $1) WHERE company_id = $1 AND id <> $2`;
  await assert.rejects(app.sql(colleague, [companyId, id]), broken);
});

// Settings

describe('SECRETS_KEY and the settings of Jitsi', () => {
  const key = Buffer.alloc(32, 7).toString('base64');
  const faultsOf = (env: Record<string, string>) => {
    try {
      readConfig(env);
      return [];
    } catch (error) {
      return error instanceof ConfigError ? error.faults : assert.fail();
    }
  };

  test('one key or several are 32 bytes each', () => {
    assert.deepEqual(readConfig({ SECRETS_KEY: key }).SECRETS_KEY, [Buffer.alloc(32, 7)]);
    assert.equal(readConfig({ SECRETS_KEY: `${key}, ${KEYS[0].toString('base64url')}` }).SECRETS_KEY?.length, 2);
    for (const wrong of ['x', key.slice(4), `${key},`, `${key}${key}`, '!'.repeat(43)]) {
      const faults = faultsOf({ SECRETS_KEY: wrong });
      assert.match(faults.join(), /^SECRETS_KEY must be 32 bytes in base64/);
      assert.ok(!faults.join().includes(wrong) || wrong === 'x', 'a key is not repeated');
    }
  });

  test('an app of Jitsi and its secret come together', () => {
    assert.deepEqual(faultsOf({ JITSI_APP_ID: 'a', JITSI_APP_SECRET: 'b' }), []);
    for (const name of ['JITSI_APP_ID', 'JITSI_APP_SECRET']) assert.equal(faultsOf({ [name]: 'a' }).length, 1);
  });
});

// The command line

describe('the command line', () => {
  const SECRETS_KEY = KEYS[0].toString('base64');
  const env = { DATABASE_URL: urlOf(app.connection), SECRETS_KEY };

  const flags = ['--provider', 'zoom', '--account-id', 'acc-1', '--client-id', 'client-1', '--user', 'a@firm.example'];

  test('connects an account that the worker can use, and disconnects it', async () => {
    const company = await app.company();
    const one = [company.adviser, '--company', company.companyId];
    const out = await commandOutput(env, 'adviser', 'connect', ...one, ...flags, '--client-secret', SECRET);
    assert.ok(!out.includes(SECRET));
    const path = await book(company);
    await worker.runOnce();
    assert.equal((await ok(company.get(`${path}/meeting`))).state, 'ready');
    assert.equal((await runCommand(env, 'adviser', 'disconnect', ...one)).code, 0);
    assert.equal((await runCommand(env, 'adviser', 'disconnect', ...one)).code, 4);
  });

  test('reads the secret from standard input', async () => {
    const company = await app.company();
    const one = [company.adviser, '--company', company.companyId, ...flags, '--client-secret', '-'];
    const program = fileURLToPath(new URL('../src/main.ts', import.meta.url));
    const child = spawn(process.execPath, [program, 'adviser', 'connect', ...one], {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    child.stdin.end(`${SECRET}\n`);
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    const path = await book(company);
    await worker.runOnce();
    assert.equal((await ok(company.get(`${path}/meeting`))).state, 'ready');
  });

  test('names the flag at fault, and the setting that is missing', async () => {
    const company = await app.company();
    const one = ['adviser', 'connect', company.adviser, '--company', company.companyId];
    const { code, err } = await runCommand(env, ...one, ...flags);
    assert.deepEqual([code, err], [3, '--client-secret is required for zoom']);
    const { DATABASE_URL } = env;
    const unset = await runCommand({ DATABASE_URL }, ...one, ...flags, '--client-secret', SECRET);
    assert.equal(unset.code, 3);
    assert.match(unset.err, /^--client-secret cannot be stored: the setting SECRETS_KEY is not set$/);
    assert.equal((await runCommand({ DATABASE_URL }, ...one, '--provider', 'jitsi')).code, 0);
  });

  test('secrets reencrypt reports how many accounts there are, and how many were re-encrypted or cannot be decrypted', async () => {
    const company = await app.company();
    await ok(company.send('PUT', (await accountOf(company)).account, ZOOM));
    await underOldKey(company);
    const all = Number((await app.sql('SELECT count(sealed_secret) FROM video_accounts'))[0]?.count);
    const rotated = { ...env, SECRETS_KEY: `${SECRETS_KEY},${KEYS[1].toString('base64')}` };
    for (const [settings, code, reencrypted, undecryptable] of [
      [env, 1, 0, 1],
      [rotated, 0, 1, 0],
      [rotated, 0, 0, 0],
      [{ DATABASE_URL: env.DATABASE_URL }, 1, 0, all],
    ] as const) {
      const done = await runCommand(settings, 'secrets', 'reencrypt', '--json');
      assert.deepEqual(
        [done.code, JSON.parse(done.out)],
        [code, { accounts: all, webhook_secrets: 0, one_time_codes: 0, reencrypted, undecryptable }],
      );
    }
  });
});
