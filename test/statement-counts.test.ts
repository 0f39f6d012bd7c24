import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { TestCompany } from './harness/app.ts';
import { app, bookingFor, plain, type Sample, scrape, sum } from './harness/metrics.ts';

/* ---- how many statements an operation costs ---- */

/** The statements of a scrape itself, and the notification of workers, which no request waits for. */
const NOT_OF_A_REQUEST = [
  'messages.due',
  'meetings.due',
  'search.lag',
  'search.companies_to_build',
  'search.cases_to_index',
  'search.failing_companies',
  'invoice_sums.companies_to_build',
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

/** The records that a path may name. */
const records = {
  entry: ['address-book/entry', entry],
  interaction: ['interactions', interaction],
  invoice: ['invoices', invoice],
  appointment: ['appointments', appointment],
} as const;

async function costOf(
  company: TestCompany,
  [, method, path, body]: Call,
  headers: (etag: string) => Record<string, string> = () => ({}),
): Promise<number> {
  const name = /\{(\w+)\}/.exec(path)?.[1] as keyof typeof records | undefined;
  let address = `${company.path}/${path}`;
  let etag = '';
  if (name) {
    const [list, bodyOf] = records[name];
    const made = await company.post(`${company.path}/${list}`, bodyOf(company));
    address = address.replace(`{${name}}`, made.body.id);
    etag = String(made.headers.etag);
  } else await company.get(`${company.path}/interactions`);
  const before = await scrape();
  const answer = await company.send(method, address, body?.(company), headers(etag));
  const after = await scrape();
  assert.equal(answer.status, 200, answer.text);
  return statements(after) - statements(before);
}

for (const call of calls) {
  const [operation, method, path, body] = call;
  const expected = operation === 11 ? 2 : 1;
  const name = `${method} ${path}${body || method !== 'POST' ? '' : ' (empty)'}`;

  test(`${name} costs ${expected} SQL statement(s)`, async () => {
    assert.equal(await costOf(await app.company(), call), expected);
  });
  if (method === 'GET') continue;

  test(`${name} with an Idempotency-Key costs no statement more`, async () => {
    const keyed = () => ({ 'idempotency-key': randomUUID() });
    assert.equal(await costOf(await app.company(), call, keyed), expected);
  });
  if (!path.includes('{')) continue;

  test(`${name} with If-Match, and with both headers, costs no statement more`, async () => {
    const company = await app.company();
    assert.equal(await costOf(company, call, (etag) => ({ 'if-match': etag })), expected);
    const both = (etag: string) => ({ 'if-match': etag, 'idempotency-key': randomUUID() });
    assert.equal(await costOf(company, call, both), expected);
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
