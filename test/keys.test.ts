import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import pino from 'pino';
import { COMPANY_SCOPES } from '../src/kernel/scopes.ts';
import { buildApp } from '../src/server/app.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import { ok, refused } from './harness/assert.ts';
import { type Caller, caller } from './harness/http.ts';

const app = await startApp();
beforeEach(() => app.clock.advance({ minutes: 2 }));

const KEYS = '/manage/keys';
const UNKNOWN = '0198c0de-0000-7000-8000-000000000000';

const body = { name: 'export', scopes: ['interactions:read'] };
const now = () => app.clock.read().toString({ fractionalSecondDigits: 6 });
const iso = (seconds: number) => app.clock.read().add({ seconds }).toString();

async function make(company: TestCompany, change = {}): Promise<{ id: string; key: string; caller: Caller }> {
  const { id, key } = await ok(company.post(KEYS, { ...body, ...change }));
  return { id, key, caller: caller(app.baseUrl, key) };
}

/** A second app on the same database, which caches tokens like a second process. */
async function secondApp(): Promise<{ url: string; close: () => Promise<void> }> {
  const server = await buildApp({ db: app.db, clock: app.clock.read, logger: pino({ level: 'silent' }) });
  return { url: await server.listen({ host: '127.0.0.1', port: 0 }), close: () => server.close() };
}

const lastUse = async (company: TestCompany, id: string) => (await ok(company.get(`${KEYS}/${id}`))).last_used_at;

/** The time of use is written beside the request, so a later statement on the same pool waits for it. */
async function eventually(check: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 500; i++) if (await check()) return;
  assert.fail('it did not come true');
}

test('a key is made, and its text is in that answer alone', async () => {
  const company = await app.company();
  const answer = await company.post(KEYS, body);
  const made = await ok(Promise.resolve(answer));
  assert.deepEqual(Object.keys(made.created_by).sort(), ['id', 'name', 'type']);
  assert.match(made.key, /^cr_[A-Za-z0-9_-]{43}$/);
  assert.equal(answer.headers['cache-control'], 'no-store');
  const { key, ...record } = made;
  assert.deepEqual(record, {
    id: made.id,
    ...body,
    created_at: now(),
    expires_at: null,
    last_used_at: null,
    revoked_at: null,
    created_by: made.created_by,
  });
  assert.deepEqual(await ok(company.get(`${KEYS}/${made.id}`)), record);
  const list: { id: string }[] = await ok(company.get(KEYS));
  assert.deepEqual(
    list.find(({ id }) => id === made.id),
    record,
  );
  assert.equal((await caller(app.baseUrl, key).get(`${company.path}/interactions`)).status, 200);
  assert.equal((await caller(app.baseUrl, key).get(`${company.path}/invoices`)).status, 403);
});

for (const [what, change, faults] of [
  ['without a name', { name: undefined }, { name: 'required' }],
  ['with an empty name', { name: '' }, { name: 'too_short' }],
  ['with a blank name', { name: ' ' }, { name: 'too_short' }],
  ['with a line break in its name', { name: 'a\nb' }, { name: 'invalid_character' }],
  ['with a name of 101 characters', { name: '🙂'.repeat(101) }, { name: 'too_long' }],
  ['without scopes', { scopes: undefined }, { scopes: 'required' }],
  ['with no scope in the list', { scopes: [] }, { scopes: 'too_short' }],
  ['with the scope operator', { scopes: ['manage', 'operator'] }, { 'scopes[1]': 'not_allowed' }],
  ['with an unknown scope', { scopes: ['everything'] }, { 'scopes[0]': 'not_allowed' }],
  ['with scopes that are text', { scopes: 'manage' }, { scopes: 'type' }],
  ['that expires at this moment', { expires_at: '2026-09-01T09:00:00Z' }, { expires_at: 'out_of_range' }],
  ['that expired', { expires_at: '2020-01-01 00:00:00' }, { expires_at: 'out_of_range' }],
  ['that expires at no time', { expires_at: 'soon' }, { expires_at: 'format' }],
  ['that expires on no day', { expires_at: '2027-02-30 00:00:00' }, { expires_at: 'format' }],
] as const) {
  test(`a key ${what} is refused`, async () => {
    app.clock.set('2026-09-01T09:00:00Z');
    const company = await app.company();
    await refused(company.post(KEYS, { ...body, ...change }), faults);
    assert.equal((await ok(company.get(KEYS))).length, 1);
  });
}

