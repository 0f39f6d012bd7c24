import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused } from './harness/assert.ts';
import type { Answer } from './harness/http.ts';
import {
  app,
  assertNothingStored,
  create,
  type Fields,
  FORMS,
  invoice,
  item,
  json,
  LIMIT,
  listedItems,
  listText,
  plain,
  post,
  raw,
  written,
} from './harness/money.ts';

const SUMS = { total: 'total', sub_total: 'subtotal', vat_amount: 'vat_amount' };
const ITEM_NUMBERS = ['quantity', 'rate', 'amount'];

const assertFaults = (answer: Answer, ...faults: [field: string, code: string][]) =>
  assertRefused(answer, Object.fromEntries(faults));

const ROUNDED_TO_TWO: [sent: string, kept: string][] = [
  ['60', '60'],
  ['60.00', '60'],
  ['-5.5', '-5.5'],
  ['0', '0'],
  ['0.1', '0.1'],
  ['0.29', '0.29'],
  ['1.005', '1.01'],
  ['-1.005', '-1.01'],
  ['1.00499999999999999999', '1'],
  ['-1.00499999999999999999', '-1'],
  ['1.00500000000000000001', '1.01'],
  ['1.0049', '1'],
  ['1.00499999999999', '1'],
  ['1.004999999999999', '1'],
  ['1.0049999999999999', '1'],
  ['2.675', '2.68'],
  ['2.665', '2.67'],
  ['-2.665', '-2.67'],
  ['8.345', '8.35'],
  ['1.995', '2'],
  ['-1.995', '-2'],
  ['0.005', '0.01'],
  ['-0.005', '-0.01'],
  ['0.00499999999999999999999999', '0'],
  ['-0.004', '0'],
  ['-0', '0'],
  ['-0.00', '0'],
  ['0.30000000000000004', '0.3'],
  ['1234567890.125', '1234567890.13'],
  ['1234567890.12499', '1234567890.12'],
  ['1234567890.124999', '1234567890.12'],
  ['1234567890.12499999999999', '1234567890.12'],
  ['9007199254.745', '9007199254.75'],
  ['8590060679.004999', '8590060679'],
  ['-8590060679.014999', '-8590060679.01'],
  ['-8589934592.015', '-8589934592.02'],
];

const ROUNDED_TO_FOUR: [sent: string, kept: string][] = [
  ['33.3333', '33.3333'],
  ['-0.0001', '-0.0001'],
  ['0.12345', '0.1235'],
  ['-0.12345', '-0.1235'],
  ['0.12335', '0.1234'],
  ['1.00005', '1.0001'],
  ['1.00004999999999999999', '1'],
  ['-1.00004999999999999999', '-1'],
  ['0.00005', '0.0001'],
  ['0.00004999999999999999999', '0'],
  ['-0.00004', '0'],
  ['1234567890.12345', '1234567890.1235'],
  ['60.00000', '60'],
];

