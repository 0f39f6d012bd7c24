import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { type Firm, openWorld } from './harness/app.ts';
import type { Answer } from './harness/http.ts';

const world = await openWorld();

const json = world.db.queryJson.bind(world.db);
const first = world.db.queryFirst.bind(world.db);
afterEach(() => {
  world.db.queryJson = json;
  world.db.queryFirst = first;
});

/** The statements write nothing this many times, as where somebody comes between; gives how often each was tried. */
function nothingWritten(names: string[], times: number): Map<string, number> {
  const tries = new Map<string, number>();
  world.db.queryJson = async (statement, values) => {
    // A change of an appointment has its parts behind its name.
    const [name = ''] = statement.name.split('+');
    if (!names.includes(name)) return json(statement, values);
    const before = tries.get(name) ?? 0;
    tries.set(name, before + 1);
    return before < times ? undefined : json(statement, values);
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
const booking = ({ adviser }: Firm) => ({
  adviser_email: adviser,
  start_time: '2026-06-20 10:00:00',
  end_time: '2026-06-20 11:00:00',
});

type Prepared = () => Promise<Answer>;
const made = async (firm: Firm, list: string, body: unknown) => {
  const path = `${firm.path}/${list}`;
  return `${path}/${(await ok(firm.post(path, body))).id}`;
};
const deleted = async (firm: Firm, list: string, body: unknown) => {
  const path = await made(firm, list, body);
  await ok(firm.delete(path));
  return path;
};
const onInvoice = async (firm: Firm, ...verbs: string[]) => {
  const path = await made(firm, 'invoices', INVOICE);
  const item = (await ok(firm.get(path))).items[0].id;
  const posts = verbs.map((verb) => `${path}/${verb.replace('ITEM', `items/${item}`)}`);
  for (const post of posts.slice(0, -1)) await ok(firm.post(post));
  return () => firm.post(posts.at(-1) ?? '');
};

/** Every write that is tried again where somebody came between, and a request that leads to it. */
const WRITES: Record<string, (firm: Firm) => Promise<Prepared>> = {
  'address_book.insert': async (firm) => () => firm.post(`${firm.path}/address-book/entry`, PERSON),
  'address_book.update': async (firm) => {
    const path = await made(firm, 'address-book/entry', PERSON);
    return () => firm.patch(path, PERSON);
  },
  'address_book.delete': async (firm) => {
    const path = await made(firm, 'address-book/entry', PERSON);
    return () => firm.delete(path);
  },
  'address_book.remove_tag': async (firm) => {
    const path = await made(firm, 'address-book/entry', { ...PERSON, tags: ['executor'] });
    return () => firm.delete(`${path}/tags/executor`);
  },
  'address_book.remove_custom_tag': async (firm) => {
    const path = await made(firm, 'address-book/entry', { ...PERSON, custom_tags: ['vip-client'] });
    return () => firm.delete(`${path}/custom-tags/vip-client`);
  },
  'address_book.restore': async (firm) => {
    const path = await deleted(firm, 'address-book/entry', PERSON);
    return () => firm.post(`${path}/restore`);
  },
  'interactions.update': async (firm) => {
    const path = await made(firm, 'interactions', { type: 'phone' });
    return () => firm.patch(path, { type: 'phone' });
  },
  'interactions.delete': async (firm) => {
    const path = await made(firm, 'interactions', { type: 'phone' });
    return () => firm.delete(path);
  },
  'interactions.restore': async (firm) => {
    const path = await deleted(firm, 'interactions', { type: 'phone' });
    return () => firm.post(`${path}/restore`);
  },
  'invoices.insert': async (firm) => () => firm.post(`${firm.path}/invoices`, INVOICE),
  'invoices.update': async (firm) => {
    const path = await made(firm, 'invoices', INVOICE);
    return () => firm.patch(path, INVOICE);
  },
  'invoices.send': (firm) => onInvoice(firm, 'sent'),
  'invoices.cancel': (firm) => onInvoice(firm, 'cancel'),
  'invoices.reinstate': (firm) => onInvoice(firm, 'cancel', 'reinstate'),
  'invoices.cancel_item': (firm) => onInvoice(firm, 'ITEM/cancel'),
  'invoices.reinstate_item': (firm) => onInvoice(firm, 'ITEM/cancel', 'ITEM/reinstate'),
  'payments.reverse': async (firm) => {
    const path = await made(firm, 'invoices', INVOICE);
    const { id } = await ok(firm.post(`${path}/payments`, { amount: 1 }));
    return () => firm.post(`${path}/payments/${id}/reverse`);
  },
  'appointments.insert': async (firm) => () => firm.post(`${firm.path}/appointments`, booking(firm)),
  'appointments.update': async (firm) => {
    const path = await made(firm, 'appointments', booking(firm));
    return () => firm.patch(path, { notes: 'x' });
  },
  'appointments.cancel': async (firm) => {
    const path = await made(firm, 'appointments', booking(firm));
    return () => firm.patch(`${path}/outcome`, { cancelled: true });
  },
  'appointments.reinstate': async (firm) => {
    const path = await made(firm, 'appointments', booking(firm));
    await ok(firm.patch(`${path}/outcome`, { cancelled: true }));
    return () => firm.patch(`${path}/outcome`, { cancelled: false });
  },
  'appointments.outcome': async (firm) => {
    const path = await made(firm, 'appointments', booking(firm));
    return () => firm.patch(`${path}/outcome`, { type: 'review' });
  },
  'appointments.delete': async (firm) => {
    const path = await made(firm, 'appointments', booking(firm));
    return () => firm.delete(path);
  },
  'appointments.restore': async (firm) => {
    const path = await deleted(firm, 'appointments', booking(firm));
    return () => firm.post(`${path}/restore`);
  },
  'advisers.restore': async (firm) => {
    const { id } = await ok(firm.post('/manage/advisers', { email: 'eve@firm.example', name: 'Eve' }));
    await ok(firm.delete(`/manage/advisers/${id}`));
    return () => firm.post(`/manage/advisers/${id}/restore`);
  },
  'customers.update': async (firm) => () =>
    firm.patch(`/manage/cases/${firm.caseId}/customers/${firm.customers[0].id}`, { title: 'Dr' }),
  'customers.restore': async (firm) => {
    const path = `/manage/cases/${firm.caseId}/customers/${firm.customers[0].id}`;
    await ok(firm.delete(path));
    return () => firm.post(`${path}/restore`);
  },
  'advisers.insert': async (firm) => () => firm.post('/manage/advisers', { email: 'eve@firm.example', name: 'Eve' }),
  'advisers.update': async (firm) => {
    const { id } = await ok(firm.post('/manage/advisers', { email: 'eve@firm.example', name: 'Eve' }));
    return () => firm.patch(`/manage/advisers/${id}`, { name: 'Eva' });
  },
};

for (const [name, prepare] of Object.entries(WRITES)) {
  test(`${name} is tried again where somebody came between`, async () => {
    const request = await prepare(await world.firm());
    const tries = nothingWritten([name], 2);
    await ok(request());
    assert.equal(tries.get(name), 3);
  });
}

test('no write is tried for ever: the caller is asked to come back', async () => {
  const requests: Prepared[] = [];
  for (const prepare of Object.values(WRITES)) requests.push(await prepare(await world.firm()));
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
  const firm = await world.firm();
  const activate = (active: boolean) =>
    world.sql('UPDATE advisers SET active = $2 WHERE company_id = $1', [firm.companyId, active]);
  await activate(false);
  world.db.queryFirst = async (statement, values) => {
    if (statement.name === 'appointments.rejection_reasons') await activate(true);
    return first(statement, values);
  };
  await ok(firm.post(`${firm.path}/appointments`, booking(firm)));
});

test('two hundred payments of one invoice at once are all taken', async () => {
  const firm = await world.firm();
  const path = await made(firm, 'invoices', { ...INVOICE, total: 200, sub_total: 160, vat_amount: 40, items: [] });
  const pay = () => firm.post(`${path}/payments`, { amount: 1 });
  const answers = await Promise.all(Array.from({ length: 200 }, pay));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  assert.equal((await ok(firm.get(path))).outstanding, 0);
  assert.equal((await pay()).status, 400);
});

test('fifty updates of one record at once are all written', async () => {
  const firm = await world.firm();
  for (const [list, body, change] of [
    ['invoices', INVOICE, INVOICE],
    ['address-book/entry', PERSON, PERSON],
    ['appointments', booking(firm), { notes: 'x' }],
  ] as const) {
    const path = await made(firm, list, body);
    const answers = await Promise.all(Array.from({ length: 50 }, () => firm.patch(path, change)));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200], list);
  }
});