test('a caller grants the scopes that it has itself and no others', async () => {
  const company = await app.company();
  const narrow = await make(company, { scopes: ['manage', 'invoices:read'] });
  const before = await ok(company.get(KEYS));
  await refused(
    narrow.caller.post(KEYS, { ...body, scopes: ['invoices:read', 'invoices:write', 'address_book:read'] }),
    {
      'scopes[1]': 'not_allowed',
      'scopes[2]': 'not_allowed',
    },
  );
  await refused(narrow.caller.post(KEYS, { name: '', scopes: ['interactions:read', 'operator', 'manage'] }), {
    name: 'too_short',
    'scopes[0]': 'not_allowed',
    'scopes[1]': 'not_allowed',
  });
  assert.deepEqual(await ok(company.get(KEYS)), before);
  const { scopes } = await ok(narrow.caller.post(KEYS, { ...body, scopes: ['manage', 'invoices:read'] }));
  assert.deepEqual(scopes, ['invoices:read', 'manage']);
});

test('the refusal of a scope says why', async () => {
  const manager = await (await app.company()).withScopes('manage');
  const { body: problem } = await manager.post(KEYS, body);
  assert.match(problem.errors[0].message, /does not have/);
});

test('a token with manage grants the scopes of cases, which allow nothing more, and lets no one else read more', async () => {
  const company = await app.company();
  const manager = await company.withScopes('manage');
  const { key, scopes } = await ok(manager.post(KEYS, { ...body, scopes: ['cases:read'] }));
  assert.deepEqual(scopes, ['cases:read']);
  const reader = caller(app.baseUrl, key);
  await ok(reader.get('/manage/cases'));
  assert.equal((await reader.patch(`/manage${company.path}`, { reference: 'x' })).status, 403);
  assert.equal((await reader.get('/manage/company')).status, 403);
  await ok(manager.post(KEYS, { ...body, scopes: ['cases:write'] }));
  const client = await ok(company.post('/manage/clients', { name: 'site', scopes: ['cases:read'] }));
  await ok(manager.post(`/manage/clients/${client.id}/rotate`));
  await refused(manager.post(KEYS, { ...body, scopes: ['cases:read', 'events:read'] }), {
    'scopes[1]': 'not_allowed',
  });
});

test('an access token grants what it may do, and not what its client may', async () => {
  const company = await app.company();
  const client = await ok(company.post('/manage/clients', { name: 'site', scopes: ['manage', 'invoices:read'] }));
  const grant = { grant_type: 'client_credentials', client_id: client.id, client_secret: client.client_secret };
  const { access_token } = await ok(app.anonymous.post('/oauth/token', { ...grant, scope: 'manage' }));
  const user = caller(app.baseUrl, access_token);
  await refused(user.post(KEYS, { ...body, scopes: ['invoices:read'] }), { 'scopes[0]': 'not_allowed' });
  await ok(user.post(KEYS, { ...body, scopes: ['manage'] }));
});

test('an operator gives a company a key with everything that a company can have', async () => {
  const [company, other] = [await app.company(), await app.company()];
  const operator = await company.withScopes('operator');
  const scopes = COMPANY_SCOPES.toSorted();
  const made = await ok(operator.post(`/manage/companies/${other.companyId}/keys`, { name: 'first', scopes }));
  assert.deepEqual(made.scopes.toSorted(), scopes);
});

