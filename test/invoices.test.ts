import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { startApp, type TestCompany } from './harness/app.ts';
import { assertNotFound, assertRefused } from './harness/assert.ts';
import { invoiceBody } from './harness/bodies.ts';
import { overlapping } from './harness/overlap.ts';

const app = await startApp();

const words = (text: string) => text.trim().split(/\s+/);

const LIST_KEYS = words(`
  customer_case_id date_created date_due date_paid date_sent formatted_recurring_interval id invoice_number items
  mail_sent notes payable_online payment_terms recipients_name ref status subtotal terms total vat_amount
`);
const ITEM_KEYS = words(`
  amount case_invoice_id customer_case_id description has_vat id paid_at quantity rate status subtotal vat_amount
`);
const WRITE_KEYS = words(`
  customer_case_id date_created date_due date_paid date_sent id invoice_number notes payment_terms
  recipients_name ref subtotal terms total vat_amount
`);
const REQUIRED = words('invoice_number sender_id date_created date_due vat total sub_total');
const NUMBERS = ['vat', 'total', 'sub_total', 'vat_amount'];
const ITEM_NUMBERS = ['quantity', 'rate', 'amount'];
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const UNKNOWN = '01890a5d-ac96-774b-bcce-b302099a8057';

type Fields = Record<string, unknown>;
type Item = { id: string; description: string } & Fields;
type Listed = { id: string; invoice_number: string; items: Item[] } & Fields;

function item(description = 'Advice', fields: Fields = {}): Fields {
  return { description, quantity: 2, rate: 50, amount: 120, ...fields };
}

const items = (...descriptions: string[]) => descriptions.map((description) => item(description));

const without = (fields: Fields, ...names: string[]) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));

