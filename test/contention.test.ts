import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { startApp, type TestCompany } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import { booking, invoiceBody, PERSON } from './harness/bodies.ts';
import type { Event, Image } from './harness/events.ts';
import type { Answer } from './harness/http.ts';
import { type Holding, overlapping } from './harness/overlap.ts';

const app = await startApp();

const row = app.db.queryRow.bind(app.db);
const rows = app.db.runUntil.bind(app.db);
afterEach(() => {
  app.db.queryRow = row;
  app.db.runUntil = rows;
});

/** Lets the statements write nothing this many times, as after a conflict. Counts how often each was tried. */
function nothingWritten(names: string[], times: number): Map<string, number> {
  const tries = new Map<string, number>();
  app.db.queryRow = async (query) => {
    // The name of a change of an appointment ends with the parts that it changes.
    const [name = ''] = query.statement.name.split('+');
    if (!names.includes(name)) return row(query);
    const before = tries.get(name) ?? 0;
    tries.set(name, before + 1);
    return before < times ? undefined : row(query);
  };
  return tries;
}

const INVOICE = invoiceBody({ items: [{ description: 'A', quantity: 1, rate: 100, amount: 120 }] });

/** A request that writes, ready to be sent, and the record that it changes. */
type Prepared = { request: () => Promise<Answer>; record?: { table: string; path: string } };
type Prepare = (company: TestCompany) => Promise<Prepared>;

const made = async (company: TestCompany, list: string, body: unknown) => {
  const path = `${company.path}/${list}`;
  return `${path}/${(await ok(company.post(path, body))).id}`;
};

/** A request about a new record of the list. */
const onNew =
  (table: string, list: string, body: (company: TestCompany) => unknown) =>
  (request: (company: TestCompany, path: string) => Promise<Answer>, ...before: (typeof request)[]): Prepare =>
  async (company) => {
    const path = await made(company, list, body(company));
    for (const earlier of before) await ok(earlier(company, path));
    return { request: () => request(company, path), record: { table, path } };
  };
const onEntry = onNew('people', 'address-book/entry', () => ({
  ...PERSON,
  tags: ['executor'],
  custom_tags: ['vip-client'],
}));
const onInteraction = onNew('interactions', 'interactions', () => ({ type: 'phone' }));
const onInvoice = onNew('invoices', 'invoices', () => INVOICE);
const onAppointment = onNew('appointments', 'appointments', booking);

const remove = (company: TestCompany, path: string) => company.delete(path);
const post = (verb: string) => (company: TestCompany, path: string) => company.post(`${path}/${verb}`);
const postItem = (verb: string) => async (company: TestCompany, path: string) => {
  const { items } = await ok(company.get(`${path}?show_cancelled_items=true`));
  return company.post(`${path}/items/${items[0].id}/${verb}`);
};
const outcome = (body: object) => (company: TestCompany, path: string) => company.patch(`${path}/outcome`, body);

const EVE = { email: 'eve@firm.example', name: 'Eve' };
const onAdviser =
  (request: (company: TestCompany, path: string) => Promise<Answer>, ...before: (typeof request)[]): Prepare =>
  async (company) => {
    const path = `/manage/advisers/${(await ok(company.post('/manage/advisers', EVE))).id}`;
    for (const earlier of before) await ok(earlier(company, path));
    return { request: () => request(company, path), record: { table: 'advisers', path } };
  };
const onCustomer =
  (request: (company: TestCompany, path: string) => Promise<Answer>, ...before: (typeof request)[]): Prepare =>
  async (company) => {
    const path = `/manage/cases/${company.caseId}/customers/${company.customers[0].id}`;
    for (const earlier of before) await ok(earlier(company, path));
    return { request: () => request(company, path), record: { table: 'customers', path } };
  };

