import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text as textOf } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { COMPANY_SCOPES } from '../src/kernel/scopes.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import { assertProblem, ok } from './harness/assert.ts';
import { type CommandResult, commandOutput, runCommand } from './harness/command-line.ts';
import { caller } from './harness/http.ts';
import { signIn } from './harness/people.ts';
import { urlOf } from './harness/service.ts';
import { secrets } from './harness/webhook-worker.ts';

/** After a leak: the commands that list and end everything from one credential. */

const app = await startApp({ secrets });
const env = { DATABASE_URL: urlOf(app.connection), DATA_DIR: '/nonexistent' };
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const UNKNOWN = '0198c0de-0000-7000-8000-000000000000';
const FULL = { scopes: COMPANY_SCOPES };

type Traced = { type: string; id: string; state: string; company_id: string; ended: boolean };
const run = (...args: string[]) => runCommand(env, ...args);

async function json<T>(...args: string[]): Promise<T> {
  const { code, out, err } = await run(...args, '--json');
  assert.equal(code, 0, err);
  return JSON.parse(out);
}

/** Runs the command as a process with this standard input. */
async function piped(input: string, ...args: string[]): Promise<CommandResult> {
  const child = spawn(process.execPath, [MAIN, ...args], { env: { ...process.env, ...env } });
  child.stdin.end(input);
  const [out, err, [code]] = await Promise.all([textOf(child.stdout), textOf(child.stderr), once(child, 'close')]);
  return { code, out, err };
}

/** leaked → client → key → endpoint */
async function leak(company: TestCompany) {
  const leaked = await ok(company.post('/manage/keys', { name: 'leaked', ...FULL }));
  const client = await ok(caller(app.baseUrl, leaked.key).post('/manage/clients', { name: 'client', ...FULL }));
  const grant = { grant_type: 'client_credentials', client_id: client.id, client_secret: client.client_secret };
  const { access_token } = await ok(app.anonymous.post('/oauth/token', grant));
  const key = await ok(caller(app.baseUrl, access_token).post('/manage/keys', { name: 'key', ...FULL }));
  const endpoint = await ok(
    caller(app.baseUrl, key.key).post('/webhooks/endpoints', { url: 'https://firm.example/', types: ['*'] }),
  );
  return { leaked, client, access_token, key, endpoint };
}

const brief = (rows: Traced[]) => rows.map(({ type, id, state, ended }) => [type, id, state, ended]);

test('credential show lists the credential and all that it made, and changes nothing', async () => {
  const company = await app.company();
  const { leaked, client, key, endpoint } = await leak(company);
  const expected = [
    ['key', leaked.id, 'active', false],
    ['client', client.id, 'active', false],
    ['key', key.id, 'active', false],
    ['webhook_endpoint', endpoint.id, 'active', false],
  ];
  for (let time = 0; time < 2; time++) {
    assert.deepEqual(brief(await json('credential', 'show', leaked.id)), expected);
  }
  assert.deepEqual(brief(await json('credential', 'show', client.id)), expected.slice(1));
  const { out, err } = await run('credential', 'show', leaked.id);
  assert.match(out, /^TYPE +ID +NAME +STATE +CREATED_AT +LAST_USED_AT +CREATED_BY +CHANGED_BY +COMPANY_ID\n/);
  assert.match(out, new RegExp(`webhook_endpoint +${endpoint.id} +https://firm\\.example +active .* key key `));
  assert.equal(err, '4 of 4 work');
});

test('credential end ends all of it, says so, and can be repeated', async () => {
  const company = await app.company();
  const { leaked, client, key, endpoint } = await leak(company);
  const expected = (ended: boolean) => [
    ['key', leaked.id, 'revoked', ended],
    ['client', client.id, 'disabled', ended],
    ['key', key.id, 'revoked', ended],
    ['webhook_endpoint', endpoint.id, 'disabled', ended],
  ];
  assert.deepEqual(brief(await json('credential', 'end', leaked.id)), expected(true));
  assert.deepEqual(brief(await json('credential', 'end', leaked.id)), expected(false));
  assert.equal((await run('credential', 'end', leaked.id)).err, '0 of 4 were ended, 0 still work');
  const history = await ok(company.get(`/webhooks/endpoints/${endpoint.id}/history`));
  assert.deepEqual(history.at(-1).actor, { type: 'operator' });
});

