import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { pino } from 'pino';
import { RawConnection } from '../chaos/input/raw-connection.ts';
import { ConfigError, readConfig, SECRET_SETTINGS } from '../src/config.ts';
import { SecretBox } from '../src/kernel/secret-box.ts';
import { buildApp } from '../src/server/app.ts';
import { startApp } from './harness/app.ts';
import { fill, identifiersOf } from './harness/identifiers.ts';
import { temporaryDirectory } from './harness/service.ts';
import { until } from './harness/until.ts';

const app = await startApp({ secrets: new SecretBox([randomBytes(32)]), allowPrivateAddresses: true });

/* ---- headers ---- */

const raw = async (bytes: string) => {
  const wire = new RawConnection(app.baseUrl);
  const answer = await wire.send({ bytes: Buffer.from(bytes), headOnly: false, endsConnection: true });
  wire.close();
  assert.ok(answer, bytes);
  return answer;
};

test('every kind of answer forbids sniffing and caching, and names no server', async () => {
  const company = await app.company();
  const ids = await identifiersOf(company);
  const answers = {
    list: await company.get(fill('/cases/{caseId}/interactions', ids)),
    record: await company.get(fill('/cases/{caseId}/invoices/{invoiceId}', ids)),
    created: await company.post(fill('/cases/{caseId}/interactions', ids), { type: 'phone' }),
    kept: await company.post('/manage/cases', { reference: 'x' }, { 'idempotency-key': 'kept' }),
    'given again': await company.post('/manage/cases', { reference: 'x' }, { 'idempotency-key': 'kept' }),
    refused: await company.post(fill('/cases/{caseId}/interactions', ids), {}),
    'without a token': await app.anonymous.get('/events'),
    'nothing there': await company.get('/nothing'),
    'wrong method': await company.send('PUT', '/events'),
    'no address': await raw('GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n'),
    'no HTTP': await raw('GET\r\n\r\n'),
    'headers too large': await raw(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`),
    'expects something': await raw('GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n'),
  };
  for (const [what, { headers }] of Object.entries(answers)) {
    assert.equal(headers['x-content-type-options'], 'nosniff', what);
    assert.equal(headers['cache-control'], 'no-store', what);
    for (const banner of ['server', 'x-powered-by', 'via']) assert.equal(headers[banner], undefined, what);
  }
  for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs']) {
    const { headers } = await app.anonymous.get(path);
    assert.equal(headers['x-content-type-options'], 'nosniff', path);
    assert.equal(headers.server, undefined);
  }
});

test('the pages load nothing from elsewhere, cannot be framed and send no referrer', async () => {
  const { headers } = await app.anonymous.get('/docs/');
  for (const rule of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"]) {
    assert.ok(String(headers['content-security-policy']).includes(rule), rule);
  }
  assert.equal(headers['referrer-policy'], 'no-referrer');
});

/* ---- the log ---- */

test('a line of the log names the route and nothing that a caller has sent', async () => {
  const lines: string[] = [];
  const logger = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const logged = await startApp({ logger });
  const company = await logged.company();
  lines.length = 0;
  const theirs = 'Confidential';
  const sent = { type: 'phone', notes: theirs, recipient: theirs };
  const headers = { 'idempotency-key': theirs, 'user-agent': theirs, cookie: theirs };
  const made = await company.post(`${company.path}/interactions`, sent, headers);
  assert.equal(made.status, 200, made.text);
  await company.get(`${company.path}/interactions/${made.body.id}?${theirs}`);
  await company.get(`/manage/cases?search=${theirs}`);
  await company.get(`/${theirs}`);
  await company.post(`${company.path}/interactions`, `{"${theirs}`);
  await logged.anonymous.get('/events', { authorization: `Bearer ${theirs}` });
  await until(() => lines.length >= 6);
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).route),
    [
      '/cases/:caseId/interactions',
      '/cases/:caseId/interactions/:interactionId',
      '/manage/cases',
      null,
      '/cases/:caseId/interactions',
      '/events',
    ],
  );
  for (const secret of [theirs, company.token, company.caseId, made.body.id])
    assert.ok(!lines.join('').includes(secret));
});

for (const [code, status, message] of [
  ['XX000', 500, 'request failed'],
  ['53200', 503, 'service unavailable'],
] as const) {
  test(`what the log says of a ${status} names its request`, async (t) => {
    const lines: Record<string, unknown>[] = [];
    const logger = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const logged = await startApp({ logger });
    const company = await logged.company();
    await company.get(`${company.path}/interactions`);
    const failing = Object.assign(new pg.DatabaseError('it did not work', 0, 'error'), { code });
    t.mock.method(pg.Client.prototype, 'query', ({ callback }: { callback: (error: Error) => void }) =>
      callback(failing),
    );
    const answer = await company.get(`${company.path}/interactions`);
    t.mock.restoreAll();
    assert.equal(answer.status, status);
    const told = lines.find(({ msg }) => msg === message);
    assert.equal(told?.reqId, answer.headers['x-request-id']);
  });
}