test('a key names its maker: a key, a client for its access tokens, none for the command line', async () => {
  const company = await app.company();
  const [own] = await ok(company.get(KEYS));
  assert.equal(own.created_by, null);
  const first = await make(company, { name: 'first', scopes: ['manage'] });
  const second = await ok(first.caller.post(KEYS, { name: 'second', scopes: ['manage'] }));
  assert.deepEqual(second.created_by, { type: 'key', id: first.id, name: 'first' });
  const client = await ok(company.post('/manage/clients', { name: 'site', scopes: ['manage'] }));
  const grant = { grant_type: 'client_credentials', client_id: client.id, client_secret: client.client_secret };
  const { access_token } = await ok(app.anonymous.post('/oauth/token', grant));
  const third = await ok(caller(app.baseUrl, access_token).post(KEYS, { name: 'third', scopes: ['manage'] }));
  const byClient = { type: 'client', id: client.id, name: 'site' };
  assert.deepEqual(third.created_by, byClient);
  await ok(company.patch(`/manage/clients/${client.id}`, { name: 'shop' }));
  await ok(company.delete(`${KEYS}/${first.id}`));
  assert.deepEqual((await ok(company.get(`${KEYS}/${second.id}`))).created_by, second.created_by);
  assert.deepEqual((await ok(company.get(`${KEYS}/${third.id}`))).created_by, byClient);
  const listed: { id: string; created_by: unknown }[] = await ok(company.get(KEYS));
  assert.deepEqual(listed.find(({ id }) => id === third.id)?.created_by, byClient);
});

test('a key that an operator gave to a company says so', async () => {
  const [company, other] = [await app.company(), await app.company()];
  const operator = await company.withScopes('operator');
  const [{ id, name }] = await ok(company.get(`${KEYS}?search=test`));
  const made = await ok(operator.post(`/manage/companies/${other.companyId}/keys`, body));
  assert.deepEqual(made.created_by, { type: 'key', id, name });
  assert.deepEqual((await ok(other.get(`${KEYS}/${made.id}`))).created_by, made.created_by);
});

test('more than fifty scopes are refused', async () => {
  const { status, body: problem } = await (await app.company()).post(KEYS, {
    ...body,
    scopes: Array(51).fill('manage'),
  });
  assert.equal(status, 400);
  assert.deepEqual(
    problem.errors.map(({ field, code }: { field: string; code: string }) => [field, code]),
    [['scopes', 'too_many']],
  );
});

test('scopes are kept once each, whatever the order in which they came', async () => {
  const company = await app.company();
  const { scopes } = await ok(
    company.post(KEYS, { name: 'x', scopes: ['manage', 'invoices:read', 'manage', 'address_book:read'] }),
  );
  assert.deepEqual(scopes, ['address_book:read', 'invoices:read', 'manage']);
});

test('a key works until it expires, and expires_at without a zone is wall time', async () => {
  app.clock.set('2026-07-01T09:00:00Z');
  const company = await app.company();
  const made = await ok(company.post(KEYS, { ...body, expires_at: '2026-07-01 10:30' }));
  assert.equal(made.expires_at, '2026-07-01T09:30:00.000000Z');
  const user = caller(app.baseUrl, made.key);
  app.clock.set('2026-07-01T09:29:57Z');
  assert.equal((await user.get(`${company.path}/interactions`)).status, 200);
  app.clock.set('2026-07-01T09:30:00Z');
  assert.equal((await user.get(`${company.path}/interactions`)).status, 401);
});

test('a revoked key stops within two seconds on every process and stays in the list', async () => {
  const company = await app.company();
  const second = await secondApp();
  const { id, key } = await make(company);
  const users = [app.baseUrl, second.url].map((url) => caller(url, key));
  const statuses = () =>
    Promise.all(users.map(async (user) => (await user.get(`${company.path}/interactions`)).status));
  assert.deepEqual(await statuses(), [200, 200]);
  const revoked = await ok(company.delete(`${KEYS}/${id}`));
  assert.equal(revoked.revoked_at, now());
  app.clock.advance({ seconds: 2 });
  assert.deepEqual(await statuses(), [401, 401]);
  assert.ok((await ok(company.get(KEYS))).some((one: { id: string }) => one.id === id));
  assert.equal((await ok(company.delete(`${KEYS}/${id}`))).revoked_at, revoked.revoked_at);
  await second.close();
});

