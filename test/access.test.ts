import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { beforeEach, test } from 'node:test';
import fc from 'fast-check';
import { startApp, type TestCompany } from './harness/app.ts';
import { assertProblem } from './harness/assert.ts';
import { booking, invoiceBody, PERSON } from './harness/bodies.ts';
import type { Answer, Caller } from './harness/http.ts';
import { specified } from './harness/openapi.ts';

const app = await startApp();

// Failed attempts are counted per minute, and every test here comes from the same address.
beforeEach(() => {
  const minute = app.clock.read().round({ smallestUnit: 'minute', roundingMode: 'floor' });
  app.clock.set(minute.add({ minutes: 1 }).toString());
});

const RESOURCES = ['address_book', 'interactions', 'invoices', 'appointments'];
const SCOPES = [...RESOURCES.flatMap((name) => [`${name}:read`, `${name}:write`]), 'manage', 'operator'];

type Form = { method: string; template: string; body?: (company: TestCompany) => object };

const BODIES: Record<string, (company: TestCompany) => object> = {
  address_book: () => PERSON,
  interactions: () => ({ type: 'phone' }),
  invoices: (company) => invoiceBody({ sender_id: company.companyId }),
  appointments: (company) => booking(company),
};

const resourceOf = (template: string) => (template.split('/')[3] ?? '').replace('-', '_');

const documented: Form[] = Object.entries(specified).flatMap(([template, methods]) =>
  Object.keys(methods).map((method) => {
    const body = BODIES[resourceOf(template)];
    return { method: method.toUpperCase(), template, ...(body && /^(post|patch)$/.test(method) && { body }) };
  }),
);
const postWithoutBody: Form = { method: 'POST', template: '/cases/{caseId}/appointments/{appointmentID}' };
const forms = [...documented, postWithoutBody];

const nameOf = ({ method, template, body }: Form) =>
  `${method} ${template}${body || method !== 'POST' ? '' : ' (empty)'}`;
const scopeOf = ({ method, template }: Form) => `${resourceOf(template)}:${method === 'GET' ? 'read' : 'write'}`;

async function pathsOf(company: TestCompany): Promise<(template: string) => string> {
  const make = async (path: string, resource: string) =>
    (await company.post(`${company.path}/${path}`, BODIES[resource]?.(company))).body.id;
  const ids: Record<string, string> = {
    caseId: company.caseId,
    entryID: await make('address-book/entry', 'address_book'),
    interactionId: await make('interactions', 'interactions'),
    invoiceId: await make('invoices', 'invoices'),
    appointmentID: await make('appointments', 'appointments'),
  };
  return (template) => template.replaceAll(/\{(\w+)\}/g, (_, name) => ids[name] ?? '');
}

async function tables(): Promise<string[]> {
  const rows = await app.sql<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

async function recordsOf(company: TestCompany): Promise<unknown> {
  const held: Record<string, unknown> = {};
  for (const table of ['people', 'addresses', 'interactions', 'invoices', 'appointments', 'messages']) {
    held[table] = await app.sql(`SELECT * FROM ${table} WHERE company_id = $1 ORDER BY id`, [company.companyId]);
  }
  return held;
}

const list = (company: TestCompany, authorization: string | undefined) =>
  app.anonymous.get(`${company.path}/interactions`, { authorization });

function assertNoToken(answer: Answer): void {
  assertProblem(answer, 401, 'invalid_token');
  assert.equal(answer.headers['www-authenticate'], 'Bearer');
}

function assertInvalidToken(answer: Answer): void {
  assertProblem(answer, 401, 'invalid_token');
  assert.equal(answer.headers['www-authenticate'], 'Bearer error="invalid_token"');
}

function assertScopeMissing(answer: Answer, scope: string): void {
  assertProblem(answer, 403, 'insufficient_scope');
  const challenge = String(answer.headers['www-authenticate']);
  assert.match(challenge, /^Bearer error="insufficient_scope"/);
  const named = /scope="([^"]*)"/.exec(challenge);
  if (named) assert.equal(named[1], scope);
}

/** A request from another of this machine's own addresses. */
function statusFrom(localAddress: string, path: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, app.baseUrl), { localAddress, headers, agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', reject);
    sent.end();
  });
}

