import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import { startApp, type TestCompany } from './harness/app.ts';
import { ok, refused } from './harness/assert.ts';
import type { Caller } from './harness/http.ts';
import { caller } from './harness/http.ts';

const app = await startApp();
beforeEach(() => app.clock.set('2026-06-01T09:00:00Z'));

const COMPANY = '/manage/company';
const COMPANIES = '/manage/companies';
const UNKNOWN = '0198c0de-0000-7000-8000-000000000000';

/** A settings change is seen by every process within two seconds. */
async function change(company: TestCompany, settings: object) {
  const changed = await ok(company.patch(COMPANY, settings));
  app.clock.advance({ seconds: 2 });
  return changed;
}

const operator = async (): Promise<Caller> => (await app.company()).withScopes('operator');

const invoice = {
  invoice_number: 'INV-1',
  sender_id: UNKNOWN,
  date_created: '2026-06-01 09:00:00',
  date_due: '2026-07-01 09:00:00',
  vat: 20,
  total: 120,
  sub_total: 100,
};

test('a company begins with the default settings', async () => {
  const company = await app.company();
  assert.deepEqual(await ok(company.get(COMPANY)), {
    id: company.companyId,
    name: 'Smith & Partners',
    time_zone: 'Europe/London',
    phone_region: 'GB',
    terms: '',
    payment_terms: '30 days',
    reminder_lead_days: 1,
    sender_name: null,
    sender_address: null,
    contact_email: null,
    client_contact_email: null,
    client_contact_phone: null,
    contact_line: null,
    message_signature: null,
    legal_name: null,
    address: null,
    company_number: null,
    tax_number: null,
    currency: null,
    session_idle_minutes: 30,
    session_hours: 12,
    created_at: '2026-06-01T09:00:00.000000Z',
    updated_at: '2026-06-01T09:00:00.000000Z',
  });
});

test('every setting can be changed, alone or together, and what is not sent stays', async () => {
  const company = await app.company();
  const settings = {
    name: 'Jones LLP',
    time_zone: 'America/New_York',
    phone_region: 'US',
    terms: 'Payable in advance.',
    payment_terms: '14 days',
    reminder_lead_days: 3,
    sender_name: 'Jones, Office',
    sender_address: 'office@jones.example',
    contact_email: 'it@jones.example',
    client_contact_email: 'clients@jones.example',
    client_contact_phone: '(212) 555-0100, ext. 7',
    contact_line: 'Call us to change your appointment.',
    message_signature: 'Best wishes,\nJones LLP',
    legal_name: 'Jones & Partners LLP',
    address: '1 High Street\nNew York',
    company_number: 'OC301234',
    tax_number: 'GB123456789',
    currency: 'USD',
    session_idle_minutes: 60,
    session_hours: 8,
  };
  let expected = await ok(company.get(COMPANY));
  for (const [name, value] of Object.entries(settings)) {
    app.clock.advance({ seconds: 1 });
    const changed = await ok(company.patch(COMPANY, { [name]: value }));
    expected = { ...expected, [name]: value, updated_at: changed.updated_at };
    assert.deepEqual(changed, expected);
    assert.deepEqual(await ok(company.get(COMPANY)), expected);
  }
  assert.ok(expected.updated_at > expected.created_at);
  const other = await app.company();
  await ok(other.patch(COMPANY, settings));
  const { id, created_at, updated_at, ...rest } = await ok(other.get(COMPANY));
  assert.deepEqual(rest, settings);
});

const DEFAULTS = {
  time_zone: 'Europe/London',
  phone_region: 'GB',
  terms: '',
  payment_terms: '30 days',
  reminder_lead_days: 1,
  sender_name: null,
  sender_address: null,
  contact_email: null,
  client_contact_email: null,
  client_contact_phone: null,
  contact_line: null,
  message_signature: null,
  legal_name: null,
  address: null,
  company_number: null,
  tax_number: null,
  currency: null,
};
const NULLS = Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, null]));