/* ---- slow peers ---- */

test('a peer that is slow to send, to ask again or to read has its time', async () => {
  const server = await buildApp({ db: app.db, clock: app.clock.read, logger: pino({ level: 'silent' }) });
  const { requestTimeout, headersTimeout, keepAliveTimeout, timeout } = server.server;
  await server.close();
  // The values in docs/operations.md; the long form of `npm run chaos` shows that they take effect.
  assert.deepEqual(
    { requestTimeout, headersTimeout, keepAliveTimeout, timeout },
    { requestTimeout: 30_000, headersTimeout: 30_000, keepAliveTimeout: 30_000, timeout: 60_000 },
  );
});

/* ---- limits ---- */

type Limited = { what: string; most: number; path: string; body: (n: number) => object; rows: string; method?: string };

/** `rows` inserts $4 of them for company $1, case $2 and invoice $3. */
const LIMITED: Limited[] = [
  {
    what: 'custom tags',
    most: 1_000,
    path: '/manage/custom-tags',
    body: (n) => ({ tag: `further-${n}` }),
    rows: `INSERT INTO custom_tags (company_id, tag, created_at) SELECT $1, 'tag-' || n, now() FROM generate_series(1, $4) n`,
  },
  {
    what: 'keys',
    most: 1_000,
    path: '/manage/keys',
    body: () => ({ name: 'further', scopes: ['manage'] }),
    rows: `INSERT INTO tokens (company_id, id, secret_sha256, name, scopes, created_at)
           SELECT $1, gen_random_uuid(), sha256(gen_random_uuid()::text::bytea), 'x', '{}', now() FROM generate_series(1, $4) n`,
  },
  {
    what: 'clients',
    most: 1_000,
    path: '/manage/clients',
    body: () => ({ name: 'further', scopes: ['manage'] }),
    rows: `INSERT INTO clients (company_id, id, name, scopes, secret_sha256, created_at, updated_at)
           SELECT $1, gen_random_uuid(), 'x', '{}', sha256('x'), now(), now() FROM generate_series(1, $4) n`,
  },
  {
    what: 'advisers',
    most: 10_000,
    path: '/manage/advisers',
    body: (n) => ({ email: `further-${n}@firm.example`, name: 'Further' }),
    rows: `INSERT INTO advisers (company_id, id, email, name, created_at, updated_at)
           SELECT $1, gen_random_uuid(), n || '@x.example', 'x', now(), now() FROM generate_series(1, $4) n`,
  },
  {
    what: 'customers of a case',
    most: 1_000,
    path: '/manage/cases/{caseId}/customers',
    body: () => ({ last_name: 'Further' }),
    rows: `INSERT INTO customers (company_id, case_id, id, last_name, created_at, updated_at)
           SELECT $1, $2, gen_random_uuid(), 'x', now(), now() FROM generate_series(1, $4) n`,
  },
  {
    what: 'payments of an invoice',
    most: 1_000,
    path: '/cases/{caseId}/invoices/{invoiceId}/payments',
    body: () => ({ amount: '0.01' }),
    rows: `INSERT INTO payments (company_id, case_id, invoice_id, id, amount, paid_at, created_at)
           SELECT $1, $2, $3, gen_random_uuid(), 0.01, now(), now() FROM generate_series(1, $4) n`,
  },
  {
    what: 'items of an invoice',
    most: 10_000,
    method: 'PATCH',
    path: '/cases/{caseId}/invoices/{invoiceId}',
    body: (n) => ({
      ...{
        invoice_number: `further-${n}`,
        sender_id: '0198c0de-0000-7000-8000-000000000000',
        vat: 0,
        total: 1,
        sub_total: 1,
      },
      ...{ date_created: '2026-06-01 09:00', date_due: '2026-06-01 09:00', keep_existing_items: true },
      items: [{ description: 'x', quantity: 1, rate: 1, amount: 1 }],
    }),
    rows: `INSERT INTO invoice_items (company_id, case_id, invoice_id, id, description, quantity, rate, amount, subtotal, vat_amount, position)
           SELECT $1, $2, $3, gen_random_uuid(), 'x', 1, 1, 1, 1, 0, n + 1 FROM generate_series(1, $4) n`,
  },
];

