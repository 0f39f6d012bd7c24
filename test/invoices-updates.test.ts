import assert from 'node:assert/strict';
import { test } from 'node:test';
import { invoiceBody } from './harness/bodies.ts';
import {
  add,
  app,
  cancelItem,
  create,
  descriptions,
  everything,
  type Fields,
  item,
  items,
  only,
  update,
  without,
} from './harness/invoices.ts';

// What an invoice takes from the case and the company

for (const { people, name } of [
  { people: [], name: '' },
  { people: [{ title: 'Dr', first_names: 'Ada Maria', last_name: 'King' }], name: 'Dr Ada Maria King' },
  {
    people: [
      { title: 'Mr', first_names: 'John', last_name: 'Smith' },
      { title: 'Mrs', first_names: 'Ann', last_name: 'Smith' },
    ],
    name: 'Mr John Smith and Mrs Ann Smith',
  },
  {
    people: [
      { title: 'Mr', first_names: 'John', last_name: 'Smith' },
      { title: 'Mrs', first_names: 'Ann', last_name: 'Smith' },
      { title: 'Ms', first_names: 'Eve', last_name: 'Jones' },
    ],
    name: 'Mr John Smith, Mrs Ann Smith and Ms Eve Jones',
  },
  { people: [{ title: '', first_names: 'Ann', last_name: 'Smith' }], name: 'Ann Smith' },
  {
    people: [
      { title: '', first_names: 'Ann', last_name: 'Smith' },
      { title: 'Mr', first_names: '', last_name: 'Smith' },
    ],
    name: 'Ann Smith and Mr Smith',
  },
]) {
  test(`recipients_name of ${people.length} customers is "${name}"`, async () => {
    const company = await app.company();
    const caseId = await company.openCase();
    for (const person of people) await company.addCustomer(caseId, person);
    const created = await create(company, {}, `/cases/${caseId}`);
    assert.equal(created.recipients_name, name);
    assert.equal((await only(company, { path: `/cases/${caseId}` })).recipients_name, name);
  });
}

test('recipients_name is made at creation: neither later customers nor an update change it', async () => {
  const company = await app.company();
  const { id } = await create(company);
  await company.addCustomer(company.caseId, { title: 'Ms', first_names: 'Eve', last_name: 'Late' });
  await app.sql("UPDATE customers SET last_name = 'Married' WHERE id = $1", [company.customers[1].id]);
  assert.equal((await only(company)).recipients_name, 'Mr John Smith and Mrs Ann Smith');
  assert.equal((await update(company, id)).recipients_name, 'Mr John Smith and Mrs Ann Smith');
  assert.equal((await only(company)).recipients_name, 'Mr John Smith and Mrs Ann Smith');
});

test('terms and a missing payment_terms are "" and "30 days" unless the company has settings', async () => {
  const company = await app.company();
  const { terms, payment_terms } = await create(company);
  assert.deepEqual({ terms, payment_terms }, { terms: '', payment_terms: '30 days' });
});

for (const sent of [{}, { payment_terms: null }]) {
  test(`terms and payment_terms come from the company's settings with ${JSON.stringify(sent)}`, async () => {
    const company = await app.company();
    await app.sql("UPDATE companies SET terms = 'By post', payment_terms = '10 days' WHERE id = $1", [
      company.companyId,
    ]);
    const { terms, payment_terms } = await create(company, sent);
    assert.deepEqual({ terms, payment_terms }, { terms: 'By post', payment_terms: '10 days' });
    const listed = await only(company);
    assert.deepEqual([listed.terms, listed.payment_terms], ['By post', '10 days']);
  });
}

test('payment_terms that are sent stand, the empty text too', async () => {
  const company = await app.company();
  assert.equal((await create(company, { payment_terms: 'At once' })).payment_terms, 'At once');
  assert.equal((await create(company, { payment_terms: '' })).payment_terms, '');
});

test('a change of the company settings does not change the invoices that were made before', async () => {
  const company = await app.company();
  const { id } = await create(company);
  await app.sql("UPDATE companies SET terms = 'New', payment_terms = 'New' WHERE id = $1", [company.companyId]);
  app.clock.advance({ seconds: 3 });
  const listed = await only(company);
  assert.deepEqual([listed.terms, listed.payment_terms], ['', '30 days']);
  const updated = await update(company, id);
  assert.deepEqual([updated.terms, updated.payment_terms], ['', '30 days']);
  const later = await create(company);
  assert.deepEqual([later.terms, later.payment_terms], ['New', 'New']);
});

