import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import pg from 'pg';
import pino from 'pino';
import { Database } from '../src/kernel/database/database.ts';
import { buildApp } from '../src/server/app.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import { type Answer, caller } from './harness/http.ts';

const app = await startApp();

const plain = (path: string) => app.anonymous.get(path, { 'content-type': undefined });

/* ---- health ---- */

test('/healthz says that the process lives', async () => {
  const answer = await plain('/healthz');
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.body, { status: 'ok' });
});

test('/readyz says that the service can do its work', async () => {
  const answer = await plain('/readyz');
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.body, { status: 'ok' });
});

async function whileGone(taken: pg.QueryResultRow[], putBack: () => Promise<unknown>): Promise<void> {
  assert.equal(taken.length, 1);
  try {
    const answer = await plain('/readyz');
    assert.equal(answer.status, 503, answer.text);
    assert.match(String(answer.headers['content-type']), /^application\/problem\+json/);
    assert.equal(answer.body.code, 'unavailable');
    assert.equal((await plain('/healthz')).status, 200);
  } finally {
    await putBack();
  }
  assert.equal((await plain('/readyz')).status, 200);
}

test('/readyz is not ready while the last migration is missing, /healthz is well all the same', async () => {
  const taken = await app.sql<{ row: object }>(
    'DELETE FROM migrations m WHERE version = (SELECT max(version) FROM migrations) RETURNING to_jsonb(m) AS row',
  );
  await whileGone(taken, () =>
    app.sql('INSERT INTO migrations SELECT * FROM jsonb_populate_record(NULL::migrations, $1)', [taken[0]?.row]),
  );
});

test('/readyz stays ready when the next release has migrated the database', async () => {
  await app.sql(
    `INSERT INTO migrations SELECT (jsonb_populate_record(m, '{"version": 9999, "name": "9999_later"}')).* FROM migrations m LIMIT 1`,
  );
  assert.equal((await plain('/readyz')).status, 200);
  await app.sql('DELETE FROM migrations WHERE version = 9999');
});

test('connections that broke are replaced without a caller noticing', async () => {
  const company = await app.company();
  assert.equal((await company.get(`${company.path}/interactions`)).status, 200);
  const client = new pg.Client({ ...app.connection, database: 'postgres' });
  await client.connect();
  await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [
    app.connection.database,
  ]);
  await client.end();
  const answer = await company.get(`${company.path}/interactions`);
  assert.equal(answer.status, 200, answer.text);
  assert.equal((await plain('/readyz')).status, 200);
});

/** A second app that reaches the same database through a gate, which can be shut. */
async function appBehindGate(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'case-records-gate-'));
  const [, name = ''] = /(\.s\.PGSQL\.\d+)$/.exec(await socketOf(app.connection.host)) ?? [];
  const open = new Set<Socket>();
  const gate = createServer((inside) => {
    const outside = connect(join(app.connection.host, name));
    for (const [one, other] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      open.add(one);
      one.on('error', () => {});
      one.on('close', () => other.destroy());
      one.pipe(other);
    }
  });
  const letIn = () => once(gate.listen(join(folder, name)), 'listening');
  const shut = async () => {
    const closed = once(gate, 'close');
    gate.close();
    for (const socket of open) socket.destroy();
    open.clear();
    await closed;
  };
  await letIn();
  const db = new Database({ connection: { ...app.connection, host: folder }, poolSize: 2 });
  const server = await buildApp({ db, clock: app.clock.read, logger: pino({ level: 'silent' }) });
  const baseUrl = await server.listen({ host: '127.0.0.1', port: 0 });
  t.after(async () => {
    await server.close();
    await db.close();
    if (gate.listening) await shut();
    await rm(folder, { recursive: true });
  });
  return { letIn, shut, as: (token?: string) => caller(baseUrl, token) };
}

async function socketOf(folder: string): Promise<string> {
  const found = (await readdir(folder)).find((name) => /^\.s\.PGSQL\.\d+$/.test(name));
  return join(folder, found ?? assert.fail(`no socket in ${folder}`));
}

