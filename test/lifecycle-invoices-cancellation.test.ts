import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { TestCompany } from './harness/app.ts';
import { assertNotFound, ok } from './harness/assert.ts';
import {
  app,
  assertRefusedUnchanged,
  cancelled,
  type Fields,
  invoice,
  line,
  listed,
  make,
  NOW,
  paidAt,
  pay,
  read,
  shown,
  UNPAID,
} from './harness/lifecycle-invoices.ts';
import { type Holding, overlapping } from './harness/overlap.ts';

// Changes of paid and cancelled invoices

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

test('of a concurrent payment and cancellation one is refused', async () => {
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

// Concurrent changes

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

test('an item is cancelled once, also by five concurrent requests, and reinstated only when it is cancelled', async () => {
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
