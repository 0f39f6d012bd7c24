import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { startApp, type TestCompany } from './harness/app.ts';
import { assertNotFound, assertRefused, ok, storedRows } from './harness/assert.ts';
import { invoiceBody } from './harness/bodies.ts';
import type { Answer, Caller } from './harness/http.ts';
import { type Holding, overlapping } from './harness/overlap.ts';

const app = await startApp();

const WRITE_KEYS = [
  ...['customer_case_id', 'date_created', 'date_due', 'date_paid', 'date_sent', 'id', 'invoice_number', 'notes'],
  ...['payment_terms', 'recipients_name', 'ref', 'subtotal', 'terms', 'total', 'vat_amount'],
];
const LIST_KEYS = [
  ...WRITE_KEYS,
  ...['formatted_recurring_interval', 'items', 'mail_sent', 'payable_online', 'status'],
].sort();
const READ_KEYS = [...LIST_KEYS, 'outstanding', 'paid'].sort();
const ITEM_KEYS = [
  ...['amount', 'case_invoice_id', 'customer_case_id', 'description', 'has_vat', 'id', 'paid_at', 'quantity', 'rate'],
  ...['status', 'subtotal', 'vat_amount'],
];
const PAYMENT_KEYS = [
  ...['amount', 'case_invoice_id', 'created_at', 'customer_case_id', 'id', 'paid_at', 'reference', 'reversed_at'],
];
const NOW = '2026-06-01T09:00:00.000000Z';

type Fields = Record<string, unknown>;

const invoice = (fields: Fields = {}) => invoiceBody({ items: [line('A'), line('B')], ...fields });

const line = (description: string) => ({ description, quantity: 1, rate: 50, amount: 60 });

/** Makes an invoice and gives its path. */
const make = async (company: TestCompany, fields: Fields = {}, path = company.path): Promise<string> =>
  `${path}/invoices/${(await ok(company.post(`${path}/invoices`, invoice(fields)))).id}`;

const pay = (company: Caller, path: string, amount: unknown, fields: Fields = {}) =>
  company.post(`${path}/payments`, { amount, ...fields });

const read = (company: Caller, path: string) => ok(company.get(`${path}?show_cancelled_items=true`));

/** What an invoice shows of its payments: status, date_paid, and status and paid_at of every item. */
async function shown(company: Caller, path: string): Promise<unknown> {
  const { status, date_paid, items } = await read(company, path);
  return { status, date_paid, items: items.map((item: Fields) => [item.status, item.paid_at]) };
}

const UNPAID = {
  date_paid: null,
  items: [
    [null, null],
    [null, null],
  ],
};
const paidAt = (time: string) => ({
  status: 'Paid',
  date_paid: time,
  items: [
    ['paid', time],
    ['paid', time],
  ],
});

const stored = (company: TestCompany) => storedRows(app, company, 'invoices', 'invoice_items', 'payments');

/** The request is refused with these faults, and nothing has changed. */
async function assertRefusedUnchanged(
  company: TestCompany,
  request: () => Promise<Answer>,
  faults: Record<string, string>,
) {
  const before = await stored(company);
  assertRefused(await request(), faults);
  assert.deepEqual(await stored(company), before);
}

// Reading one

/** As the list, which is specified, shows an invoice. */
const listed = ({ paid, outstanding, ...element }: Fields) => element;

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

