import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import pg from 'pg';
import { CaseRecordsError, type ClientOptions, createClient } from '../packages/client/src/index.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import { badLine, type Mishap } from './harness/bad-line.ts';
import { until } from './harness/until.ts';

/** What the client does when a request fails on the way, or when its token expires. */

const app = await startApp();
const line = await badLine(app.baseUrl);
beforeEach(() => {
  line.mishaps.length = 0;
  line.requests.length = 0;
  // Failed attempts are counted per minute, and every test here comes from the same address.
  app.clock.advance({ minutes: 1 });
});

const problem = (status: number, code: string, headers: Record<string, string> = {}): Mishap => ({
  status,
  headers: { 'content-type': 'application/problem+json', ...headers },
  body: JSON.stringify({ type: 'about:blank', title: '', status, detail: 'Try again.', code, request_id: 'r' }),
});
const CALL = { type: 'phone' as const, notes: 'First call' };

/** A client behind the bad line. It records its delays instead of waiting. */
function impatient(company: TestCompany, options: Partial<ClientOptions> = {}) {
  const pauses: number[] = [];
  const pause = async (ms: number) => void pauses.push(ms);
  return { client: createClient({ baseUrl: line.url, token: company.token, pause, ...options }), pauses };
}

const countOf = async ({ client, caseId }: TestCompany) => (await client.getCaseInteractions({ caseId })).data.length;
const keysSeen = () => line.requests.map(({ headers }) => headers['idempotency-key']);