test('an update that does not send payment_terms leaves them', async () => {
  const company = await app.company();
  const { id } = await create(company, { payment_terms: '7 days' });
  assert.equal((await update(company, id)).payment_terms, '7 days');
  assert.equal((await only(company)).payment_terms, '7 days');
});

test('an update that sends null for payment_terms gives those of the company', async () => {
  const company = await app.company();
  const { id } = await create(company, { payment_terms: '7 days' });
  assert.equal((await update(company, id, { payment_terms: null })).payment_terms, '30 days');
  assert.equal((await only(company)).payment_terms, '30 days');
});

test('an update changes no status, no payment and no sending date', async () => {
  const company = await app.company();
  const { id } = await create(company, { items: items('paid') });
  await add(company, id, 'sent', { date_sent: '2026-05-02T10:00:00Z' });
  await add(company, id, 'payments', { amount: 120, paid_at: '2026-05-03T10:00:00Z' });
  const updated = await update(company, id, { total: 99 });
  assert.deepEqual(
    [updated.date_sent, updated.date_paid],
    ['2026-05-02T10:00:00.000000Z', '2026-05-03T10:00:00.000000Z'],
  );
  const listed = await only(company);
  assert.deepEqual(
    [listed.status, listed.total, listed.date_sent, listed.date_paid, listed.items[0]?.status],
    ['Paid', 99, '2026-05-02T10:00:00.000000Z', '2026-05-03T10:00:00.000000Z', 'paid'],
  );
});

test('an update shows as date_paid the payment with which the total was reached, and null if it was not', async () => {
  const company = await app.company();
  const { id } = await create(company, { total: 120, items: items('kept') });
  await add(company, id, 'payments', { amount: 40, paid_at: '2026-05-03T10:00:00Z' });
  await add(company, id, 'payments', { amount: 30, paid_at: '2026-05-04T10:00:00Z' });
  for (const [total, date] of [
    [71, null],
    [70, '2026-05-04T10:00:00.000000Z'],
    [40, '2026-05-03T10:00:00.000000Z'],
    [0, '2026-05-03T10:00:00.000000Z'],
    [70.01, null],
  ] as const) {
    assert.equal((await update(company, id, { total })).date_paid, date, `${total}`);
    const listed = await only(company);
    assert.deepEqual([listed.total, listed.date_paid, listed.items.length], [total, date, 1]);
  }
});

test('an update of a paid invoice replaces its items, keeps them and adds to them as any other does', async () => {
  const company = await app.company();
  const { id } = await create(company, { items: items('old') });
  await add(company, id, 'payments', { amount: 120, paid_at: '2026-05-03T10:00:00Z' });
  const names = async () => (await only(company)).items.map(({ description }) => description);
  await update(company, id, { items: items('new'), total: 120 });
  assert.deepEqual(await names(), ['new']);
  await update(company, id, { items: items('more'), keep_existing_items: true, total: 120 });
  assert.deepEqual(await names(), ['new', 'more']);
  await update(company, id, { keep_existing_items: false, total: 120 });
  assert.deepEqual(await names(), []);
});

// Items of an update

const KEEP = {
  absent: {},
  null: { keep_existing_items: null },
  true: { keep_existing_items: true },
  false: { keep_existing_items: false },
};
const ITEMS = {
  absent: {},
  null: { items: null },
  'an empty array': { items: [] },
  'new ones': { items: items('C', 'D') },
};
const OUTCOMES: Record<keyof typeof ITEMS, Record<keyof typeof KEEP, string[]>> = {
  absent: { absent: ['A', 'B'], null: ['A', 'B'], true: ['A', 'B'], false: [] },
  null: { absent: [], null: [], true: ['A', 'B'], false: [] },
  'an empty array': { absent: [], null: [], true: ['A', 'B'], false: [] },
  'new ones': { absent: ['C', 'D'], null: ['C', 'D'], true: ['A', 'B', 'C', 'D'], false: ['C', 'D'] },
};