test('nothing is outstanding where the total fell below what is paid', async () => {
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

test('a cancelled invoice cannot be marked as sent, and both faults are named at once', async () => {
  const company = await app.company();
  const path = await make(company);
  await ok(company.post(`${path}/cancel`));
  await assertRefusedUnchanged(company, () => company.post(`${path}/sent`), { status: 'invalid_state' });
  await assertRefusedUnchanged(company, () => company.post(`${path}/sent`, { date_sent: 'soon' }), {
    status: 'invalid_state',
    date_sent: 'format',
  });
});

// Payments

test('a payment answers with itself, and is listed', async () => {
  const company = await app.company();
  const path = await make(company);
  const payment = await ok(pay(company, path, '20.50', { paid_at: '2026-05-20 12:00:00', reference: 'Transfer 4711' }));
  assert.deepEqual(Object.keys(payment).sort(), PAYMENT_KEYS);
  const { id, ...fields } = payment;
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  assert.deepEqual(fields, {
    case_invoice_id: path.split('/').at(-1),
    customer_case_id: company.caseId,
    amount: 20.5,
    paid_at: '2026-05-20T11:00:00.000000Z',
    reference: 'Transfer 4711',
    created_at: NOW,
    reversed_at: null,
  });
  assert.deepEqual(await ok(company.get(`${path}/payments`)), [payment]);
});

test('without a time a payment was made now, and it needs no reference', async () => {
  const company = await app.company();
  const path = await make(company);
  for (const fields of [{}, { paid_at: null, reference: null }]) {
    const { paid_at, reference } = await ok(pay(company, path, 1, fields));
    assert.deepEqual([paid_at, reference], [NOW, null]);
  }
});

test('an invoice without payments lists none', async () => {
  const company = await app.company();
  assert.deepEqual(await ok(company.get(`${await make(company)}/payments`)), []);
});

test('payments are listed in the order in which they were made, reversed ones too', async () => {
  const company = await app.company();
  const path = await make(company);
  const late = await ok(pay(company, path, 1, { paid_at: '2026-05-20 12:00:00' }));
  const early = await ok(pay(company, path, 2, { paid_at: '2026-05-10 12:00:00' }));
  const lateToo = await ok(pay(company, path, 3, { paid_at: '2026-05-20 12:00:00' }));
  const reversed = await ok(company.post(`${path}/payments/${late.id}/reverse`));
  assert.deepEqual(await ok(company.get(`${path}/payments`)), [early, reversed, lateToo]);
});

test('a part makes it Part Paid, the rest makes it Paid with the time of the payment that completed it', async () => {
  const company = await app.company();
  const path = await make(company);
  assert.deepEqual(await shown(company, path), { status: 'Not Paid', ...UNPAID });
  await ok(pay(company, path, 119.99, { paid_at: '2026-05-20 12:00:00' }));
  assert.deepEqual(await shown(company, path), { status: 'Part Paid', ...UNPAID });
  await ok(pay(company, path, '0.01', { paid_at: '2026-05-21 12:00:00' }));
  assert.deepEqual(await shown(company, path), paidAt('2026-05-21T11:00:00.000000Z'));
});

test('the payment that completed it is the last by its time, not by its recording', async () => {
  const company = await app.company();
  const path = await make(company);
  await ok(pay(company, path, 60, { paid_at: '2026-05-21 12:00:00' }));
  await ok(pay(company, path, 60, { paid_at: '2026-05-20 12:00:00' }));
  assert.deepEqual(await shown(company, path), paidAt('2026-05-21T11:00:00.000000Z'));
});

test('date_paid is the same in the list, in one and in the answer of an update', async () => {
  const company = await app.company();
  const path = await make(company);
  await ok(pay(company, path, 120));
  const one = await ok(company.get(path));
  assert.equal(one.date_paid, NOW);
  assert.deepEqual(await ok(company.get(`${company.path}/invoices`)), [listed(one)]);
  const updated = await ok(company.patch(path, invoice({ items: undefined })));
  assert.equal(updated.date_paid, NOW);
  assert.deepEqual(Object.keys(updated).sort(), WRITE_KEYS);
});

for (const [amount, code] of [
  [0, 'out_of_range'],
  ['0.00', 'out_of_range'],
  [-1, 'out_of_range'],
  [0.001, 'format'],
  ['1.005', 'format'],
  ['1.0000000000000000000000000001', 'format'],
  [1e-7, 'format'],
  ['10000000000', 'out_of_range'],
  ['1e2', 'format'],
  ['ten', 'format'],
  ['', 'format'],
  [true, 'type'],
  [null, 'required'],
  [undefined, 'required'],
] as const) {
  test(`a payment of ${JSON.stringify(amount)} is refused`, async () => {
    const company = await app.company();
    const path = await make(company);
    await assertRefusedUnchanged(company, () => pay(company, path, amount), { amount: code });
  });
}

for (const amount of [1.5, '1.5', '1.50', '1.5000', '0001.5']) {
  test(`a payment of ${JSON.stringify(amount)} is taken for 1.50`, async () => {
    const company = await app.company();
    const path = await make(company);
    assert.equal((await ok(pay(company, path, amount))).amount, 1.5);
    await assertRefusedUnchanged(company, () => pay(company, path, 118.51), { amount: 'out_of_range' });
    await ok(pay(company, path, 118.5));
  });
}

test('the other fields of a payment are judged too, all at once', async () => {
  const company = await app.company();
  const path = await make(company);
  await assertRefusedUnchanged(
    company,
    () => pay(company, path, 'x', { paid_at: 'soon', reference: '😀'.repeat(256) }),
    {
      amount: 'format',
      paid_at: 'format',
      reference: 'too_long',
    },
  );
  await assertRefusedUnchanged(company, () => pay(company, path, 1, { reference: 'a\0b' }), {
    reference: 'invalid_character',
  });
  await assertRefusedUnchanged(company, () => company.post(`${path}/payments`), { body: 'required' });
  const reference = '😀'.repeat(255);
  assert.equal((await ok(pay(company, path, 1, { reference }))).reference, reference);
});

test('a payment beyond what is outstanding is refused with what is', async () => {
  const company = await app.company();
  const path = await make(company);
  await assertRefusedUnchanged(company, () => pay(company, path, 120.01), { amount: 'out_of_range' });
  await ok(pay(company, path, 100));
  const answer = await pay(company, path, 20.01);
  assertRefused(answer, { amount: 'out_of_range' });
  assert.match(answer.body.errors[0].message, /\b20\.00$/);
  await ok(pay(company, path, 20));
  await assertRefusedUnchanged(company, () => pay(company, path, 0.01), { amount: 'out_of_range' });
});

test('an invoice of nothing, or of a credit, takes no payment and stays Not Paid', async () => {
  const company = await app.company();
  for (const total of [0, -50]) {
    const path = await make(company, { total, sub_total: total });
    await assertRefusedUnchanged(company, () => pay(company, path, 0.01), { amount: 'out_of_range' });
    assert.deepEqual(await shown(company, path), { status: 'Not Paid', ...UNPAID });
  }
});

test('a payment is not made in the future', async () => {
  const company = await app.company();
  const path = await make(company);
  for (const paid_at of ['2026-06-01 10:00:01', '2026-06-01T09:00:00.000001Z', '2099-01-01 00:00']) {
    await assertRefusedUnchanged(company, () => pay(company, path, 1, { paid_at }), { paid_at: 'out_of_range' });
  }
  await ok(pay(company, path, 1, { paid_at: '2026-06-01 10:00:00' }));
});

test('the largest invoice can be paid to the penny', async () => {
  const company = await app.company();
  const path = await make(company, { total: '9999999999.99' });
  await ok(pay(company, path, '9999999999.98'));
  await assertRefusedUnchanged(company, () => pay(company, path, 0.02), { amount: 'out_of_range' });
  await ok(pay(company, path, 0.01));
  assert.deepEqual(await shown(company, path), paidAt(NOW));
});

test('a cancelled invoice takes no payment, and both faults are named at once', async () => {
  const company = await app.company();
  const path = await make(company);
  await ok(company.post(`${path}/cancel`));
  await assertRefusedUnchanged(company, () => pay(company, path, 1), { status: 'invalid_state' });
  await assertRefusedUnchanged(company, () => pay(company, path, -1), {
    status: 'invalid_state',
    amount: 'out_of_range',
  });
});

test('twenty payments of 1.00 at once on an invoice of 10.00: exactly ten succeed', async () => {
  const company = await app.company();
  const path = await make(company, { total: 10 });
  const answers = await Promise.all(Array.from({ length: 20 }, () => pay(company, path, '1.00')));
  assert.equal(answers.filter(({ status }) => status === 200).length, 10);
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    assertRefused(answer, { amount: 'out_of_range' });
  }
  assert.equal((await ok(company.get(`${path}/payments`))).length, 10);
  assert.deepEqual(await shown(company, path), paidAt(NOW));
});

test('payments and updates at once: none is lost', async () => {
  const company = await app.company();
  const path = await make(company, { total: 10 });
  const number = (await read(company, path)).invoice_number;
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      i % 2 ? pay(company, path, 1) : company.patch(path, invoice({ invoice_number: number, total: 10 })),
    ),
  );
  for (const { status, text } of answers) assert.equal(status, 200, text);
  assert.deepEqual(await shown(company, path), paidAt(NOW));
});

