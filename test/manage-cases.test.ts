import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { startApp, type TestCompany } from './harness/app.ts';
import { ok, refused } from './harness/assert.ts';
import { invoiceBody } from './harness/bodies.ts';
import type { Answer } from './harness/http.ts';

const app = await startApp();
beforeEach(() => app.clock.set('2026-06-01T09:00:00Z'));

const CASES = '/manage/cases';
const UNKNOWN = '0198c0de-0000-7000-8000-000000000000';
const NOW = '2026-06-01T09:00:00.000000Z';

async function missing(answer: Promise<Answer>): Promise<void> {
  const { status, text } = await answer;
  assert.equal(status, 404, text);
}

const jane = {
  title: 'Ms',
  first_names: 'Jane',
  last_name: 'Doe',
  email: 'jane@client.example',
  phone: '07400 111222',
};

const customersOf = (company: TestCompany) => `${CASES}/${company.caseId}/customers`;
const addJane = async (company: TestCompany, change = {}) =>
  ok(company.post(customersOf(company), { ...jane, ...change }));
const idsOf = (list: { id: string }[]) => list.map(({ id }) => id);

const entry = (relationship: object) => ({
  entity_id: 'person',
  title: 'Mr',
  first_names: 'Rob',
  last_name: 'Roe',
  relationship,
});
const book = (company: TestCompany, email_recipient: string) =>
  company.post(`${company.path}/appointments`, {
    adviser_email: company.adviser,
    start_time: '2026-08-01 09:00:00',
    end_time: '2026-08-01 10:00:00',
    email_recipient,
    email_notification: true,
  });
const bill = (company: TestCompany, invoice_number: string) =>
  company.post(`${company.path}/invoices`, invoiceBody({ invoice_number, sender_id: company.companyId }));

test('a case is opened with a reference alone', async () => {
  const company = await app.company();
  const opened = await ok(company.post(CASES, { reference: 'Doe, probate' }));
  assert.deepEqual(opened, {
    id: opened.id,
    external_id: null,
    reference: 'Doe, probate',
    kind_id: null,
    kind: null,
    state: 'open',
    opened_at: NOW,
    closed_at: null,
    responsible_adviser_id: null,
    customers: [],
    created_at: NOW,
    updated_at: NOW,
  });
  assert.deepEqual(await ok(company.get(`${CASES}/${opened.id}`)), opened);
  assert.deepEqual(await ok(company.get(`/cases/${opened.id}/interactions`)), []);
  assert.deepEqual((await ok(company.post(CASES, { reference: 'Doe, probate', customers: null }))).customers, []);
});

test('a case is opened with its customers, who keep their order', async () => {
  const company = await app.company();
  const customers = [
    jane,
    { last_name: 'Roe' },
    { title: null, first_names: null, last_name: 'Poe', email: null, phone: null },
  ];
  const opened = await ok(company.post(CASES, { reference: 'Three', customers }));
  const [first, second, third] = opened.customers;
  const common = { case_id: opened.id, external_id: null, created_at: NOW, updated_at: NOW };
  const bare = { title: '', first_names: '', email: null, phone: null };
  assert.deepEqual(first, { id: first.id, ...common, ...jane });
  assert.deepEqual(second, { id: second.id, ...common, ...bare, last_name: 'Roe' });
  assert.deepEqual(third, { id: third.id, ...common, ...bare, last_name: 'Poe' });
  assert.deepEqual(await ok(company.get(`${CASES}/${opened.id}`)), opened);
  assert.deepEqual(await ok(company.get(`${CASES}/${opened.id}/customers`)), opened.customers);
});

test('a fault in one customer opens no case, and every fault is named', async () => {
  const company = await app.company();
  const total = async () => (await company.get(CASES)).headers['x-total-count'];
  const before = await total();
  await refused(company.post(CASES, { customers: [jane, { email: 'jane', phone: 'x' }, { last_name: 5 }] }), {
    reference: 'required',
    'customers[1].last_name': 'required',
    'customers[1].email': 'format',
    'customers[1].phone': 'format',
    'customers[2].last_name': 'type',
  });
  for (const [body, faults] of [
    [{}, { reference: 'required' }],
    [{ reference: null }, { reference: 'required' }],
    [{ reference: '' }, { reference: 'too_short' }],
    [{ reference: '🙂'.repeat(201) }, { reference: 'too_long' }],
    [{ reference: 'a\0' }, { reference: 'invalid_character' }],
    [{ reference: 'a', customers: {} }, { customers: 'type' }],
    [{ reference: 'a', customers: 'jane' }, { customers: 'type' }],
    [{ reference: 'a', customers: [null] }, { 'customers[0]': 'required' }],
    [{ reference: 'a', customers: ['jane'] }, { 'customers[0]': 'type' }],
    [{ reference: 'a', customers: Array(101).fill(jane) }, { customers: 'too_many' }],
  ] as const) {
    await refused(company.post(CASES, body), faults);
  }
  assert.equal(await total(), before);
});

