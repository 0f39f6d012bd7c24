import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { startApp, type TestCompany } from './harness/app.ts';
import type { Answer } from './harness/http.ts';

const app = await startApp();

const json = app.db.queryJson.bind(app.db);
const first = app.db.queryFirst.bind(app.db);
afterEach(() => {
  app.db.queryJson = json;
  app.db.queryFirst = first;
});

/** The statements write nothing this many times, as where somebody comes between; gives how often each was tried. */
function nothingWritten(names: string[], times: number): Map<string, number> {
  const tries = new Map<string, number>();
  app.db.queryJson = async (query) => {
    // A change of an appointment has its parts behind its name.
    const [name = ''] = query.statement.name.split('+');
    if (!names.includes(name)) return json(query);
    const before = tries.get(name) ?? 0;
    tries.set(name, before + 1);
    return before < times ? undefined : json(query);
  };
  return tries;
}

async function ok(answer: Promise<Answer>) {
  const { status, body, text } = await answer;
  assert.equal(status, 200, text);
  return body;
}

const PERSON = { entity_id: 'person', title: 'Ms', first_names: 'Jane', last_name: 'Doe' };
const INVOICE = {
  invoice_number: 'INV-1',
  sender_id: '5f0c1c62-5d3b-4a64-9a0e-0d3a1c2b4e5f',
  date_created: '2026-05-01 10:00:00',
  date_due: '2026-05-31 17:30:00',
  vat: 20,
  total: 120,
  sub_total: 100,
  items: [{ description: 'A', quantity: 1, rate: 100, amount: 120 }],
};
const booking = ({ adviser }: TestCompany) => ({
  adviser_email: adviser,
  start_time: '2026-06-20 10:00:00',
  end_time: '2026-06-20 11:00:00',
});

type Prepared = () => Promise<Answer>;
const made = async (company: TestCompany, list: string, body: unknown) => {
  const path = `${company.path}/${list}`;
  return `${path}/${(await ok(company.post(path, body))).id}`;
};
const deleted = async (company: TestCompany, list: string, body: unknown) => {
  const path = await made(company, list, body);
  await ok(company.delete(path));
  return path;
};
const onInvoice = async (company: TestCompany, ...verbs: string[]) => {
  const path = await made(company, 'invoices', INVOICE);
  const item = (await ok(company.get(path))).items[0].id;
  const posts = verbs.map((verb) => `${path}/${verb.replace('ITEM', `items/${item}`)}`);
  for (const post of posts.slice(0, -1)) await ok(company.post(post));
  return () => company.post(posts.at(-1) ?? '');
};