test('whatever is paid and reversed, the status follows from the sum of what is not reversed', async () => {
  const company = await app.company();
  const step = fc.record({ pence: fc.integer({ min: 1, max: 700 }), reverse: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      const path = await make(company, { total: 10 });
      let counted: { id: string; pence: number }[] = [];
      const sum = () => counted.reduce((total, { pence }) => total + pence, 0);
      for (const { pence, reverse } of steps) {
        const answer = await pay(company, path, (pence / 100).toFixed(2));
        assert.equal(answer.status, sum() + pence <= 1000 ? 200 : 400, answer.text);
        if (answer.status === 200) counted.push({ id: answer.body.id, pence });
        const [first, ...rest] = counted;
        if (!reverse || !first) continue;
        await ok(company.post(`${path}/payments/${first.id}/reverse`));
        counted = rest;
      }
      const expected = sum() === 0 ? 'Not Paid' : sum() < 1000 ? 'Part Paid' : 'Paid';
      assert.equal((await read(company, path)).status, expected);
    }),
    { numRuns: 15 },
  );
});

// Reversing

test('a reversed payment counts no longer and says when it was reversed', async () => {
  const company = await app.company();
  const path = await make(company);
  await ok(pay(company, path, 100));
  const { id, ...payment } = await ok(pay(company, path, 20));
  assert.deepEqual(await shown(company, path), paidAt(NOW));
  assert.deepEqual(await ok(company.post(`${path}/payments/${id}/reverse`)), { id, ...payment, reversed_at: NOW });
  assert.deepEqual(await shown(company, path), { status: 'Part Paid', ...UNPAID });
  await ok(pay(company, path, 20));
  assert.deepEqual(await shown(company, path), paidAt(NOW));
});