async function create(company: TestCompany, fields: Fields = {}, path = company.path): Promise<Listed> {
  const answer = await company.post(`${path}/invoices`, invoiceBody(fields));
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

async function update(company: TestCompany, id: string, fields: Fields = {}): Promise<Listed> {
  const answer = await company.patch(`${company.path}/invoices/${id}`, invoiceBody(fields));
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

async function list(company: TestCompany, { query = '', path = company.path } = {}): Promise<Listed[]> {
  const answer = await company.get(`${path}/invoices${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

async function only(company: TestCompany, options = {}): Promise<Listed> {
  const [listed, ...others] = await list(company, options);
  assert.ok(listed);
  assert.deepEqual(others, []);
  return listed;
}

const everything = (company: TestCompany, path = company.path) =>
  list(company, { query: '?show_cancelled_items=true', path });

const descriptions = (invoice: Listed) => invoice.items.map(({ description }) => description);

const cancelItem = (company: TestCompany, description: string) =>
  app.sql('UPDATE invoice_items SET cancelled_at = now() WHERE company_id = $1 AND description = $2', [
    company.companyId,
    description,
  ]);

async function add(company: TestCompany, id: string, what: string, body: Fields): Promise<void> {
  const answer = await company.post(`${company.path}/invoices/${id}/${what}`, body);
  assert.equal(answer.status, 200, answer.text);
}

/** The ways to write an invoice; a rule of the body holds for each. */
const WRITES = [
  {
    write: 'a create',
    begin: async (company: TestCompany) => (body: unknown) => company.post(`${company.path}/invoices`, body),
  },
  {
    write: 'an update by PATCH',
    begin: async (company: TestCompany) => {
      const { id } = await create(company, { items: items('kept') });
      return (body: unknown) => company.patch(`${company.path}/invoices/${id}`, body);
    },
  },
  {
    write: 'an update by POST',
    begin: async (company: TestCompany) => {
      const { id } = await create(company, { items: items('kept') });
      return (body: unknown) => company.post(`${company.path}/invoices/${id}`, body);
    },
  },
];

/** Sends each body to a case of its own and holds its faults, and that nothing was written. */
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
      recipients_name: 'Nobody',
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

// What an invoice takes from the case and the company

for (const { people, name } of [
  { people: [], name: '' },
  { people: [{ title: 'Dr', first_names: 'Ada Maria', last_name: 'King' }], name: 'Dr Ada Maria King' },
  {
    people: [
      { title: 'Mr', first_names: 'John', last_name: 'Smith' },
      { title: 'Mrs', first_names: 'Ann', last_name: 'Smith' },
    ],
    name: 'Mr John Smith and Mrs Ann Smith',
  },
  {
    people: [
      { title: 'Mr', first_names: 'John', last_name: 'Smith' },
      { title: 'Mrs', first_names: 'Ann', last_name: 'Smith' },
      { title: 'Ms', first_names: 'Eve', last_name: 'Jones' },
    ],
    name: 'Mr John Smith, Mrs Ann Smith and Ms Eve Jones',
  },
  { people: [{ title: '', first_names: 'Ann', last_name: 'Smith' }], name: 'Ann Smith' },
  {
    people: [
      { title: '', first_names: 'Ann', last_name: 'Smith' },
      { title: 'Mr', first_names: '', last_name: 'Smith' },
    ],
    name: 'Ann Smith and Mr Smith',
  },
]) {
  test(`recipients_name of ${people.length} customers is "${name}"`, async () => {
    const company = await app.company();
    const caseId = await company.openCase();
    for (const person of people) await company.addCustomer(caseId, person);
    const created = await create(company, {}, `/cases/${caseId}`);
    assert.equal(created.recipients_name, name);
    assert.equal((await only(company, { path: `/cases/${caseId}` })).recipients_name, name);
  });
}

test('recipients_name is made at creation: neither later customers nor an update change it', async () => {
  const company = await app.company();
  const { id } = await create(company);
  await company.addCustomer(company.caseId, { title: 'Ms', first_names: 'Eve', last_name: 'Late' });
  await app.sql("UPDATE customers SET last_name = 'Married' WHERE id = $1", [company.customers[1].id]);
  assert.equal((await only(company)).recipients_name, 'Mr John Smith and Mrs Ann Smith');
  assert.equal((await update(company, id)).recipients_name, 'Mr John Smith and Mrs Ann Smith');
  assert.equal((await only(company)).recipients_name, 'Mr John Smith and Mrs Ann Smith');
});

test('terms and a missing payment_terms are "" and "30 days" unless the company has settings', async () => {
  const company = await app.company();
  const { terms, payment_terms } = await create(company);
  assert.deepEqual({ terms, payment_terms }, { terms: '', payment_terms: '30 days' });
});

for (const sent of [{}, { payment_terms: null }]) {
  test(`terms and payment_terms come from the company's settings with ${JSON.stringify(sent)}`, async () => {
    const company = await app.company();
    await app.sql("UPDATE companies SET terms = 'By post', payment_terms = '10 days' WHERE id = $1", [
      company.companyId,
    ]);
    const { terms, payment_terms } = await create(company, sent);
    assert.deepEqual({ terms, payment_terms }, { terms: 'By post', payment_terms: '10 days' });
    const listed = await only(company);
    assert.deepEqual([listed.terms, listed.payment_terms], ['By post', '10 days']);
  });
}

test('payment_terms that are sent stand, the empty text too', async () => {
  const company = await app.company();
  assert.equal((await create(company, { payment_terms: 'At once' })).payment_terms, 'At once');
  assert.equal((await create(company, { payment_terms: '' })).payment_terms, '');
});

test('a change of the company settings does not change the invoices that were made before', async () => {
  const company = await app.company();
  const { id } = await create(company);
  await app.sql("UPDATE companies SET terms = 'New', payment_terms = 'New' WHERE id = $1", [company.companyId]);
  app.clock.advance({ seconds: 3 });
  const listed = await only(company);
  assert.deepEqual([listed.terms, listed.payment_terms], ['', '30 days']);
  const updated = await update(company, id);
  assert.deepEqual([updated.terms, updated.payment_terms], ['', '30 days']);
  const later = await create(company);
  assert.deepEqual([later.terms, later.payment_terms], ['New', 'New']);
});

test('an update that does not send payment_terms leaves them', async () => {
  const company = await app.company();
  const { id } = await create(company, { payment_terms: '7 days' });
  assert.equal((await update(company, id)).payment_terms, '7 days');
  assert.equal((await only(company)).payment_terms, '7 days');
});

test('an update that sends null for payment_terms gives those of the company', async () => {
  const company = await app.company();
  const { id } = await create(company, { payment_terms: '7 days' });
  assert.equal((await update(company, id, { payment_terms: null })).payment_terms, '30 days');
  assert.equal((await only(company)).payment_terms, '30 days');
});

test('an update changes no status, no payment and no sending date', async () => {
  const company = await app.company();
  const { id } = await create(company, { items: items('paid') });
  await add(company, id, 'sent', { date_sent: '2026-05-02T10:00:00Z' });
  await add(company, id, 'payments', { amount: 120, paid_at: '2026-05-03T10:00:00Z' });
  const updated = await update(company, id, { total: 99 });
  assert.deepEqual(
    [updated.date_sent, updated.date_paid],
    ['2026-05-02T10:00:00.000000Z', '2026-05-03T10:00:00.000000Z'],
  );
  const listed = await only(company);
  assert.deepEqual(
    [listed.status, listed.total, listed.date_sent, listed.date_paid, listed.items[0]?.status],
    ['Paid', 99, '2026-05-02T10:00:00.000000Z', '2026-05-03T10:00:00.000000Z', 'paid'],
  );
});

test('an update shows as date_paid the payment with which its total was reached, and none where it is not', async () => {
  const company = await app.company();
  const { id } = await create(company, { total: 120, items: items('kept') });
  await add(company, id, 'payments', { amount: 40, paid_at: '2026-05-03T10:00:00Z' });
  await add(company, id, 'payments', { amount: 30, paid_at: '2026-05-04T10:00:00Z' });
  for (const [total, date] of [
    [71, null],
    [70, '2026-05-04T10:00:00.000000Z'],
    [40, '2026-05-03T10:00:00.000000Z'],
    [0, '2026-05-03T10:00:00.000000Z'],
    [70.01, null],
  ] as const) {
    assert.equal((await update(company, id, { total })).date_paid, date, `${total}`);
    const listed = await only(company);
    assert.deepEqual([listed.total, listed.date_paid, listed.items.length], [total, date, 1]);
  }
});

test('an update of a paid invoice replaces its items, keeps them and adds to them as any other does', async () => {
  const company = await app.company();
  const { id } = await create(company, { items: items('old') });
  await add(company, id, 'payments', { amount: 120, paid_at: '2026-05-03T10:00:00Z' });
  const names = async () => (await only(company)).items.map(({ description }) => description);
  await update(company, id, { items: items('new'), total: 120 });
  assert.deepEqual(await names(), ['new']);
  await update(company, id, { items: items('more'), keep_existing_items: true, total: 120 });
  assert.deepEqual(await names(), ['new', 'more']);
  await update(company, id, { keep_existing_items: false, total: 120 });
  assert.deepEqual(await names(), []);
});

// Items of an update

const KEEP = {
  absent: {},
  null: { keep_existing_items: null },
  true: { keep_existing_items: true },
  false: { keep_existing_items: false },
};
const ITEMS = {
  absent: {},
  null: { items: null },
  'an empty array': { items: [] },
  'new ones': { items: items('C', 'D') },
};
const OUTCOMES: Record<keyof typeof ITEMS, Record<keyof typeof KEEP, string[]>> = {
  absent: { absent: ['A', 'B'], null: ['A', 'B'], true: ['A', 'B'], false: [] },
  null: { absent: [], null: [], true: ['A', 'B'], false: [] },
  'an empty array': { absent: [], null: [], true: ['A', 'B'], false: [] },
  'new ones': { absent: ['C', 'D'], null: ['C', 'D'], true: ['A', 'B', 'C', 'D'], false: ['C', 'D'] },
};

for (const [itemsAre, outcomes] of Object.entries(OUTCOMES) as [keyof typeof ITEMS, (typeof OUTCOMES)['absent']][]) {
  for (const [keepIs, expected] of Object.entries(outcomes) as [keyof typeof KEEP, string[]][]) {
    test(`an update with items ${itemsAre} and keep_existing_items ${keepIs} leaves the items [${expected}]`, async () => {
      const company = await app.company();
      const { id } = await create(company, { items: items('A', 'B') });
      const before = await only(company);
      await update(company, id, { ...ITEMS[itemsAre], ...KEEP[keepIs] });
      const after = await only(company);
      assert.deepEqual(descriptions(after), expected);
      const kept = after.items.filter(({ description }) => 'AB'.includes(description));
      assert.deepEqual(kept, kept.length ? before.items : []);
      assert.deepEqual(await everything(company), [after]);
    });
  }
}

test('an update replaces the items by POST as well as by PATCH, and keeps them when asked', async () => {
  const company = await app.company();
  const { id } = await create(company, { items: items('A') });
  const post = (fields: Fields) => company.post(`${company.path}/invoices/${id}`, invoiceBody(fields));
  assert.equal((await post({ items: items('B'), keep_existing_items: true })).status, 200);
  assert.deepEqual(descriptions(await only(company)), ['A', 'B']);
  assert.equal((await post({ items: items('C') })).status, 200);
  assert.deepEqual(descriptions(await only(company)), ['C']);
  assert.equal((await post({ keep_existing_items: false })).status, 200);
  assert.deepEqual(descriptions(await only(company)), []);
});

test('items added again and again stand after the older ones, in the order in which they came', async () => {
  const company = await app.company();
  const { id } = await create(company, { items: items('z', 'y') });
  await update(company, id, { items: items('x', 'w', 'v'), keep_existing_items: true });
  await update(company, id, { items: items('a'), keep_existing_items: true });
  assert.deepEqual(descriptions(await only(company)), ['z', 'y', 'x', 'w', 'v', 'a']);
});

test('an added item may be equal to one that is there', async () => {
  const company = await app.company();
  const { id } = await create(company, { items: items('A') });
  await update(company, id, { items: items('A'), keep_existing_items: true });
  const listed = await only(company);
  assert.deepEqual(descriptions(listed), ['A', 'A']);
  assert.notEqual(listed.items[0]?.id, listed.items[1]?.id);
});

test('an item that was listed can be sent back in an update', async () => {
  const company = await app.company();
  const { id } = await create(company, { items: [item('A', { rate: 33.3333, amount: 79.99 })] });
  const [before] = (await only(company)).items;
  await update(company, id, { items: [before] });
  const [after] = (await only(company)).items;
  assert.ok(before && after);
  assert.deepEqual(without(after, 'id'), without(before, 'id'));
});

test('kept items keep their status: a cancelled one stays hidden until it is asked for', async () => {
  const company = await app.company();
  const { id } = await create(company, { items: items('A', 'cancelled') });
  await cancelItem(company, 'cancelled');
  await update(company, id);
  await update(company, id, { items: items('B'), keep_existing_items: true });
  assert.deepEqual(descriptions(await only(company)), ['A', 'B']);
  assert.deepEqual(
    (await everything(company))[0]?.items.map(({ description, status }) => [description, status]),
    [
      ['A', null],
      ['cancelled', 'cancelled'],
      ['B', null],
    ],
  );
});

for (const sent of [{ items: items('B') }, { items: [] }, { keep_existing_items: false }]) {
  test(`items removed by ${JSON.stringify(Object.keys(sent))} are gone from every list, cancelled ones too`, async () => {
    const company = await app.company();
    const { id } = await create(company, { items: items('A', 'cancelled') });
    await cancelItem(company, 'cancelled');
    await update(company, id, sent);
    const [listed] = await everything(company);
    assert.ok(listed);
    assert.deepEqual(descriptions(listed), sent.items?.length ? ['B'] : []);
  });
}

test('an update touches no other invoice and none of its items', async () => {
  const company = await app.company();
  const { id } = await create(company, { date_created: '2026-05-02 10:00', items: items('A') });
  await create(company, { items: items('other') });
  const [, other] = await everything(company);
  await update(company, id, { date_created: '2026-05-02 10:00', items: items('B') });
  await update(company, id, { date_created: '2026-05-02 10:00', keep_existing_items: false });
  assert.deepEqual((await everything(company))[1], other);
});

// Unknown cases and invoices

test('an unknown case, or one of another company, is 404 for all three operations whatever the body holds', async () => {
  const company = await app.company();
  const stranger = await app.company();
  const { id } = await create(stranger, { items: items('A') });
  const before = await everything(stranger);
  for (const caseId of [UNKNOWN, stranger.caseId, 'x', '1', `${company.caseId}0`, '%00']) {
    assertNotFound(await company.get(`/cases/${caseId}/invoices`));
    for (const body of [invoiceBody(), {}, { items: 5 }]) {
      assertNotFound(await company.post(`/cases/${caseId}/invoices`, body));
      assertNotFound(await company.patch(`/cases/${caseId}/invoices/${id}`, body));
      assertNotFound(await company.post(`/cases/${caseId}/invoices/${id}`, body));
    }
  }
  assert.deepEqual(await everything(stranger), before);
});

test('an unknown case is 404 before show_cancelled_items is judged', async () => {
  const company = await app.company();
  assertNotFound(await company.get(`/cases/${UNKNOWN}/invoices?show_cancelled_items=garbage`));
});

test('an invoice that is unknown, of another case or of another company is 404 whatever the body holds', async () => {
  const company = await app.company();
  const stranger = await app.company();
  const otherPath = `/cases/${await company.openCase()}`;
  const ofOtherCase = await create(company, { items: items('A') }, otherPath);
  const ofStranger = await create(stranger, { items: items('A') });
  const before = [await everything(company, otherPath), await everything(stranger)];
  for (const id of [UNKNOWN, ofOtherCase.id, ofStranger.id, 'x', '1', `${ofOtherCase.id}0`, '%00']) {
    for (const body of [invoiceBody({ items: items('B') }), {}, { items: 5 }]) {
      assertNotFound(await company.patch(`${company.path}/invoices/${id}`, body));
      assertNotFound(await company.post(`${company.path}/invoices/${id}`, body));
    }
  }
  assert.deepEqual([await everything(company, otherPath), await everything(stranger)], before);
  assert.deepEqual(await everything(company), []);
});

test('an identifier in capital letters names the same case and invoice', async () => {
  const company = await app.company();
  const { id } = await create(company);
  const answer = await company.patch(
    `/cases/${company.caseId.toUpperCase()}/invoices/${id.toUpperCase()}`,
    invoiceBody(),
  );
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual([answer.body.id, answer.body.customer_case_id], [id, company.caseId]);
});

test('nobody without a token learns anything of invoices', async () => {
  const company = await app.company();
  const { id } = await create(company);
  const before = await everything(company);
  for (const answer of [
    await app.anonymous.get(`${company.path}/invoices`),
    await app.anonymous.post(`${company.path}/invoices`, invoiceBody()),
    await app.anonymous.patch(`${company.path}/invoices/${id}`, invoiceBody()),
    await app.anonymous.post(`/cases/${UNKNOWN}/invoices/x`, {}),
  ]) {
    assert.equal(answer.status, 401, answer.text);
    assert.equal(answer.headers['www-authenticate']?.slice(0, 6), 'Bearer');
  }
  assert.deepEqual(await everything(company), before);
});

// invoice_number

const TAKEN = { invoice_number: 'taken' };

test('a create with a number that the case has used is refused and changes nothing', async () => {
  const company = await app.company();
  await create(company, { invoice_number: 'N', items: items('A') });
  const before = await everything(company);
  assertRefused(
    await company.post(`${company.path}/invoices`, invoiceBody({ invoice_number: 'N', items: items('B') })),
    TAKEN,
  );
  assert.deepEqual(await everything(company), before);
  const [count] = await app.sql('SELECT count(*)::int AS n FROM invoice_items WHERE company_id = $1', [
    company.companyId,
  ]);
  assert.equal(count?.n, 1);
});

for (const method of ['PATCH', 'POST']) {
  test(`an update by ${method} to the number of another invoice of the case is refused and changes nothing`, async () => {
    const company = await app.company();
    await create(company, { invoice_number: 'N' });
    const { id } = await create(company, { items: items('A') });
    const before = await everything(company);
    const body = invoiceBody({ invoice_number: 'N', total: 5, items: items('B') });
    assertRefused(await company.send(method, `${company.path}/invoices/${id}`, body), TAKEN);
    assertRefused(
      await company.send(method, `${company.path}/invoices/${id}`, { ...body, keep_existing_items: true }),
      TAKEN,
    );
    assert.deepEqual(await everything(company), before);
  });
}

test('an invoice may keep its own number in an update', async () => {
  const company = await app.company();
  const { id } = await create(company, { invoice_number: 'N' });
  assert.equal((await update(company, id, { invoice_number: 'N', total: 7 })).total, 7);
});

test('an update that is refused for another fault does not call its own number taken', async () => {
  const company = await app.company();
  const { id } = await create(company, { invoice_number: 'N' });
  const answer = await company.patch(
    `${company.path}/invoices/${id}`,
    invoiceBody({ invoice_number: 'N', date_due: 'soon' }),
  );
  assertRefused(answer, { date_due: 'format' });
});

test('a number that an invoice has given up is free again', async () => {
  const company = await app.company();
  const { id } = await create(company, { invoice_number: 'N' });
  await update(company, id, { invoice_number: 'M' });
  await create(company, { invoice_number: 'N' });
  assert.deepEqual((await list(company)).map(({ invoice_number }) => invoice_number).sort(), ['M', 'N']);
});

test('numbers are compared exactly: capitals, blanks, accents and leading zeros make another number', async () => {
  const company = await app.company();
  const different = ['inv-1', 'INV-1', 'Inv-1', 'inv-1 ', ' inv-1', 'inv-01', 'ínv-1', 'i\u0301nv-1', 'ｉnv-1'];
  for (const invoice_number of different) await create(company, { invoice_number });
  assert.deepEqual((await list(company)).map(({ invoice_number }) => invoice_number).sort(), different.toSorted());
  for (const invoice_number of different) {
    assertRefused(await company.post(`${company.path}/invoices`, invoiceBody({ invoice_number })), TAKEN);
  }
});

test('a number is free in another case and in another company', async () => {
  const company = await app.company();
  const stranger = await app.company();
  const otherPath = `/cases/${await company.openCase()}`;
  await create(company, { invoice_number: 'N' });
  await create(company, { invoice_number: 'N' }, otherPath);
  await create(stranger, { invoice_number: 'N' });
  const ofOtherCase = await create(company, { invoice_number: 'M' }, otherPath);
  await create(company, { invoice_number: 'M' });
  const again = await company.patch(`${otherPath}/invoices/${ofOtherCase.id}`, invoiceBody({ invoice_number: 'M' }));
  assert.equal(again.status, 200, again.text);
});

test('of twenty simultaneous creates with one number exactly one succeeds', async () => {
  const company = await app.company();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      company.post(
        `${company.path}/invoices`,
        invoiceBody({ invoice_number: 'N', total: i, items: items(`of ${i}`, `also ${i}`) }),
      ),
    ),
  );
  const [made, ...more] = answers.filter(({ status }) => status === 200);
  assert.ok(made);
  assert.deepEqual(more, []);
  for (const answer of answers) if (answer !== made) assertRefused(answer, TAKEN);
  const listed = await only(company);
  assert.equal(listed.id, made.body.id);
  assert.deepEqual(descriptions(listed), [`of ${listed.total}`, `also ${listed.total}`]);
});

