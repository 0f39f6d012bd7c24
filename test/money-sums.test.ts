import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  app,
  assertNothingStored,
  create,
  decimal,
  type Fields,
  FORMS,
  invoice,
  item,
  json,
  LIMIT,
  listedItems,
  listText,
  post,
  raw,
  units,
  written,
} from './harness/money.ts';

test('total less sub_total is exact', async () => {
  const company = await app.company();
  for (const [total, sub_total, difference] of [
    ['0.3', '0.1', '0.2'],
    ['1.1', '1', '0.1'],
    ['4.35', '4.34', '0.01'],
    ['9999999999.99', '9999999999.98', '0.01'],
    ['0.005', '0.004', '0.01'],
    ['-0.3', '-0.1', '-0.2'],
    ['100', '100.00', '0'],
  ] as const) {
    for (const write of Object.values(FORMS)) {
      const { text } = await create(company, { total: write(total), sub_total: write(sub_total), vat_amount: null });
      assert.deepEqual(written(text, 'vat_amount'), [difference]);
    }
  }
});

test('a difference of total and sub_total past the limit is refused unless vat_amount is sent', async () => {
  const company = await app.company();
  const fields = { total: LIMIT, sub_total: '-0.01' };
  const answer = await post(company, { ...fields, vat_amount: null });
  assert.equal(answer.status, 400, answer.text);
  assert.equal(answer.body.errors.length, 1);
  assert.equal(answer.body.errors[0].code, 'out_of_range');
  assert.ok(['vat_amount', 'total', 'sub_total'].includes(answer.body.errors[0].field), answer.text);
  await assertNothingStored(company);
  await create(company, { ...fields, vat_amount: 5 });
});

test('the subtotal of an item is quantity × rate, rounded half away from zero; its vat_amount is the rest of amount', async () => {
  const company = await app.company();
  const rows = [
    ['3', '0.335', '1.01', '1.01', '0', 'false'],
    ['-3', '0.335', '-1.01', '-1.01', '0', 'false'],
    ['3', '-0.335', '-1', '-1.01', '0.01', 'true'],
    ['1', '1.005', '1.005', '1.01', '0', 'false'],
    ['3', '33.3333', '120', '100', '20', 'true'],
    ['7', '0.0007', '0', '0', '0', 'false'],
    ['8', '0.0007', '0', '0.01', '-0.01', 'true'],
    ['3', '1.1', '3.3', '3.3', '0', 'false'],
    ['1', '0.1', '0.3', '0.1', '0.2', 'true'],
    ['0', '99.99', '0.01', '0', '0.01', 'true'],
    ['3', '3333333333.33', LIMIT, LIMIT, '0', 'false'],
    ['-3', '3333333333.33', '0', `-${LIMIT}`, LIMIT, 'true'],
    ['9999999999', '1', '0', '9999999999', '-9999999999', 'true'],
  ];
  const text = rows.map(([quantity, rate, amount]) => item({ quantity, rate, amount }));
  const digits = rows.map(([quantity, rate, amount]) =>
    item({ quantity: raw(quantity ?? ''), rate: raw(rate ?? ''), amount: raw(amount ?? '') }),
  );
  for (const items of [text, digits]) {
    const listed = await listedItems(company, items, 'subtotal', 'vat_amount');
    assert.deepEqual(
      listed,
      rows.map(([, , , subtotal, vat]) => [subtotal, vat]),
    );
    const path = `/cases/${await company.openCase()}/invoices`;
    await company.post(path, json(invoice({ items })));
    const { body } = await company.get(path);
    assert.deepEqual(
      body[0].items.map(({ has_vat }: Fields) => String(has_vat)),
      rows.map(([, , , , , has]) => has),
    );
  }
});

for (const [why, fields] of [
  ['quantity × rate', { quantity: 2, rate: '5000000000', amount: 0 }],
  ['quantity × rate', { quantity: -2, rate: '5000000000', amount: 0 }],
  ['quantity × rate', { quantity: '9999999999', rate: LIMIT, amount: LIMIT }],
  ['quantity × rate, once rounded,', { quantity: 3, rate: '3333333333.3317', amount: LIMIT }],
  ['amount less subtotal', { quantity: 1, rate: '-0.01', amount: LIMIT }],
  ['amount less subtotal', { quantity: 1, rate: LIMIT, amount: '-0.01' }],
] as const) {
  test(`an item is refused when ${why} is past the limit: ${JSON.stringify(fields)}`, async () => {
    const company = await app.company();
    const answer = await post(company, { items: [item(), item(fields)] });
    assert.equal(answer.status, 400, answer.text);
    assert.equal(answer.body.errors.length, 1, answer.text);
    assert.equal(answer.body.errors[0].code, 'out_of_range');
    assert.match(answer.body.errors[0].field, /^items\[1\]/);
    await assertNothingStored(company);
    const { body } = await create(company, { items: [item()] });
    const before = await listText(company);
    const updated = await company.patch(
      `${company.path}/invoices/${body.id}`,
      json(invoice({ items: [item(fields)] })),
    );
    assert.equal(updated.status, 400, updated.text);
    assert.equal(await listText(company), before);
  });
}