for (const { what, most, path, body, rows, method = 'POST' } of LIMITED) {
  test(`there can be ${most} ${what} and not one more`, async () => {
    const company = await app.company();
    const ids = await identifiersOf(company, { caseId: company.caseId });
    const table = /INTO (\w+)/.exec(rows)?.[1];
    const under = /\$3/.test(rows)
      ? 'AND invoice_id = $2'
      : /\$2/.test(rows)
        ? 'AND case_id = $2'
        : 'AND $2::uuid IS NOT NULL';
    const values = [company.companyId, under.includes('invoice') ? ids.invoiceId : ids.caseId];
    const [held] = await app.sql<{ count: number }>(
      `SELECT count(*)::int AS count FROM ${table} WHERE company_id = $1 ${under}`,
      values,
    );
    const all = [company.companyId, ids.caseId, ids.invoiceId, most - 1 - (held?.count ?? 0)];
    // PostgreSQL requires every parameter to be used.
    await app.sql(`WITH named AS (SELECT $1::uuid, $2::uuid, $3::uuid) ${rows.replaceAll('$4', '$4::int')}`, all);
    const last = await company.send(method, fill(path, ids), body(1));
    assert.equal(last.status, 200, last.text);
    const beyond = await company.send(method, fill(path, ids), body(2));
    assert.equal(beyond.status, 400, beyond.text);
    assert.deepEqual(beyond.body.errors, [
      { field: 'body', code: 'invalid_state', message: `there can be at most ${most} ${what}` },
    ]);
  });
}

/* ---- secrets from files ---- */

const SECRETS: Record<string, string> = {
  DATABASE_URL: 'postgresql://user:password@host/database',
  DATABASE_OWNER_URL: 'postgresql://owner:password@host/database',
  DATABASE_DIRECT_URL: 'postgresql://user:password@host/direct',
  SMTP_URL: 'smtps://user:password@mail.example:465',
  TWILIO_AUTH_TOKEN: 'token',
  SMS_GATEWAY_HEADERS: '{"Authorization": "Bearer x"}',
  JITSI_APP_SECRET: 'secret',
  SECRETS_KEY: randomBytes(32).toString('base64'),
};
const WITH: Record<string, string> = { DATABASE_URL: SECRETS.DATABASE_URL ?? '', JITSI_APP_ID: 'app' };

test('these settings hold secrets', () => assert.deepEqual([...SECRET_SETTINGS].sort(), Object.keys(SECRETS).sort()));

for (const [name, secret] of Object.entries(SECRETS)) {
  test(`${name} can come from a file, and only from one of the two places`, async (t) => {
    const folder = await temporaryDirectory();
    t.after(folder.remove);
    const path = join(folder.path, 'secret');
    await writeFile(path, `${secret}\n`);
    const { [name]: _own, ...others } = name === 'JITSI_APP_SECRET' ? WITH : { ...WITH, JITSI_APP_ID: '' };
    const read = (env: Record<string, string>) => readConfig({ ...others, ...env })[name as 'DATABASE_URL'];
    assert.deepEqual(read({ [`${name}_FILE`]: path }), read({ [name]: secret }));
    const faultsOf = (env: Record<string, string>): readonly string[] => {
      try {
        read(env);
      } catch (error) {
        if (error instanceof ConfigError) return error.faults;
      }
      return [];
    };
    assert.deepEqual(faultsOf({ [name]: secret, [`${name}_FILE`]: path }), [
      `${name} and ${name}_FILE are both set; unset one of them`,
    ]);
    await writeFile(path, '\n');
    assert.deepEqual(faultsOf({ [`${name}_FILE`]: path }), [`${name} cannot be read from ${path}: it is empty`]);
    await rm(path);
    assert.deepEqual(faultsOf({ [`${name}_FILE`]: path }), [`${name} cannot be read from ${path}: ENOENT`]);
  });
}

test('of a file only the end of its last line is left out: all else is the secret', async (t) => {
  const folder = await temporaryDirectory();
  t.after(folder.remove);
  const path = join(folder.path, 'secret');
  const read = async (content: string) => {
    await writeFile(path, content);
    return readConfig({ TWILIO_AUTH_TOKEN_FILE: path }).TWILIO_AUTH_TOKEN;
  };
  for (const secret of ['token', ' with spaces ', '\ttab', 'two\nlines', 'ends\n']) {
    for (const end of ['\n', '\r\n']) assert.equal(await read(`${secret}${end}`), secret);
  }
  assert.equal(await read('token'), 'token');
});

test('a setting that is no secret is not read from a file', () => {
  assert.equal(readConfig({ PORT_FILE: '/nowhere' }).PORT, 8080);
});

test('what a provider needs may come from a file', async (t) => {
  const folder = await temporaryDirectory();
  t.after(folder.remove);
  const path = join(folder.path, 'token');
  await writeFile(path, 'token');
  const env = { SMS_PROVIDER: 'twilio', TWILIO_ACCOUNT_SID: 'sid', TWILIO_FROM: 'firm', TWILIO_AUTH_TOKEN_FILE: path };
  assert.equal(readConfig(env).TWILIO_AUTH_TOKEN, 'token');
});