test('without its database the service lives, is not ready, answers 503 and recovers by itself', async (t) => {
  const company = await app.company();
  const server = await appBehindGate(t);
  const list = () => server.as(company.token).get(`${company.path}/interactions`);
  assert.equal((await list()).status, 200);

  await server.shut();
  for (const answer of [await list(), await server.as().get('/readyz'), await list()]) {
    assert.equal(answer.status, 503, answer.text);
    assert.match(String(answer.headers['content-type']), /^application\/problem\+json/);
    assert.deepEqual(Object.keys(answer.body).sort(), ['code', 'detail', 'request_id', 'status', 'title', 'type']);
    assert.equal(answer.body.code, 'unavailable');
    assert.doesNotMatch(answer.text, /PGSQL|ENOENT|ECONN|gate|terminat/);
  }
  assert.equal((await server.as().get('/healthz')).status, 200);

  await server.letIn();
  assert.equal((await list()).status, 200);
  assert.equal((await server.as().get('/readyz')).status, 200);
});

test('a database that takes no connections is unavailable, and back when it takes them', async (t) => {
  const company = await app.company();
  const { database } = app.connection;
  const administrator = new pg.Client({ ...app.connection, database: 'postgres' });
  await administrator.connect();
  const allow = (allowed: boolean) => administrator.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS ${allowed}`);
  t.after(async () => {
    await allow(true);
    await administrator.end();
  });
  await allow(false);
  await administrator.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [database]);
  app.clock.advance({ seconds: 5 });
  const refused = await company.get(`${company.path}/interactions`);
  assert.equal(refused.status, 503, refused.text);
  assert.equal(refused.body.code, 'unavailable');
  assert.equal(refused.headers['retry-after'], '1');
  await allow(true);
  assert.equal((await company.get(`${company.path}/interactions`)).status, 200);
});

for (const [code, what, status] of [
  ['53000', 'insufficient resources', 503],
  ['53200', 'out of memory', 503],
  ['53300', 'too many connections', 503],
  ['40P01', 'a deadlock', 503],
  ['53100', 'a full disk', 500],
  ['53400', 'a limit that the statement exceeds', 500],
  ['42P01', 'a missing table', 500],
] as const) {
  test(`${what} (${code}) is ${status}: ${status === 503 ? 'it passes' : 'trying again would not help'}`, async (t) => {
    const company = await app.company();
    const list = () => company.get(`${company.path}/interactions`);
    assert.equal((await list()).status, 200);
    const failing = Object.assign(new pg.DatabaseError('it did not work', 0, 'error'), { code });
    type Told = (error: Error) => void;
    t.mock.method(pg.Client.prototype, 'query', ({ callback }: { callback: Told }, told: Told = callback) =>
      told(failing),
    );
    const answer = await list();
    assert.equal(answer.status, status, answer.text);
    assert.equal(answer.body.code, status === 503 ? 'unavailable' : 'internal');
    t.mock.restoreAll();
    assert.equal((await list()).status, 200);
  });
}

test('/metrics is there while the database is away, when it is needed most', async (t) => {
  const server = await appBehindGate(t);
  await server.shut();
  const answer = await server.as().get('/metrics');
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.text, /^# TYPE http_requests_total counter$/m);
});

/* ---- metrics ---- */

type Sample = { name: string; labels: Record<string, string>; value: number };

const SAMPLE = /^([a-z_:][a-z0-9_:]*)(?:\{(.*)\})? (-?(?:[\d.]+(?:e[+-]?\d+)?|Inf)|\+Inf|nan)$/i;

function parse(text: string): Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', inside = '', value = ''] = SAMPLE.exec(line) ?? assert.fail(`not a sample: ${line}`);
      const labels = [...inside.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)].map(([, key, label]) => [key, label]);
      return { name, labels: Object.fromEntries(labels), value: Number(value.replace('Inf', 'Infinity')) };
    });
}

async function scrape(): Promise<Sample[]> {
  const answer = await plain('/metrics');
  assert.equal(answer.status, 200, answer.text);
  return parse(answer.text);
}

function sum(samples: Sample[], name: string, labels: Record<string, string> = {}): number {
  return samples
    .filter((sample) => sample.name === name && Object.entries(labels).every(([key, v]) => sample.labels[key] === v))
    .reduce((total, { value }) => total + value, 0);
}

async function change(work: () => Promise<unknown>, name: string, labels?: Record<string, string>): Promise<number> {
  const before = await scrape();
  await work();
  return sum(await scrape(), name, labels) - sum(before, name, labels);
}

test('/metrics speaks the format of Prometheus', async () => {
  const company = await app.company();
  await company.get(`${company.path}/interactions`);
  const answer = await plain('/metrics');
  assert.match(String(answer.headers['content-type']), /^text\/plain; version=0\.0\.4/);
  const declared = new Map(
    [...answer.text.matchAll(/^# TYPE (\S+) (counter|gauge|histogram|summary)$/gm)].map(([, name, type]) => [
      name,
      type,
    ]),
  );
  const helped = new Set([...answer.text.matchAll(/^# HELP (\S+) .+$/gm)].map(([, name]) => name));
  assert.deepEqual(new Set(declared.keys()), helped);
  for (const { name, value } of parse(answer.text)) {
    const family = declared.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
    assert.ok(declared.has(family), name);
    if (declared.get(family) === 'counter') assert.ok(value >= 0);
  }
  assert.equal(declared.get('http_requests_total'), 'counter');
  assert.equal(declared.get('http_request_duration_seconds'), 'histogram');
  assert.equal(declared.get('db_statement_duration_seconds'), 'histogram');
  assert.equal(declared.get('db_pool_connections'), 'gauge');
  assert.equal(declared.get('messages_due'), 'gauge');
  assert.equal(declared.get('meetings_due'), 'gauge');
  assert.equal(declared.get('webhook_deliveries_waiting'), 'gauge');
  assert.equal(declared.get('webhook_endpoints_failing'), 'gauge');
  assert.equal(declared.get('webhooks_ended_total'), 'counter');
});

test('the buckets of a histogram grow up to its count', async () => {
  const company = await app.company();
  await company.get(`${company.path}/interactions`);
  const route = '/cases/:caseId/interactions';
  const samples = (await scrape()).filter(({ labels }) => labels.route === route && labels.method === 'GET');
  const buckets = samples.filter(({ name }) => name === 'http_request_duration_seconds_bucket');
  assert.ok(buckets.length > 3);
  assert.deepEqual(
    buckets.map(({ value }) => value),
    buckets.map(({ value }) => value).toSorted((a, b) => a - b),
  );
  assert.equal(buckets.at(-1)?.labels.le, '+Inf');
  assert.equal(buckets.at(-1)?.value, sum(samples, 'http_request_duration_seconds_count'));
});

for (const [method, resource, body, status] of [
  ['GET', 'interactions', undefined, 200],
  ['POST', 'interactions', { type: 'phone' }, 200],
  ['POST', 'interactions', {}, 400],
  ['GET', 'address_book', undefined, 200],
] as const) {
  test(`${method} ${resource} answered with ${status} is counted and timed under its route pattern`, async () => {
    const company = await app.company();
    const labels = { method, route: `/cases/:caseId/${resource}` };
    const call = () => company.send(method, `${company.path}/${resource}`, body);
    assert.equal(await change(call, 'http_requests_total', { ...labels, status: String(status) }), 1);
    assert.equal(await change(call, 'http_requests_total', labels), 1);
    assert.equal(await change(call, 'http_request_duration_seconds_count', labels), 1);
  });
}

test('refusals are counted by their status: 401, 403, 404, 405, 413', async () => {
  const company = await app.company();
  const narrow = await company.withScopes();
  const path = `${company.path}/interactions`;
  for (const [status, refused] of [
    ['401', () => app.anonymous.get(path)],
    ['403', () => narrow.get(path)],
    ['404', () => company.get(`/cases/${randomUUID()}/interactions`)],
    ['405', () => company.send('PUT', path)],
    ['413', () => company.post(path, '{}'.padEnd(1_048_577))],
  ] as const) {
    assert.equal(await change(refused, 'http_requests_total', { status }), 1, status);
  }
});

test('no part of a path that a caller makes up comes into the metrics', async () => {
  const company = await app.company();
  const made = randomUUID();
  await company.get(`${company.path}/interactions`);
  await company.get(`/cases/${made}/interactions`);
  await company.get(`/cases/nothing-${made}/interactions?x=${made}`);
  await company.get(`/${made}`);
  await company.send('PUT', `/cases/${made}/interactions`);
  await company.patch(`${company.path}/interactions/${made}`, { type: 'phone' });
  const before = await scrape();
  for (let i = 0; i < 10; i++) {
    await company.get(`/${randomUUID()}/${randomUUID()}`);
    await company.get(`/cases/${randomUUID()}/interactions`);
  }
  const { text } = await plain('/metrics');
  assert.ok(!text.includes(made) && !text.includes(company.caseId) && !text.includes(company.token));
  const series = (samples: Sample[]) => samples.filter(({ name }) => name === 'http_requests_total').length;
  assert.ok(series(parse(text)) <= series(before) + 1, 'only the scrape itself may be new');
});

test('the connections of the pool are shown by state', async () => {
  const states = (await scrape()).filter(({ name }) => name === 'db_pool_connections');
  assert.deepEqual(states.map(({ labels }) => labels.state).sort(), ['busy', 'idle', 'waiting']);
  assert.ok(states.every(({ value }) => value >= 0));
});

test('callers that wait for a connection are counted, and none are left afterwards', async () => {
  const company = await app.company();
  await Promise.all(Array.from({ length: 40 }, () => company.get(`${company.path}/interactions`)));
  const samples = await scrape();
  assert.equal(sum(samples, 'db_pool_connections', { state: 'waiting' }), 0);
  const open =
    sum(samples, 'db_pool_connections', { state: 'idle' }) + sum(samples, 'db_pool_connections', { state: 'busy' });
  assert.ok(
    open >= 1 && open <= 24,
    `${open} connections, of at most 8 for statements, 4 for lists, 8 for transactions, 4 for readers`,
  );
});

const bookingFor = (company: TestCompany, start: string) => ({
  adviser_email: company.adviser,
  start_time: `${start} 09:00:00`,
  end_time: `${start} 10:00:00`,
  email_recipient: company.customers[0].email,
  sms_recipient: company.customers[0].phone,
});

const due = async (channel: string) => sum(await scrape(), 'messages_due', { channel });

for (const channel of ['email', 'sms'] as const) {
  test(`a confirmation by ${channel} is due at once, and no longer when it was withdrawn`, async () => {
    app.clock.set('2027-03-01T09:00:00Z');
    const company = await app.company();
    const before = { email: await due('email'), sms: await due('sms') };
    const booked = await company.post(`${company.path}/appointments`, {
      ...bookingFor(company, '2027-03-10'),
      [`${channel}_confirmation`]: true,
    });
    assert.equal(booked.status, 200, booked.text);
    const other = channel === 'email' ? 'sms' : 'email';
    assert.equal(await due(channel), before[channel] + 1);
    assert.equal(await due(other), before[other]);
    await company.delete(`${company.path}/appointments/${booked.body.id}`);
    assert.equal(await due(channel), before[channel]);
  });

  test(`a reminder by ${channel} is due when its time has come, and not sooner`, async () => {
    app.clock.set('2027-03-01T09:00:00Z');
    const company = await app.company();
    const before = await due(channel);
    const booked = await company.post(`${company.path}/appointments`, {
      ...bookingFor(company, '2027-03-10'),
      [`${channel}_notification`]: true,
    });
    assert.equal(booked.status, 200, booked.text);
    assert.equal(await due(channel), before);
    app.clock.set('2027-03-09T08:59:59Z');
    assert.equal(await due(channel), before);
    app.clock.set('2027-03-09T09:00:00Z');
    assert.equal(await due(channel), before + 1);
    await company.delete(`${company.path}/appointments/${booked.body.id}`);
    assert.equal(await due(channel), before);
  });
}

/* ---- how many statements an operation costs ---- */

/** What a scrape asks by itself, and the notice to the workers, which no request waits for. */
const NOT_OF_A_REQUEST = [
  'messages.due',
  'meetings.due',
  'webhook_deliveries.due',
  'webhook_endpoints.failing_now',
  'events.open_writers',
  'due_work.notify',
];
const statements = (samples: Sample[]) =>
  NOT_OF_A_REQUEST.reduce(
    (left, statement) => left - sum(samples, 'db_statement_duration_seconds_count', { statement }),
    sum(samples, 'db_statement_duration_seconds_count'),
  );

type Call = [operation: number, method: string, path: string, body?: (company: TestCompany) => object];

const entry = (company: TestCompany) => ({
  entity_id: 'person',
  title: 'Mrs',
  first_names: 'Jane',
  last_name: 'Doe',
  tags: ['executor'],
  custom_tags: ['vip-client'],
  address: { address_1: '1 High Street' },
  relationship: { [company.customers[0].id]: 'sister', [company.customers[1].id]: 'friend' },
});
const interaction = () => ({ type: 'phone', notes: 'called' });
const invoice = (company: TestCompany) => ({
  invoice_number: randomUUID(),
  sender_id: company.companyId,
  date_created: '2026-06-01 09:00:00',
  date_due: '2026-07-01 09:00:00',
  vat: 20,
  total: 240,
  sub_total: 200,
  items: [
    { description: 'Will', quantity: 1, rate: 100, amount: 120 },
    { description: 'Trust', quantity: 1, rate: 100, amount: 120 },
  ],
});
const appointment = (company: TestCompany) => ({
  ...bookingFor(company, '2030-05-01'),
  email_confirmation: true,
  email_notification: true,
  sms_confirmation: true,
  sms_notification: true,
});
const move = () => ({ start_time: '2030-05-02 09:00:00', end_time: '2030-05-02 10:00:00', email_confirmation: true });

const calls: Call[] = [
  [1, 'GET', 'address-book'],
  [1, 'GET', 'address_book'],
  [2, 'POST', 'address-book/entry', entry],
  [2, 'POST', 'address_book/entry', entry],
  [3, 'PATCH', 'address-book/entry/{entry}', entry],
  [3, 'POST', 'address-book/entry/{entry}', entry],
  [3, 'PATCH', 'address_book/entry/{entry}', entry],
  [3, 'POST', 'address_book/entry/{entry}', entry],
  [4, 'GET', 'interactions'],
  [5, 'POST', 'interactions', interaction],
  [6, 'PATCH', 'interactions/{interaction}', interaction],
  [6, 'POST', 'interactions/{interaction}', interaction],
  [7, 'GET', 'invoices'],
  [7, 'GET', 'invoices?show_cancelled_items=true'],
  [8, 'POST', 'invoices', invoice],
  [9, 'PATCH', 'invoices/{invoice}', invoice],
  [9, 'POST', 'invoices/{invoice}', invoice],
  [10, 'POST', 'appointments', appointment],
  [11, 'PATCH', 'appointments/{appointment}', move],
  [11, 'POST', 'appointments/{appointment}', move],
  [12, 'DELETE', 'appointments/{appointment}'],
  [12, 'POST', 'appointments/{appointment}'],
];

for (const [operation, method, path, body] of calls) {
  const expected = operation === 11 ? 2 : 1;

  test(`${method} ${path}${body || method !== 'POST' ? '' : ' (empty)'} costs ${expected} SQL statement(s)`, async () => {
    const company = await app.company();
    const made: Record<string, string> = {
      entry: (await company.post(`${company.path}/address-book/entry`, entry(company))).body.id,
      interaction: (await company.post(`${company.path}/interactions`, interaction())).body.id,
      invoice: (await company.post(`${company.path}/invoices`, invoice(company))).body.id,
      appointment: (await company.post(`${company.path}/appointments`, appointment(company))).body.id,
    };
    const address = `${company.path}/${path.replaceAll(/\{(\w+)\}/g, (_, name) => made[name] ?? '')}`;
    const before = await scrape();
    const answer = await company.send(method, address, body?.(company));
    const after = await scrape();
    assert.equal(answer.status, 200, answer.text);
    assert.equal(statements(after) - statements(before), expected);
  });
}

test('a token that was not seen for two seconds costs one statement more, and then none', async () => {
  const company = await app.company();
  const cost = async () => {
    const before = await scrape();
    assert.equal((await company.get(`${company.path}/interactions`)).status, 200);
    return statements(await scrape()) - statements(before);
  };
  assert.equal(await cost(), 2);
  assert.equal(await cost(), 1);
  app.clock.advance({ milliseconds: 1999 });
  assert.equal(await cost(), 1);
  app.clock.advance({ milliseconds: 1 });
  assert.equal(await cost(), 2);
});

test('what is refused without the database does not ask it', async () => {
  const company = await app.company();
  await company.get(`${company.path}/interactions`);
  const before = await scrape();
  assert.equal((await company.get('/nothing')).status, 404);
  assert.equal((await company.send('PUT', `${company.path}/interactions`)).status, 405);
  assert.equal((await app.anonymous.get(`${company.path}/interactions`)).status, 401);
  assert.equal((await company.get(`${company.path}/interactions`, { 'content-type': undefined })).status, 400);
  assert.equal((await plain('/healthz')).status, 200);
  assert.equal(statements(await scrape()) - statements(before), 0);
});

/* ---- the OpenAPI document ---- */

// biome-ignore lint/suspicious/noExplicitAny: any part of the document
const committed: any = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'));

const THE_TWELVE = [
  'get /cases/{caseId}/address-book',
  'post /cases/{caseId}/address-book/entry',
  'patch /cases/{caseId}/address-book/entry/{entryID}',
  'get /cases/{caseId}/interactions',
  'post /cases/{caseId}/interactions',
  'patch /cases/{caseId}/interactions/{interactionId}',
  'get /cases/{caseId}/invoices',
  'post /cases/{caseId}/invoices',
  'patch /cases/{caseId}/invoices/{invoiceId}',
  'post /cases/{caseId}/appointments',
  'patch /cases/{caseId}/appointments/{appointmentID}',
  'delete /cases/{caseId}/appointments/{appointmentID}',
];

const ALTERNATIVE_FORMS = [
  'get /cases/{caseId}/address_book',
  'post /cases/{caseId}/address_book/entry',
  'patch /cases/{caseId}/address_book/entry/{entryID}',
  'post /cases/{caseId}/address_book/entry/{entryID}',
  'post /cases/{caseId}/address-book/entry/{entryID}',
  'post /cases/{caseId}/interactions/{interactionId}',
  'post /cases/{caseId}/invoices/{invoiceId}',
  'post /cases/{caseId}/appointments/{appointmentID}',
];

// biome-ignore lint/suspicious/noExplicitAny: any part of the document
const operations: [name: string, operation: any][] = Object.entries<Record<string, object>>(committed.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation] as [string, object]),
);

// biome-ignore lint/suspicious/noExplicitAny: any part of the document
function resolve(part: any): any {
  if (!part?.$ref) return part;
  return (
    part.$ref
      .split('/')
      .slice(1)
      // biome-ignore lint/suspicious/noExplicitAny: any part of the document
      .reduce((at: any, key: string) => at[key], committed)
  );
}

test('/openapi.json is the document that is committed', async () => {
  const answer = await plain('/openapi.json');
  assert.equal(answer.status, 200);
  assert.match(String(answer.headers['content-type']), /^application\/json/);
  assert.deepEqual(answer.body, committed);
});

test('the document is OpenAPI 3.1 with a title, a version and a description', () => {
  assert.match(committed.openapi, /^3\.1\.\d+$/);
  for (const member of ['title', 'version', 'description']) assert.ok(committed.info[member], member);
});

const isAddition = ({ tags }: { tags: string[] }) =>
  /^(Additions|Management|Operator|OAuth|Webhooks)/.test(tags[0] ?? '');

test('the document lists the twelve operations and their alternative forms, and nothing else in their groups', () => {
  const own = operations.filter(([, operation]) => !isAddition(operation));
  const listed = own.map(([name]) => name).filter((name) => name.includes('/cases/'));
  assert.deepEqual(listed.toSorted(), [...THE_TWELVE, ...ALTERNATIVE_FORMS].sort());
});

test('every operation has an operationId of its own', () => {
  const ids = operations.map(([, operation]) => operation.operationId);
  assert.ok(ids.every((id) => /^[A-Za-z]\w*$/.test(id)));
  assert.equal(new Set(ids).size, ids.length);
});

for (const [name, operation] of operations.filter(([, operation]) => !isAddition(operation))) {
  test(`${name} is described in full`, () => {
    for (const member of ['summary', 'description', 'operationId']) assert.ok(operation[member]?.length > 3, member);
    assert.ok(operation.tags.length > 0);
    const schemes = operation.security.flatMap(Object.keys);
    const kinds = schemes.map((scheme: string) => {
      const { type, scheme: kind } = committed.components.securitySchemes[scheme];
      return [type, kind];
    });
    assert.deepEqual(kinds, [
      ['http', 'bearer'],
      ['oauth2', undefined],
    ]);
    for (const status of ['400', '401', '403', '404', '413', '429', '500']) {
      const response = resolve(operation.responses[status]);
      assert.ok(response?.description, status);
      assert.ok(response.content['application/problem+json'].schema, status);
    }
    const success = resolve(operation.responses['200']);
    assert.ok(success.description);
    assert.ok(success.content['application/json'].schema);
  });

  test(`${name} declares each parameter of its path`, () => {
    const inPath = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
    const declared = (operation.parameters ?? [])
      .map(resolve)
      .filter((parameter: { in: string }) => parameter.in === 'path');
    assert.deepEqual(declared.map((parameter: { name: string }) => parameter.name).sort(), inPath.sort());
    for (const parameter of declared) {
      assert.equal(parameter.required, true);
      assert.equal(parameter.schema.type, 'string');
    }
  });

  test(`${name} has a body where it takes one, and schemas that are JSON Schema`, () => {
    const takesBody = /^(post|patch)/.test(name);
    if (!isAddition(operation)) assert.equal(operation.requestBody !== undefined, takesBody);
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const contents = [operation.requestBody, ...Object.values(operation.responses)].filter(Boolean).map(resolve);
    for (const { content } of contents) {
      for (const { schema } of Object.values<{ schema: object }>(content)) ajv.compile(resolve(schema));
    }
  });
}

test('every reference of the document leads somewhere', () => {
  const targets = [...JSON.stringify(committed).matchAll(/"\$ref":"([^"]+)"/g)].map(([, target = '']) => target);
  assert.ok(targets.length > 0);
  for (const $ref of new Set(targets)) assert.ok(resolve({ $ref }), $ref);
});

test('the filter of operation 7 is documented as an optional query parameter', () => {
  const [parameter] = committed.paths['/cases/{caseId}/invoices'].get.parameters.filter(
    (candidate: { in: string }) => candidate.in === 'query',
  );
  assert.equal(parameter.name, 'show_cancelled_items');
  assert.notEqual(parameter.required, true);
});

test('the body of the POST that may delete is optional, every other body required', () => {
  for (const [name, operation] of operations) {
    const { requestBody } = operation;
    if (!requestBody || isAddition(operation)) continue;
    assert.equal(requestBody.required ?? false, name !== 'post /cases/{caseId}/appointments/{appointmentID}', name);
  }
});

/* ---- the pages ---- */

async function page(path: string): Promise<Answer> {
  const answer = await plain(path);
  const location = answer.headers.location;
  return answer.status >= 300 && answer.status < 400 && typeof location === 'string' ? page(location) : answer;
}

const references = (html: string) =>
  [...html.matchAll(/\s(?:src|href|srcset|action|data|poster)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/gi)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  );

test('/docs is a page of HTML', async () => {
  const answer = await page('/docs');
  assert.equal(answer.status, 200);
  assert.match(String(answer.headers['content-type']), /^text\/html/);
  assert.match(answer.text, /<html|<!doctype/i);
});

test('/docs asks for nothing from another host', async () => {
  const { text } = await page('/docs');
  const outside = references(text).filter((reference) => new URL(reference, app.baseUrl).origin !== app.baseUrl);
  assert.deepEqual(
    outside.filter((reference) => !reference.startsWith('data:')),
    [],
  );
  assert.ok(references(text).length > 0);
});

test('/docs tells the browser to load nothing from another host', async () => {
  const { headers } = await page('/docs');
  const policy = String(headers['content-security-policy']);
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /https?:|\*/);
});

test('everything that /docs refers to is there', async () => {
  const { text } = await page('/docs');
  for (const reference of references(text).filter((candidate) => !candidate.startsWith('data:'))) {
    const address = new URL(reference, new URL('/docs/', app.baseUrl));
    const answer = await plain(address.pathname + address.search);
    assert.equal(answer.status, 200, reference);
  }
});

test('/docs shows the document of this service', async () => {
  const { text } = await page('/docs');
  assert.match(text, /openapi\.json|Case Records/);
});
