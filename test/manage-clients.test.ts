import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import pino from 'pino';
import { buildApp } from '../src/server/app.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import { assertProblem, ok, refused } from './harness/assert.ts';
import { caller } from './harness/http.ts';
import { type Holding, overlapping } from './harness/overlap.ts';

const app = await startApp();
beforeEach(() => app.clock.advance({ minutes: 1 }));

const CLIENTS = '/manage/clients';
const UNKNOWN = '0198c0de-0000-7000-8000-000000000000';

const body = { name: 'website', scopes: ['interactions:read', 'interactions:write'] };
const now = () => app.clock.read().toString({ fractionalSecondDigits: 6 });

const make = (company: TestCompany) => ok(company.post(CLIENTS, body));
const ask = (client_id: string, client_secret: string) =>
  app.anonymous.post('/oauth/token', { grant_type: 'client_credentials', client_id, client_secret });
const tokenOf = async ({ id, client_secret }: { id: string; client_secret: string }): Promise<string> =>
  (await ok(ask(id, client_secret))).access_token;
const read = async (token: string, company: TestCompany, url = app.baseUrl) =>
  (await caller(url, token).get(`${company.path}/interactions`)).status;

test('a client is made, and its secret is in that answer alone', async () => {
  const company = await app.company();
  const answer = await company.post(CLIENTS, body);
  const { client_secret, ...record } = await ok(Promise.resolve(answer));
  assert.match(client_secret, /^crs_[A-Za-z0-9_-]{43}$/);
  assert.equal(answer.headers['cache-control'], 'no-store');
  assert.deepEqual(record, {
    id: record.id,
    ...body,
    created_at: now(),
    updated_at: now(),
    rotated_at: null,
    disabled_at: null,
    created_by: { type: 'key', id: (await ok(company.get('/manage/keys')))[0].id, name: 'test' },
    rotated_by: null,
  });
  assert.deepEqual(await ok(company.get(`${CLIENTS}/${record.id}`)), record);
  assert.deepEqual(await ok(company.get(CLIENTS)), [record]);
});

for (const [what, change, faults] of [
  ['an empty name', { name: '' }, { name: 'too_short' }],
  ['a blank name', { name: ' ' }, { name: 'too_short' }],
  ['a control character in its name', { name: 'a\u001b[2J' }, { name: 'invalid_character' }],
  ['a name of 101 characters', { name: '🙂'.repeat(101) }, { name: 'too_long' }],
  ['a name that is null', { name: null }, { name: 'required' }],
  ['no scope in the list', { scopes: [] }, { scopes: 'too_short' }],
  ['scopes that are null', { scopes: null }, { scopes: 'required' }],
  ['the scope operator', { scopes: ['operator'] }, { 'scopes[0]': 'not_allowed' }],
  ['an unknown scope', { scopes: ['invoices:read', '*'] }, { 'scopes[1]': 'not_allowed' }],
  ['several faults', { name: 5, scopes: 5 }, { name: 'type', scopes: 'type' }],
] as const) {
  test(`a client with ${what} is refused, on create and on update`, async () => {
    const company = await app.company();
    const { client_secret, ...client } = await make(company);
    await refused(company.post(CLIENTS, { ...body, ...change }), faults);
    await refused(company.patch(`${CLIENTS}/${client.id}`, change), faults);
    assert.deepEqual(await ok(company.get(CLIENTS)), [client]);
  });
}

test('a client needs a name and scopes', async () => {
  await refused((await app.company()).post(CLIENTS, {}), { name: 'required', scopes: 'required' });
});

test('name and scopes can be changed, each alone', async () => {
  const company = await app.company();
  const { client_secret, ...client } = await make(company);
  app.clock.advance({ seconds: 1 });
  const renamed = await ok(company.patch(`${CLIENTS}/${client.id}`, { name: 'shop' }));
  assert.deepEqual(renamed, { ...client, name: 'shop', updated_at: now() });
  const narrowed = await ok(company.patch(`${CLIENTS}/${client.id}`, { scopes: ['invoices:read'] }));
  assert.deepEqual(narrowed, { ...renamed, scopes: ['invoices:read'] });
  assert.deepEqual(await ok(company.patch(`${CLIENTS}/${client.id}`, {})), narrowed);
});