test('null gives a setting back its default on update, and is as if it was not sent on create', async () => {
  const company = await app.company({ timeZone: 'Europe/Berlin' });
  const changed = {
    phone_region: 'DE',
    terms: 'x',
    payment_terms: 'at once',
    reminder_lead_days: 3,
    sender_name: 'Office',
    sender_address: 'office@firm.example',
    contact_email: 'it@firm.example',
    client_contact_email: 'clients@firm.example',
    client_contact_phone: '030 12345',
    contact_line: '',
    message_signature: '',
  };
  const before = await ok(company.patch(COMPANY, changed));
  for (const [name, value] of Object.entries(DEFAULTS)) {
    assert.equal((await ok(company.patch(COMPANY, { [name]: null })))[name], value, name);
  }
  assert.deepEqual(await ok(company.get(COMPANY)), { ...before, ...DEFAULTS });
  const created = await ok((await operator()).post(COMPANIES, { name: 'New', ...NULLS }));
  assert.deepEqual(created, { ...created, ...DEFAULTS });
  await refused(company.patch(COMPANY, { ...NULLS, name: null }), { name: 'required' });
});

for (const [name, values] of Object.entries<[unknown, string][]>({
  name: [
    ['', 'too_short'],
    ['🙂'.repeat(201), 'too_long'],
    [7, 'type'],
    ['a\0', 'invalid_character'],
    [' \u00a0\u200b', 'too_short'],
    ['Smith\nPartners', 'invalid_character'],
    ['\t', 'invalid_character'],
  ],
  time_zone: [
    ['Europe/Nowhere', 'unknown'],
    ['London', 'unknown'],
    ['', 'unknown'],
    ['+01:00', 'unknown'],
    ['CET', 'unknown'],
    ['posix/Europe/London', 'unknown'],
    ["Europe/London'; DROP TABLE companies; --", 'unknown'],
    ['x'.repeat(101), 'too_long'],
    [1, 'type'],
  ],
  phone_region: [
    ['XX', 'unknown'],
    ['gb', 'unknown'],
    ['', 'unknown'],
    ['G', 'unknown'],
    ['GBR', 'too_long'],
  ],
  terms: [['x'.repeat(10_001), 'too_long']],
  payment_terms: [['x'.repeat(1_001), 'too_long']],
  reminder_lead_days: [
    [0, 'out_of_range'],
    [31, 'out_of_range'],
    [-1, 'out_of_range'],
    [1.5, 'type'],
    ['soon', 'format'],
    [true, 'type'],
  ],
  sender_name: [
    ['x'.repeat(201), 'too_long'],
    ['Office\r\nBcc: all@firm.example', 'invalid_character'],
  ],
  contact_email: [
    ['it', 'format'],
    [`${'a'.repeat(242)}@firm.example`, 'too_long'],
  ],
  client_contact_email: [
    ['clients', 'format'],
    [`${'a'.repeat(242)}@firm.example`, 'too_long'],
  ],
  client_contact_phone: [
    ['', 'format'],
    ['our number', 'format'],
    ['020 7946 0018\r\nBcc: all@firm.example', 'invalid_character'],
    ['1'.repeat(51), 'too_long'],
  ],
  contact_line: [
    ['Call us.\nOr write.', 'invalid_character'],
    ['x'.repeat(301), 'too_long'],
  ],
  message_signature: [
    ['Kind regards\t', 'invalid_character'],
    ['a\rb', 'invalid_character'],
    ['x'.repeat(1_001), 'too_long'],
  ],
  sender_address: [
    ['office', 'format'],
    ['a b@firm.example', 'format'],
    [`${'a'.repeat(242)}@firm.example`, 'too_long'],
  ],
})) {
  test(`${name} refuses what it cannot hold, and nothing changes`, async () => {
    const company = await app.company();
    const before = await ok(company.get(COMPANY));
    for (const [value, code] of values) await refused(company.patch(COMPANY, { [name]: value }), { [name]: code });
    assert.deepEqual(await ok(company.get(COMPANY)), before);
  });
}