test('a reversed payment does not count towards the time of the one that completed it', async () => {
  const company = await app.company();
  const path = await make(company);
  const { id } = await ok(pay(company, path, 60, { paid_at: '2026-05-10 12:00:00' }));
  await ok(company.post(`${path}/payments/${id}/reverse`));
  await ok(pay(company, path, 60, { paid_at: '2026-05-20 12:00:00' }));
  await ok(pay(company, path, 60, { paid_at: '2026-05-21 12:00:00' }));
  assert.deepEqual(await shown(company, path), paidAt('2026-05-21T11:00:00.000000Z'));
});

test('a payment is reversed once, also when five ask at once', async () => {
  const company = await app.company();
  const path = await make(company);
  await ok(pay(company, path, 100));
  const { id } = await ok(pay(company, path, 20));
  const answers = await Promise.all(Array.from({ length: 5 }, () => company.post(`${path}/payments/${id}/reverse`)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400, 400, 400, 400]);
  await assertRefusedUnchanged(company, () => company.post(`${path}/payments/${id}/reverse`), {
    reversed_at: 'invalid_state',
  });
  await assertRefusedUnchanged(company, () => pay(company, path, 20.01), { amount: 'out_of_range' });
  await ok(pay(company, path, 20));
});

// Correcting what is paid or cancelled

test('replaced items of a paid invoice are shown as paid again', async () => {
  const company = await app.company();
  const path = await make(company);
  await ok(pay(company, path, 120));
  await ok(company.patch(path, invoice({ items: [line('C'), line('D')] })));
  assert.deepEqual(await shown(company, path), paidAt(NOW));
});

test('a higher total makes a paid invoice Part Paid, a lower one makes it Paid again with the payment that reached it', async () => {
  const company = await app.company();
  const path = await make(company);
  await ok(pay(company, path, 70, { paid_at: '2026-05-20 12:00:00' }));
  await ok(pay(company, path, 50, { paid_at: '2026-05-21 12:00:00' }));
  const raised = await ok(company.patch(path, invoice({ total: 130, items: undefined })));
  assert.equal(raised.date_paid, null);
  assert.deepEqual(await shown(company, path), { status: 'Part Paid', ...UNPAID });
  const lowered = await ok(company.patch(path, invoice({ total: 70, items: undefined })));
  assert.equal(lowered.date_paid, '2026-05-20T11:00:00.000000Z');
  assert.deepEqual(await shown(company, path), paidAt('2026-05-20T11:00:00.000000Z'));
});