test('a hundred customers and a reference of 200 characters are allowed', async () => {
  const company = await app.company();
  const reference = '🙂'.repeat(200);
  const opened = await ok(company.post(CASES, { reference, customers: Array(100).fill(jane) }));
  assert.equal(opened.reference, reference);
  assert.equal(opened.customers.length, 100);
});

test('a reference can be changed, and need not be unique', async () => {
  const company = await app.company();
  app.clock.advance({ seconds: 1 });
  const changed = await ok(company.patch(`${CASES}/${company.caseId}`, { reference: 'Smith & Smith' }));
  assert.equal(changed.reference, 'Smith & Smith');
  assert.equal(changed.customers.length, 2);
  assert.ok(changed.updated_at > changed.created_at);
  await ok(company.post(CASES, { reference: 'Smith & Smith' }));
  assert.equal((await ok(company.patch(`${CASES}/${company.caseId}`, {}))).reference, 'Smith & Smith');
  await refused(company.patch(`${CASES}/${company.caseId}`, { reference: '' }), { reference: 'too_short' });
  await refused(company.patch(`${CASES}/${company.caseId}`, { reference: null }), { reference: 'required' });
});

test('a customer is added, read and changed; what is not sent stays, null clears', async () => {
  const company = await app.company();
  const created = await addJane(company);
  const path = `${customersOf(company)}/${created.id}`;
  const ids = { id: created.id, case_id: company.caseId, external_id: null };
  assert.deepEqual(created, { ...ids, ...jane, created_at: NOW, updated_at: NOW });
  assert.deepEqual(await ok(company.get(path)), created);
  app.clock.advance({ seconds: 1 });
  const married = await ok(company.patch(path, { last_name: 'Married' }));
  assert.deepEqual(married, { ...created, last_name: 'Married', updated_at: '2026-06-01T09:00:01.000000Z' });
  const cleared = await ok(company.patch(path, { title: null, first_names: null, email: null, phone: null }));
  assert.deepEqual(
    [cleared.title, cleared.first_names, cleared.last_name, cleared.email, cleared.phone],
    ['', '', 'Married', null, null],
  );
  assert.equal((await ok(company.patch(path, {}))).last_name, 'Married');
});

for (const [what, change, faults] of [
  ['no last name', { last_name: undefined }, { last_name: 'required' }],
  ['an empty last name', { last_name: '' }, { last_name: 'too_short' }],
  ['a last name that is null', { last_name: null }, { last_name: 'required' }],
  ['a last name of 201 characters', { last_name: '🙂'.repeat(201) }, { last_name: 'too_long' }],
  ['first names of 201 characters', { first_names: '🙂'.repeat(201) }, { first_names: 'too_long' }],
  ['a title of 101 characters', { title: '🙂'.repeat(101) }, { title: 'too_long' }],
  ['an email that is none', { email: 'jane' }, { email: 'format' }],
  ['an empty email', { email: '' }, { email: 'format' }],
  ['an email of 255 characters', { email: `${'a'.repeat(240)}@client.example` }, { email: 'too_long' }],
  ['a phone that cannot be', { phone: 'call me' }, { phone: 'format' }],
  ['a phone of 101 characters', { phone: '0'.repeat(101) }, { phone: 'too_long' }],
  ['a blank last name', { last_name: ' \u00a0' }, { last_name: 'too_short' }],
  ['a blank title', { title: '  ' }, { title: 'too_short' }],
  [
    'control characters in the names',
    { title: 'Mr\r', first_names: 'J\u0085', last_name: 'Do\ne' },
    { title: 'invalid_character', first_names: 'invalid_character', last_name: 'invalid_character' },
  ],
  ['NUL', { first_names: 'a\0' }, { first_names: 'invalid_character' }],
  ['faults everywhere', { title: 1, email: 'x', phone: 'x' }, { title: 'type', email: 'format', phone: 'format' }],
] as const) {
  test(`a customer with ${what} is refused`, async () => {
    const company = await app.company();
    const before = await ok(company.get(customersOf(company)));
    await refused(company.post(customersOf(company), { ...jane, ...change }), faults);
    if (!('last_name' in change && change.last_name === undefined)) {
      await refused(company.patch(`${customersOf(company)}/${before[0].id}`, change), faults);
    }
    assert.deepEqual(await ok(company.get(customersOf(company))), before);
  });
}

test('a customer may have neither title nor first names, and names may have blanks in them', async () => {
  const company = await app.company();
  const names = { title: '', first_names: '', last_name: 'van der Meer' };
  const { title, first_names, last_name } = await addJane(company, names);
  assert.deepEqual({ title, first_names, last_name }, names);
});