for (const [itemsAre, outcomes] of Object.entries(OUTCOMES) as [keyof typeof ITEMS, (typeof OUTCOMES)['absent']][]) {
  for (const [keepIs, expected] of Object.entries(outcomes) as [keyof typeof KEEP, string[]][]) {
    test(`an update with items ${itemsAre} and keep_existing_items ${keepIs} leaves the items [${expected}]`, async () => {
      const company = await app.company();
      const { id } = await create(company, { items: items('A', 'B') });
      const before = await only(company);
      await update(company, id, { ...ITEMS[itemsAre], ...KEEP[keepIs] });
      const after = await only(company);
      assert.deepEqual(descriptions(after), expected);
      const kept = after.items.filter(({ description }) => 'AB'.includes(description));
      assert.deepEqual(kept, kept.length ? before.items : []);
      assert.deepEqual(await everything(company), [after]);
    });
  }
}

test('an update replaces the items by POST as well as by PATCH, and keeps them when asked', async () => {
  const company = await app.company();
  const { id } = await create(company, { items: items('A') });
  const post = (fields: Fields) => company.post(`${company.path}/invoices/${id}`, invoiceBody(fields));
  assert.equal((await post({ items: items('B'), keep_existing_items: true })).status, 200);
  assert.deepEqual(descriptions(await only(company)), ['A', 'B']);
  assert.equal((await post({ items: items('C') })).status, 200);
  assert.deepEqual(descriptions(await only(company)), ['C']);
  assert.equal((await post({ keep_existing_items: false })).status, 200);
  assert.deepEqual(descriptions(await only(company)), []);
});

test('items added again and again stand after the older ones, in the order in which they came', async () => {
  const company = await app.company();
  const { id } = await create(company, { items: items('z', 'y') });
  await update(company, id, { items: items('x', 'w', 'v'), keep_existing_items: true });
  await update(company, id, { items: items('a'), keep_existing_items: true });
  assert.deepEqual(descriptions(await only(company)), ['z', 'y', 'x', 'w', 'v', 'a']);
});

test('an added item may be equal to one that is there', async () => {
  const company = await app.company();
  const { id } = await create(company, { items: items('A') });
  await update(company, id, { items: items('A'), keep_existing_items: true });
  const listed = await only(company);
  assert.deepEqual(descriptions(listed), ['A', 'A']);
  assert.notEqual(listed.items[0]?.id, listed.items[1]?.id);
});

test('an item that was listed can be sent back in an update', async () => {
  const company = await app.company();
  const { id } = await create(company, { items: [item('A', { rate: 33.3333, amount: 79.99 })] });
  const [before] = (await only(company)).items;
  await update(company, id, { items: [before] });
  const [after] = (await only(company)).items;
  assert.ok(before && after);
  assert.deepEqual(without(after, 'id'), without(before, 'id'));
});

test('kept items keep their status: a cancelled one stays hidden until it is requested', async () => {
  const company = await app.company();
  const { id } = await create(company, { items: items('A', 'cancelled') });
  await cancelItem(company, 'cancelled');
  await update(company, id);
  await update(company, id, { items: items('B'), keep_existing_items: true });
  assert.deepEqual(descriptions(await only(company)), ['A', 'B']);
  assert.deepEqual(
    (await everything(company))[0]?.items.map(({ description, status }) => [description, status]),
    [
      ['A', null],
      ['cancelled', 'cancelled'],
      ['B', null],
    ],
  );
});

for (const sent of [{ items: items('B') }, { items: [] }, { keep_existing_items: false }]) {
  test(`items removed by ${JSON.stringify(Object.keys(sent))} are gone from every list, cancelled ones too`, async () => {
    const company = await app.company();
    const { id } = await create(company, { items: items('A', 'cancelled') });
    await cancelItem(company, 'cancelled');
    await update(company, id, sent);
    const [listed] = await everything(company);
    assert.ok(listed);
    assert.deepEqual(descriptions(listed), sent.items?.length ? ['B'] : []);
  });
}

test('an update touches no other invoice and none of its items', async () => {
  const company = await app.company();
  const { id } = await create(company, { date_created: '2026-05-02 10:00', items: items('A') });
  await create(company, { items: items('other') });
  const [, other] = await everything(company);
  await update(company, id, { date_created: '2026-05-02 10:00', items: items('B') });
  await update(company, id, { date_created: '2026-05-02 10:00', keep_existing_items: false });
  assert.deepEqual((await everything(company))[1], other);
});