async function failed(call: Promise<unknown>): Promise<CaseRecordsError> {
  const error = await call.then(
    () => assert.fail('the call must fail'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof CaseRecordsError, String(error));
  return error;
}

for (const [what, mishap, hasArrived] of [
  ['is dropped', 'dropped', false],
  ['is done, but not answered', 'unanswered', true],
  ['is done, but its answer is cut off in the middle', 'cut', true],
  ['meets a fault of the service', problem(500, 'internal'), false],
  ['meets a proxy without a service', { status: 502, body: '<h1>Bad Gateway</h1>' }, false],
  ['comes while the database is away', problem(503, 'unavailable', { 'retry-after': '1' }), false],
  ['meets a proxy that gives up', { status: 504 }, false],
  ['comes too soon after others', problem(429, 'rate_limited', { 'retry-after': '7' }), false],
] as [string, Mishap, boolean][]) {
  test(`a write that ${what}, twice, is made exactly once`, async () => {
    const company = await app.company();
    const { client, pauses } = impatient(company);
    line.mishaps.push(mishap, mishap);
    const { data, replayed } = await client.createCaseInteraction({ caseId: company.caseId, body: CALL });
    assert.deepEqual([data.notes, replayed], [CALL.notes, hasArrived]);
    assert.equal(await countOf(company), 1);
    assert.equal(line.requests.length, 3);
    assert.equal(new Set(keysSeen()).size, 1, 'all attempts carry one key');
    assert.equal(pauses.length, 2);
  });

  test(`a read that ${what} is sent again`, async () => {
    const company = await app.company();
    const { client } = impatient(company);
    line.mishaps.push(mishap);
    assert.equal((await client.getCompany()).data.name, 'Smith & Partners');
    assert.deepEqual(keysSeen(), [undefined, undefined]);
  });
}

test('a write whose answer never comes is sent again after the time-out, and is made once', async () => {
  const company = await app.company();
  const { client } = impatient(company, { timeoutMs: 500, retries: 20 });
  line.mishaps.push('silent');
  const { replayed } = await client.createCaseInteraction({ caseId: company.caseId, body: CALL });
  assert.ok(replayed);
  assert.equal(await countOf(company), 1);
});

test('every kind of write is made once on a bad line', async () => {
  const company = await app.company();
  const { client } = impatient(company);
  const { caseId } = company;
  const bad = () => line.mishaps.push('unanswered', 'cut', 'dropped');
  bad();
  const person = { entity_id: 'person' as const, title: 'Ms', first_names: 'J', last_name: 'D', relationship: {} };
  await client.createCaseAddressBookEntry({ caseId, body: person });
  bad();
  const money = { vat: 0, sub_total: 100, total: 100, items: [] };
  const dates = { date_created: '2026-06-01 09:00:00', date_due: '2026-07-01 09:00:00' };
  const invoice = { invoice_number: 'A1', sender_id: company.customers[0].id, ...dates, ...money };
  const { data } = await client.createCaseInvoice({ caseId, body: invoice });
  bad();
  await client.recordPayment({ caseId, invoiceId: data.id, body: { amount: 60 } });
  bad();
  const times = { start_time: '2026-07-01 10:00:00', end_time: '2026-07-01 11:00:00' };
  const made = await client.createCaseAppointment({ caseId, body: { adviser_email: company.adviser, ...times } });
  bad();
  // A deletion cannot be repeated; only its key shows that it was this request.
  const gone = await client.deleteCaseAppointment({ caseId, appointmentID: made.data.id });
  assert.ok(gone.replayed);
  const { client: seen } = company;
  assert.equal((await seen.getCaseAddressBook({ caseId })).data.length, 2);
  assert.equal((await seen.getCaseInvoices({ caseId })).data.length, 1);
  assert.equal((await seen.listPayments({ caseId, invoiceId: data.id })).data.length, 1);
  assert.equal((await seen.listCaseAppointments({ caseId, deleted: 'true' })).data.length, 1);
});

test('forty concurrent writes, most of them interrupted repeatedly, make forty records', async () => {
  const company = await app.company();
  const { client } = impatient(company, { retries: 100 });
  const storm: Mishap[] = ['unanswered', 'cut', 'pass', 'dropped', problem(503, 'unavailable')];
  for (let i = 0; i < 40; i++) line.mishaps.push(...storm);
  const notes = Array.from({ length: 40 }, (_, i) => `Call ${i}`);
  const made = await Promise.all(
    notes.map((text) => client.createCaseInteraction({ caseId: company.caseId, body: { type: 'phone', notes: text } })),
  );
  const { data } = await company.client.getCaseInteractions({ caseId: company.caseId });
  assert.deepEqual(data.map((one) => one.notes).sort(), notes.sort());
  assert.deepEqual(data.map(({ id }) => id).sort(), made.map((one) => one.data.id).sort());
});

test('an attempt that finds the one before still in progress waits for it', async () => {
  const company = await app.company();
  const blocker = new pg.Client(app.connection);
  await blocker.connect();
  const codes: string[] = [];
  const fetch: typeof globalThis.fetch = async (...request) => {
    const response = await globalThis.fetch(...request);
    codes.push(JSON.parse(await response.clone().text()).code);
    return response;
  };
  try {
    await blocker.query('BEGIN');
    await blocker.query('SELECT 1 FROM cases WHERE id = $1 FOR UPDATE', [company.caseId]);
    const pause = async () => {
      if (codes.includes('request_in_progress')) await blocker.query('COMMIT');
    };
    const options = { baseUrl: app.baseUrl, token: company.token, retries: 100, timeoutMs: 500, fetch, pause };
    const { data } = await createClient(options).createCaseInteraction({ caseId: company.caseId, body: CALL });
    assert.ok(codes.includes('request_in_progress'));
    assert.deepEqual(
      (await company.client.getCaseInteractions({ caseId: company.caseId })).data.map(({ id }) => id),
      [data.id],
    );
  } finally {
    await blocker.end();
  }
});

test('the pauses double, and half of each is left to chance', async () => {
  const company = await app.company();
  const { client, pauses } = impatient(company, { retries: 8 });
  for (let i = 0; i < 8; i++) line.mishaps.push({ status: 503 });
  await client.getCompany();
  for (const [i, most] of [250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000].entries()) {
    const ms = pauses[i] ?? 0;
    assert.ok(ms >= most / 2 && ms <= most, `pause ${i}: ${ms} of ${most}`);
  }
  assert.equal(new Set(pauses.map((ms, i) => ms / (pauses[i - 1] ?? 1))).size, 8, 'no two grow by the same factor');
});

for (const [what, header, least] of [
  ['in seconds', '7', 7_000],
  ['as a date', new Date(1_000_000_000_000 + 20_000).toUTCString(), 20_000],
  ['as a date that has passed', new Date(999_999_000_000).toUTCString(), 0],
  ['as something else', 'soon', 0],
] as const) {
  test(`Retry-After ${what} is the least that is waited`, async () => {
    const company = await app.company();
    const { client, pauses } = impatient(company, { now: () => 1_000_000_000_000 });
    line.mishaps.push(problem(429, 'rate_limited', { 'retry-after': header }));
    await client.getCompany();
    assert.ok((pauses[0] ?? 0) >= least && (pauses[0] ?? 0) <= least + 250, String(pauses));
  });
}

test('a Retry-After beyond all reason is left to the caller', async () => {
  const company = await app.company();
  const { client } = impatient(company);
  line.mishaps.push(problem(503, 'unavailable', { 'retry-after': '3600' }));
  const error = await failed(client.getCompany());
  assert.deepEqual([error.attempts, error.retryAfter], [1, '3600']);
});

test('at some point the client gives up, and tells what the last attempt met', async () => {
  const company = await app.company();
  const { client } = impatient(company, { retries: 2 });
  line.mishaps.push({ status: 502 }, 'dropped', problem(503, 'unavailable'), 'pass');
  const error = await failed(client.createCaseInteraction({ caseId: company.caseId, body: CALL }));
  assert.deepEqual([error.status, error.code, error.attempts], [503, 'unavailable', 3]);
  line.mishaps.splice(0, 1, 'dropped', 'dropped', 'dropped');
  const broken = await failed(client.getCompany());
  assert.deepEqual([broken.status, broken.code, broken.attempts], [undefined, 'unreachable', 3]);
  assert.ok(broken.cause instanceof Error);
  line.mishaps.push('silent');
  const late = await failed(impatient(company, { retries: 0, timeoutMs: 50 }).client.getCompany());
  assert.deepEqual([late.status, late.code, late.attempts], [undefined, 'timed_out', 1]);
});

for (const [what, call, status] of [
  [
    'a fault of the request',
    (company: TestCompany) => ({ caseId: company.caseId, body: { type: 'Phone' as 'phone' } }),
    400,
  ],
  ['an unknown case', () => ({ caseId: 'unknown', body: CALL }), 404],
] as const) {
  test(`${what} is not sent again`, async () => {
    const company = await app.company();
    const { client, pauses } = impatient(company);
    const error = await failed(client.createCaseInteraction(call(company)));
    assert.deepEqual([error.status, error.attempts, pauses, line.requests.length], [status, 1, [], 1]);
  });
}

test('a redirect is not followed: it could make a read of a write, and carry the token elsewhere', async () => {
  const company = await app.company();
  const { client } = impatient(company);
  for (const status of [301, 307]) {
    line.mishaps.push({ status, headers: { location: `${app.baseUrl}${company.path}/interactions` } });
    const error = await failed(client.createCaseInteraction({ caseId: company.caseId, body: CALL }));
    assert.deepEqual([error.status, error.code, error.attempts], [status, 'unexpected_answer', 1]);
  }
  assert.equal(await countOf(company), 0);
});

test('a key that belongs to another request is told, and not sent again', async () => {
  const company = await app.company();
  const { client } = impatient(company);
  const input = { caseId: company.caseId, idempotencyKey: 'mine' };
  await client.createCaseInteraction({ ...input, body: CALL });
  const error = await failed(client.createCaseInteraction({ ...input, body: { type: 'letter' } }));
  assert.deepEqual([error.status, error.code, error.attempts], [422, 'idempotency_key_reused', 1]);
});

test('a call ends when its signal says so: before it is sent, while it waits for an answer, between attempts', async () => {
  const company = await app.company();
  const reason = new Error('the user went away');
  const client = createClient({ baseUrl: line.url, token: company.token });
  await assert.rejects(client.getCompany({ signal: AbortSignal.abort(reason) }), reason);
  assert.equal(line.requests.length, 0);

  const waiting = new AbortController();
  line.mishaps.push('silent');
  const unanswered = client.getCompany({ signal: waiting.signal });
  await until(() => line.requests.length > 0);
  waiting.abort(reason);
  await assert.rejects(unanswered, reason);

  const between = new AbortController();
  const fetch: typeof globalThis.fetch = async () => {
    setImmediate(() => between.abort(reason));
    return new Response('', { status: 503, headers: { 'retry-after': '60' } });
  };
  const pausing = createClient({ baseUrl: line.url, token: company.token, fetch });
  await assert.rejects(pausing.getCompany({ signal: between.signal }), reason);
  assert.equal(line.requests.length, 1);
});

type Application = { clientId: string; clientSecret: string };

async function applicationOf(company: TestCompany): Promise<Application> {
  const body = { name: 'site', scopes: ['manage' as const, 'interactions:write' as const] };
  const { data } = await company.client.createClient({ body });
  return { clientId: data.id, clientSecret: data.client_secret };
}

const worldTime = () => app.clock.read().epochMilliseconds;
const signIn = (application: Application, options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl: line.url, ...application, now: worldTime, pause: async () => {}, ...options });
const paths = () => line.requests.map(({ url }) => url);
const tokensFetched = () => paths().filter((path) => path === '/oauth/token').length;