for (const [form, write] of Object.entries(FORMS)) {
  for (const [field, shownAs] of Object.entries(SUMS)) {
    test(`${field} as ${form} is rounded half away from zero to two places, exactly`, async () => {
      const company = await app.company();
      for (const [sent, kept] of ROUNDED_TO_TWO) {
        const created = await create(company, { [field]: write(sent), date_created: '2026-05-01 10:00' });
        assert.deepEqual(written(created.text, shownAs), [kept], sent);
        const updated = await company.patch(
          `${company.path}/invoices/${created.body.id}`,
          json(invoice({ [field]: write(sent) })),
        );
        assert.equal(updated.status, 200, updated.text);
        assert.deepEqual(written(updated.text, shownAs), [kept], sent);
      }
      const listed = written(await listText(company), shownAs);
      assert.deepEqual(listed.sort(), ROUNDED_TO_TWO.map(([, kept]) => kept).sort());
    });
  }

  test(`an item's amount as ${form} is rounded half away from zero to two places, exactly`, async () => {
    const company = await app.company();
    const items = ROUNDED_TO_TWO.map(([sent]) => item({ amount: write(sent) }));
    assert.deepEqual(
      await listedItems(company, items, 'amount', 'vat_amount'),
      ROUNDED_TO_TWO.map(([, kept]) => [kept, kept]),
    );
  });

  test(`an item's rate as ${form} keeps four places, the fourth rounded half away from zero, exactly`, async () => {
    const company = await app.company();
    const items = ROUNDED_TO_FOUR.map(([sent]) => item({ rate: write(sent), quantity: 0 }));
    assert.deepEqual(
      await listedItems(company, items, 'rate'),
      ROUNDED_TO_FOUR.map(([, kept]) => [kept]),
    );
  });

  test(`an item's quantity as ${form} is a whole number`, async () => {
    const company = await app.company();
    const quantities = ['1', '0', '-7', '9999999999', '-9999999999'];
    assert.deepEqual(
      await listedItems(
        company,
        quantities.map((quantity) => item({ quantity: write(quantity) })),
        'quantity',
      ),
      quantities.map((quantity) => [quantity]),
    );
    for (const quantity of ['1.5', '-0.5', '0.00000000000000000000001', '1.00000000000000000001']) {
      assertFaults(await post(company, { items: [item({ quantity: write(quantity) })] }), [
        'items[0].quantity',
        'type',
      ]);
    }
    await assertNothingStored(company);
  });

  test(`sums as ${form} are taken up to ±9999999999.99 and refused one step past it`, async () => {
    const company = await app.company();
    for (const [field, shownAs] of Object.entries(SUMS)) {
      for (const sign of ['', '-']) {
        for (const past of ['10000000000', '10000000000.00', '9999999999.995', '12345678901234567890']) {
          assertFaults(await post(company, { [field]: write(sign + past) }), [field, 'out_of_range']);
        }
      }
      await assertNothingStored(company);
      for (const sign of ['', '-']) {
        const { text, body } = await create(company, { [field]: write(sign + LIMIT) });
        assert.deepEqual(written(text, shownAs), [sign + LIMIT]);
        assert.ok(written(await listText(company), shownAs).includes(sign + LIMIT));
        await app.sql('DELETE FROM invoices WHERE id = $1', [body.id]);
      }
    }
  });

  test(`vat as ${form} is taken up to ±9999999999.99 and refused past it`, async () => {
    const company = await app.company();
    for (const past of ['10000000000', '-10000000000', '1234567890123456789']) {
      assertFaults(await post(company, { vat: write(past) }), ['vat', 'out_of_range']);
    }
    await assertNothingStored(company);
    for (const vat of [LIMIT, `-${LIMIT}`, '17.5', '0']) {
      const { body } = await create(company, { vat: write(vat) });
      const [stored] = await app.sql<{ vat: string }>('SELECT vat::text FROM invoices WHERE id = $1', [body.id]);
      assert.equal(plain(stored?.vat ?? ''), vat);
    }
  });

  test(`the numbers of an item as ${form} are taken up to their limits and refused one step past them`, async () => {
    const company = await app.company();
    for (const [field, past] of [
      ['amount', '10000000000'],
      ['amount', '9999999999.995'],
      ['amount', '12345678901234567890.12'],
      ['rate', '10000000000'],
      ['quantity', '10000000000'],
      ['quantity', '9223372036854775808'],
    ] as const) {
      for (const sign of ['', '-']) {
        assertFaults(await post(company, { items: [item(), item({ quantity: 0, [field]: write(sign + past) })] }), [
          `items[1].${field}`,
          'out_of_range',
        ]);
      }
    }
    await assertNothingStored(company);
    for (const sign of ['', '-']) {
      const limit = sign + LIMIT;
      assert.deepEqual(
        await listedItems(
          company,
          [item({ amount: write(limit) }), item({ rate: write(limit), amount: write(limit) })],
          'rate',
          'subtotal',
          'amount',
          'vat_amount',
        ),
        [
          ['0', '0', limit, limit],
          [limit, limit, limit, '0'],
        ],
      );
    }
  });
}

test('a rate is refused as soon as it is past ±9999999999.99, in its third or fourth place too', async () => {
  const company = await app.company();
  for (const past of ['9999999999.9901', '-9999999999.9901', '9999999999.9999', '9999999999.99995']) {
    for (const write of Object.values(FORMS)) {
      assertFaults(await post(company, { items: [item({ quantity: 0, rate: write(past) })] }), [
        'items[0].rate',
        'out_of_range',
      ]);
    }
  }
  await assertNothingStored(company);
});

test('a JSON number may have an exponent and means exactly what it says', async () => {
  const company = await app.company();
  for (const [sent, kept] of [
    ['1e2', '100'],
    ['1E2', '100'],
    ['1.5e+1', '15'],
    ['125E-1', '12.5'],
    ['1005e-3', '1.01'],
    ['-1005E-3', '-1.01'],
    ['0.00000000001005e11', '1.01'],
    ['9.99999999999e9', LIMIT],
    ['-999999999999e-2', `-${LIMIT}`],
    ['5e-3', '0.01'],
    ['1e-400', '0'],
    ['-1e-400', '0'],
    ['0e400', '0'],
  ] as const) {
    const { text } = await create(company, { total: raw(sent) });
    assert.deepEqual(written(text, 'total'), [kept], sent);
  }
  assert.deepEqual(
    await listedItems(
      company,
      [item({ quantity: raw('1e1'), rate: raw('125e-4'), amount: raw('1.25e-1') })],
      'quantity',
      'rate',
      'subtotal',
      'vat_amount',
    ),
    [['10', '0.0125', '0.13', '0']],
  );
});

