import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { invoiceBody } from './harness/bodies.ts';
import {
  app,
  create,
  descriptions,
  everything,
  type Fields,
  item,
  items,
  list,
  only,
  UNKNOWN,
  UUID_V7,
  WRITES,
  words,
} from './harness/invoices.ts';

const WRITE_KEYS = words(`
  customer_case_id date_created date_due date_paid date_sent id invoice_number notes payment_terms
  recipients_name ref subtotal terms total vat_amount
`);

// Operations 8 and 9, the body

test('a create answers with exactly the documented fields', async () => {
  const company = await app.company();
  const created = await create(company, {
    invoice_number: 'INV-A',
    date_created: '2026-01-15 09:30',
    date_due: '2026-07-15 09:30:15',
    sub_total: 100,
    vat_amount: 20.5,
    total: 120.5,
    payment_terms: '7 days',
    items: items('Advice'),
  });
  assert.deepEqual(Object.keys(created).sort(), WRITE_KEYS);
  assert.match(created.id, UUID_V7);
  assert.deepEqual(created, {
    id: created.id,
    ref: null,
    notes: null,
    terms: '',
    date_created: '2026-01-15T09:30:00.000000Z',
    date_due: '2026-07-15T08:30:15.000000Z',
    date_sent: null,
    date_paid: null,
    payment_terms: '7 days',
    subtotal: 100,
    total: 120.5,
    invoice_number: 'INV-A',
    recipients_name: 'Mr John Smith and Mrs Ann Smith',
    vat_amount: 20.5,
    customer_case_id: company.caseId,
  });
});

for (const method of ['PATCH', 'POST']) {
  test(`an update by ${method} changes every field that was sent and answers with exactly the documented fields`, async () => {
    const company = await app.company();
    const { id } = await create(company, { payment_terms: '7 days' });
    const sender = randomUUID();
    const answer = await company.send(method, `${company.path}/invoices/${id}`, {
      invoice_number: 'INV-B',
      sender_id: sender,
      date_created: '2026-01-15 09:30',
      date_due: '2026-07-15 09:30:15',
      vat: 17.5,
      total: 235,
      sub_total: 200,
      vat_amount: 34.99,
      payment_terms: '60 days',
      items: items('New'),
    });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(Object.keys(answer.body).sort(), WRITE_KEYS);
    assert.deepEqual(answer.body, {
      id,
      ref: null,
      notes: null,
      terms: '',
      date_created: '2026-01-15T09:30:00.000000Z',
      date_due: '2026-07-15T08:30:15.000000Z',
      date_sent: null,
      date_paid: null,
      payment_terms: '60 days',
      subtotal: 200,
      total: 235,
      invoice_number: 'INV-B',
      recipients_name: 'Mr John Smith and Mrs Ann Smith',
      vat_amount: 34.99,
      customer_case_id: company.caseId,
    });
    const listed = await only(company);
    const shown = WRITE_KEYS.map((name) => [name, listed[name]]);
    assert.deepEqual(Object.fromEntries(shown), { ...answer.body, date_created: '2026-01-15 09:30:00' });
    assert.deepEqual(descriptions(listed), ['New']);
    const [stored] = await app.sql<Fields>('SELECT sender_id, vat::text FROM invoices WHERE id = $1', [id]);
    assert.deepEqual(stored, { sender_id: sender, vat: '17.5000' });
  });
}

