import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import pino from 'pino';
import { readConfig } from '../src/config.ts';
import { buildApp } from '../src/server/app.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import { type Answer, type Caller, caller } from './harness/http.ts';

const app = await startApp();
// Failed attempts are counted per minute, and every test here comes from the same address.
beforeEach(() => app.clock.advance({ minutes: 1 }));

const TOKEN = '/oauth/token';
const REVOKE = '/oauth/revoke';
const UNKNOWN = '0198c0de-0000-7000-8000-000000000000';
const SCOPES = ['interactions:read', 'interactions:write', 'invoices:read'];
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

type Client = { id: string; secret: string };
type Parameters = Record<string, string>;

async function makeClient(company: TestCompany, scopes: string[] = SCOPES): Promise<Client> {
  const { id, client_secret } = await ok(company.post('/manage/clients', { name: 'site', scopes }));
  return { id, secret: client_secret };
}

const grant = ({ id, secret }: Client, more: Parameters = {}): Parameters => ({
  grant_type: 'client_credentials',
  client_id: id,
  client_secret: secret,
  ...more,
});
const basic = ({ id, secret }: Client) => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
});
const form = (parameters: Parameters) => new URLSearchParams(parameters).toString();

const tokenOf = async (client: Client, more: Parameters = {}): Promise<string> =>
  (await ok(app.anonymous.post(TOKEN, grant(client, more)))).access_token;
const userOf = async (client: Client, url = app.baseUrl): Promise<Caller> => caller(url, await tokenOf(client));
const read = async (user: Caller, company: TestCompany) => (await user.get(`${company.path}/interactions`)).status;