test('a blank name of one customer opens no case', async () => {
  const company = await app.company();
  await refused(company.post(CASES, { reference: 'x', customers: [jane, { last_name: ' ' }] }), {
    'customers[1].last_name': 'too_short',
  });
});

test('a new customer is a relationship key, a recipient and on the next invoice', async () => {
  const company = await app.company();
  const { id } = await addJane(company);
  const made = await ok(company.post(`${company.path}/address-book/entry`, entry({ [id]: 'friend' })));
  assert.deepEqual(made.data.relationship, { [id]: 'friend' });
  await ok(book(company, jane.email));
  assert.match((await ok(bill(company, '1'))).recipients_name, /and Ms Jane Doe$/);
});

test('a changed email is the recipient from then on, and appointments keep the old text', async () => {
  const company = await app.company();
  const { id } = await addJane(company);
  const booked = await ok(book(company, jane.email));
  await ok(company.patch(`${customersOf(company)}/${id}`, { email: 'new@client.example' }));
  const changed = await ok(company.patch(`${company.path}/appointments/${booked.id}`, { notes: 'x' }));
  assert.equal(changed.email_recipient, jane.email);
  await refused(book(company, jane.email), { email_recipient: 'unknown' });
  await ok(book(company, 'new@client.example'));
});

test('a changed name is on the next invoice, and invoices keep the old one', async () => {
  const company = await app.company();
  await ok(bill(company, '1'));
  await ok(company.patch(`${customersOf(company)}/${company.customers[0].id}`, { last_name: 'Married' }));
  assert.equal((await ok(bill(company, '2'))).recipients_name, 'Mr John Married and Mrs Ann Smith');
  const names = (await ok(company.get(`${company.path}/invoices`))).map(
    (one: { recipients_name: string }) => one.recipients_name,
  );
  assert.deepEqual(names, ['Mr John Married and Mrs Ann Smith', 'Mr John Smith and Mrs Ann Smith']);
});

test('a removed customer leaves the lists and is as unknown as one that never existed', async () => {
  const company = await app.company();
  const { id } = await addJane(company);
  const path = `${customersOf(company)}/${id}`;
  const removed = await ok(company.delete(path));
  assert.deepEqual(removed, { id, removed_at: NOW });
  assert.ok(!idsOf(await ok(company.get(customersOf(company)))).includes(id));
  assert.ok(!idsOf(await ok(company.get('/manage/customers?search=jane'))).includes(id));
  assert.ok(!idsOf((await ok(company.get(`${CASES}/${company.caseId}`))).customers).includes(id));
  assert.deepEqual(await ok(company.get(`${CASES}?search=jane`)), []);
  await missing(company.get(path));
  await missing(company.patch(path, { title: 'Mrs' }));
  await missing(company.delete(path));
});

test('a removed customer is no relationship key, no recipient and not on new invoices', async () => {
  const company = await app.company();
  const { id } = await addJane(company);
  await ok(company.delete(`${customersOf(company)}/${id}`));
  const made = await ok(company.post(`${company.path}/address-book/entry`, entry({})));
  await refused(company.post(`${company.path}/address-book/entry`, entry({ [id]: 'friend' })), {
    [`relationship.${id}`]: 'unknown',
  });
  await refused(company.patch(`${company.path}/address-book/entry/${made.id}`, entry({ [id]: 'friend' })), {
    [`relationship.${id}`]: 'unknown',
  });
  await refused(book(company, jane.email), { email_recipient: 'unknown' });
  const booked = await ok(book(company, company.customers[0].email));
  await refused(company.patch(`${company.path}/appointments/${booked.id}`, { email_recipient: jane.email }), {
    email_recipient: 'unknown',
  });
  assert.equal((await ok(bill(company, '1'))).recipients_name, 'Mr John Smith and Mrs Ann Smith');
});

test('records that name a removed customer keep it, and can be changed in everything else', async () => {
  const company = await app.company();
  const { id } = await addJane(company);
  const { id: entryId } = await ok(company.post(`${company.path}/address-book/entry`, entry({ [id]: 'friend' })));
  const booked = await ok(book(company, jane.email));
  const billed = await ok(bill(company, '1'));
  await ok(company.delete(`${customersOf(company)}/${id}`));

  const { relationship, ...rest } = entry({});
  const updated = await ok(company.patch(`${company.path}/address-book/entry/${entryId}`, { ...rest, alias: 'Bob' }));
  assert.deepEqual(updated.data.relationship, { [id]: 'friend' });
  const moved = await ok(company.patch(`${company.path}/appointments/${booked.id}`, { notes: 'moved' }));
  assert.deepEqual([moved.email_recipient, moved.email_notification], [jane.email, 'scheduled']);
  const [listed] = await ok(company.get(`${company.path}/invoices`));
  assert.equal(listed.recipients_name, billed.recipients_name);
});