test('an update of a cancelled invoice is stored and leaves it cancelled', async () => {
  const company = await app.company();
  const path = await make(company);
  await ok(company.post(`${path}/cancel`));
  await ok(company.patch(path, invoice({ invoice_number: 'CORRECTED' })));
  const { invoice_number, status } = await read(company, path);
  assert.deepEqual([invoice_number, status], ['CORRECTED', 'Cancelled']);
});

// Cancelling

test('cancelling answers with the invoice, and it stays in the list', async () => {
  const company = await app.company();
  const path = await make(company);
  const cancelled = await ok(company.post(`${path}/cancel`));
  assert.deepEqual(await shown(company, path), { status: 'Cancelled', ...UNPAID });
  assert.deepEqual(await ok(company.get(`${company.path}/invoices`)), [listed(cancelled)]);
});

test('an invoice is cancelled once', async () => {
  const company = await app.company();
  const path = await make(company);
  await ok(company.post(`${path}/cancel`));
  await assertRefusedUnchanged(company, () => company.post(`${path}/cancel`), { status: 'invalid_state' });
});

test('an invoice with a payment is not cancelled before the payment is reversed', async () => {
  const company = await app.company();
  for (const amount of [1, 120]) {
    const path = await make(company);
    const { id } = await ok(pay(company, path, amount));
    await assertRefusedUnchanged(company, () => company.post(`${path}/cancel`), { status: 'invalid_state' });
    await ok(company.post(`${path}/payments/${id}/reverse`));
    await ok(company.post(`${path}/cancel`));
  }
});

test('a payment and a cancellation at once: one of them is refused', async () => {
  const company = await app.company();
  for (let i = 0; i < 10; i++) {
    const path = await make(company);
    const answers = await Promise.all([pay(company, path, 1), company.post(`${path}/cancel`)]);
    const [paid, cancelled] = answers.map(({ status }) => status === 200);
    assert.notEqual(paid, cancelled);
    assert.equal((await read(company, path)).status, paid ? 'Part Paid' : 'Cancelled');
  }
});

test('a reinstated invoice takes payments again; one that is not cancelled cannot be reinstated', async () => {
  const company = await app.company();
  const path = await make(company);
  await assertRefusedUnchanged(company, () => company.post(`${path}/reinstate`), { status: 'invalid_state' });
  await ok(company.post(`${path}/sent`));
  await ok(company.post(`${path}/cancel`));
  const reinstated = await ok(company.post(`${path}/reinstate`));
  assert.deepEqual([reinstated.status, reinstated.date_sent], ['Not Paid', NOW]);
  assert.deepEqual(reinstated, await ok(company.get(path)));
  await ok(pay(company, path, 120));
  await assertRefusedUnchanged(company, () => company.post(`${path}/reinstate`), { status: 'invalid_state' });
});

// What meets

const PAY: (company: TestCompany, id: string) => Holding[] = ({ companyId, caseId }, id) => [
  ['UPDATE invoices SET paid = total, version = version + 1 WHERE id = $1', [id]],
  [
    `INSERT INTO payments (company_id, case_id, invoice_id, id, amount, paid_at, created_at)
     VALUES ($1, $2, $3, $4, 120, $5, $5)`,
    [companyId, caseId, id, randomUUID(), NOW],
  ],
];
const REPLACE: (company: TestCompany, id: string) => Holding[] = (_company, id) => [
  ['UPDATE invoices SET total = 55, version = version + 1 WHERE id = $1', [id]],
  ['UPDATE invoice_items SET amount = 55 WHERE invoice_id = $1', [id]],
];
const nothing = async () => {};
const cancelled = async (company: TestCompany, path: string) => void (await ok(company.post(`${path}/cancel`)));