test('numbers that were listed can be sent back and stay what they are', async () => {
  const company = await app.company();
  const { body } = await create(company, {
    total: LIMIT,
    sub_total: '-8589934592.02',
    vat_amount: '0.01',
    items: [
      item({ quantity: -3, rate: '1234567.8901', amount: '0.1' }),
      item({ quantity: '9999999999', rate: '0.0001', amount: '-999999.99' }),
    ],
  });
  const before = JSON.parse(await listText(company))[0];
  const { total, subtotal, vat_amount, items } = before;
  const answer = await company.patch(
    `${company.path}/invoices/${body.id}`,
    invoice({ invoice_number: body.invoice_number, total, sub_total: subtotal, vat_amount, items }),
  );
  assert.equal(answer.status, 200, answer.text);
  const after = JSON.parse(await listText(company))[0];
  const anonymous = (invoice: { items: Fields[] }) => ({
    ...invoice,
    items: invoice.items.map((item) => ({ ...item, id: '' })),
  });
  assert.deepEqual(anonymous(after), anonymous(before));
});

const anyDecimal = (wholeDigits: number, fractionDigits: number) =>
  fc
    .tuple(
      fc.constantFrom('', '-'),
      fc.bigInt({ min: 0n, max: 10n ** BigInt(wholeDigits) - 1n }),
      fc.stringMatching(new RegExp(`^(|\\d{1,${fractionDigits}}|\\d{2}5|\\d{4}5|\\d{2}49{1,${fractionDigits}})$`)),
    )
    .map(([sign, whole, fraction]) => `${sign}${whole}${fraction && `.${fraction}`}`);

test('the numbers of any item are those of a calculation with whole numbers', async () => {
  const company = await app.company();
  const anyItem = fc.record({
    quantity: fc.integer({ min: -9999, max: 9999 }).map(String),
    rate: anyDecimal(5, 12),
    amount: anyDecimal(9, 25),
    write: fc.constantFrom(...Object.values(FORMS)),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(anyItem, { minLength: 1, maxLength: 12 }), async (sent) => {
      const items = sent.map(({ write, quantity, rate, amount }) =>
        item({ quantity: write(quantity), rate: write(rate), amount: write(amount) }),
      );
      const path = `/cases/${await company.openCase()}/invoices`;
      const created = await company.post(path, json(invoice({ items })));
      assert.equal(created.status, 200, created.text);
      const { text, body } = await company.get(path);
      const ofItems = text.slice(text.search(/"items"/), text.lastIndexOf(']', text.length - 2));
      const shown = (field: string) => written(ofItems, field);
      const calculated = sent.map(({ quantity, rate, amount }) => {
        const keptRate = units(rate, 4);
        const subtotal = units(decimal(BigInt(quantity) * keptRate, 4), 2);
        const vat = units(amount, 2) - subtotal;
        return { quantity, keptRate, amount: units(amount, 2), subtotal, vat };
      });
      assert.deepEqual(
        shown('quantity'),
        calculated.map(({ quantity }) => quantity),
      );
      assert.deepEqual(
        shown('rate'),
        calculated.map(({ keptRate }) => decimal(keptRate, 4)),
      );
      assert.deepEqual(
        shown('amount'),
        calculated.map(({ amount }) => decimal(amount, 2)),
      );
      assert.deepEqual(
        shown('subtotal'),
        calculated.map(({ subtotal }) => decimal(subtotal, 2)),
      );
      assert.deepEqual(
        shown('vat_amount'),
        calculated.map(({ vat }) => decimal(vat, 2)),
      );
      assert.deepEqual(
        body[0].items.map(({ has_vat }: Fields) => has_vat),
        calculated.map(({ vat }) => vat !== 0n),
      );
    }),
    { numRuns: 60 },
  );
});

test('any total is kept to the penny or refused when it is past the limit', async () => {
  const company = await app.company();
  const anyTotal = fc.oneof(anyDecimal(10, 20), anyDecimal(11, 20), anyDecimal(25, 3), anyDecimal(2, 30));
  await fc.assert(
    fc.asyncProperty(anyTotal, anyTotal, fc.constantFrom(...Object.values(FORMS)), async (total, subTotal, write) => {
      const limit = units(LIMIT, 2);
      const past = (sum: string) => units(sum, 2) > limit || units(sum, 2) < -limit;
      const answer = await post(company, { total: write(total), sub_total: write(subTotal) });
      const faults = Object.entries({ total, sub_total: subTotal }).filter(([, sum]) => past(sum));
      if (faults.length > 0) {
        assert.equal(answer.status, 400, answer.text);
        assert.deepEqual(
          answer.body.errors.map(({ field, code }: Fields) => `${field} ${code}`).sort(),
          faults.map(([field]) => `${field} out_of_range`).sort(),
        );
      } else {
        assert.equal(answer.status, 200, answer.text);
        assert.deepEqual(written(answer.text, 'total'), [decimal(units(total, 2), 2)]);
        assert.deepEqual(written(answer.text, 'subtotal'), [decimal(units(subTotal, 2), 2)]);
      }
    }),
    { numRuns: 150 },
  );
});