test('an update may send a removed customer again if the entry already has the relationship', async () => {
  const company = await app.company();
  const { id } = await addJane(company);
  const [john, ann] = company.customers;
  const made = await ok(
    company.post(`${company.path}/address-book/entry`, entry({ [id]: 'friend', [john.id]: 'son' })),
  );
  const bare = await ok(company.post(`${company.path}/address-book/entry`, entry({})));
  await ok(company.delete(`${customersOf(company)}/${id}`));
  const path = `${company.path}/address-book/entry/${made.id}`;
  const words = { [id]: 'neighbour', [ann.id]: 'sister' };
  assert.deepEqual((await ok(company.patch(path, entry(words)))).data.relationship, words);
  assert.deepEqual((await ok(company.get(path))).data.relationship, words);
  await refused(company.patch(`${company.path}/address-book/entry/${bare.id}`, entry(words)), {
    [`relationship.${id}`]: 'unknown',
  });
  await ok(company.patch(path, entry({ [ann.id]: 'sister' })));
  await refused(company.patch(path, entry(words)), { [`relationship.${id}`]: 'unknown' });
});

test('a removed customer comes back as before: in the lists, as a relationship key, recipient and on invoices', async () => {
  const company = await app.company();
  const { id, ...made } = await addJane(company);
  const path = `${customersOf(company)}/${id}`;
  await refused(company.post(`${path}/restore`), { removed_at: 'invalid_state' });
  await ok(company.delete(path));
  app.clock.advance({ seconds: 1 });
  const restored = await ok(company.post(`${path}/restore`));
  assert.deepEqual(restored, { id, ...made, updated_at: '2026-06-01T09:00:01.000000Z' });
  assert.deepEqual(await ok(company.get(path)), restored);
  assert.ok(idsOf(await ok(company.get(customersOf(company)))).includes(id));
  await ok(company.post(`${company.path}/address-book/entry`, entry({ [id]: 'friend' })));
  await ok(book(company, jane.email));
  assert.match((await ok(bill(company, '1'))).recipients_name, /and Ms Jane Doe$/);
});

test('removed customers are listed on request, of a case or of all, and no others', async () => {
  const company = await app.company();
  const { id } = await addJane(company);
  await ok(company.delete(`${customersOf(company)}/${id}`));
  const elsewhere = await company.openCase();
  for (const list of ['/manage/customers', customersOf(company)]) {
    assert.deepEqual(idsOf(await ok(company.get(`${list}?removed=true`))), [id]);
    assert.deepEqual(idsOf(await ok(company.get(`${list}?removed=true&search=%2B447400111222`))), [id]);
    assert.deepEqual(await ok(company.get(`${list}?removed=true&search=smith`)), []);
    assert.equal((await ok(company.get(`${list}?removed=false`))).length, 2);
    await refused(company.get(`${list}?removed=`), { removed: 'not_allowed' });
  }
  assert.deepEqual(await ok(company.get(`${CASES}/${elsewhere}/customers?removed=true`)), []);
  assert.deepEqual(await ok((await app.company()).get('/manage/customers?removed=true')), []);
  await missing(company.get(`${CASES}/${UNKNOWN}/customers?removed=true`));
  await missing(company.get(`${CASES}/${UNKNOWN}/customers?removed=x`));
});

test('another company, another case and invented ids are 404, whatever the body holds', async () => {
  const [company, other] = [await app.company(), await app.company()];
  const elsewhere = await company.openCase();
  const [theirs] = await ok(other.get(customersOf(other)));
  for (const id of [other.caseId, UNKNOWN, 'nothing']) {
    await missing(company.get(`${CASES}/${id}`));
    await missing(company.patch(`${CASES}/${id}`, { reference: '' }));
    await missing(company.get(`${CASES}/${id}/customers`));
    await missing(company.get(`${CASES}/${id}/customers?page=x`));
    await missing(company.post(`${CASES}/${id}/customers`, jane));
    await missing(company.post(`${CASES}/${id}/customers`, { last_name: 5 }));
    await missing(company.post(`${CASES}/${id}/customers`, 'no JSON'));
  }
  for (const path of [
    `${CASES}/${other.caseId}/customers/${theirs.id}`,
    `${customersOf(company)}/${theirs.id}`,
    `${customersOf(company)}/${UNKNOWN}`,
    `${CASES}/${elsewhere}/customers/${company.customers[0].id}`,
  ]) {
    await missing(company.get(path));
    await missing(company.patch(path, { title: 'Dr' }));
    await missing(company.patch(path, { title: 5 }));
    await missing(company.post(`${path}/restore`));
    await missing(company.delete(path));
  }
  assert.deepEqual((await ok(other.get(customersOf(other))))[0], theirs);
});