type Meeting = [
  verb: string,
  before: (company: TestCompany, path: string) => Promise<void>,
  what: string,
  held: (company: TestCompany, id: string) => Holding[],
  expected: Fields,
];
for (const [verb, before, what, held, expected] of [
  ['sent', nothing, 'a payment', PAY, { status: 'Paid', date_paid: NOW, items: ['paid', 'paid'] }],
  ['sent', nothing, 'an update', REPLACE, { total: 55, amounts: [55, 55] }],
  ['cancel', nothing, 'an update', REPLACE, { status: 'Cancelled', total: 55, amounts: [55, 55] }],
  ['reinstate', cancelled, 'an update', REPLACE, { status: 'Not Paid', total: 55, amounts: [55, 55] }],
] satisfies Meeting[]) {
  test(`${verb} that waits for ${what} answers with the record as it then is, not with parts of two`, async () => {
    const company = await app.company();
    const path = await make(company);
    const { id } = await read(company, path);
    await before(company, path);
    const [answer] = await overlapping(app, held(company, id), [() => ok(company.post(`${path}/${verb}`))]);
    const { status, date_paid, total, items } = answer;
    const seen: Fields = {
      ...('status' in expected && { status }),
      ...('total' in expected && { total, amounts: items.map(({ amount }: Fields) => amount) }),
      ...('date_paid' in expected && { date_paid, items: items.map((item: Fields) => item.status) }),
    };
    assert.deepEqual(seen, expected);
    assert.deepEqual(answer, await ok(company.get(path)));
  });
}

// Items

test('a cancelled item answers with itself, and the sums of the invoice stay', async () => {
  const company = await app.company();
  const path = await make(company);
  const before = await read(company, path);
  const [first, second] = before.items;
  const cancelled = await ok(company.post(`${path}/items/${first.id}/cancel`));
  assert.deepEqual(cancelled, { ...first, status: 'cancelled' });
  assert.deepEqual(await read(company, path), { ...before, items: [cancelled, second] });
  assert.deepEqual(await ok(company.get(path)), { ...before, items: [second] });
});

test('a cancelled item of a paid invoice is cancelled and not paid; reinstated, it is paid', async () => {
  const company = await app.company();
  const path = await make(company);
  const [first] = (await read(company, path)).items;
  await ok(company.post(`${path}/items/${first.id}/cancel`));
  await ok(pay(company, path, 120));
  assert.deepEqual((await shown(company, path)) as object, {
    ...paidAt(NOW),
    items: [
      ['cancelled', null],
      ['paid', NOW],
    ],
  });
  const reinstated = await ok(company.post(`${path}/items/${first.id}/reinstate`));
  assert.deepEqual(reinstated, { ...first, status: 'paid', paid_at: NOW });
  assert.deepEqual(await shown(company, path), paidAt(NOW));
});

test('an item is cancelled once, also when five ask at once, and reinstated only when it is cancelled', async () => {
  const company = await app.company();
  const path = await make(company);
  const [{ id }] = (await read(company, path)).items;
  await assertRefusedUnchanged(company, () => company.post(`${path}/items/${id}/reinstate`), {
    status: 'invalid_state',
  });
  const answers = await Promise.all(Array.from({ length: 5 }, () => company.post(`${path}/items/${id}/cancel`)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400, 400, 400, 400]);
  await assertRefusedUnchanged(company, () => company.post(`${path}/items/${id}/cancel`), { status: 'invalid_state' });
});

test('an item of a cancelled invoice is neither cancelled nor reinstated', async () => {
  const company = await app.company();
  const path = await make(company);
  const [first, second] = (await read(company, path)).items;
  await ok(company.post(`${path}/items/${first.id}/cancel`));
  await ok(company.post(`${path}/cancel`));
  for (const { id } of [first, second]) {
    for (const verb of ['cancel', 'reinstate']) {
      await assertRefusedUnchanged(company, () => company.post(`${path}/items/${id}/${verb}`), {
        status: 'invalid_state',
      });
    }
  }
  assert.match(
    (await company.post(`${path}/items/${second.id}/cancel`)).body.errors[0].message,
    /invoice is cancelled/,
  );
  await ok(company.post(`${path}/reinstate`));
  await ok(company.post(`${path}/items/${first.id}/reinstate`));
  await ok(company.post(`${path}/items/${second.id}/cancel`));
});

test('an item that was replaced can be neither cancelled nor reinstated', async () => {
  const company = await app.company();
  const path = await make(company);
  const [{ id }] = (await read(company, path)).items;
  await ok(company.post(`${path}/items/${id}/cancel`));
  await ok(company.patch(path, invoice()));
  for (const verb of ['cancel', 'reinstate']) assertNotFound(await company.post(`${path}/items/${id}/${verb}`));
});

// Whose, and who may

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

/** Every operation on an invoice, which gets a payment for it, in an order in which each is possible. */
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

test('without a body no Content-Type is asked for, with one it must be JSON', async () => {
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

test('a body that is too large changes nothing, also where none is taken', async () => {
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