async function failedAttempts(company: TestCompany, count: number): Promise<void> {
  for (let i = 0; i < count; i++)
    assert.equal((await list(company, `Bearer wrong-${i}`)).status, 401, `attempt ${i + 1}`);
}

test('the document lists the forms of the twelve operations that this file walks', () => {
  assert.equal(documented.length, 20);
  assert.equal(forms.length, 21);
});

test('the document names the scope of every operation', () => {
  for (const form of documented) {
    const operation = specified[form.template]?.[form.method.toLowerCase()];
    const { security } = operation as unknown as { security: unknown };
    const scopes = [scopeOf(form)];
    assert.deepEqual(security, [{ bearer: scopes }, { oauth2: scopes }, { session: [] }], nameOf(form));
  }
});

for (const form of forms) {
  test(`${nameOf(form)} without a token is 401 and its challenge names no error`, async () => {
    const company = await app.company();
    const path = (await pathsOf(company))(form.template);
    const before = await recordsOf(company);
    assertNoToken(await app.anonymous.send(form.method, path, form.body?.(company)));
    assertInvalidToken(
      await app.anonymous.send(form.method, path, form.body?.(company), { authorization: 'Bearer unknown' }),
    );
    assert.deepEqual(await recordsOf(company), before);
  });
}

for (const authorization of ['', 'Bearer', 'Bearer ', 'Basic dXNlcjpwYXNz', 'Digest username="x"']) {
  test(`the header "${authorization}" carries no bearer token, so the challenge names no error`, async () => {
    assertNoToken(await list(await app.company(), authorization));
  });
}

for (const [what, alter] of Object.entries<(token: string) => string>({
  'that never was': () => 'nothing-like-it',
  'with its last character changed': (token) => token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A'),
  'cut short by one character': (token) => token.slice(0, -1),
  'with one character more': (token) => `${token}A`,
  'in upper case': (token) => token.toUpperCase(),
  'in quotes': (token) => `"${token}"`,
  'followed by another word': (token) => `${token} ${token}`,
  'that is the stored hash in hex': (token) => createHash('sha256').update(token).digest('hex'),
  'that is the stored hash in base64': (token) => createHash('sha256').update(token).digest('base64'),
  'that is SQL': () => `' OR '1'='1`,
  'of ten thousand characters': () => 'x'.repeat(10_000),
  'of letters outside ASCII': () => 'é'.repeat(40),
})) {
  test(`a token ${what} is refused`, async () => {
    const company = await app.company();
    assertInvalidToken(await list(company, `Bearer ${alter(company.token)}`));
  });
}

test('the identifier of a token is not a token', async () => {
  const company = await app.company();
  const [row] = await app.sql<{ id: string }>('SELECT id FROM tokens WHERE company_id = $1', [company.companyId]);
  assertInvalidToken(await list(company, `Bearer ${row?.id}`));
});

test('no text that was made up opens anything', async () => {
  const company = await app.company();
  await fc.assert(
    fc.asyncProperty(fc.stringMatching(/^[!-~]{1,60}$/), async (made) => {
      app.clock.advance({ minutes: 1 });
      assertProblem(await list(company, `Bearer ${made}`), 401, 'invalid_token');
    }),
    { numRuns: 50 },
  );
});

test('a token without the word Bearer before it is refused', async () => {
  const company = await app.company();
  assertProblem(await list(company, company.token), 401, 'invalid_token');
});

test('the word Bearer may be written in any case', async () => {
  const company = await app.company();
  for (const word of ['Bearer', 'bearer', 'BEARER']) {
    const answer = await list(company, `${word} ${company.token}`);
    assert.equal(answer.status, 200, answer.text);
  }
});

test('a token in the query string or in the body is not looked at', async () => {
  const company = await app.company();
  const path = `${company.path}/interactions`;
  assertNoToken(await app.anonymous.get(`${path}?access_token=${company.token}`));
  assertNoToken(await app.anonymous.post(path, { type: 'phone', access_token: company.token }));
});

test('without a token an existing case and one that never existed look the same', async () => {
  const company = await app.company();
  const existing = await app.anonymous.get(`${company.path}/invoices`);
  const invented = await app.anonymous.get('/cases/0198c0de-0000-7000-8000-000000000000/invoices');
  assertNoToken(existing);
  assertNoToken(invented);
  assert.deepEqual({ ...existing.body, request_id: '' }, { ...invented.body, request_id: '' });
});