test('twenty simultaneous creates with different numbers all succeed', async () => {
  const company = await app.company();
  const made = await Promise.all(Array.from({ length: 20 }, (_, i) => create(company, { items: items(`of ${i}`) })));
  assert.deepEqual((await list(company)).map(({ id }) => id).sort(), made.map(({ id }) => id).sort());
});

test('of simultaneous updates to one number exactly one succeeds, and the others change nothing', async () => {
  const company = await app.company();
  const made: Listed[] = [];
  for (let i = 0; i < 10; i += 1) made.push(await create(company, { total: 1, items: items('old') }));
  const answers = await Promise.all(
    made.map(({ id }) =>
      company.patch(
        `${company.path}/invoices/${id}`,
        invoiceBody({ invoice_number: 'N', total: 2, items: items('new') }),
      ),
    ),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  for (const answer of answers) if (answer.status !== 200) assertRefused(answer, TAKEN);
  for (const { id, invoice_number } of made) {
    const listed = (await list(company)).find((invoice) => invoice.id === id);
    assert.ok(listed);
    const won = answers.some(({ status, body }) => status === 200 && body.id === id);
    assert.deepEqual(
      [listed.invoice_number, listed.total, descriptions(listed)],
      won ? ['N', 2, ['new']] : [invoice_number, 1, ['old']],
    );
  }
});

for (const [end, winners] of [
  ['COMMIT', 0],
  ['ROLLBACK', 1],
] as const) {
  test(`of creates and updates that wait for one number ${winners} succeed when the first to take it ends in ${end}`, async () => {
    const company = await app.company();
    const first = await create(company);
    const others = [await create(company), await create(company), await create(company)];
    const take = "UPDATE invoices SET invoice_number = 'N' WHERE id = $1";
    const answers = await overlapping(
      app,
      [[take, [first.id]]],
      [
        ...others.map(() => () => company.post(`${company.path}/invoices`, invoiceBody({ invoice_number: 'N' }))),
        ...others.map(
          ({ id }) =>
            () =>
              company.patch(`${company.path}/invoices/${id}`, invoiceBody({ invoice_number: 'N' })),
        ),
      ],
      end,
    );
    assert.equal(answers.filter(({ status }) => status === 200).length, winners);
    for (const answer of answers) if (answer.status !== 200) assertRefused(answer, TAKEN);
    const holders = (await list(company)).filter(({ invoice_number }) => invoice_number === 'N');
    assert.equal(holders.length, 1);
  });
}

// Simultaneous updates of one invoice

const SIX = ['1', '2', '3', '4', '5', '6'];
const HOLD = 'SELECT FROM invoices WHERE id = $1 FOR UPDATE';

for (const methods of [['PATCH'], ['PATCH', 'POST']]) {
  test(`simultaneous updates by ${methods.join(' and ')} that replace the items never mix their items, nor their sums`, async () => {
    const company = await app.company();
    const { id } = await create(company, { items: items('old') });
    const answers = await overlapping(
      app,
      [[HOLD, [id]]],
      SIX.map(
        (writer, i) => () =>
          company.send(
            methods[i % methods.length] ?? '',
            `${company.path}/invoices/${id}`,
            invoiceBody({ total: writer, items: items(`${writer}a`, `${writer}b`, `${writer}c`) }),
          ),
      ),
    );
    for (const answer of answers) assert.equal(answer.status, 200, answer.text);
    const listed = await only(company);
    assert.deepEqual(descriptions(listed), [`${listed.total}a`, `${listed.total}b`, `${listed.total}c`]);
  });
}

test('simultaneous updates that add items lose none of them and keep those of one request together', async () => {
  const company = await app.company();
  const { id } = await create(company, { items: items('old') });
  await overlapping(
    app,
    [[HOLD, [id]]],
    SIX.map(
      (writer) => () => update(company, id, { items: items(`${writer}a`, `${writer}b`), keep_existing_items: true }),
    ),
  );
  const shown = descriptions(await only(company));
  assert.equal(shown[0], 'old');
  const pairs = SIX.map((_, i) => shown.slice(1 + 2 * i, 3 + 2 * i).join());
  assert.deepEqual(
    pairs.sort(),
    SIX.map((writer) => `${writer}a,${writer}b`),
  );
});

test('a list during updates shows the items and the sums of one of them', async () => {
  const company = await app.company();
  const { id } = await create(company, { total: 0, items: items('0', '0') });
  const writing = (async () => {
    for (let writer = 1; writer <= 30; writer += 1) {
      await update(company, id, { total: writer, items: items(`${writer}`, `${writer}`) });
    }
  })();
  let written = false;
  writing.finally(() => {
    written = true;
  });
  while (!written) {
    const listed = await only(company);
    assert.deepEqual(descriptions(listed), [`${listed.total}`, `${listed.total}`]);
  }
  await writing;
});