test('a JSON number with an exponent and more than fifteen digits is read digit by digit', async () => {
  const company = await app.company();
  for (const [sent, kept] of [
    ['100499999999999999999e-20', '1'],
    ['-100499999999999999999E-20', '-1'],
    ['4.9999999999999999999e-3', '0'],
    ['0.00000000100499999999999999999e9', '1'],
    ['1.00499999999999999999e0', '1'],
    ['123456789012499999999999e-14', '1234567890.12'],
  ] as const) {
    const { text } = await create(company, { total: raw(sent) });
    assert.deepEqual(written(text, 'total'), [kept], sent);
  }
});

for (const [size, exponents] of [
  ['that a double holds', ['1e10', '-1e10', '0.1e11', '1e308']],
  ['that no double holds', ['1e309', '-1e400', '1e999999999', '1e99999999999999999999']],
] as const) {
  test(`a JSON number ${size}, carried past the limit by its exponent, is out of range`, async () => {
    const company = await app.company();
    for (const sent of exponents) {
      assertFaults(await post(company, { total: raw(sent) }), ['total', 'out_of_range']);
      assertFaults(await post(company, { items: [item({ rate: raw(sent) })] }), ['items[0].rate', 'out_of_range']);
    }
    await assertNothingStored(company);
  });
}

test('a string is a plain decimal: no exponent, no hex, no blanks, no other notation', async () => {
  const company = await app.company();
  for (const wrong of [
    '',
    ' ',
    ' 60',
    '60 ',
    '60\n',
    '1e2',
    '1E2',
    '0x10',
    '0b1',
    'NaN',
    'Infinity',
    '-Infinity',
    '1,000.00',
    '1.000,00',
    '1_000',
    '£60',
    '60%',
    '--5',
    '- 5',
    '1.2.3',
    '-',
    '.',
    '٦٠',
    '６０',
    '60n',
    'sixty',
    'true',
    'null',
  ]) {
    for (const field of ['vat', ...Object.keys(SUMS)]) {
      assertFaults(await post(company, { [field]: wrong }), [field, 'format']);
    }
    for (const field of ITEM_NUMBERS) {
      assertFaults(await post(company, { items: [item({ [field]: wrong })] }), [`items[0].${field}`, 'format']);
    }
  }
  await assertNothingStored(company);
});

test('what is no JSON number is no JSON', async () => {
  const company = await app.company();
  for (const wrong of ['01', '-01', '1.', '.5', '+1', '1e', '1e+', '-', '0x10', 'NaN', 'Infinity', '1_000', '1 000']) {
    const answer = await post(company, { total: raw(wrong) });
    assert.equal(answer.status, 400, `${wrong}: ${answer.text}`);
    assert.equal(answer.body.code, 'invalid_request');
  }
  await assertNothingStored(company);
});

test('digits inside text are text', async () => {
  const company = await app.company();
  for (const description of [
    '1.00499999999999999999',
    '": 1.00499999999999999999, "',
    '\\": 1.00499999999999999999,',
    '\\\\": 12345678901234567890',
    '[1.00499999999999999999]',
    '\u2028 1e400 \u0001',
  ]) {
    const items = [item({ description, amount: raw('1.00499999999999999999') })];
    const { body } = await create(company, { items, payment_terms: description });
    assert.equal(body.payment_terms, description);
    const listed = JSON.parse(await listText(company)).find(({ id }: Fields) => id === body.id);
    assert.deepEqual([listed.items[0].description, listed.items[0].amount], [description, 1]);
  }
});

for (const length of ['short', 'long']) {
  test(`a ${length} JSON number is not text`, async () => {
    const company = await app.company();
    const number = raw(length === 'short' ? '12.5' : '12345678901234567890.12345678901234567890');
    assertFaults(await post(company, { payment_terms: number }), ['payment_terms', 'type']);
    assertFaults(await post(company, { invoice_number: number }), ['invoice_number', 'type']);
    assertFaults(await post(company, { items: [item({ description: number })] }), ['items[0].description', 'type']);
    assertFaults(await post(company, { items: number }), ['items', 'type']);
    await assertNothingStored(company);
  });
}