/** Every statement that is tried again after a conflict, and a request that leads to it. */
const WRITES: Record<string, Prepare> = {
  'address_book.insert': async (company) => ({
    request: () => company.post(`${company.path}/address-book/entry`, PERSON),
  }),
  'address_book.update': onEntry((company, path) => company.patch(path, PERSON)),
  'address_book.delete': onEntry(remove),
  'address_book.remove_tag': onEntry((company, path) => company.delete(`${path}/tags/executor`)),
  'address_book.remove_custom_tag': onEntry((company, path) => company.delete(`${path}/custom-tags/vip-client`)),
  'address_book.restore': onEntry(post('restore'), remove),
  'interactions.update': onInteraction((company, path) => company.patch(path, { type: 'phone' })),
  'interactions.delete': onInteraction(remove),
  'interactions.restore': onInteraction(post('restore'), remove),
  'invoices.insert': async (company) => ({ request: () => company.post(`${company.path}/invoices`, INVOICE) }),
  'invoices.update': onInvoice((company, path) => company.patch(path, INVOICE)),
  'invoices.send': onInvoice(post('sent')),
  'invoices.cancel': onInvoice(post('cancel')),
  'invoices.reinstate': onInvoice(post('reinstate'), post('cancel')),
  'invoices.cancel_item': onInvoice(postItem('cancel')),
  'invoices.reinstate_item': onInvoice(postItem('reinstate'), postItem('cancel')),
  'payments.reverse': onInvoice(
    async (company, path) => {
      const [{ id }] = await ok(company.get(`${path}/payments`));
      return company.post(`${path}/payments/${id}/reverse`);
    },
    (company, path) => company.post(`${path}/payments`, { amount: 1 }),
  ),
  'appointments.insert': async (company) => ({
    request: () => company.post(`${company.path}/appointments`, booking(company)),
  }),
  'appointments.update': onAppointment((company, path) => company.patch(path, { notes: 'x' })),
  'appointments.cancel': onAppointment(outcome({ cancelled: true })),
  'appointments.reinstate': onAppointment(outcome({ cancelled: false }), outcome({ cancelled: true })),
  'appointments.outcome': onAppointment(outcome({ type: 'review' })),
  'appointments.delete': onAppointment(remove),
  'appointments.restore': onAppointment(post('restore'), remove),
  'advisers.insert': async (company) => ({ request: () => company.post('/manage/advisers', EVE) }),
  'advisers.update': onAdviser((company, path) => company.patch(path, { name: 'Eva' })),
  'advisers.restore': onAdviser(post('restore'), remove),
  'customers.update': onCustomer((company, path) => company.patch(path, { title: 'Dr' })),
  'customers.restore': onCustomer(post('restore'), remove),
};

for (const [name, prepare] of Object.entries(WRITES)) {
  test(`the retry loop of ${name}: a statement that wrote nothing is sent again`, async () => {
    const { request } = await prepare(await app.company());
    const tries = nothingWritten([name], 2);
    await ok(request());
    assert.equal(tries.get(name), 3);
  });

  if (name.endsWith('.insert')) continue;
  test(`${name} beside a concurrent change is made onto what the other left`, async () => {
    const company = await app.company();
    const { request, record = assert.fail() } = await prepare(company);
    const { table, path } = record;
    const versioned = ['people', 'interactions', 'invoices', 'appointments'].includes(table);
    const other = `UPDATE ${table} SET updated_at = $2${versioned ? ', version = version + 1' : ''} WHERE id = $1`;
    const at = '2026-05-01T00:00:00.000000Z';
    const [answer] = await overlapping(app, [[other, [path.split('/').at(-1), at]]], [request]);
    assert.equal(answer?.status, 200, String(answer?.text));
    const events: Event[] = await ok(company.get(`${path}/history`));
    assert.equal(events.at(-1)?.before?.updated_at, at);
  });
}

