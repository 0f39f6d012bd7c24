import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused } from './harness/assert.ts';
import { invoiceBody } from './harness/bodies.ts';
import {
  app,
  create,
  everything,
  type Fields,
  item,
  items,
  only,
  UNKNOWN,
  WRITES,
  without,
  words,
} from './harness/invoices.ts';

const REQUIRED = words('invoice_number sender_id date_created date_due vat total sub_total');
const NUMBERS = ['vat', 'total', 'sub_total', 'vat_amount'];
const ITEM_NUMBERS = ['quantity', 'rate', 'amount'];

/** Sends each body to a new case. It must be refused with these faults, and nothing may be written. */
async function assertAllRefused(
  { begin }: (typeof WRITES)[number],
  cases: [body: Fields, faults: Record<string, string>][],
): Promise<void> {
  const company = await app.company();
  const send = await begin(company);
  const before = await everything(company);
  for (const [body, faults] of cases) assertRefused(await send(body), faults);
  assert.deepEqual(await everything(company), before);
}

for (const way of WRITES) {
  const { write } = way;

  test(`${write} refuses an invoice_number of 51 and a description of 201 characters`, () =>
    assertAllRefused(way, [
      [invoiceBody({ invoice_number: 'x'.repeat(51) }), { invoice_number: 'too_long' }],
      [invoiceBody({ invoice_number: '😀'.repeat(51) }), { invoice_number: 'too_long' }],
      [
        invoiceBody({ items: items('x'.repeat(200), 'x'.repeat(201), '😀'.repeat(201)) }),
        { 'items[1].description': 'too_long', 'items[2].description': 'too_long' },
      ],
    ]));

  test(`${write} needs each of its required fields, and null is no value`, () =>
    assertAllRefused(
      way,
      REQUIRED.flatMap((name) => [
        [without(invoiceBody(), name), { [name]: 'required' }],
        [invoiceBody({ [name]: null }), { [name]: 'required' }],
      ]),
    ));

  test(`${write} names all its missing fields at once`, () =>
    assertAllRefused(way, [[{}, Object.fromEntries(REQUIRED.map((name) => [name, 'required']))]]));

  test(`${write} needs each field of each item, and null is no value`, () =>
    assertAllRefused(
      way,
      ['description', ...ITEM_NUMBERS].flatMap((name) => [
        [invoiceBody({ items: [item(), without(item(), name)] }), { [`items[1].${name}`]: 'required' }],
        [invoiceBody({ items: [item('x', { [name]: null })] }), { [`items[0].${name}`]: 'required' }],
      ]),
    ));

  test(`${write} refuses what is not text where text belongs`, () =>
    assertAllRefused(
      way,
      [5, true, [], {}].flatMap((wrong) => [
        ...['invoice_number', 'sender_id', 'date_created', 'date_due', 'payment_terms'].map(
          (name): [Fields, Record<string, string>] => [invoiceBody({ [name]: wrong }), { [name]: 'type' }],
        ),
        [invoiceBody({ items: [item('x', { description: wrong })] }), { 'items[0].description': 'type' }],
      ]),
    ));

  test(`${write} refuses what is neither number nor text where a number belongs`, () =>
    assertAllRefused(
      way,
      [true, [], {}].flatMap((wrong) => [
        ...NUMBERS.map((name): [Fields, Record<string, string>] => [
          invoiceBody({ [name]: wrong }),
          { [name]: 'type' },
        ]),
        ...ITEM_NUMBERS.map((name): [Fields, Record<string, string>] => [
          invoiceBody({ items: [item('x', { [name]: wrong })] }),
          { [`items[0].${name}`]: 'type' },
        ]),
      ]),
    ));

  test(`${write} refuses items that are no array of objects`, () =>
    assertAllRefused(way, [
      ...[item(), 'x', 5, true].map((wrong): [Fields, Record<string, string>] => [
        invoiceBody({ items: wrong }),
        { items: 'type' },
      ]),
      ...['x', 5, [], true].map((wrong): [Fields, Record<string, string>] => [
        invoiceBody({ items: [item(), wrong] }),
        { 'items[1]': 'type' },
      ]),
      [invoiceBody({ items: [item(), null] }), { 'items[1]': 'required' }],
    ]));

  test(`${write} refuses a sender_id that is no UUID`, () =>
    assertAllRefused(
      way,
      ['', 'x', `${UNKNOWN}0`, ` ${UNKNOWN}`, `{${UNKNOWN}}`, UNKNOWN.replaceAll('-', '')].map((sender_id) => [
        invoiceBody({ sender_id }),
        { sender_id: 'format' },
      ]),
    ));

  test(`${write} refuses an empty invoice_number`, () =>
    assertAllRefused(way, [[invoiceBody({ invoice_number: '' }), { invoice_number: 'too_short' }]]));

  test(`${write} refuses a quantity that is not whole`, () =>
    assertAllRefused(
      way,
      [1.5, '1.5', -0.5, '0.0001'].map((quantity) => [
        invoiceBody({ items: [item('x', { quantity })] }),
        { 'items[0].quantity': 'type' },
      ]),
    ));

  test(`${write} refuses NUL characters and half surrogates in every text`, () =>
    assertAllRefused(way, [
      [invoiceBody({ invoice_number: 'a\0b' }), { invoice_number: 'invalid_character' }],
      [invoiceBody({ payment_terms: '\0' }), { payment_terms: 'invalid_character' }],
      [invoiceBody({ invoice_number: '\ud83d' }), { invoice_number: 'invalid_character' }],
      [invoiceBody({ items: items('fine', 'a\0') }), { 'items[1].description': 'invalid_character' }],
    ]));

  test(`${write} takes a thousand items and refuses one more`, async () => {
    const many = Array.from({ length: 1001 }, () => item('x'));
    await assertAllRefused(way, [[invoiceBody({ items: many }), { items: 'too_many' }]]);
    const company = await app.company();
    const send = await way.begin(company);
    const answer = await send(invoiceBody({ items: many.slice(1) }));
    assert.equal(answer.status, 200, answer.text);
    assert.equal((await only(company)).items.length, 1000);
  });

  test(`${write} takes payment_terms of 1000 characters and refuses one more`, async () => {
    await assertAllRefused(way, [[invoiceBody({ payment_terms: '😀'.repeat(1001) }), { payment_terms: 'too_long' }]]);
    const company = await app.company();
    const send = await way.begin(company);
    const answer = await send(invoiceBody({ payment_terms: '😀'.repeat(1000) }));
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.body.payment_terms, '😀'.repeat(1000));
  });

  test(`${write} names a number that is taken together with the other faults`, async () => {
    const company = await app.company();
    const send = await way.begin(company);
    await create(company, { invoice_number: 'N' });
    const before = await everything(company);
    const answer = await send(
      invoiceBody({ invoice_number: 'N', date_due: 'soon', items: [item('x', { rate: 'x' })] }),
    );
    assertRefused(answer, { invoice_number: 'taken', date_due: 'format', 'items[0].rate': 'format' });
    assert.deepEqual(await everything(company), before);
  });

  test(`${write} names all faults at once, those of the items by their place`, () =>
    assertAllRefused(way, [
      [
        {
          invoice_number: 'x'.repeat(51),
          sender_id: 'me',
          date_created: '2026-02-30 10:00:00',
          vat: 'twenty',
          total: true,
          sub_total: '10000000000',
          vat_amount: '1e3',
          payment_terms: 30,
          items: [
            item('fine'),
            { description: 'x'.repeat(201), quantity: 1.5, amount: 'x' },
            7,
            item('x', { rate: '0x10' }),
          ],
        },
        {
          invoice_number: 'too_long',
          sender_id: 'format',
          date_created: 'format',
          date_due: 'required',
          vat: 'format',
          total: 'type',
          sub_total: 'out_of_range',
          vat_amount: 'format',
          payment_terms: 'type',
          'items[1].description': 'too_long',
          'items[1].quantity': 'type',
          'items[1].rate': 'required',
          'items[1].amount': 'format',
          'items[2]': 'type',
          'items[3].rate': 'format',
        },
      ],
    ]));
}

test('a refusal is a problem document with a message for each field', async () => {
  const company = await app.company();
  const answer = await company.post(`${company.path}/invoices`, invoiceBody({ items: [without(item(), 'rate')] }));
  assertRefused(answer, { 'items[0].rate': 'required' });
  assert.match(String(answer.headers['content-type']), /^application\/problem\+json/);
  assert.deepEqual(Object.keys(answer.body).sort(), [
    'code',
    'detail',
    'errors',
    'request_id',
    'status',
    'title',
    'type',
  ]);
  assert.equal(answer.body.status, 400);
  assert.equal(answer.body.request_id, answer.headers['x-request-id']);
  assert.ok(answer.body.errors[0].message.length > 0);
});

test('keep_existing_items is a JSON boolean; anything else is refused', async () => {
  const [, patch] = WRITES;
  assert.ok(patch);
  await assertAllRefused(
    patch,
    ['true', 'false', 1, 0, '', [], {}].map((keep_existing_items) => [
      invoiceBody({ keep_existing_items, items: items('new') }),
      { keep_existing_items: 'type' },
    ]),
  );
});
