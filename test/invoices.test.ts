import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  add,
  app,
  cancelItem,
  create,
  descriptions,
  type Fields,
  item,
  items,
  list,
  only,
  UUID_V7,
  update,
  words,
} from './harness/invoices.ts';

const LIST_KEYS = words(`
  customer_case_id date_created date_due date_paid date_sent formatted_recurring_interval id invoice_number items
  mail_sent notes payable_online payment_terms recipients_name ref status subtotal terms total vat_amount
`);
const ITEM_KEYS = words(`
  amount case_invoice_id customer_case_id description has_vat id paid_at quantity rate status subtotal vat_amount
`);

// Operation 7

test('a case without invoices lists an empty array', async () => {
  const company = await app.company();
  assert.deepEqual(await list(company), []);
});

test('a list shows every documented field of an invoice and of its items, and no other', async () => {
  const company = await app.company();
  const { id } = await create(company, {
    invoice_number: 'INV-2026/7',
    payment_terms: '14 days',
    items: [item('Advice'), item('Stamp', { quantity: 3, rate: 1.25, amount: 3.75 })],
  });
  const listed = await only(company);
  assert.deepEqual(Object.keys(listed).sort(), LIST_KEYS);
  for (const listedItem of listed.items) {
    assert.deepEqual(Object.keys(listedItem).sort(), ITEM_KEYS);
    assert.match(listedItem.id, UUID_V7);
  }
  assert.notEqual(listed.items[0]?.id, listed.items[1]?.id);
  const ownership = { status: null, paid_at: null, case_invoice_id: id, customer_case_id: company.caseId };
  assert.deepEqual(listed, {
    id,
    ref: null,
    notes: null,
    terms: '',
    date_created: '2026-05-01 10:00:00',
    date_due: '2026-05-31T16:30:00.000000Z',
    date_sent: null,
    date_paid: null,
    payment_terms: '14 days',
    subtotal: 100,
    total: 120,
    invoice_number: 'INV-2026/7',
    recipients_name: 'Mr John Smith and Mrs Ann Smith',
    vat_amount: 20,
    customer_case_id: company.caseId,
    status: 'Not Paid',
    mail_sent: false,
    payable_online: false,
    formatted_recurring_interval: null,
    items: [
      {
        id: listed.items[0]?.id,
        description: 'Advice',
        amount: 120,
        quantity: 2,
        rate: 50,
        subtotal: 100,
        vat_amount: 20,
        has_vat: true,
        ...ownership,
      },
      {
        id: listed.items[1]?.id,
        description: 'Stamp',
        amount: 3.75,
        quantity: 3,
        rate: 1.25,
        subtotal: 3.75,
        vat_amount: 0,
        has_vat: false,
        ...ownership,
      },
    ],
  });
});

test('in a list only date_created is wall time, every other date is ISO with six fractional digits and Z', async () => {
  const company = await app.company();
  const { id } = await create(company, { date_created: '2026-05-01T12:00:00.250000Z', items: items('Advice') });
  await add(company, id, 'sent', { date_sent: '2026-05-02T08:00:00.5Z' });
  await add(company, id, 'payments', { amount: 120, paid_at: '2026-05-03T08:00:00.123456Z' });
  const listed = await only(company);
  assert.equal(listed.date_created, '2026-05-01 13:00:00');
  assert.equal(listed.date_due, '2026-05-31T16:30:00.000000Z');
  assert.equal(listed.date_sent, '2026-05-02T08:00:00.500000Z');
  assert.equal(listed.date_paid, '2026-05-03T08:00:00.123456Z');
  assert.equal(listed.items[0]?.paid_at, '2026-05-03T08:00:00.123456Z');
});

test('invoices are listed by date_created, the newest first, whatever the order of their creation', async () => {
  const company = await app.company();
  await create(company, { invoice_number: 'second', date_created: '2026-05-02 10:00' });
  await create(company, { invoice_number: 'fourth', date_created: '2025-05-09 10:00' });
  await create(company, { invoice_number: 'first', date_created: '2026-05-02 10:00:01' });
  await create(company, { invoice_number: 'third', date_created: '2026-05-01 23:59:59' });
  const shown = (await list(company)).map(({ invoice_number }) => invoice_number);
  assert.deepEqual(shown, ['first', 'second', 'third', 'fourth']);
});

test('invoices are ordered by the instant, not by the wall time that is shown', async () => {
  const company = await app.company();
  await create(company, { invoice_number: 'before the change', date_created: '2026-10-25T00:45:00Z' });
  await create(company, { invoice_number: 'after the change', date_created: '2026-10-25T01:15:00Z' });
  const listed = await list(company);
  assert.deepEqual(
    listed.map(({ invoice_number, date_created }) => [invoice_number, date_created]),
    [
      ['after the change', '2026-10-25 01:15:00'],
      ['before the change', '2026-10-25 01:45:00'],
    ],
  );
});