test('an API client signs in by itself, once for all concurrent calls', async () => {
  const client = signIn(await applicationOf(await app.company()));
  await Promise.all(Array.from({ length: 10 }, () => client.getCompany()));
  assert.equal(tokensFetched(), 1);
  await client.getCompany();
  assert.equal(line.requests.length, 12);
});

test('a token is renewed before it ends, and no request is refused for it', async () => {
  const client = signIn(await applicationOf(await app.company()));
  await client.getCompany();
  app.clock.advance({ minutes: 59 });
  await client.getCompany();
  assert.equal(tokensFetched(), 1);
  app.clock.advance({ seconds: 31 });
  await client.getCompany();
  assert.deepEqual(paths().slice(-2), ['/oauth/token', '/manage/company']);
  assert.equal(tokensFetched(), 2);
});

test('a token that is refused is renewed, once for all, and the write goes on under its key', async () => {
  const company = await app.company();
  const client = signIn(await applicationOf(company), { now: () => 0 });
  await client.getCompany();
  app.clock.advance({ hours: 2 });
  line.requests.length = 0;
  const calls = Array.from({ length: 5 }, () => client.createCaseInteraction({ caseId: company.caseId, body: CALL }));
  await Promise.all(calls);
  assert.equal(await countOf(company), 5);
  assert.equal(tokensFetched(), 1);
  const keys = keysSeen().filter((key) => key !== undefined);
  assert.deepEqual([keys.length, new Set(keys).size], [10, 5]);
});