test('a caller gives a client the scopes that it has itself and no others', async () => {
  const company = await app.company();
  const narrow = await company.withScopes('manage', 'invoices:read');
  await refused(narrow.post(CLIENTS, { name: 'x', scopes: ['invoices:read', 'invoices:write'] }), {
    'scopes[1]': 'not_allowed',
  });
  assert.deepEqual(await ok(company.get(CLIENTS)), []);
  const { id } = await ok(narrow.post(CLIENTS, { name: 'x', scopes: ['invoices:read'] }));
  await refused(narrow.patch(`${CLIENTS}/${id}`, { name: '', scopes: ['manage', 'address_book:read'] }), {
    name: 'too_short',
    'scopes[1]': 'not_allowed',
  });
  const widened = await ok(narrow.patch(`${CLIENTS}/${id}`, { scopes: ['manage', 'invoices:read'] }));
  assert.deepEqual(widened.scopes, ['invoices:read', 'manage']);
});

test('an update keeps the scopes of the client, even if the caller lacks them', async () => {
  const company = await app.company();
  const manager = await company.withScopes('manage');
  const { id } = await make(company);
  const kept = await ok(manager.patch(`${CLIENTS}/${id}`, { scopes: [...body.scopes, 'manage'] }));
  assert.deepEqual(kept.scopes, [...body.scopes, 'manage']);
  const narrowed = await ok(manager.patch(`${CLIENTS}/${id}`, { scopes: ['interactions:read'] }));
  assert.deepEqual(narrowed.scopes, ['interactions:read']);
  await refused(manager.patch(`${CLIENTS}/${id}`, { scopes: body.scopes }), { 'scopes[1]': 'not_allowed' });
  assert.equal((await ok(manager.patch(`${CLIENTS}/${id}`, { name: 'shop' }))).name, 'shop');
});

test('a scope that was removed meanwhile is not restored by a caller who lacks it', async () => {
  const company = await app.company();
  const manager = await company.withScopes('manage');
  const { id } = await make(company);
  const narrow: Holding = ["UPDATE clients SET scopes = '{interactions:read}' WHERE id = $1", [id]];
  const [answer] = await overlapping(app, [narrow], [() => manager.patch(`${CLIENTS}/${id}`, { scopes: body.scopes })]);
  assert.ok(answer);
  await refused(Promise.resolve(answer), { 'scopes[1]': 'not_allowed' });
});

test('an access token widens neither itself nor its client', async () => {
  const company = await app.company();
  const client = await ok(company.post(CLIENTS, { name: 'x', scopes: ['manage'] }));
  const user = caller(app.baseUrl, await tokenOf(client));
  await refused(user.patch(`${CLIENTS}/${client.id}`, { scopes: ['manage', 'invoices:write'] }), {
    'scopes[1]': 'not_allowed',
  });
});

test('a client that may do more than the caller is not enabled by the caller', async () => {
  const company = await app.company();
  const manager = await company.withScopes('manage');
  const client = await make(company);
  await ok(manager.post(`${CLIENTS}/${client.id}/disable`));
  await refused(manager.post(`${CLIENTS}/${client.id}/enable`), { scopes: 'not_allowed' });
  assert.notEqual((await ok(manager.get(`${CLIENTS}/${client.id}`))).disabled_at, null);
  await ok(company.post(`${CLIENTS}/${client.id}/enable`));
});

test('an access token grants no scope that its client has just lost', async () => {
  const company = await app.company();
  const client = await ok(company.post(CLIENTS, { name: 'x', scopes: ['manage', 'invoices:write'] }));
  const user = caller(app.baseUrl, await tokenOf(client));
  await ok(user.get('/manage/keys'));
  await ok(company.patch(`${CLIENTS}/${client.id}`, { scopes: ['manage'] }));
  const key = { name: 'x', scopes: ['invoices:write'] };
  assertProblem(await user.post('/manage/keys', key), 401, 'invalid_token');
  app.clock.advance({ seconds: 3 });
  await refused(user.post('/manage/keys', key), { 'scopes[0]': 'not_allowed' });
});