test('credential end locks the last owner out, who has to be invited anew, and ends what that owner created', async () => {
  const company = await app.company();
  const owner = await signIn(app, company);
  const key = await ok(owner.post('/manage/keys', { name: 'planted', ...FULL }));
  assert.deepEqual(brief(await json('credential', 'end', owner.userId)), [
    ['user', owner.userId, 'invited', true],
    ['key', key.id, 'revoked', true],
  ]);
  app.clock.advance({ seconds: 3 });
  assertProblem(await owner.get('/session'), 401, 'invalid_token');
  assertProblem(await caller(app.baseUrl, key.key).get('/manage/keys'), 401, 'invalid_token');
  const history = await ok(company.get(`/manage/users/${owner.userId}/history`));
  assert.deepEqual([history.at(-1).type, history.at(-1).actor], ['user.factors_reset', { type: 'operator' }]);
});

test('a key, an access token or a client secret on standard input names its credential', async () => {
  const { leaked, client, access_token } = await leak(await app.company());
  for (const [secret, id] of [
    [leaked.key, leaked.id],
    [access_token, client.id],
    [client.client_secret, client.id],
  ]) {
    const { code, out, err } = await piped(`${secret}\n`, 'credential', 'show', '-', '--only', 'id');
    assert.equal(code, 0, err);
    assert.equal(out.split('\n')[0], id);
  }
  const unknown = await piped('cr_unknown', 'credential', 'end', '-');
  assert.deepEqual([unknown.code, unknown.out], [4, '']);
  assert.equal((await piped('', 'credential', 'show', '-')).code, 2);
});

test('a secret as an argument is refused, and not repeated in the answer', async () => {
  const { leaked, client } = await leak(await app.company());
  for (const secret of [leaked.key, client.client_secret]) {
    for (const command of ['show', 'end']) {
      const { code, err } = await run('credential', command, secret);
      assert.equal(code, 2);
      assert.ok(!err.includes(secret));
    }
  }
  assert.equal((await json<Traced[]>('credential', 'show', leaked.id))[0]?.state, 'active');
});

test('an unknown id, and what is none, are not found', async () => {
  for (const id of [UNKNOWN, 'website']) assert.equal((await run('credential', 'end', id)).code, 4);
});

test('what an operator’s key made in other companies is listed and ended too, and nothing else of theirs', async () => {
  const [own, first, second] = [await app.company(), await app.company(), await app.company()];
  const token = await own.tokenFor(['operator']);
  const [operator] = (await ok(own.get('/manage/keys'))).filter((key: { scopes: string[] }) =>
    key.scopes.includes('operator'),
  );
  const given = async (company: TestCompany) =>
    ok(caller(app.baseUrl, token).post(`/manage/companies/${company.companyId}/keys`, { name: 'given', ...FULL }));
  const [one, two] = [await given(first), await given(second)];
  const below = await ok(caller(app.baseUrl, one.key).post('/manage/keys', { name: 'below', ...FULL }));
  const untouched = await leak(second);
  const rows = await json<Traced[]>('credential', 'end', operator.id);
  assert.deepEqual(
    rows.map(({ id, company_id, ended }) => [id, company_id, ended]).sort(),
    [
      [operator.id, own.companyId, true],
      [one.id, first.companyId, true],
      [below.id, first.companyId, true],
      [two.id, second.companyId, true],
    ].sort(),
  );
  assert.equal((await json<Traced[]>('credential', 'show', untouched.leaked.id))[0]?.state, 'active');
});

test('key revoke and client disable take --also, and refuse a wrong word without revoking', async () => {
  const company = await app.company();
  const { leaked, client, key, endpoint } = await leak(company);
  const at = ['--company', company.companyId];
  const wrong = await run('key', 'revoke', leaked.id, '--also', 'everything', ...at);
  assert.equal(wrong.code, 3);
  assert.match(wrong.err, /^--also must be a comma-separated list of/);
  assert.equal((await ok(company.get(`/manage/keys/${leaked.id}`))).revoked_at, null);
  const disabled = await json<Record<string, Traced[]>>('client', 'disable', client.id, '--also', 'keys', ...at);
  assert.deepEqual(
    disabled.also_ended?.map(({ id }) => id),
    [key.id],
  );
  const revoked = await json<Record<string, Traced[]>>('key', 'revoke', leaked.id, '--also', 'endpoints,keys', ...at);
  assert.deepEqual(
    revoked.also_ended?.map(({ id }) => id),
    [endpoint.id],
  );
  assert.deepEqual(revoked.still_working, []);
});

test('webhook list shows the maker, which the command line does not have', async () => {
  const company = await app.company();
  const { endpoint } = await leak(company);
  const { out } = await run('webhook', 'list', '--company', company.companyId);
  assert.match(out, new RegExp(`${endpoint.id} .* key key$`, 'm'));
  const sealed = { ...env, SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') };
  const args = ['--company', company.companyId, '--url', 'https://firm.example/', '--type', '*', '--json'];
  const { created_by, url_set_by } = JSON.parse(await commandOutput(sealed, 'webhook', 'create', ...args));
  assert.deepEqual([created_by, url_set_by], [null, null]);
});