test('HEAD needs the same token and the same scope as GET', async () => {
  const company = await app.company();
  const head = (token?: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
      const url = new URL(`${company.path}/interactions`, app.baseUrl);
      const sent = request(url, { method: 'HEAD', headers, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      sent.on('error', reject);
      sent.end();
    });
  assert.equal(await head(), 401);
  assert.equal(await head('unknown'), 401);
  assert.equal(await head(company.token), 200);
  await app.sql(`UPDATE tokens SET scopes = '{invoices:read}' WHERE company_id = $1`, [company.companyId]);
  app.clock.advance({ seconds: 2 });
  assert.equal(await head(company.token), 403);
});

test('a revoked token is refused', async () => {
  const company = await app.company();
  await app.sql('UPDATE tokens SET revoked_at = $2 WHERE company_id = $1', [
    company.companyId,
    app.clock.read().toString(),
  ]);
  assertInvalidToken(await list(company, `Bearer ${company.token}`));
});

test('a token that was in use a moment ago stops within two seconds of being revoked', async () => {
  const company = await app.company();
  assert.equal((await company.get(`${company.path}/interactions`)).status, 200);
  await app.sql('UPDATE tokens SET revoked_at = $2 WHERE company_id = $1', [
    company.companyId,
    app.clock.read().toString(),
  ]);
  app.clock.advance({ seconds: 2 });
  assertInvalidToken(await company.get(`${company.path}/interactions`));
});

test('a token in steady use stops within two seconds of being revoked, however often it is used', async () => {
  const company = await app.company();
  await company.get(`${company.path}/interactions`);
  await app.sql('UPDATE tokens SET revoked_at = $2 WHERE company_id = $1', [
    company.companyId,
    app.clock.read().toString(),
  ]);
  for (let i = 0; i < 4; i++) {
    app.clock.advance({ milliseconds: 500 });
    await company.get(`${company.path}/interactions`);
  }
  assertInvalidToken(await company.get(`${company.path}/interactions`));
});

test('a token whose row is gone stops within two seconds', async () => {
  const company = await app.company();
  assert.equal((await company.get(`${company.path}/interactions`)).status, 200);
  await app.sql('DELETE FROM tokens WHERE company_id = $1', [company.companyId]);
  app.clock.advance({ seconds: 2 });
  assertInvalidToken(await company.get(`${company.path}/interactions`));
});

test('a token works until the moment it expires', async () => {
  const [early, late] = [await app.company(), await app.company()];
  const expiry = app.clock.read().add({ hours: 1 });
  await app.sql('UPDATE tokens SET expires_at = $1 WHERE company_id = ANY ($2)', [
    expiry.toString(),
    [early.companyId, late.companyId],
  ]);
  app.clock.set(expiry.subtract({ milliseconds: 1 }).toString());
  assert.equal((await early.get(`${early.path}/interactions`)).status, 200);
  app.clock.set(expiry.toString());
  assertInvalidToken(await late.get(`${late.path}/interactions`));
});

test('a token that was in use a moment ago stops within two seconds of its expiry', async () => {
  const company = await app.company();
  const expiry = app.clock.read().add({ hours: 1 });
  await app.sql('UPDATE tokens SET expires_at = $2 WHERE company_id = $1', [company.companyId, expiry.toString()]);
  app.clock.set(expiry.subtract({ milliseconds: 1 }).toString());
  assert.equal((await company.get(`${company.path}/interactions`)).status, 200);
  app.clock.set(expiry.add({ seconds: 2 }).toString());
  assertInvalidToken(await company.get(`${company.path}/interactions`));
});

test('one token is revoked, the others of the company go on', async () => {
  const company = await app.company();
  const other = await company.withScopes('interactions:read');
  await app.sql('UPDATE tokens SET revoked_at = $2 WHERE secret_sha256 = $1', [
    createHash('sha256').update(company.token).digest(),
    app.clock.read().toString(),
  ]);
  assertInvalidToken(await company.get(`${company.path}/interactions`));
  assert.equal((await other.get(`${company.path}/interactions`)).status, 200);
});

test('a scope that was taken away is missed within two seconds', async () => {
  const company = await app.company();
  assert.equal((await company.get(`${company.path}/interactions`)).status, 200);
  await app.sql(`UPDATE tokens SET scopes = '{invoices:read}' WHERE company_id = $1`, [company.companyId]);
  app.clock.advance({ seconds: 2 });
  assertScopeMissing(await company.get(`${company.path}/interactions`), 'interactions:read');
});

for (const form of forms) {
  test(`${nameOf(form)} takes the scope ${scopeOf(form)} and no other`, async () => {
    const company = await app.company();
    const path = (await pathsOf(company))(form.template);
    const needed = scopeOf(form);
    const call = (caller: Caller) => caller.send(form.method, path, form.body?.(company));
    const before = await recordsOf(company);
    const others = SCOPES.filter((scope) => scope !== needed);
    for (const scope of others) assertScopeMissing(await call(await company.withScopes(scope)), needed);
    assertScopeMissing(await call(await company.withScopes()), needed);
    assertScopeMissing(await call(await company.withScopes(...others)), needed);
    assert.deepEqual(await recordsOf(company), before);
    const allowed = await call(await company.withScopes(needed));
    assert.equal(allowed.status, 200, allowed.text);
  });
}

for (const scope of ['*', 'interactions', 'interactions:*', 'INTERACTIONS:READ', ' interactions:read', 'read', '']) {
  test(`"${scope}" does not stand for the scope interactions:read`, async () => {
    const company = await app.company();
    const caller = await company.withScopes('invoices:read', 'appointments:write');
    await app.sql(`UPDATE tokens SET scopes = ARRAY[$2] WHERE company_id = $1`, [company.companyId, scope]);
    assertScopeMissing(await caller.get(`${company.path}/interactions`), 'interactions:read');
  });
}

test('a token has at least 256 bits, and each of them is by chance', async () => {
  const secrets: Buffer[] = [];
  for (let i = 0; i < 40; i++) {
    const { token } = await app.company();
    assert.match(token, /^[A-Za-z0-9]+_[A-Za-z0-9_-]+$/);
    secrets.push(Buffer.from(token.slice(token.indexOf('_') + 1), 'base64url'));
  }
  assert.ok(secrets.every((secret) => secret.length >= 32));
  for (let bit = 0; bit < 256; bit++) {
    const seen = new Set(secrets.map((secret) => ((secret[bit >> 3] ?? 0) >> (bit & 7)) & 1));
    assert.equal(seen.size, 2, `bit ${bit} was the same in all of ${secrets.length} tokens`);
  }
});

test('of a token only the SHA-256 is stored, in no table anything it could be read from', async () => {
  const company = await app.company();
  await company.get(`${company.path}/interactions`);
  const stored = await app.sql<{ secret_sha256: Buffer }>('SELECT secret_sha256 FROM tokens WHERE company_id = $1', [
    company.companyId,
  ]);
  assert.deepEqual(stored, [{ secret_sha256: createHash('sha256').update(company.token).digest() }]);

  const secret = company.token.slice(company.token.indexOf('_') + 1);
  const telltales = [
    secret,
    secret.slice(-12),
    Buffer.from(company.token).toString('hex'),
    Buffer.from(company.token).toString('base64'),
    Buffer.from(secret, 'base64url').toString('hex'),
    Buffer.from(secret, 'base64url').toString('base64'),
  ];
  for (const table of await tables()) {
    const rows = await app.sql<{ text: string }>(`SELECT to_jsonb(t)::text AS text FROM ${table} t`);
    for (const { text } of rows) {
      for (const telltale of telltales) assert.ok(!text.includes(telltale), `${table} holds the token: ${text}`);
    }
  }
});

test('no answer repeats the token that was sent', async () => {
  const company = await app.company();
  for (const answer of [
    await company.get(`${company.path}/interactions`),
    await company.get('/cases/nothing/interactions'),
    await list(company, `Bearer ${company.token}x`),
    await (await company.withScopes()).get(`${company.path}/interactions`),
  ]) {
    assert.ok(!(answer.text + JSON.stringify(answer.headers)).includes(company.token));
  }
});

test('after thirty failed attempts in a minute an address is told to wait', async () => {
  const company = await app.company();
  await failedAttempts(company, 30);
  const refused = await list(company, 'Bearer wrong');
  assertProblem(refused, 429, 'too_many_attempts');
  assert.match(String(refused.headers['retry-after']), /^\d+$/);
  const seconds = Number(refused.headers['retry-after']);
  assert.ok(seconds >= 1 && seconds <= 60, `${seconds}`);
});

test('an address that was told to wait may try again after Retry-After, and not a second sooner', async () => {
  const company = await app.company();
  await failedAttempts(company, 30);
  app.clock.advance({ seconds: 20 });
  const refused = await list(company, 'Bearer wrong');
  const seconds = Number(refused.headers['retry-after']);
  app.clock.advance({ seconds: seconds - 1 });
  assertProblem(await list(company, 'Bearer wrong'), 429, 'too_many_attempts');
  app.clock.advance({ seconds: 1 });
  assertInvalidToken(await list(company, 'Bearer wrong'));
});

test('thirty failed attempts in one minute do not hinder the thirty of the next', async () => {
  const company = await app.company();
  await failedAttempts(company, 30);
  app.clock.advance({ minutes: 1 });
  await failedAttempts(company, 30);
  assertProblem(await list(company, 'Bearer wrong'), 429, 'too_many_attempts');
});

test('missing tokens are failed attempts as well', async () => {
  const company = await app.company();
  for (let i = 0; i < 15; i++) assertNoToken(await list(company, undefined));
  await failedAttempts(company, 15);
  assertProblem(await list(company, undefined), 429, 'too_many_attempts');
});

test('an address that was told to wait still works with a valid token, new or in use', async () => {
  const company = await app.company();
  const fresh = await app.company();
  assert.equal((await company.get(`${company.path}/interactions`)).status, 200);
  await failedAttempts(company, 30);
  assert.equal((await list(company, 'Bearer wrong')).status, 429);
  assert.equal((await company.get(`${company.path}/interactions`)).status, 200);
  assert.equal((await fresh.get(`${fresh.path}/interactions`)).status, 200);
  assert.equal((await fresh.post(`${fresh.path}/interactions`, { type: 'phone' })).status, 200);
});

test('a valid token does not wipe out the failed attempts before it', async () => {
  const company = await app.company();
  await failedAttempts(company, 30);
  assert.equal((await company.get(`${company.path}/interactions`)).status, 200);
  assertProblem(await list(company, 'Bearer wrong'), 429, 'too_many_attempts');
});

test('attempts from one address do not count against another', async () => {
  const company = await app.company();
  await failedAttempts(company, 30);
  const path = `${company.path}/interactions`;
  assert.equal(await statusFrom('127.0.0.1', path, { authorization: 'Bearer wrong' }), 429);
  assert.equal(await statusFrom('127.0.0.2', path, { authorization: 'Bearer wrong' }), 401);
});

test('a header cannot change the address that a caller is counted under', async () => {
  const company = await app.company();
  await failedAttempts(company, 30);
  for (const header of ['x-forwarded-for', 'x-real-ip', 'forwarded', 'client-ip', 'cf-connecting-ip']) {
    const answer = await app.anonymous.get(`${company.path}/interactions`, {
      authorization: 'Bearer wrong',
      [header]: header === 'forwarded' ? 'for=192.0.2.1' : '192.0.2.1',
    });
    assertProblem(answer, 429, 'too_many_attempts');
  }
});

test('a missing scope, an unknown case or a faulty body is no failed attempt', async () => {
  const company = await app.company();
  const narrow = await company.withScopes('interactions:write');
  for (let i = 0; i < 11; i++) {
    assert.equal((await narrow.get(`${company.path}/interactions`)).status, 403);
    assert.equal((await narrow.post('/cases/nothing/interactions', {})).status, 404);
    assert.equal((await narrow.post(`${company.path}/interactions`, {})).status, 400);
  }
  assertInvalidToken(await list(company, 'Bearer wrong'));
});

test('an unknown address or method is told so to everybody, and is no failed attempt', async () => {
  const company = await app.company();
  for (let i = 0; i < 16; i++) {
    assert.equal((await app.anonymous.get('/nothing')).status, 404);
    assert.equal((await app.anonymous.send('PUT', `${company.path}/interactions`)).status, 405);
  }
  assertNoToken(await list(company, undefined));
});

for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json']) {
  test(`${path} asks for no token`, async () => {
    const answer = await app.anonymous.get(path, { 'content-type': undefined });
    assert.equal(answer.status, 200, answer.text);
  });
}
