import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { startApp, type TestCompany } from './harness/app.ts';
import { assertRefused } from './harness/assert.ts';
import { invoiceBody } from './harness/bodies.ts';
import type { Answer } from './harness/http.ts';

const app = await startApp();

const SUMS = { total: 'total', sub_total: 'subtotal', vat_amount: 'vat_amount' };
const ITEM_NUMBERS = ['quantity', 'rate', 'amount'];
const LIMIT = '9999999999.99';

type Fields = Record<string, unknown>;

/** A number as it stands in JSON, digit by digit; `json` writes it without quotes. */
const raw = (number: string) => `#${number}`;
const json = (body: unknown) => JSON.stringify(body).replaceAll(/"#([^"]*)"/g, '$1');

const FORMS = { 'a JSON number': raw, 'a decimal string': (number: string) => number };

const invoice = (fields: Fields = {}) => invoiceBody({ vat: 0, total: 0, sub_total: 0, vat_amount: 0, ...fields });

const item = (fields: Fields = {}) => ({ description: 'Advice', quantity: 1, rate: 0, amount: 0, ...fields });

const post = (company: TestCompany, fields: Fields) => company.post(`${company.path}/invoices`, json(invoice(fields)));

async function create(company: TestCompany, fields: Fields): Promise<Answer> {
  const answer = await post(company, fields);
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

async function listText(company: TestCompany): Promise<string> {
  const answer = await company.get(`${company.path}/invoices`);
  assert.equal(answer.status, 200, answer.text);
  return answer.text;
}

/** The digits with which a field stands in an answer, at each of its places. */
const written = (text: string, field: string) =>
  [...text.matchAll(new RegExp(`"${field}"\\s*:\\s*([-\\d.eE+]+)`, 'g'))].map(([, digits]) => plain(digits ?? ''));

/** A decimal without the zeros that do not count. */
function plain(decimal: string): string {
  assert.match(decimal, /^-?(0|[1-9]\d*)(\.\d+)?$/);
  return decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal;
}

/** Creates an invoice in a case of its own with these items and gives the digits that the list shows of them. */
async function listedItems(company: TestCompany, items: Fields[], ...fields: string[]): Promise<string[][]> {
  const path = `/cases/${await company.openCase()}/invoices`;
  const created = await company.post(path, json(invoice({ items })));
  assert.equal(created.status, 200, created.text);
  const { text } = await company.get(path);
  const ofItems = text.slice(text.search(/"items"/), text.lastIndexOf(']', text.length - 2));
  return items.map((_, i) => fields.map((field) => written(ofItems, field)[i] ?? 'absent'));
}

const assertFaults = (answer: Answer, ...faults: [field: string, code: string][]) =>
  assertRefused(answer, Object.fromEntries(faults));

async function assertNothingStored(company: TestCompany): Promise<void> {
  assert.equal(await listText(company), '[]');
}

/** Rounds a decimal half away from zero to so many places, in units of the last one. */
function units(decimal: string, places: number): bigint {
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal) ?? [];
  const scaled = BigInt(whole + fraction.padEnd(places, '0').slice(0, places));
  const magnitude = (fraction[places] ?? '0') >= '5' ? scaled + 1n : scaled;
  return sign ? -magnitude : magnitude;
}

/** Units of the last of so many places, as a decimal. */
function decimal(units: bigint, places: number): string {
  const digits = String(units < 0n ? -units : units).padStart(places + 1, '0');
  return plain(`${units < 0n ? '-' : ''}${digits.slice(0, -places)}.${digits.slice(-places)}`);
}

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