async function assertOAuthError(answer: Promise<Answer>, status: number, error: string): Promise<void> {
  const { status: seen, headers, body, text } = await answer;
  assert.equal(seen, status, text);
  assert.match(String(headers['content-type']), /^application\/json/);
  assert.deepEqual(Object.keys(body), ['error', 'error_description']);
  assert.equal(body.error, error);
  assert.match(body.error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  assert.equal(headers['cache-control'], 'no-store');
  if (status === 401) assert.match(String(headers['www-authenticate']), /^Basic /);
}

test('a client gets a bearer token for an hour with all of its scopes', async () => {
  const company = await app.company();
  const answer = await app.anonymous.post(TOKEN, grant(await makeClient(company)));
  const granted = await ok(Promise.resolve(answer));
  assert.deepEqual(Object.keys(granted).sort(), ['access_token', 'expires_in', 'scope', 'token_type']);
  assert.match(granted.access_token, /^cr_[A-Za-z0-9_-]{43}$/);
  assert.equal(granted.token_type, 'Bearer');
  assert.equal(granted.expires_in, 3600);
  assert.deepEqual(granted.scope.split(' ').sort(), SCOPES.toSorted());
  assert.equal(answer.headers['cache-control'], 'no-store');
  assert.equal(answer.headers.pragma, 'no-cache');
  const user = caller(app.baseUrl, granted.access_token);
  await ok(user.post(`${company.path}/interactions`, { type: 'phone' }));
  assert.equal((await user.get(`${company.path}/address-book`)).status, 403);
  assert.equal((await user.get('/manage/company')).status, 403);
});

for (const [what, send] of Object.entries<(client: Client) => Promise<Answer>>({
  'JSON with the secret in the body': (client) => app.anonymous.post(TOKEN, grant(client)),
  'a form with the secret in the body': (client) => app.anonymous.post(TOKEN, form(grant(client)), FORM),
  'a form whose type names a charset': (client) =>
    app.anonymous.post(TOKEN, form(grant(client)), { 'content-type': `${FORM['content-type']}; charset=UTF-8` }),
  'JSON and HTTP Basic': (client) => app.anonymous.post(TOKEN, { grant_type: 'client_credentials' }, basic(client)),
  'a form and HTTP Basic': (client) =>
    app.anonymous.post(TOKEN, 'grant_type=client_credentials', { ...FORM, ...basic(client) }),
  'HTTP Basic and the same client_id in the body': (client) =>
    app.anonymous.post(TOKEN, { grant_type: 'client_credentials', client_id: client.id }, basic(client)),
  'HTTP Basic with percent-encoding': ({ id, secret }) =>
    app.anonymous.post(
      TOKEN,
      { grant_type: 'client_credentials' },
      basic({ id: id.replaceAll('-', '%2D'), secret: secret.replaceAll('_', '%5F') }),
    ),
  'unknown parameters, and empty ones': (client) =>
    app.anonymous.post(TOKEN, { ...grant(client), audience: 'x', scope: '' }),
  'unknown parameters, whatever they hold': (client) =>
    app.anonymous.post(TOKEN, { ...grant(client), audience: 5, resource: ['x'], claims: { a: null }, on: true }),
  'an unknown parameter twice in a form': (client) =>
    app.anonymous.post(TOKEN, `${form(grant(client))}&resource=a&resource=b`, FORM),
  'the client_id in another letter case': (client) =>
    app.anonymous.post(TOKEN, grant({ ...client, id: client.id.toUpperCase() })),
  'HTTP Basic and the same client_id in another letter case': (client) =>
    app.anonymous.post(
      TOKEN,
      { grant_type: 'client_credentials', client_id: client.id },
      basic({ ...client, id: client.id.toUpperCase() }),
    ),
  'null for what is not sent': (client) => app.anonymous.post(TOKEN, { ...grant(client), scope: null }),
})) {
  test(`a token is given for ${what}`, async () => {
    const company = await app.company();
    const { access_token } = await ok(send(await makeClient(company)));
    assert.equal(await read(caller(app.baseUrl, access_token), company), 200);
  });
}

test('a client may ask for fewer scopes', async () => {
  const company = await app.company();
  const client = await makeClient(company);
  const granted = await ok(app.anonymous.post(TOKEN, grant(client, { scope: 'invoices:read' })));
  assert.equal(granted.scope, 'invoices:read');
  const user = caller(app.baseUrl, granted.access_token);
  assert.equal((await user.get(`${company.path}/invoices`)).status, 200);
  assert.equal(await read(user, company), 403);
  const two = await ok(app.anonymous.post(TOKEN, grant(client, { scope: 'invoices:read interactions:read' })));
  assert.deepEqual(two.scope.split(' ').sort(), ['interactions:read', 'invoices:read']);
});

test('a scope that the client does not have is refused, also beside one that it has', async () => {
  const client = await makeClient(await app.company());
  for (const scope of ['manage', 'operator', 'invoices:read manage', 'invoices:read,interactions:read', 'nothing']) {
    await assertOAuthError(app.anonymous.post(TOKEN, grant(client, { scope })), 400, 'invalid_scope');
  }
});

test('an unknown client, a wrong secret and a disabled client are told the same', async () => {
  const company = await app.company();
  const [client, disabled] = [await makeClient(company), await makeClient(company)];
  await ok(company.post(`/manage/clients/${disabled.id}/disable`));
  const bodies = new Set<string>();
  for (const wrong of [
    { ...client, id: UNKNOWN },
    { ...client, id: 'unknown' },
    { ...client, secret: `${client.secret}x` },
    { ...client, secret: client.secret.slice(0, -1) },
    { ...client, secret: company.token },
    { id: client.id, secret: disabled.secret },
    disabled,
  ]) {
    for (const answer of [
      await app.anonymous.post(TOKEN, grant(wrong)),
      await app.anonymous.post(TOKEN, { grant_type: 'client_credentials' }, basic(wrong)),
    ]) {
      await assertOAuthError(Promise.resolve(answer), 401, 'invalid_client');
      bodies.add(answer.text);
    }
  }
  assert.equal(bodies.size, 1);
});

test('a client that sends no usable credentials is refused', async () => {
  const client = await makeClient(await app.company());
  const ask = { grant_type: 'client_credentials' };
  for (const [body, headers] of [
    [ask, {}],
    [{ ...ask, client_id: client.id }, {}],
    [{ ...ask, client_secret: client.secret }, {}],
    [{ ...ask, client_id: client.id, client_secret: '' }, {}],
    [ask, { authorization: 'Basic' }],
    [ask, { authorization: 'Basic !!!' }],
    [ask, { authorization: `Basic ${Buffer.from(client.id).toString('base64')}` }],
    [ask, { authorization: `Basic ${Buffer.from(`${client.id}:%zz`).toString('base64')}` }],
    [ask, { authorization: `Bearer ${client.secret}` }],
  ] as const) {
    await assertOAuthError(app.anonymous.post(TOKEN, body, headers), 401, 'invalid_client');
  }
});

test('two kinds of authentication in one request are refused, as are two clients', async () => {
  const company = await app.company();
  const [client, other] = [await makeClient(company), await makeClient(company)];
  await assertOAuthError(app.anonymous.post(TOKEN, grant(client), basic(client)), 400, 'invalid_request');
  const body = { grant_type: 'client_credentials', client_id: other.id };
  await assertOAuthError(app.anonymous.post(TOKEN, body, basic(client)), 400, 'invalid_request');
});

test('a missing or another grant type is refused', async () => {
  const client = await makeClient(await app.company());
  const { grant_type, ...without } = grant(client);
  await assertOAuthError(app.anonymous.post(TOKEN, without), 400, 'invalid_request');
  for (const other of ['password', 'authorization_code', 'refresh_token', 'CLIENT_CREDENTIALS']) {
    await assertOAuthError(
      app.anonymous.post(TOKEN, grant(client, { grant_type: other })),
      400,
      'unsupported_grant_type',
    );
  }
});

for (const [what, body, headers] of [
  ['no body', undefined, {}],
  ['text that is no JSON', '{', {}],
  ['a list', '[]', {}],
  ['a number', '5', {}],
  ['bytes that are no UTF-8', new Uint8Array([0xff, 0xfe]), {}],
  ['a parameter that is no text', { grant_type: 5 }, {}],
  ['a parameter twice in a form', 'grant_type=client_credentials&grant_type=client_credentials', FORM],
  ['another Content-Type', 'grant_type=client_credentials', { 'content-type': 'text/plain' }],
  ['a body without Content-Type', 'grant_type=client_credentials', { 'content-type': undefined }],
] as const) {
  test(`${what} is an invalid request`, async () => {
    await assertOAuthError(app.anonymous.post(TOKEN, body, headers), 400, 'invalid_request');
    await assertOAuthError(app.anonymous.post(REVOKE, body, headers), 400, 'invalid_request');
  });
}

test('only POST is answered, and the credentials in the query are not looked at', async () => {
  const client = await makeClient(await app.company());
  const answer = await app.anonymous.get(`${TOKEN}?${form(grant(client))}`);
  assert.equal(answer.status, 405);
  await assertOAuthError(
    app.anonymous.post(`${TOKEN}?${form(grant(client))}`, { grant_type: 'client_credentials' }),
    401,
    'invalid_client',
  );
});

test('failed attempts here and with bearer tokens are counted together, a right client is never held up', async () => {
  const company = await app.company();
  const client = await makeClient(company);
  const wrong = grant({ ...client, secret: 'wrong' });
  for (let i = 0; i < 15; i++) {
    assert.equal((await app.anonymous.post(TOKEN, wrong)).status, 401);
    assert.equal((await app.anonymous.get(`${company.path}/interactions`)).status, 401);
  }
  const refused = await app.anonymous.post(TOKEN, wrong);
  assert.equal(refused.status, 429, refused.text);
  assert.match(String(refused.headers['retry-after']), /^\d+$/);
  assert.equal(refused.body.code, 'too_many_attempts');
  assert.equal((await app.anonymous.post(REVOKE, { ...wrong, token: 'x' })).status, 429);
  assert.equal((await app.anonymous.get(`${company.path}/interactions`)).status, 429);
  await tokenOf(client);
  app.clock.advance({ seconds: Number(refused.headers['retry-after']) });
  assert.equal((await app.anonymous.post(TOKEN, wrong)).status, 401);
});

test('a malformed request or a refused scope is no failed attempt', async () => {
  const client = await makeClient(await app.company());
  for (let i = 0; i < 20; i++) {
    assert.equal((await app.anonymous.post(TOKEN, '{')).status, 400);
    assert.equal((await app.anonymous.post(TOKEN, grant(client, { scope: 'manage' }))).status, 400);
  }
  assert.equal((await app.anonymous.post(TOKEN, grant({ ...client, secret: 'x' }))).status, 401);
});

/** A form of `size` bytes with an unknown parameter. */
const padded = (parameters: Parameters, size: number): string => {
  const length = JSON.stringify({ ...parameters, pad: '' }).length;
  return JSON.stringify({ ...parameters, pad: 'x'.repeat(size - length) });
};

test('a body may have 16 KiB and not one byte more', async () => {
  const client = await makeClient(await app.company());
  await ok(app.anonymous.post(TOKEN, padded(grant(client), 16_384)));
  for (const [path, parameters] of [
    [TOKEN, grant(client)],
    [REVOKE, { ...grant(client), token: 'x' }],
  ] as const) {
    for (const headers of [{}, FORM]) {
      const answer = await app.anonymous.post(path, padded(parameters, 16_385), headers);
      assert.deepEqual([answer.status, answer.body.code], [413, 'body_too_large'], answer.text);
      assert.match(answer.body.detail, /16384/);
    }
  }
});

test('what cannot be read is refused unread when it comes too often; HTTP Basic still gets through', async () => {
  const client = await makeClient(await app.company());
  for (let i = 0; i < 30; i++) assert.equal((await app.anonymous.post(TOKEN, '[')).status, 400);
  for (const body of ['[', grant(client)]) {
    for (const path of [TOKEN, REVOKE]) {
      const refused = await app.anonymous.post(path, body);
      assert.deepEqual([refused.status, refused.body.code], [429, 'too_many_attempts'], refused.text);
      assert.match(String(refused.headers['retry-after']), /^\d+$/);
    }
  }
  const granted = await app.anonymous.post(TOKEN, { grant_type: 'client_credentials' }, basic(client));
  assert.deepEqual([granted.status, granted.headers['retry-after']], [200, undefined], granted.text);
  const wrong = basic({ ...client, secret: 'wrong' });
  await assertOAuthError(app.anonymous.post(TOKEN, '[', wrong), 401, 'invalid_client');
  app.clock.advance({ minutes: 1 });
  await ok(app.anonymous.post(TOKEN, grant(client)));
});

test('thirty concurrent requests with bodies that cannot be read are all parsed', async (t) => {
  const { parse } = JSON;
  let parsed = 0;
  t.mock.method(JSON, 'parse', (text: string, ...more: []) => {
    if (text === '[[') parsed++;
    return parse(text, ...more);
  });
  const answers = await Promise.all(Array.from({ length: 100 }, () => app.anonymous.post(TOKEN, '[[')));
  const count = (status: number) => answers.filter((answer) => answer.status === status).length;
  assert.deepEqual([parsed, count(400), count(429)], [30, 30, 70]);
});

test('an access token stops an hour after it was given', async () => {
  const company = await app.company();
  const client = await makeClient(company);
  const [early, late] = [await userOf(client), await userOf(client)];
  app.clock.advance({ seconds: 3599 });
  assert.equal(await read(early, company), 200);
  app.clock.advance({ seconds: 1 });
  assert.equal(await read(late, company), 401);
});

test('how long a token works is a setting', async () => {
  const company = await app.company();
  const client = await makeClient(company);
  const logger = pino({ level: 'silent' });
  const server = await buildApp({ db: app.db, clock: app.clock.read, logger, tokenSeconds: 90 });
  const granted = await ok(caller(await server.listen({ host: '127.0.0.1', port: 0 })).post(TOKEN, grant(client)));
  await server.close();
  assert.equal(granted.expires_in, 90);
  const [early, late] = [caller(app.baseUrl, granted.access_token), caller(app.baseUrl, granted.access_token)];
  app.clock.advance({ seconds: 87 });
  assert.equal(await read(early, company), 200);
  app.clock.advance({ seconds: 3 });
  assert.equal(await read(late, company), 401);
});

for (const [text, taken] of [
  ['59', undefined],
  ['60', 60],
  ['86400', 86_400],
  ['86401', undefined],
  ['1h', undefined],
  ['', 3_600],
] as const) {
  test(`OAUTH_TOKEN_SECONDS="${text}" ${taken === undefined ? 'is refused' : `is ${taken}`}`, () => {
    const readIt = () => readConfig({ OAUTH_TOKEN_SECONDS: text }).OAUTH_TOKEN_SECONDS;
    if (taken === undefined) assert.throws(readIt, /OAUTH_TOKEN_SECONDS must be a whole number from 60 to 86400/);
    else assert.equal(readIt(), taken);
  });
}

test('a revoked token stops within two seconds on every process, the others of the client go on', async () => {
  const company = await app.company();
  const client = await makeClient(company);
  const server = await buildApp({ db: app.db, clock: app.clock.read, logger: pino({ level: 'silent' }) });
  const second = await server.listen({ host: '127.0.0.1', port: 0 });
  const [token, other] = [await tokenOf(client), await tokenOf(client)];
  const users = [app.baseUrl, second].map((url) => caller(url, token));
  for (const user of users) assert.equal(await read(user, company), 200);
  const { id, secret } = client;
  assert.deepEqual(
    await ok(
      app.anonymous.post(REVOKE, { token, token_type_hint: 'access_token', client_id: id, client_secret: secret }),
    ),
    {},
  );
  app.clock.advance({ seconds: 2 });
  for (const user of users) assert.equal(await read(user, company), 401);
  assert.equal(await read(caller(app.baseUrl, other), company), 200);
  await server.close();
});

test('revoking takes forms and HTTP Basic, and a revoked token can be revoked again', async () => {
  const company = await app.company();
  const client = await makeClient(company);
  const token = await tokenOf(client);
  for (let i = 0; i < 2; i++) {
    assert.deepEqual(await ok(app.anonymous.post(REVOKE, form({ token }), { ...FORM, ...basic(client) })), {});
  }
  assert.equal(await read(caller(app.baseUrl, token), company), 401);
});

test('what is not a token of this client is left as it is, and the answer is the same', async () => {
  const [company, other] = [await app.company(), await app.company()];
  const [client, sibling, stranger] = [await makeClient(company), await makeClient(company), await makeClient(other)];
  const [ofSibling, ofStranger] = [await tokenOf(sibling), await tokenOf(stranger)];
  for (const token of [ofSibling, ofStranger, company.token, other.token, 'nothing', client.secret]) {
    assert.deepEqual(await ok(app.anonymous.post(REVOKE, { token }, basic(client))), {});
  }
  app.clock.advance({ seconds: 2 });
  assert.equal(await read(caller(app.baseUrl, ofSibling), company), 200);
  assert.equal(await read(caller(app.baseUrl, ofStranger), other), 200);
  assert.equal(await read(company, company), 200);
});

test('revoking needs a token and a client that is let in', async () => {
  const company = await app.company();
  const client = await makeClient(company);
  const token = await tokenOf(client);
  await assertOAuthError(app.anonymous.post(REVOKE, { token_type_hint: 'x' }, basic(client)), 400, 'invalid_request');
  await assertOAuthError(app.anonymous.post(REVOKE, { token }), 401, 'invalid_client');
  await assertOAuthError(
    app.anonymous.post(REVOKE, { token }, basic({ ...client, secret: 'x' })),
    401,
    'invalid_client',
  );
  await assertOAuthError(
    app.anonymous.post(REVOKE, { token }, { authorization: `Bearer ${token}` }),
    401,
    'invalid_client',
  );
  assert.equal(await read(caller(app.baseUrl, token), company), 200);
  await ok(company.post(`/manage/clients/${client.id}/disable`));
  await assertOAuthError(app.anonymous.post(REVOKE, { token }, basic(client)), 401, 'invalid_client');
});

test('tokens that ended more than a day ago are forgotten when new ones are given, keys are not', async () => {
  const [company, other] = [await app.company(), await app.company()];
  const [client, foreign] = [await makeClient(company), await makeClient(other)];
  for (let i = 0; i < 25; i++) await tokenOf(client);
  await tokenOf(foreign);
  const { id: key } = await ok(company.post('/manage/keys', { name: 'k', scopes: ['manage'] }));
  await ok(company.delete(`/manage/keys/${key}`));
  const counted = async (target: TestCompany) =>
    Number(
      (
        await app.sql<{ count: string }>(
          'SELECT count(*) FROM tokens WHERE company_id = $1 AND client_id IS NOT NULL',
          [target.companyId],
        )
      )[0]?.count,
    );
  app.clock.advance({ hours: 24 });
  await tokenOf(client);
  assert.equal(await counted(company), 26);
  app.clock.advance({ hours: 2 });
  await tokenOf(client);
  assert.equal(await counted(company), 7);
  await tokenOf(client);
  assert.equal(await counted(company), 3);
  assert.equal(await counted(other), 1);
  assert.equal((await company.get(`/manage/keys/${key}`)).status, 200);
});