test('the limits themselves are allowed', async () => {
  const company = await app.company();
  for (const settings of [
    { name: '🙂'.repeat(200) },
    { terms: 'x'.repeat(10_000) },
    { payment_terms: '' },
    { payment_terms: 'x'.repeat(1_000) },
    { reminder_lead_days: 30 },
    { time_zone: 'UTC' },
    { time_zone: 'America/Argentina/Buenos_Aires' },
    { time_zone: 'Etc/GMT+5' },
  ]) {
    const changed = await ok(company.patch(COMPANY, settings));
    for (const [name, value] of Object.entries(settings)) assert.equal(changed[name], value);
  }
  assert.equal((await ok(company.patch(COMPANY, { reminder_lead_days: '7' }))).reminder_lead_days, 7);
});

test('a zone is stored in the spelling of the zone database', async () => {
  const company = await app.company();
  assert.equal((await ok(company.patch(COMPANY, { time_zone: 'europe/berlin' }))).time_zone, 'Europe/Berlin');
});

test('a zone that only this side knows is refused by the database', async () => {
  const company = await app.company();
  const read = Temporal.Now.zonedDateTimeISO;
  const known = mock.method(Temporal.Now, 'zonedDateTimeISO', (zone?: string) =>
    zone === 'Mars/Phobos' ? { timeZoneId: zone } : read(zone),
  );
  try {
    await refused(company.patch(COMPANY, { time_zone: 'Mars/Phobos' }), { time_zone: 'unknown' });
    await refused(company.patch(COMPANY, { time_zone: 'Mars/Phobos', name: '' }), {
      time_zone: 'unknown',
      name: 'too_short',
    });
  } finally {
    known.mock.restore();
  }
  assert.equal((await ok(company.get(COMPANY))).time_zone, 'Europe/London');
});

test('all faults of a request are named together', async () => {
  const company = await app.company();
  await refused(company.patch(COMPANY, { time_zone: 'X/Y', phone_region: 'ZZ', reminder_lead_days: 0, name: '' }), {
    time_zone: 'unknown',
    phone_region: 'unknown',
    reminder_lead_days: 'out_of_range',
    name: 'too_short',
  });
});

test('a new time zone is that of the next request, within two seconds', async () => {
  const company = await app.company();
  await change(company, { time_zone: 'America/New_York' });
  const created = await ok(company.post(`${company.path}/invoices`, invoice));
  assert.equal(created.date_created, '2026-06-01T13:00:00.000000Z');
});

test('a new phone region judges the next number', async () => {
  const company = await app.company();
  const add = (phone: string) => company.post(`/manage/cases/${company.caseId}/customers`, { last_name: 'Doe', phone });
  await refused(add('12'), { phone: 'format' });
  await ok(add('(201) 555-0123'));
  await change(company, { phone_region: 'US' });
  const { id } = await ok(add('(201) 555-0123'));
  const found = await ok(company.get('/manage/customers?search=%2B12015550123'));
  assert.deepEqual(
    found.map((customer: { id: string }) => customer.id),
    [id],
  );
});

test('new terms are on the next invoice and not on those before', async () => {
  const company = await app.company();
  const before = await ok(company.post(`${company.path}/invoices`, invoice));
  await change(company, { terms: 'In advance.', payment_terms: '7 days' });
  const after = await ok(company.post(`${company.path}/invoices`, { ...invoice, invoice_number: 'INV-2' }));
  assert.deepEqual([before.terms, before.payment_terms], ['', '30 days']);
  assert.deepEqual([after.terms, after.payment_terms], ['In advance.', '7 days']);
  const listed = await ok(company.get(`${company.path}/invoices`));
  assert.ok(listed.some((one: { terms: string }) => one.terms === ''));
});