test('the secret of a client that may do more than the caller is not given to the caller', async () => {
  const company = await app.company();
  const manager = await company.withScopes('manage');
  const client = await make(company);
  await refused(manager.post(`${CLIENTS}/${client.id}/rotate`), { scopes: 'not_allowed' });
  await tokenOf(client);
  await ok(manager.post(`${CLIENTS}/${client.id}/disable`));
  const own = await ok(manager.post(CLIENTS, { name: 'x', scopes: ['manage'] }));
  await ok(manager.post(`${CLIENTS}/${own.id}/rotate`));
});

test('a client names the credential that made it, also after other credentials changed it', async () => {
  const company = await app.company();
  const manager = await company.withScopes('manage');
  const [{ id: key }] = await ok(company.get('/manage/keys'));
  const { id, created_by } = await ok(manager.post(CLIENTS, { name: 'x', scopes: ['manage'] }));
  assert.deepEqual(created_by, { type: 'key', id: key, name: 'test' });
  for (const change of [
    company.patch(`${CLIENTS}/${id}`, { name: 'y' }),
    company.post(`${CLIENTS}/${id}/rotate`),
    company.post(`${CLIENTS}/${id}/disable`),
    company.post(`${CLIENTS}/${id}/enable`),
  ]) {
    assert.deepEqual((await ok(change)).created_by, created_by);
  }
  assert.deepEqual((await ok(company.get(CLIENTS)))[0].created_by, created_by);
});

test('a scope that is taken away is missing from its tokens within two seconds, a new one is not in them', async () => {
  const company = await app.company();
  const client = await make(company);
  const token = await tokenOf(client);
  assert.equal(await read(token, company), 200);
  await ok(company.patch(`${CLIENTS}/${client.id}`, { scopes: ['interactions:write', 'invoices:read'] }));
  app.clock.advance({ seconds: 2 });
  assert.equal(await read(token, company), 403);
  const user = caller(app.baseUrl, token);
  assert.equal((await user.get(`${company.path}/invoices`)).status, 403);
  assert.equal((await user.post(`${company.path}/interactions`, { type: 'phone' })).status, 200);
  assert.equal((await caller(app.baseUrl, await tokenOf(client)).get(`${company.path}/invoices`)).status, 200);
});

test('a rotated secret is new, the old one ends immediately, and tokens remain valid', async () => {
  const company = await app.company();
  const client = await make(company);
  const token = await tokenOf(client);
  app.clock.advance({ seconds: 1 });
  const answer = await company.post(`${CLIENTS}/${client.id}/rotate`);
  const rotated = await ok(Promise.resolve(answer));
  assert.equal(answer.headers['cache-control'], 'no-store');
  assert.match(rotated.client_secret, /^crs_[A-Za-z0-9_-]{43}$/);
  assert.notEqual(rotated.client_secret, client.client_secret);
  assert.deepEqual([rotated.rotated_at, rotated.updated_at], [now(), now()]);
  assert.equal((await ask(client.id, client.client_secret)).status, 401);
  await tokenOf(rotated);
  assert.equal(await read(token, company), 200);
});

test('the tokens of a disabled client stop within two seconds on every process', async () => {
  const company = await app.company();
  const [client, other] = [await make(company), await make(company)];
  const server = await buildApp({ db: app.db, clock: app.clock.read, logger: pino({ level: 'silent' }) });
  const second = await server.listen({ host: '127.0.0.1', port: 0 });
  const [token, others] = [await tokenOf(client), await tokenOf(other)];
  const statuses = () => Promise.all([app.baseUrl, second].map((url) => read(token, company, url)));
  assert.deepEqual(await statuses(), [200, 200]);
  const disabled = await ok(company.post(`${CLIENTS}/${client.id}/disable`));
  assert.equal(disabled.disabled_at, now());
  assert.equal((await ask(client.id, client.client_secret)).status, 401);
  app.clock.advance({ seconds: 2 });
  assert.deepEqual(await statuses(), [401, 401]);
  assert.equal(await read(others, company), 200);
  assert.equal(await read(company.token, company), 200);
  assert.equal((await ok(company.post(`${CLIENTS}/${client.id}/disable`))).disabled_at, disabled.disabled_at);
  await server.close();
});

