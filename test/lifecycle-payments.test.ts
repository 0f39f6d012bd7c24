import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { assertRefused, ok } from './harness/assert.ts';
import {
  app,
  assertRefusedUnchanged,
  invoice,
  listed,
  make,
  NOW,
  paidAt,
  pay,
  read,
  shown,
  UNPAID,
  WRITE_KEYS,
} from './harness/lifecycle-invoices.ts';

const PAYMENT_KEYS = [
  ...['amount', 'case_invoice_id', 'created_at', 'customer_case_id', 'id', 'paid_at', 'reference', 'reversed_at'],
];

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

test('the other fields of a payment are validated too, all together', async () => {
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

test('a cancelled invoice takes no payment, and both faults are named together', async () => {
  const company = await app.company();
  const path = await make(company);
  await ok(company.post(`${path}/cancel`));
  await assertRefusedUnchanged(company, () => pay(company, path, 1), { status: 'invalid_state' });
  await assertRefusedUnchanged(company, () => pay(company, path, -1), {
    status: 'invalid_state',
    amount: 'out_of_range',
  });
});

test('of twenty concurrent payments of 1.00 on an invoice of 10.00 exactly ten succeed', async () => {
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

test('concurrent payments and updates: none is lost', async () => {
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

test('a payment is reversed once, also by five concurrent requests', async () => {
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