for (const { write, begin } of WRITES) {
  test(`${write} takes the example of the specification: numbers as numeric strings, dates without seconds`, async () => {
    const company = await app.company();
    const send = await begin(company);
    const answer = await send(
      invoiceBody({
        date_created: '2026-05-01 10:00',
        date_due: '2026-05-31 10:00',
        vat: '20',
        total: '72.00',
        sub_total: '60.00',
        vat_amount: '12.00',
        items: [{ description: 'Will', quantity: '1', rate: '60', amount: '72.00' }],
      }),
    );
    assert.equal(answer.status, 200, answer.text);
    const { subtotal, total, vat_amount } = answer.body;
    assert.deepEqual({ subtotal, total, vat_amount }, { subtotal: 60, total: 72, vat_amount: 12 });
    const [listed] = (await only(company)).items;
    assert.deepEqual(
      [listed?.quantity, listed?.rate, listed?.amount, listed?.subtotal, listed?.vat_amount, listed?.has_vat],
      [1, 60, 72, 60, 12, true],
    );
  });

  test(`${write} takes vat_amount as it is sent, zero too, and otherwise total less sub_total`, async () => {
    const company = await app.company();
    const send = await begin(company);
    for (const [sent, expected] of [
      [{ vat_amount: 19.99 }, 19.99],
      [{ vat_amount: 0 }, 0],
      [{ vat_amount: '-3.5' }, -3.5],
      [{}, 20.13],
      [{ vat_amount: null }, 20.13],
    ] as const) {
      const answer = await send(invoiceBody({ sub_total: 100.17, total: 120.3, ...sent }));
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.body.vat_amount, expected, JSON.stringify(sent));
      const listed = (await list(company)).find(({ invoice_number }) => invoice_number === answer.body.invoice_number);
      assert.equal(listed?.vat_amount, expected, JSON.stringify(sent));
    }
  });

  test(`${write} stores sums that do not agree as they are sent`, async () => {
    const company = await app.company();
    const send = await begin(company);
    const answer = await send(
      invoiceBody({
        vat: 99,
        sub_total: 1,
        vat_amount: 2,
        total: -50,
        items: [item('x', { quantity: 1, rate: 5, amount: 1000 })],
      }),
    );
    assert.equal(answer.status, 200, answer.text);
    const { subtotal, vat_amount, total, items } = await only(company);
    assert.deepEqual({ subtotal, vat_amount, total }, { subtotal: 1, vat_amount: 2, total: -50 });
    assert.deepEqual([items[0]?.amount, items[0]?.subtotal, items[0]?.vat_amount], [1000, 5, 995]);
  });

  test(`${write} takes negative and zero numbers`, async () => {
    const company = await app.company();
    const send = await begin(company);
    const answer = await send(
      invoiceBody({
        vat: 0,
        sub_total: -100,
        total: -120,
        items: [
          item('credit', { quantity: -2, rate: 50, amount: -120 }),
          item('discount', { quantity: 1, rate: -12.5, amount: -12.5 }),
          item('nothing', { quantity: 0, rate: 80, amount: 0 }),
        ],
      }),
    );
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual([answer.body.subtotal, answer.body.total, answer.body.vat_amount], [-100, -120, -20]);
    assert.deepEqual(
      (await only(company)).items.map(({ quantity, subtotal, vat_amount, has_vat }) => [
        quantity,
        subtotal,
        vat_amount,
        has_vat,
      ]),
      [
        [-2, -100, -20, true],
        [1, -12.5, 0, false],
        [0, 0, 0, false],
      ],
    );
  });

  test(`${write} takes any UUID for sender_id`, async () => {
    const company = await app.company();
    const send = await begin(company);
    for (const sender of [randomUUID(), randomUUID().toUpperCase(), UNKNOWN, '00000000-0000-0000-0000-000000000000']) {
      const answer = await send(invoiceBody({ sender_id: sender }));
      assert.equal(answer.status, 200, answer.text);
      const [stored] = await app.sql('SELECT sender_id FROM invoices WHERE id = $1', [answer.body.id]);
      assert.equal(stored?.sender_id, sender.toLowerCase());
    }
  });

  test(`${write} may set date_due before date_created`, async () => {
    const company = await app.company();
    const send = await begin(company);
    const answer = await send(invoiceBody({ date_created: '2026-05-02 10:00', date_due: '2026-05-01 10:00' }));
    assert.equal(answer.status, 200, answer.text);
  });

  test(`${write} ignores fields that it does not know`, async () => {
    const company = await app.company();
    const send = await begin(company);
    const answer = await send({
      ...invoiceBody({
        items: [{ ...item(), id: UNKNOWN, status: 'cancelled', subtotal: 7, has_vat: false, paid_at: 'x' }],
      }),
      id: UNKNOWN,
      ref: 'R',
      notes: 5,
      terms: 'mine',
      subtotal: 7,
      status: 'Paid',
      mail_sent: true,
      payable_online: true,
      recipients_name: 'Unknown',
      customer_case_id: UNKNOWN,
      date_sent: 'yesterday',
      date_paid: '2026-01-01 10:00',
      formatted_recurring_interval: 'monthly',
      'a\u0001b': [],
    });
    assert.equal(answer.status, 200, answer.text);
    const listed = await only(company);
    assert.notEqual(listed.id, UNKNOWN);
    assert.deepEqual(
      [listed.ref, listed.notes, listed.terms, listed.subtotal, listed.status, listed.mail_sent, listed.payable_online],
      [null, null, '', 100, 'Not Paid', false, false],
    );
    assert.deepEqual(
      [listed.recipients_name, listed.customer_case_id, listed.date_sent, listed.date_paid],
      ['Mr John Smith and Mrs Ann Smith', company.caseId, null, null],
    );
    assert.equal(listed.formatted_recurring_interval, null);
    const [listedItem] = listed.items;
    assert.notEqual(listedItem?.id, UNKNOWN);
    assert.deepEqual(
      [listedItem?.status, listedItem?.subtotal, listedItem?.has_vat, listedItem?.paid_at],
      [null, 100, true, null],
    );
  });

  test(`${write} keeps text as it is sent`, async () => {
    const company = await app.company();
    const send = await begin(company);
    const text = " Zoë\t\n'; DROP TABLE x; -- \\u0041 %s $1 😀 ";
    const answer = await send(invoiceBody({ invoice_number: text, payment_terms: text, items: items(text) }));
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual([answer.body.invoice_number, answer.body.payment_terms], [text, text]);
    const listed = await only(company);
    assert.deepEqual([listed.invoice_number, listed.payment_terms, listed.items[0]?.description], [text, text, text]);
  });

  test(`${write} takes an invoice_number of 50 and a description of 200 characters, counted in code points`, async () => {
    const company = await app.company();
    const send = await begin(company);
    const number = '😀'.repeat(50);
    const description = '😀'.repeat(200);
    const answer = await send(invoiceBody({ invoice_number: number, items: items(description) }));
    assert.equal(answer.status, 200, answer.text);
    const listed = await only(company);
    assert.equal(listed.invoice_number, number);
    assert.deepEqual(descriptions(listed), [description]);
  });
}