/** Every write that is tried again where somebody came between, and a request that leads to it. */
const WRITES: Record<string, (company: TestCompany) => Promise<Prepared>> = {
  'address_book.insert': async (company) => () => company.post(`${company.path}/address-book/entry`, PERSON),
  'address_book.update': async (company) => {
    const path = await made(company, 'address-book/entry', PERSON);
    return () => company.patch(path, PERSON);
  },
  'address_book.delete': async (company) => {
    const path = await made(company, 'address-book/entry', PERSON);
    return () => company.delete(path);
  },
  'address_book.remove_tag': async (company) => {
    const path = await made(company, 'address-book/entry', { ...PERSON, tags: ['executor'] });
    return () => company.delete(`${path}/tags/executor`);
  },
  'address_book.remove_custom_tag': async (company) => {
    const path = await made(company, 'address-book/entry', { ...PERSON, custom_tags: ['vip-client'] });
    return () => company.delete(`${path}/custom-tags/vip-client`);
  },
  'address_book.restore': async (company) => {
    const path = await deleted(company, 'address-book/entry', PERSON);
    return () => company.post(`${path}/restore`);
  },
  'interactions.update': async (company) => {
    const path = await made(company, 'interactions', { type: 'phone' });
    return () => company.patch(path, { type: 'phone' });
  },
  'interactions.delete': async (company) => {
    const path = await made(company, 'interactions', { type: 'phone' });
    return () => company.delete(path);
  },
  'interactions.restore': async (company) => {
    const path = await deleted(company, 'interactions', { type: 'phone' });
    return () => company.post(`${path}/restore`);
  },
  'invoices.insert': async (company) => () => company.post(`${company.path}/invoices`, INVOICE),
  'invoices.update': async (company) => {
    const path = await made(company, 'invoices', INVOICE);
    return () => company.patch(path, INVOICE);
  },
  'invoices.send': (company) => onInvoice(company, 'sent'),
  'invoices.cancel': (company) => onInvoice(company, 'cancel'),
  'invoices.reinstate': (company) => onInvoice(company, 'cancel', 'reinstate'),
  'invoices.cancel_item': (company) => onInvoice(company, 'ITEM/cancel'),
  'invoices.reinstate_item': (company) => onInvoice(company, 'ITEM/cancel', 'ITEM/reinstate'),
  'payments.reverse': async (company) => {
    const path = await made(company, 'invoices', INVOICE);
    const { id } = await ok(company.post(`${path}/payments`, { amount: 1 }));
    return () => company.post(`${path}/payments/${id}/reverse`);
  },
  'appointments.insert': async (company) => () => company.post(`${company.path}/appointments`, booking(company)),
  'appointments.update': async (company) => {
    const path = await made(company, 'appointments', booking(company));
    return () => company.patch(path, { notes: 'x' });
  },
  'appointments.cancel': async (company) => {
    const path = await made(company, 'appointments', booking(company));
    return () => company.patch(`${path}/outcome`, { cancelled: true });
  },
  'appointments.reinstate': async (company) => {
    const path = await made(company, 'appointments', booking(company));
    await ok(company.patch(`${path}/outcome`, { cancelled: true }));
    return () => company.patch(`${path}/outcome`, { cancelled: false });
  },
  'appointments.outcome': async (company) => {
    const path = await made(company, 'appointments', booking(company));
    return () => company.patch(`${path}/outcome`, { type: 'review' });
  },
  'appointments.delete': async (company) => {
    const path = await made(company, 'appointments', booking(company));
    return () => company.delete(path);
  },
  'appointments.restore': async (company) => {
    const path = await deleted(company, 'appointments', booking(company));
    return () => company.post(`${path}/restore`);
  },
  'advisers.restore': async (company) => {
    const { id } = await ok(company.post('/manage/advisers', { email: 'eve@firm.example', name: 'Eve' }));
    await ok(company.delete(`/manage/advisers/${id}`));
    return () => company.post(`/manage/advisers/${id}/restore`);
  },
  'customers.update': async (company) => () =>
    company.patch(`/manage/cases/${company.caseId}/customers/${company.customers[0].id}`, { title: 'Dr' }),
  'customers.restore': async (company) => {
    const path = `/manage/cases/${company.caseId}/customers/${company.customers[0].id}`;
    await ok(company.delete(path));
    return () => company.post(`${path}/restore`);
  },
  'advisers.insert': async (company) => () =>
    company.post('/manage/advisers', { email: 'eve@firm.example', name: 'Eve' }),
  'advisers.update': async (company) => {
    const { id } = await ok(company.post('/manage/advisers', { email: 'eve@firm.example', name: 'Eve' }));
    return () => company.patch(`/manage/advisers/${id}`, { name: 'Eva' });
  },
};

for (const [name, prepare] of Object.entries(WRITES)) {
  test(`${name} is tried again where somebody came between`, async () => {
    const request = await prepare(await app.company());
    const tries = nothingWritten([name], 2);
    await ok(request());
    assert.equal(tries.get(name), 3);
  });
}

test('no write is tried for ever: the caller is asked to come back', async () => {
  const requests: Prepared[] = [];
  for (const prepare of Object.values(WRITES)) requests.push(await prepare(await app.company()));
  const names = Object.keys(WRITES);
  const tries = nothingWritten(names, Number.POSITIVE_INFINITY);
  for (const answer of await Promise.all(requests.map((request) => request()))) {
    assert.equal(answer.status, 503, answer.text);
    assert.equal(answer.body.code, 'unavailable');
    assert.match(answer.body.detail, /same record/);
    assert.equal(answer.headers['retry-after'], '1');
  }
  assert.deepEqual([...tries.keys()].sort(), names.sort());
  for (const [name, times] of tries) assert.ok(times > 5 && times < 100, `${name}: ${times} tries`);
});

test('an adviser who becomes active between the booking and the judgement is booked', async () => {
  const company = await app.company();
  const activate = (active: boolean) =>
    app.sql('UPDATE advisers SET active = $2 WHERE company_id = $1', [company.companyId, active]);
  await activate(false);
  app.db.queryFirst = async (query) => {
    if (query.statement.name === 'appointments.rejection_reasons') await activate(true);
    return first(query);
  };
  await ok(company.post(`${company.path}/appointments`, booking(company)));
});

test('two hundred payments of one invoice at once are all taken', async () => {
  const company = await app.company();
  const path = await made(company, 'invoices', { ...INVOICE, total: 200, sub_total: 160, vat_amount: 40, items: [] });
  const pay = () => company.post(`${path}/payments`, { amount: 1 });
  const answers = await Promise.all(Array.from({ length: 200 }, pay));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  assert.equal((await ok(company.get(path))).outstanding, 0);
  assert.equal((await pay()).status, 400);
});

test('fifty updates of one record at once are all written', async () => {
  const company = await app.company();
  for (const [list, body, change] of [
    ['invoices', INVOICE, INVOICE],
    ['address-book/entry', PERSON, PERSON],
    ['appointments', booking(company), { notes: 'x' }],
  ] as const) {
    const path = await made(company, list, body);
    const answers = await Promise.all(Array.from({ length: 50 }, () => company.patch(path, change)));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200], list);
  }
});
