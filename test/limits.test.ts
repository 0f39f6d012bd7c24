import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../src/config.ts';
import { startApp } from './harness/app.ts';
import { caller } from './harness/http.ts';

/** Limits that an operator can configure: requests per minute, and calls from other origins. */

const ORIGIN = 'https://app.example';
const open = await startApp();
const limited = await startApp({ maxRequestsPerMinute: 3, corsOrigins: [ORIGIN] });
const PATH = '/manage/company';

test('by default there is no limit and nothing is said of one', async () => {
  const company = await open.company();
  for (let i = 0; i < 10; i++) {
    const { status, headers } = await company.get(PATH);
    assert.deepEqual([status, headers['ratelimit-limit']], [200, undefined]);
  }
});

test('a credential may send so many requests per minute, and is told how many are left', async () => {
  limited.clock.set('2026-06-01T09:00:15Z');
  const company = await limited.company();
  const seen = [];
  for (let i = 0; i < 5; i++) seen.push(await company.get(PATH));
  assert.deepEqual(
    seen.map(({ status }) => status),
    [200, 200, 200, 429, 429],
  );
  assert.deepEqual(
    seen.map(({ headers }) => headers['ratelimit-remaining']),
    ['2', '1', '0', '0', '0'],
  );
  const [first, , , fourth] = seen;
  assert.deepEqual([first?.headers['ratelimit-limit'], first?.headers['ratelimit-reset']], ['3', '45']);
  assert.deepEqual([fourth?.body.code, fourth?.headers['retry-after']], ['rate_limited', '45']);
  limited.clock.set('2026-06-01T09:01:00Z');
  assert.equal((await company.get(PATH)).status, 200);
});

test('a write over the limit changes nothing', async () => {
  const company = await limited.company();
  for (let i = 0; i < 3; i++) await company.get(PATH);
  assert.equal((await company.post(`${company.path}/interactions`, { type: 'phone' })).status, 429);
  const [row] = await limited.sql('SELECT count(*)::int AS n FROM interactions WHERE company_id = $1', [
    company.companyId,
  ]);
  assert.equal(row?.n, 0);
});

test('one credential does not use up what another may send', async () => {
  const company = await limited.company();
  const other = await company.withScopes('manage');
  for (let i = 0; i < 4; i++) await company.get(PATH);
  assert.equal((await other.get(PATH)).status, 200);
});

test('the limit holds for token requests, together with the other requests of the client', async () => {
  const company = await limited.company();
  const made = await company.post('/manage/clients', { name: 'site', scopes: ['interactions:read'] });
  const { id: client_id, client_secret } = made.body;
  const grant = { grant_type: 'client_credentials', client_id, client_secret };
  const first = await limited.anonymous.post('/oauth/token', grant);
  assert.deepEqual([first.status, first.headers['ratelimit-remaining']], [200, '2']);
  const user = caller(limited.baseUrl, first.body.access_token);
  assert.equal((await user.get(`${company.path}/interactions`)).headers['ratelimit-remaining'], '1');
  const revoke = { client_id, client_secret, token: 'x' };
  assert.equal((await limited.anonymous.post('/oauth/revoke', revoke)).headers['ratelimit-remaining'], '0');
  for (const path of ['/oauth/token', '/oauth/revoke']) {
    const refused = await limited.anonymous.post(path, { ...grant, token: 'x' });
    assert.deepEqual([refused.status, refused.body.code], [429, 'rate_limited'], refused.text);
  }
  assert.equal((await user.get(`${company.path}/interactions`)).status, 429);
  const [row] = await limited.sql('SELECT count(*)::int AS n FROM tokens WHERE client_id = $1', [client_id]);
  assert.equal(row?.n, 1);
});