test('a new reminder lead moves the reminders of the next appointment', async () => {
  const company = await app.company();
  await change(company, { reminder_lead_days: 3 });
  const booked = await ok(
    company.post(`${company.path}/appointments`, {
      adviser_email: company.adviser,
      start_time: '2026-06-20 14:00:00',
      end_time: '2026-06-20 15:00:00',
      email_recipient: company.customers[0].email,
      email_notification: true,
    }),
  );
  const [message] = await app.sql<{ due: string }>(
    `SELECT to_char(due_at AT TIME ZONE 'Europe/London', 'YYYY-MM-DD HH24:MI') AS due FROM messages WHERE appointment_id = $1`,
    [booked.id],
  );
  assert.equal(message?.due, '2026-06-17 14:00');
});

test('an operator lists, creates, reads and changes companies', async () => {
  const [company, chief] = [await app.company(), await operator()];
  const created = await ok(chief.post(COMPANIES, { name: 'Ängström & Söhne', time_zone: 'Europe/Stockholm' }));
  assert.deepEqual(
    [created.name, created.time_zone, created.phone_region],
    ['Ängström & Söhne', 'Europe/Stockholm', 'GB'],
  );
  const found = await ok(chief.get(`${COMPANIES}?search=${encodeURIComponent('ÄNGSTRÖM')}`));
  assert.deepEqual(found, [created]);
  assert.deepEqual(await ok(chief.get(`${COMPANIES}/${created.id}`)), created);
  const changed = await ok(chief.patch(`${COMPANIES}/${created.id}`, { phone_region: 'SE' }));
  assert.deepEqual(changed, { ...created, phone_region: 'SE' });
  assert.deepEqual(await ok(chief.get(`${COMPANIES}/${company.companyId}`)), await ok(company.get(COMPANY)));
  const all: { id: string }[] = await ok(chief.get(`${COMPANIES}?per_page=200`));
  for (const id of [company.companyId, created.id]) assert.ok(all.some((company) => company.id === id));
});

test('an operator is told what is wrong with a company, and an unknown one is 404 first', async () => {
  const chief = await operator();
  const before = (await chief.get(COMPANIES)).headers['x-total-count'];
  await refused(chief.post(COMPANIES, {}), { name: 'required' });
  await refused(chief.post(COMPANIES, { name: '', time_zone: 'Nowhere/At_All' }), {
    name: 'too_short',
    time_zone: 'unknown',
  });
  assert.equal((await chief.get(COMPANIES)).headers['x-total-count'], before);
  for (const path of [`${COMPANIES}/${UNKNOWN}`, `${COMPANIES}/nothing`]) {
    assert.equal((await chief.get(path)).status, 404);
    assert.equal((await chief.patch(path, { name: '' })).status, 404);
    assert.equal((await chief.post(`${path}/keys`, {})).status, 404);
  }
});

test('an operator gives a new company its first key, and the company does the rest', async () => {
  const chief = await operator();
  const { id } = await ok(chief.post(COMPANIES, { name: 'New', time_zone: 'America/New_York' }));
  await refused(chief.post(`${COMPANIES}/${id}/keys`, { name: 'first', scopes: ['operator'] }), {
    'scopes[0]': 'not_allowed',
  });
  const made = await chief.post(`${COMPANIES}/${id}/keys`, {
    name: 'first',
    scopes: ['manage', 'interactions:write'],
    expires_at: '2026-06-01 06:00:00',
  });
  const { key, expires_at } = await ok(Promise.resolve(made));
  assert.equal(made.headers['cache-control'], 'no-store');
  assert.equal(expires_at, '2026-06-01T10:00:00.000000Z');
  const owner = caller(app.baseUrl, key);
  assert.equal((await ok(owner.get(COMPANY))).id, id);
  const opened = await ok(owner.post('/manage/cases', { reference: 'First' }));
  assert.equal((await ok(owner.post(`/cases/${opened.id}/interactions`, { type: 'phone' }))).type, 'phone');
});
