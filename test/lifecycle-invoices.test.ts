import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { TestCompany } from './harness/app.ts';
import { assertNotFound, assertRefused, ok } from './harness/assert.ts';
import type { Answer, Caller } from './harness/http.ts';
import {
  app,
  assertRefusedUnchanged,
  type Fields,
  invoice,
  listed,
  make,
  NOW,
  pay,
  read,
  stored,
  WRITE_KEYS,
} from './harness/lifecycle-invoices.ts';

const LIST_KEYS = [
  ...WRITE_KEYS,
  ...['formatted_recurring_interval', 'items', 'mail_sent', 'payable_online', 'status'],
].sort();
const READ_KEYS = [...LIST_KEYS, 'external_id', 'outstanding', 'paid', 'sender_id', 'vat'].sort();
const ITEM_KEYS = [
  ...['amount', 'case_invoice_id', 'customer_case_id', 'description', 'has_vat', 'id', 'paid_at', 'quantity', 'rate'],
  ...['status', 'subtotal', 'vat_amount'],
];

test('one invoice reads as the list shows it, with what is paid and what is outstanding', async () => {
  const company = await app.company();
  const path = await make(company);
  const one = await ok(company.get(path));
  assert.deepEqual(await ok(company.get(`${company.path}/invoices`)), [listed(one)]);
  assert.deepEqual(Object.keys(one).sort(), READ_KEYS);
  for (const item of one.items) assert.deepEqual(Object.keys(item).sort(), ITEM_KEYS);
});

for (const [query, count] of [
  ['', 1],
  ['?show_cancelled_items=false', 1],
  ['?show_cancelled_items=0', 1],
  ['?show_cancelled_items=true', 2],
  ['?show_cancelled_items=1', 2],
] as const) {
  test(`one invoice and the list show ${count} of two items, one of them cancelled, with the query "${query}"`, async () => {
    const company = await app.company();
    const path = await make(company);
    const { items } = await ok(company.get(path));
    await ok(company.post(`${path}/items/${items[0].id}/cancel`));
    const one = await ok(company.get(`${path}${query}`));
    assert.equal(one.items.length, count);
    assert.deepEqual(await ok(company.get(`${company.path}/invoices${query}`)), [listed(one)]);
  });
}

test('a wrong show_cancelled_items is refused, and an unknown invoice is 404 whatever it holds', async () => {
  const company = await app.company();
  const path = await make(company);
  assertRefused(await company.get(`${path}?show_cancelled_items=yes`), { show_cancelled_items: 'not_allowed' });
  assertNotFound(await company.get(`${company.path}/invoices/${randomUUID()}?show_cancelled_items=yes`));
});

test('paid and outstanding are exact, follow every payment, and are in every answer that shows one invoice', async () => {
  const company = await app.company();
  const path = await make(company, { total: '0.30' });
  const sums = async () => {
    const { text } = await company.get(path);
    return [/"paid" ?: ?([^,}]+)/, /"outstanding" ?: ?([^,}]+)/].map((sum) => sum.exec(text)?.[1]);
  };
  assert.deepEqual(await sums(), ['0.00', '0.30']);
  const { id } = await ok(pay(company, path, '0.10'));
  assert.deepEqual(await sums(), ['0.10', '0.20']);
  await ok(pay(company, path, '0.20'));
  assert.deepEqual(await sums(), ['0.30', '0.00']);
  await ok(company.post(`${path}/payments/${id}/reverse`));
  const sent = await ok(company.post(`${path}/sent`));
  assert.deepEqual([sent.paid, sent.outstanding], [0.2, 0.1]);
});

for (const [what, total, cancel] of [
  ['a credit', -40, false],
  ['an invoice of nothing', 0, false],
  ['a cancelled invoice', 120, true],
] as const) {
  test(`nothing is outstanding on ${what}`, async () => {
    const company = await app.company();
    const path = await make(company, { total });
    const { outstanding } = cancel ? await ok(company.post(`${path}/cancel`)) : await ok(company.get(path));
    assert.equal(outstanding, 0);
  });
}

test('nothing is outstanding if the total fell below what is paid', async () => {
  const company = await app.company();
  const path = await make(company);
  await ok(pay(company, path, 120));
  await ok(company.patch(path, invoice({ total: 100 })));
  const { paid, outstanding } = await ok(company.get(path));
  assert.deepEqual([paid, outstanding], [120, 0]);
});

// Sending