test('an update that moves date_created moves the invoice in the list', async () => {
  const company = await app.company();
  const older = await create(company, { date_created: '2026-05-01 10:00' });
  const newer = await create(company, { date_created: '2026-05-02 10:00' });
  const order = async () => (await list(company)).map(({ id }) => id);
  assert.deepEqual(await order(), [newer.id, older.id]);
  await update(company, older.id, { date_created: '2026-05-03 10:00' });
  assert.deepEqual(await order(), [older.id, newer.id]);
});

test('invoices of one date_created are listed newest made first', async () => {
  const company = await app.company();
  const made: string[] = [];
  for (let i = 0; i < 5; i += 1) made.unshift((await create(company)).id);
  assert.deepEqual(
    (await list(company)).map(({ id }) => id),
    made,
  );
});

test('items are listed in the order in which they were sent', async () => {
  const company = await app.company();
  const sent = Array.from({ length: 120 }, (_, i) => `Line ${(i * 37) % 120}`);
  await create(company, { items: items(...sent) });
  assert.deepEqual(descriptions(await only(company)), sent);
});

test('a list shows the invoices and items of its own case only', async () => {
  const company = await app.company();
  const stranger = await app.company();
  const otherPath = `/cases/${await company.openCase()}`;
  await create(company, { items: items('mine') });
  await create(company, { items: items('of the other case') }, otherPath);
  await create(stranger, { items: items('of a stranger') });
  assert.deepEqual(descriptions(await only(company)), ['mine']);
  assert.deepEqual(descriptions(await only(company, { path: otherPath })), ['of the other case']);
});

test('an invoice is listed whatever its status, and paid items are shown', async () => {
  const company = await app.company();
  const make = async (status: string) => (await create(company, { invoice_number: status, items: items(status) })).id;
  await make('Not Paid');
  await add(company, await make('Part Paid'), 'payments', { amount: 1 });
  await add(company, await make('Paid'), 'payments', { amount: 120 });
  await add(company, await make('Cancelled'), 'cancel', {});
  const listed = await list(company);
  assert.deepEqual(listed.map(({ status }) => status).sort(), ['Cancelled', 'Not Paid', 'Paid', 'Part Paid']);
  for (const { invoice_number, status, items } of listed) {
    assert.equal(invoice_number, status);
    assert.deepEqual(
      items.map(({ status }) => status),
      [status === 'Paid' ? 'paid' : null],
    );
  }
});

for (const [query, cancelledShown] of [
  ['', false],
  ['?', false],
  ['?show_cancelled_items=false', false],
  ['?show_cancelled_items=0', false],
  ['?show_cancelled_items=true', true],
  ['?show_cancelled_items=1', true],
  ['?another=true', false],
] as const) {
  test(`cancelled items are ${cancelledShown ? 'shown in their place' : 'left out'} with the query "${query}"`, async () => {
    const company = await app.company();
    await create(company, { items: items('first', 'cancelled', 'last') });
    await cancelItem(company, 'cancelled');
    const { items: listed } = await only(company, { query });
    assert.deepEqual(
      listed.map(({ description, status }) => [description, status]),
      [['first', null], ...(cancelledShown ? [['cancelled', 'cancelled']] : []), ['last', null]],
    );
  });
}

for (const garbage of ['', 'yes', 'TRUE', 'null', '2', '-1', 'true%20', 'truefalse']) {
  test(`show_cancelled_items=${garbage} is refused`, async () => {
    const company = await app.company();
    const answer = await company.get(`${company.path}/invoices?show_cancelled_items=${garbage}`);
    assert.equal(answer.status, 400, answer.text);
    assert.equal(answer.body.code, 'invalid_request');
    assert.deepEqual(
      answer.body.errors.map(({ field }: Fields) => field),
      ['show_cancelled_items'],
    );
  });
}

test('an invoice whose items are all cancelled is listed without items', async () => {
  const company = await app.company();
  await create(company, { items: items('cancelled') });
  await cancelItem(company, 'cancelled');
  assert.deepEqual((await only(company)).items, []);
});

test('hiding cancelled items does not change the sums of the invoice', async () => {
  const company = await app.company();
  await create(company, { items: items('cancelled', 'other'), sub_total: 200, total: 240, vat_amount: 40 });
  await cancelItem(company, 'cancelled');
  const { subtotal, vat_amount, total } = await only(company);
  assert.deepEqual({ subtotal, vat_amount, total }, { subtotal: 200, vat_amount: 40, total: 240 });
});