test('a token is renewed once per call, however often it is refused', async () => {
  const client = signIn(await applicationOf(await app.company()));
  await client.getCompany();
  line.mishaps.push(problem(401, 'invalid_token'), 'pass', problem(401, 'invalid_token'));
  const error = await failed(client.getCompany());
  assert.deepEqual([error.status, error.code, error.attempts], [401, 'invalid_token', 2]);
  assert.equal(tokensFetched(), 2);
});

test('a client that may no longer sign in is told so by the service', async () => {
  const company = await app.company();
  const application = await applicationOf(company);
  await company.client.disableClient({ clientId: application.clientId });
  const error = await failed(signIn(application).getCompany());
  assert.deepEqual([error.status, error.code], [401, 'invalid_client']);
  assert.deepEqual(paths(), ['/oauth/token']);
});

test('signing in is retried on a bad line, and at the next call after it failed', async () => {
  const client = signIn(await applicationOf(await app.company()), { retries: 1 });
  line.mishaps.push('dropped', 'cut');
  assert.equal((await failed(client.getCompany())).code, 'unreachable');
  line.mishaps.push('unanswered');
  assert.equal((await client.getCompany()).status, 200);
  assert.deepEqual(paths(), [...Array(4).fill('/oauth/token'), '/manage/company']);
});

test('a token that was refused, but has been renewed in the meantime, is not renewed again', async () => {
  const isRenewed = Promise.withResolvers<void>();
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const response = await globalThis.fetch(url, init);
    if (response.status === 401 && String(url).includes('/manage/cases')) await isRenewed.promise;
    return response;
  };
  const client = signIn(await applicationOf(await app.company()), { now: () => 0, fetch });
  await client.getCompany();
  app.clock.advance({ hours: 2 });
  line.requests.length = 0;
  const late = client.listCases();
  await client.getCompany();
  isRenewed.resolve();
  assert.equal((await late).status, 200);
  assert.equal(tokensFetched(), 1);
});

test('a call that is aborted while it waits for a token ends immediately, and the others still get it', async () => {
  const order: string[] = [];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const response = await globalThis.fetch(url, init);
    if (String(url).endsWith('/oauth/token')) order.push('token');
    return response;
  };
  const client = signIn(await applicationOf(await app.company()), { fetch });
  const leaving = new AbortController();
  const left = client.getCompany({ signal: leaving.signal }).catch(({ name }) => order.push(name));
  const stays = client.getCompany();
  leaving.abort();
  await left;
  assert.equal((await stays).status, 200);
  assert.deepEqual(order, ['AbortError', 'token']);
  assert.equal(tokensFetched(), 1);
});