test('marking as sent sets date_sent to now and mail_sent, and answers with the invoice', async () => {
  const company = await app.company();
  for (const body of [undefined, {}, { date_sent: null }]) {
    const path = await make(company);
    assert.equal((await read(company, path)).mail_sent, false);
    const sent = await ok(company.post(`${path}/sent`, body));
    assert.deepEqual([sent.date_sent, sent.mail_sent, sent.status], [NOW, true, 'Not Paid']);
    assert.deepEqual(sent, await ok(company.get(path)));
  }
});

test('marking as sent again moves the date', async () => {
  const company = await app.company();
  const path = await make(company);
  await ok(company.post(`${path}/sent`, { date_sent: '2026-05-02 10:00:00' }));
  assert.equal((await read(company, path)).date_sent, '2026-05-02T09:00:00.000000Z');
  await ok(company.post(`${path}/sent`, { date_sent: '2026-05-03T10:00:00.123456Z' }));
  assert.equal((await read(company, path)).date_sent, '2026-05-03T10:00:00.123456Z');
});

test('marking as sent takes a time and nothing else', async () => {
  const company = await app.company();
  const path = await make(company);
  for (const [date_sent, code] of [
    ['soon', 'format'],
    ['2026-02-30 10:00:00', 'format'],
    ['2026-06-01T09:00:00.000001Z', 'out_of_range'],
    ['2027-01-01 00:00:00', 'out_of_range'],
    [5, 'type'],
  ]) {
    await assertRefusedUnchanged(company, () => company.post(`${path}/sent`, { date_sent }), {
      date_sent: String(code),
    });
  }
  await assertRefusedUnchanged(company, () => company.post(`${path}/sent`, '[]'), { body: 'type' });
  await assertRefusedUnchanged(company, () => company.post(`${path}/sent`, '{'), { body: 'format' });
});

test('a cancelled invoice cannot be marked as sent, and both faults are named together', async () => {
  const company = await app.company();
  const path = await make(company);
  await ok(company.post(`${path}/cancel`));
  await assertRefusedUnchanged(company, () => company.post(`${path}/sent`), { status: 'invalid_state' });
  await assertRefusedUnchanged(company, () => company.post(`${path}/sent`, { date_sent: 'soon' }), {
    status: 'invalid_state',
    date_sent: 'format',
  });
});

// Access

test('every change of state counts as a change of the record', async () => {
  const company = await app.company();
  const path = await make(company);
  const [{ id: item }] = (await read(company, path)).items;
  const version = async () =>
    (await app.sql('SELECT version FROM invoices WHERE company_id = $1', [company.companyId]))[0];
  const payment = async () => (await ok(company.get(`${path}/payments`)))[0].id;
  let expected = 1;
  for (const change of [
    () => company.post(`${path}/sent`),
    () => pay(company, path, 1),
    async () => company.post(`${path}/payments/${await payment()}/reverse`),
    () => company.post(`${path}/items/${item}/cancel`),
    () => company.post(`${path}/items/${item}/reinstate`),
    () => company.post(`${path}/cancel`),
    () => company.post(`${path}/reinstate`),
  ]) {
    await ok(change());
    expected += 1;
    assert.deepEqual(await version(), { version: expected });
  }
});

type Operation = { name: string; scope: string; call: (caller: Caller, path: string) => Promise<Answer> };

/** Every operation on an invoice, in an order in which each is possible. */
async function operationsOf(company: TestCompany, path: string): Promise<Operation[]> {
  const [{ id: item }] = (await read(company, path)).items;
  const { id: payment } = await ok(pay(company, path, 1));
  const write = (name: string, body?: unknown): Operation => ({
    name,
    scope: 'invoices:write',
    call: (caller, at) => caller.post(`${at}/${name}`, body),
  });
  return [
    { name: 'read', scope: 'invoices:read', call: (caller, at) => caller.get(at) },
    { name: 'payments', scope: 'invoices:read', call: (caller, at) => caller.get(`${at}/payments`) },
    write('sent', {}),
    write(`items/${item}/cancel`),
    write(`items/${item}/reinstate`),
    write(`payments/${payment}/reverse`),
    write('cancel'),
    write('reinstate'),
    write('payments', { amount: 1 }),
  ];
}