/** What prevents an insert, and the statement that removes the obstacle. */
const OBSTACLES: Record<string, (company: TestCompany) => Promise<{ request: () => Promise<Answer>; clear: Holding }>> =
  {
    'address_book.insert': async (company) => {
      await ok(company.delete('/manage/custom-tags/vip-client'));
      const tag = `INSERT INTO custom_tags (company_id, tag, created_at) VALUES ($1, 'vip-client', now())`;
      const body = { ...PERSON, custom_tags: ['vip-client'] };
      return {
        request: () => company.post(`${company.path}/address-book/entry`, body),
        clear: [tag, [company.companyId]],
      };
    },
    'invoices.insert': async (company) => {
      await made(company, 'invoices', INVOICE);
      return {
        request: () => company.post(`${company.path}/invoices`, INVOICE),
        clear: [`UPDATE invoices SET invoice_number = 'another' WHERE company_id = $1`, [company.companyId]],
      };
    },
    'appointments.insert': async (company) => {
      await app.sql('UPDATE advisers SET active = false WHERE company_id = $1', [company.companyId]);
      return {
        request: () => company.post(`${company.path}/appointments`, booking(company)),
        clear: ['UPDATE advisers SET active = true WHERE company_id = $1', [company.companyId]],
      };
    },
    'advisers.insert': async (company) => {
      await ok(company.post('/manage/advisers', EVE));
      return {
        request: () => company.post('/manage/advisers', EVE),
        clear: [
          `UPDATE advisers SET email = 'other@firm.example' WHERE company_id = $1 AND name = 'Eve'`,
          [company.companyId],
        ],
      };
    },
  };

test('every insert that is retried has an obstacle that can go away', () => {
  const inserts = Object.keys(WRITES).filter((name) => name.endsWith('.insert'));
  assert.deepEqual(Object.keys(OBSTACLES), inserts);
});

for (const [name, prepare] of Object.entries(OBSTACLES)) {
  test(`${name} is retried if what stood in its way is gone when the reason is looked for`, async () => {
    const { request, clear } = await prepare(await app.company());
    const tries = nothingWritten([name], 0);
    app.db.runUntil = async (...args) => {
      if (tries.get(name) === 1) await app.sql(...clear);
      return rows(...args);
    };
    await ok(request());
    assert.equal(tries.get(name), 2);
  });
}

test('no write is tried without end: the caller is asked to come back', async () => {
  const requests: Prepared[] = [];
  for (const prepare of Object.values(WRITES)) requests.push(await prepare(await app.company()));
  const names = Object.keys(WRITES);
  const tries = nothingWritten(names, Number.POSITIVE_INFINITY);
  for (const answer of await Promise.all(requests.map(({ request }) => request()))) {
    assert.equal(answer.status, 503, answer.text);
    assert.equal(answer.body.code, 'unavailable');
    assert.match(answer.body.detail, /same record/);
    assert.equal(answer.headers['retry-after'], '1');
  }
  assert.deepEqual([...tries.keys()].sort(), names.sort());
  for (const [name, times] of tries) assert.ok(times > 5 && times < 100, `${name}: ${times} tries`);
});

test('two hundred concurrent payments of one invoice are all accepted', async () => {
  const company = await app.company();
  const path = await made(company, 'invoices', { ...INVOICE, total: 200, sub_total: 160, vat_amount: 40, items: [] });
  const pay = () => company.post(`${path}/payments`, { amount: 1 });
  const answers = await Promise.all(Array.from({ length: 200 }, pay));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  assert.equal((await ok(company.get(path))).outstanding, 0);
  assert.equal((await pay()).status, 400);
});

const FIFTY = Array.from({ length: 50 }, (_, i) => `text ${i}`);

for (const [list, body, change, read] of [
  [
    'interactions',
    () => ({ type: 'phone' }),
    (notes: string) => ({ type: 'phone', notes }),
    (image: Image) => image.notes,
  ],
  [
    'invoices',
    () => INVOICE,
    (text: string) => ({ ...INVOICE, payment_terms: text }),
    (image: Image) => image.payment_terms,
  ],
  [
    'address-book/entry',
    () => PERSON,
    (text: string) => ({ ...PERSON, known_as: text }),
    (image: Image) => image.data.known_as,
  ],
  ['appointments', booking, (notes: string) => ({ notes }), (image: Image) => image.notes],
] as const) {
  test(`${list}: fifty concurrent updates of one record are all written, each onto the one before it`, async () => {
    const company = await app.company();
    const path = await made(company, list, body(company));
    const answers = await Promise.all(FIFTY.map((text) => company.patch(path, change(text))));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    const [created, ...updates]: Event[] = await ok(company.get(`${path}/history?limit=500`));
    assert.deepEqual(updates.map(({ after }) => read(after ?? {})).sort(), FIFTY.toSorted());
    let earlier = created?.after;
    for (const { before, after } of updates) {
      assert.deepEqual(before, earlier);
      earlier = after;
    }
  });
}