test('a create does not know keep_existing_items', async () => {
  const company = await app.company();
  for (const keep_existing_items of [true, false, null, 'x']) {
    const { id } = await create(company, { keep_existing_items, items: items('new') });
    const listed = (await list(company)).find((invoice) => invoice.id === id);
    assert.ok(listed);
    assert.deepEqual(descriptions(listed), ['new']);
  }
});

for (const sent of [{}, { items: null }, { items: [] }]) {
  test(`a create with ${JSON.stringify(sent)} makes an invoice without items`, async () => {
    const company = await app.company();
    await create(company, sent);
    assert.deepEqual((await only(company)).items, []);
  });
}

test('all three operations need Content-Type: application/json', async () => {
  const company = await app.company();
  const { id } = await create(company);
  const before = await everything(company);
  const body = JSON.stringify(invoiceBody());
  for (const type of [undefined, 'text/plain']) {
    for (const answer of [
      await company.get(`${company.path}/invoices`, { 'content-type': type }),
      await company.post(`${company.path}/invoices`, body, { 'content-type': type }),
      await company.patch(`${company.path}/invoices/${id}`, body, { 'content-type': type }),
      await company.post(`${company.path}/invoices/${id}`, body, { 'content-type': type }),
    ]) {
      assert.equal(answer.status, 400, answer.text);
      assert.match(answer.text, /Content-Type/i);
    }
  }
  assert.deepEqual(await everything(company), before);
});