test('another company, another case and another invoice do not reach it, and nothing changes', async () => {
  const company = await app.company();
  const stranger = await app.company();
  const path = await make(company);
  const id = path.split('/').at(-1);
  const operations = await operationsOf(company, path);
  const otherCase = `/cases/${await company.openCase()}/invoices/${id}`;
  const otherInvoice = await make(company);
  const before = await stored(company);
  for (const { name, call } of operations) {
    assertNotFound(await call(stranger, path));
    assertNotFound(await call(stranger, `${stranger.path}/invoices/${id}`));
    assertNotFound(await call(company, otherCase));
    assertNotFound(await call(company, `${company.path}/invoices/${randomUUID()}`));
    assertNotFound(await call(company, `${company.path}/invoices/none`));
    assertNotFound(await call(company, `/cases/none/invoices/${id}`));
    if (name.includes('/')) assertNotFound(await call(company, otherInvoice));
  }
  assert.deepEqual(await stored(company), before);
});

test('an unknown invoice is 404 whatever the body holds', async () => {
  const company = await app.company();
  for (const verb of ['sent', 'payments']) {
    assertNotFound(
      await company.post(`${company.path}/invoices/${randomUUID()}/${verb}`, { date_sent: 5, amount: [] }),
    );
  }
});

test('an unknown item or payment is 404', async () => {
  const company = await app.company();
  const path = await make(company);
  for (const id of [randomUUID(), 'none']) {
    assertNotFound(await company.post(`${path}/items/${id}/cancel`));
    assertNotFound(await company.post(`${path}/items/${id}/reinstate`));
    assertNotFound(await company.post(`${path}/payments/${id}/reverse`));
  }
});

test('every operation takes the scope of its kind and no other', async () => {
  const company = await app.company();
  const path = await make(company);
  const scopes = ['invoices:read', 'invoices:write', 'appointments:read', 'appointments:write', 'manage'];
  for (const { name, scope, call } of await operationsOf(company, path)) {
    const before = await stored(company);
    const narrow = await company.withScopes(...scopes.filter((other) => other !== scope));
    assert.equal((await call(narrow, path)).status, 403, name);
    assert.equal((await call(app.anonymous, path)).status, 401, name);
    assert.deepEqual(await stored(company), before);
    await ok(call(await company.withScopes(scope), path));
  }
});

test('without a body no Content-Type is required, with one it must be JSON', async () => {
  const company = await app.company();
  const path = await make(company);
  const none = { 'content-type': undefined };
  await ok(company.get(path, none));
  await ok(company.get(`${path}/payments`, none));
  for (const verb of ['sent', 'cancel', 'reinstate']) await ok(company.post(`${path}/${verb}`, undefined, none));
  for (const verb of ['sent', 'payments']) {
    assertRefused(await company.post(`${path}/${verb}`, '{"amount":1}', { 'content-type': 'text/plain' }), {
      'Content-Type': 'not_allowed',
    });
  }
});

test('a body that is too large changes nothing, also for operations that take none', async () => {
  const company = await app.company();
  const path = await make(company);
  const operations = (await operationsOf(company, path)).filter(({ scope }) => scope === 'invoices:write');
  const before = await stored(company);
  for (const { name } of operations) {
    assert.equal((await company.post(`${path}/${name}`, '{}'.padEnd(1024 * 1024 + 1))).status, 413, name);
  }
  assert.deepEqual(await stored(company), before);
});

test('the specified operations keep their keys on invoices of every state', async () => {
  const company = await app.company();
  const paid = await make(company);
  await ok(pay(company, paid, 120));
  const cancelled = await make(company);
  await ok(company.post(`${cancelled}/cancel`));
  for (const path of [paid, cancelled]) {
    assert.deepEqual(Object.keys(await ok(company.patch(path, invoice()))).sort(), WRITE_KEYS);
  }
  assert.deepEqual(Object.keys(await ok(company.post(`${company.path}/invoices`, invoice()))).sort(), WRITE_KEYS);
  const list = await ok(company.get(`${company.path}/invoices?show_cancelled_items=true`));
  assert.deepEqual(list.map(({ status }: Fields) => status).sort(), ['Cancelled', 'Not Paid', 'Paid']);
  for (const one of list) {
    assert.deepEqual(Object.keys(one).sort(), LIST_KEYS);
    for (const item of one.items) assert.deepEqual(Object.keys(item).sort(), ITEM_KEYS);
  }
});

test('no operation of the twelve changes a state', async () => {
  const company = await app.company();
  const path = await make(company);
  await ok(company.post(`${path}/sent`, { date_sent: '2026-05-02 10:00:00' }));
  await ok(pay(company, path, 60));
  const { status, date_sent, mail_sent } = await read(company, path);
  await ok(
    company.patch(path, invoice({ status: 'Paid', date_sent: null, date_paid: NOW, paid: 120, cancelled_at: NOW })),
  );
  const after = await read(company, path);
  assert.deepEqual([after.status, after.date_sent, after.mail_sent], [status, date_sent, mail_sent]);
});