test('an enabled client gets tokens again with its secret, and the old tokens stay ended', async () => {
  const company = await app.company();
  const client = await make(company);
  const token = await tokenOf(client);
  await ok(company.post(`${CLIENTS}/${client.id}/disable`));
  app.clock.advance({ seconds: 2 });
  assert.equal((await ok(company.post(`${CLIENTS}/${client.id}/enable`))).disabled_at, null);
  assert.equal(await read(token, company), 401);
  assert.equal(await read(await tokenOf(client), company), 200);
});

const DISABLE = 'UPDATE clients SET disabled_at = now() WHERE id = $1';

test('enabling right behind a disabling does not bring the old tokens back', async () => {
  const company = await app.company();
  const client = await make(company);
  const token = await tokenOf(client);
  const [enabled] = await overlapping(
    app,
    [[DISABLE, [client.id]]],
    [() => ok(company.post(`${CLIENTS}/${client.id}/enable`))],
  );
  assert.equal(enabled.disabled_at, null);
  assert.equal(await read(token, company), 401);
  assert.equal(await read(await tokenOf(client), company), 200);
});

test('a client that is being disabled gets no token, even if it asked before', async () => {
  const company = await app.company();
  const client = await make(company);
  const held: Holding[] = [[DISABLE, [client.id]]];
  const [answer] = await overlapping(app, held, [() => ask(client.id, client.client_secret)]);
  assert.equal(answer?.status, 401);
  await ok(company.post(`${CLIENTS}/${client.id}/enable`));
  assert.deepEqual(await app.sql('SELECT 1 FROM tokens WHERE client_id = $1', [client.id]), []);
});

test('however disabling, enabling and asking meet, no token of the time before works afterwards', async () => {
  const company = await app.company();
  for (let round = 0; round < 20; round++) {
    app.clock.advance({ minutes: 1 });
    const client = await make(company);
    const before = await tokenOf(client);
    const path = `${CLIENTS}/${client.id}`;
    const [, , asked] = await Promise.all([
      ok(company.post(`${path}/disable`)),
      company.post(`${path}/enable`),
      ask(client.id, client.client_secret),
    ]);
    await ok(company.post(`${path}/disable`));
    await ok(company.post(`${path}/enable`));
    assert.equal(await read(before, company), 401);
    if (asked.status === 200) assert.equal(await read(asked.body.access_token, company), 401);
  }
});

test('enabling a client that is enabled ends nothing', async () => {
  const company = await app.company();
  const client = await make(company);
  const token = await tokenOf(client);
  const { client_secret, ...record } = client;
  app.clock.advance({ seconds: 1 });
  assert.deepEqual(await ok(company.post(`${CLIENTS}/${client.id}/enable`)), record);
  assert.equal(await read(token, company), 200);
});

test('another company and an invented id are 404, whatever the body holds', async () => {
  const [company, other] = [await app.company(), await app.company()];
  const theirs = await make(other);
  const token = await tokenOf(theirs);
  for (const id of [theirs.id, UNKNOWN, 'nothing']) {
    assert.equal((await company.get(`${CLIENTS}/${id}`)).status, 404);
    assert.equal((await company.patch(`${CLIENTS}/${id}`, { name: 'mine' })).status, 404);
    assert.equal((await company.patch(`${CLIENTS}/${id}`, { name: 5, scopes: ['operator'] })).status, 404);
    for (const verb of ['rotate', 'disable', 'enable']) {
      assert.equal((await company.post(`${CLIENTS}/${id}/${verb}`)).status, 404);
    }
  }
  app.clock.advance({ seconds: 2 });
  assert.equal(await read(token, other), 200);
  await tokenOf(theirs);
  assert.equal((await ok(other.get(`${CLIENTS}/${theirs.id}`))).name, body.name);
});