test('a key can revoke itself, and the others go on', async () => {
  const company = await app.company();
  const { id, caller: own } = await make(company, { scopes: ['manage'] });
  await ok(own.delete(`${KEYS}/${id}`));
  app.clock.advance({ seconds: 2 });
  assert.equal((await own.get(KEYS)).status, 401);
  await ok(company.get(KEYS));
});

test('another company and an invented id are 404', async () => {
  const [company, other] = [await app.company(), await app.company()];
  const theirs = await make(other);
  for (const id of [theirs.id, UNKNOWN, 'nothing']) {
    assert.equal((await company.get(`${KEYS}/${id}`)).status, 404);
    assert.equal((await company.delete(`${KEYS}/${id}`)).status, 404);
  }
  assert.equal((await theirs.caller.get(`${other.path}/interactions`)).status, 200);
  const list: { id: string }[] = await ok(company.get(KEYS));
  assert.ok(!list.some(({ id }) => id === theirs.id));
});

test('access tokens of clients are not keys', async () => {
  const company = await app.company();
  const client = await ok(company.post('/manage/clients', { name: 'site', scopes: ['manage'] }));
  await ok(
    app.anonymous.post('/oauth/token', {
      grant_type: 'client_credentials',
      client_id: client.id,
      client_secret: client.client_secret,
    }),
  );
  assert.equal((await ok(company.get(KEYS))).length, 1);
  const [token] = await app.sql<{ id: string }>('SELECT id FROM tokens WHERE client_id = $1', [client.id]);
  assert.equal((await company.get(`${KEYS}/${token?.id}`)).status, 404);
  assert.equal((await company.delete(`${KEYS}/${token?.id}`)).status, 404);
});

test('the last use of a key is shown, and a key that was never used has none', async () => {
  const company = await app.company();
  const [used, unused] = [await make(company), await make(company)];
  app.clock.advance({ minutes: 5 });
  const at = now();
  await used.caller.get(`${company.path}/interactions`);
  await eventually(async () => (await lastUse(company, used.id)) === at);
  assert.equal(await lastUse(company, unused.id), null);
});

test('a refused scope is a use as well, a key that is not known is none', async () => {
  const company = await app.company();
  const { id, caller: user } = await make(company);
  app.clock.advance({ minutes: 5 });
  assert.equal((await user.get(`${company.path}/invoices`)).status, 403);
  await eventually(async () => (await lastUse(company, id)) !== null);
});

test('uses are written at most once a minute, for all keys with one statement, and at the end', async () => {
  const company = await app.company();
  const keys = await Promise.all(Array.from({ length: 5 }, () => make(company)));
  const statements: string[] = [];
  const second = await secondApp();
  // From here on the metrics of the second app get the statements of the shared database.
  const observe = app.db.onStatement;
  app.db.onStatement = (name, seconds) => {
    statements.push(name);
    observe(name, seconds);
  };
  const writes = () => statements.filter((name) => name === 'tokens.record_last_used').length;
  const use = () =>
    Promise.all(
      keys.map(async ({ key }) => (await caller(second.url, key).get(`${company.path}/interactions`)).status),
    );

  await use();
  await eventually(async () => (await ok(company.get(KEYS))) && writes() === 1);
  for (let i = 0; i < 10; i++) {
    app.clock.advance({ seconds: 5 });
    await use();
  }
  assert.equal(writes(), 1);
  const at = now();
  await second.close();
  app.db.onStatement = observe;
  assert.equal(writes(), 2);
  for (const { id } of keys) assert.equal(await lastUse(company, id), at);
});

test('an older use never replaces a newer one', async () => {
  const company = await app.company();
  const { id, key } = await make(company);
  const second = await secondApp();
  await caller(second.url, key).get(`${company.path}/interactions`);
  app.clock.advance({ seconds: 10 });
  await caller(second.url, key).get(`${company.path}/interactions`);
  await app.sql('UPDATE tokens SET last_used_at = $2 WHERE id = $1', [id, iso(3600)]);
  await second.close();
  assert.equal(
    await lastUse(company, id),
    app.clock.read().add({ seconds: 3600 }).toString({ fractionalSecondDigits: 6 }),
  );
});