test('wrong credentials use up nothing of what a client may send', async () => {
  const company = await limited.company();
  const { body } = await company.post('/manage/clients', { name: 'site', scopes: ['interactions:read'] });
  const grant = { grant_type: 'client_credentials', client_id: body.id };
  for (let i = 0; i < 5; i++) {
    const refused = await limited.anonymous.post('/oauth/token', { ...grant, client_secret: 'wrong' });
    assert.deepEqual([refused.status, refused.headers['ratelimit-limit']], [401, undefined]);
  }
  const granted = await limited.anonymous.post('/oauth/token', { ...grant, client_secret: body.client_secret });
  assert.equal(granted.status, 200, granted.text);
});

test('health and metrics are not limited', async () => {
  for (let i = 0; i < 5; i++) assert.equal((await limited.anonymous.get('/healthz')).status, 200);
});

test('by default pages of other origins are told nothing', async () => {
  const company = await open.company();
  const { headers } = await company.get(PATH, { origin: ORIGIN });
  assert.equal(headers['access-control-allow-origin'], undefined);
  const asked = { origin: ORIGIN, 'access-control-request-method': 'POST' };
  const { status } = await open.anonymous.send('OPTIONS', PATH, undefined, asked);
  assert.equal(status, 405);
});

test('a page of a named origin may call, and read what the API says in headers', async () => {
  const company = await limited.company();
  const { status, headers } = await company.get(PATH, { origin: ORIGIN });
  assert.equal(status, 200);
  assert.equal(headers['access-control-allow-origin'], ORIGIN);
  assert.equal(headers['access-control-allow-credentials'], undefined);
  for (const name of ['ETag', 'X-Total-Count', 'Link', 'X-Request-Id', 'Retry-After', 'Idempotency-Replayed']) {
    assert.ok(String(headers['access-control-expose-headers']).includes(name), name);
  }
  const refused = await limited.anonymous.get(PATH, { origin: ORIGIN });
  assert.deepEqual([refused.status, refused.headers['access-control-allow-origin']], [401, ORIGIN]);
});

test("the browser's question before a call is answered without credentials", async () => {
  for (const path of [PATH, '/cases/01a1dedc-6c47-7000-b4be-5f8e3eb8d733/interactions']) {
    const asked = {
      origin: ORIGIN,
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'authorization, idempotency-key',
    };
    const { status, headers } = await limited.anonymous.send('OPTIONS', path, undefined, asked);
    assert.equal(status, 204);
    assert.equal(headers['access-control-allow-origin'], ORIGIN);
    assert.match(String(headers['access-control-allow-methods']), /PATCH/);
    assert.match(String(headers['access-control-allow-headers']), /Idempotency-Key/);
  }
});

test('another origin is not let in', async () => {
  const company = await limited.company();
  for (const origin of ['https://evil.example', 'https://app.example.evil.example', 'http://app.example', 'null']) {
    const { headers } = await company.get(PATH, { origin });
    assert.notEqual(headers['access-control-allow-origin'], origin);
    assert.notEqual(headers['access-control-allow-origin'], '*');
    limited.clock.advance({ minutes: 1 });
  }
});

test('the settings take a number and origins, and nothing else', () => {
  const read = (env: Record<string, string>) => readConfig(env);
  assert.equal(read({}).REQUESTS_PER_MINUTE, undefined);
  assert.deepEqual(read({}).CORS_ORIGINS, []);
  assert.deepEqual(read({ CORS_ORIGINS: 'https://a.example, http://b.example:8080' }).CORS_ORIGINS, [
    'https://a.example',
    'http://b.example:8080',
  ]);
  for (const env of [
    { CORS_ORIGINS: '*' },
    { CORS_ORIGINS: 'https://a.example/' },
    { CORS_ORIGINS: 'a.example' },
    { REQUESTS_PER_MINUTE: '0' },
    { REQUESTS_PER_MINUTE: 'many' },
  ]) {
    assert.throws(() => read(env), /REQUESTS_PER_MINUTE|CORS_ORIGINS/);
  }
});
