import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { assertRefused, ok } from './harness/assert.ts';
import { app, invoice, nextOf, pay, type Row, twoCompanies, walk } from './harness/company-lists.ts';

/** Status, due dates and sums of the invoices of a whole company. The clock shows 10 a.m. in London. */

beforeEach(() => app.clock.set('2026-06-01T09:00:00Z'));

const due = (day: string) => ({ date_due: `${day} 12:00:00` });

/** An invoice of 120 in each status; those that are open were due yesterday. */
async function everyStatus() {
  const { company, second, stranger } = await twoCompanies();
  const ids: Record<string, string> = {};
  for (const [status, path] of [
    ['Not Paid', company.path],
    ['Part Paid', second],
    ['Paid', company.path],
    ['Cancelled', second],
  ] as const) {
    const { id } = await invoice(company, path, due('2026-05-31'));
    ids[status] = id;
    if (status === 'Part Paid') await pay(company, path, id, '20.10');
    if (status === 'Paid') await pay(company, path, id, 120);
    if (status === 'Cancelled') await ok(company.post(`${path}/invoices/${id}/cancel`));
  }
  await invoice(stranger, stranger.path, due('2026-05-31'));
  return { company, second, stranger, ids };
}

test('invoices are filtered by status, and the status follows payments and cancellation', async () => {
  const { company, ids } = await everyStatus();
  const found = async (status: string) =>
    (await ok(company.get(`/invoices?status=${status}`))).map((row: Row) => [row.id, row.status]);
  for (const [status, id] of Object.entries(ids)) assert.deepEqual(await found(status), [[id, status]]);
  await pay(company, company.path, ids['Not Paid'] ?? '', 120);
  assert.deepEqual(await found('Not Paid'), []);
  assert.equal((await found('Paid')).length, 2);
  assertRefused(await company.get('/invoices?status=paid&overdue=yes'), {
    status: 'not_allowed',
    overdue: 'not_allowed',
  });
});

test('an invoice shows what an update must send again', async () => {
  const { company } = await twoCompanies();
  const { id } = await invoice(company, company.path, {});
  const { sender_id, vat } = (await ok(company.get(`${company.path}/invoices/${id}/history`)))[0].after;
  for (const shown of [
    await ok(company.get(`${company.path}/invoices/${id}`)),
    (await ok(company.get('/invoices')))[0],
  ]) {
    assert.deepEqual([shown.sender_id, shown.vat], [sender_id, vat]);
  }
});

test('only invoices that can still be paid are overdue', async () => {
  const { company, ids } = await everyStatus();
  const overdue: Row[] = await ok(company.get('/invoices?overdue=true'));
  assert.deepEqual(new Set(overdue.map(({ id }) => id)), new Set([ids['Not Paid'], ids['Part Paid']]));
  for (const row of await ok(company.get('/invoices'))) {
    assert.equal(row.overdue, ['Not Paid', 'Part Paid'].includes(row.status), row.status);
  }
  assert.deepEqual(await ok(company.get('/invoices?overdue=true&status=Paid')), []);
  assert.equal((await ok(company.get('/invoices?overdue=true&status=Part%20Paid'))).length, 1);
  assert.equal((await ok(company.get('/invoices?overdue=false'))).length, 4);
});

const FREE = {
  sub_total: 0,
  total: 0,
  vat_amount: 0,
  items: [{ description: 'Free', quantity: 1, rate: 0, amount: 0 }],
};

test('an invoice on which nothing is outstanding is neither open nor overdue', async () => {
  const company = await app.company();
  const { id } = await invoice(company, company.path, { ...due('2026-05-31'), ...FREE });
  for (const filter of ['overdue', 'open']) assert.deepEqual(await ok(company.get(`/invoices?${filter}=true`)), []);
  const [row] = await ok(company.get('/invoices'));
  assert.deepEqual([row.id, row.overdue, row.outstanding], [id, false, 0]);
  const { open, overdue } = await ok(company.get('/invoices/sums'));
  assert.deepEqual([open.count, overdue.count], [0, 0]);
});

test('a page of open or overdue invoices looks at 1,000 at most, however many have nothing outstanding', async () => {
  const company = await app.company();
  const on = (day: string) => ({ date_created: `${day} 12:00:00`, date_due: `${day} 12:00:00` });
  const { id: free } = await invoice(company, company.path, { ...on('2026-05-30'), ...FREE });
  await app.sql(
    `INSERT INTO invoices SELECT (jsonb_populate_record(v, jsonb_build_object('id', gen_random_uuid(), 'invoice_number', n))).*
       FROM invoices v, generate_series(1, 1500) n WHERE v.id = $1`,
    [free],
  );
  const { id } = await invoice(company, company.path, on('2026-05-31'));
  for (const filter of ['open', 'overdue']) {
    for (const sort of ['date_due', 'date_created']) {
      const path = `/invoices?${filter}=true&sort=${sort}&limit=10`;
      const page = await company.get(path);
      const next = nextOf(page.headers.link);
      assert.deepEqual([page.body, typeof next], [[], 'string'], path);
      // Nor does it look at fewer: the next page reaches the end.
      const [found] = await ok(company.get(next ?? ''));
      assert.equal(found?.id, id, path);
    }
  }
});

test('open=false and overdue=false filter nothing, whatever the other filters', async () => {
  const { company, second, ids } = await everyStatus();
  const { id: later } = await invoice(company, second, due('2026-06-30'));
  await app.sql(`UPDATE invoices SET external_id = 'LATER' WHERE id = $1`, [later]);
  const found = async (query: string) => (await ok(company.get(`/invoices?${query}`))).map((row: Row) => row.id).sort();
  const open = [ids['Not Paid'], ids['Part Paid'], later].sort();
  const overdue = [ids['Not Paid'], ids['Part Paid']].sort();
  for (const sort of ['date_due', '-date_created']) {
    for (const [filters, expected] of [
      ['open=false&overdue=true', overdue],
      ['open=true&overdue=false', open],
      ['open=false&overdue=false', [...Object.values(ids), later].sort()],
      ['open=false&status=Paid', [ids.Paid]],
      ['open=false&status=Cancelled&due_to=2026-06-01%2000:00', [ids.Cancelled]],
      ['open=false&due_from=2026-06-01%2000:00', [later]],
      ['open=false&external_id=LATER', [later]],
    ] as const) {
      assert.deepEqual(await found(`${filters}&sort=${sort}`), expected, `${filters} ${sort}`);
    }
  }
});

test('open invoices are those that can still be paid, the one that was due first at the top', async () => {
  const { company, second, ids } = await everyStatus();
  const { id: later } = await invoice(company, second, due('2026-06-30'));
  const { id: first } = await invoice(company, company.path, due('2026-03-01'));
  const open = async (query = '') =>
    (await walk(company, `/invoices?open=true&sort=date_due&limit=1${query}`)).map(({ id }) => id);
  const overdue = [ids['Not Paid'], ids['Part Paid']].sort();
  assert.deepEqual(await open(), [first, ...overdue, later]);
  assert.deepEqual(await open('&due_from=2026-06-01%2000:00'), [later]);
  assert.deepEqual(await open('&status=Part%20Paid'), [ids['Part Paid']]);
  assert.deepEqual(await open('&status=Paid'), []);
  assert.equal((await ok(company.get('/invoices?open=false'))).length, 6);
  const { text } = await company.get('/invoices.csv?open=true&sort=date_due');
  assert.equal(text.trim().split('\r\n').length, 1 + 4);
  assertRefused(await company.get('/invoices?open=yes'), { open: 'not_allowed' });
});

test('an invoice is overdue from the day after it was due, on the calendar of the company', async () => {
  const company = await app.company({ timeZone: 'Pacific/Auckland' });
  const { id } = await invoice(company, company.path, { date_due: '2026-06-02 00:00:00' });
  for (const [now, expected] of [
    ['2026-06-01T12:00:00Z', false],
    ['2026-06-02T11:59:59Z', false],
    ['2026-06-02T12:00:00Z', true],
  ] as const) {
    app.clock.set(now);
    const [row] = await ok(company.get('/invoices'));
    assert.equal(row.overdue, expected, now);
    assert.deepEqual(
      (await ok(company.get('/invoices?overdue=true'))).map((one: Row) => one.id),
      expected ? [id] : [],
    );
    assert.equal((await ok(company.get('/invoices/sums'))).overdue.count, expected ? 1 : 0);
  }
  assert.equal((await ok(company.get('/invoices/sums'))).today, '2026-06-03');
});

test('the range of due dates includes its begin and not its end, whatever the sort', async () => {
  const { company } = await twoCompanies();
  for (const day of ['2026-07-01', '2026-07-02', '2026-07-03']) {
    await invoice(company, company.path, { ...due(day), date_created: '2026-06-01 09:00:00' });
  }
  for (const sort of ['date_due', '-date_due', 'date_created', '-date_created']) {
    const days = async (query: string) =>
      (await walk(company, `/invoices?sort=${sort}&${query}`))
        .map(({ date_due }) => Number(date_due.slice(8, 10)))
        .sort();
    assert.deepEqual(await days('due_from=2026-07-02%2012:00:00'), [2, 3]);
    assert.deepEqual(await days('due_from=2026-07-02%2012:00:01'), [3]);
    assert.deepEqual(await days('due_to=2026-07-02%2012:00:00'), [1]);
    assert.deepEqual(await days('due_from=2026-07-02T11:00:00Z&due_to=2026-07-03T11:00:00Z'), [2]);
  }
  assertRefused(await company.get('/invoices?due_from=x&due_to=y'), { due_from: 'format', due_to: 'format' });
  assertRefused(await company.get('/invoices/sums?due_from=x&status=open'), {
    due_from: 'format',
    status: 'not_allowed',
  });
});

test('the sums are exact, of the invoices that the filters leave, and of no other company', async () => {
  const { company, second } = await everyStatus();
  const { id } = await invoice(company, second, { ...due('2026-06-01'), total: '0.30', sub_total: '0.30' });
  await pay(company, second, id, '0.10');
  await invoice(company, second, { ...due('2026-06-30'), total: '9999999999.99', sub_total: '9999999999.99' });
  await invoice(company, company.path, { ...due('2026-06-30'), total: '9999999999.99', sub_total: '9999999999.99' });
  const sums = async (query = '') => {
    const { text } = await company.get(`/invoices/sums?${query}`);
    const of = (name: string) =>
      new RegExp(`"${name}":\\{"count":(\\d+),"outstanding":([\\d.]+)\\}`).exec(text)?.slice(1);
    return [of('open'), of('overdue')];
  };
  assert.deepEqual(await sums(), [
    ['5', '20000000220.08'],
    ['2', '219.90'],
  ]);
  assert.deepEqual(await sums('overdue=true'), [
    ['2', '219.90'],
    ['2', '219.90'],
  ]);
  assert.deepEqual(await sums('status=Part%20Paid'), [
    ['2', '100.10'],
    ['1', '99.90'],
  ]);
  assert.deepEqual(await sums('status=Paid'), [
    ['0', '0.00'],
    ['0', '0.00'],
  ]);
  assert.deepEqual(await sums('due_from=2026-06-01%2012:00&due_to=2026-06-30%2012:00'), [
    ['1', '0.20'],
    ['0', '0.00'],
  ]);
  const empty = await ok((await app.company()).get('/invoices/sums'));
  assert.deepEqual(empty, {
    today: '2026-06-01',
    time_zone: 'Europe/London',
    open: { count: 0, outstanding: 0 },
    overdue: { count: 0, outstanding: 0 },
  });
  const narrow = await company.withScopes('invoices:write', 'manage');
  assert.equal((await narrow.get('/invoices/sums')).status, 403);
});

test('a credit note owes nothing and is not open', async () => {
  const { company } = await twoCompanies();
  await invoice(company, company.path, { ...due('2026-05-01'), total: -50, sub_total: -50 });
  assert.deepEqual((await ok(company.get('/invoices/sums'))).open, { count: 0, outstanding: 0 });
});

test('cancelled items are listed if that is asked for', async () => {
  const { company } = await twoCompanies();
  const item = { description: 'Wills', quantity: 1, rate: 100, amount: 120 };
  const { id } = await invoice(company, company.path, { items: [item, item] });
  const [listed] = await ok(company.get('/invoices'));
  await ok(company.post(`${company.path}/invoices/${id}/items/${listed.items[0].id}/cancel`));
  const items = async (query: string) => (await ok(company.get(`/invoices?${query}`)))[0].items.length;
  assert.deepEqual([await items(''), await items('show_cancelled_items=true')], [1, 2]);
});

test('a page of large invoices ends early, and the next one continues', async () => {
  const { company } = await twoCompanies();
  for (let i = 0; i < 5; i++) await invoice(company, company.path, due(`2026-07-0${i + 1}`));
  await app.sql('UPDATE invoices SET item_count = 3000 WHERE company_id = $1', [company.companyId]);
  const first = await company.get('/invoices?sort=date_due');
  assert.equal(first.body.length, 1);
  assert.ok(nextOf(first.headers.link));
  const days = (await walk(company, '/invoices?sort=date_due')).map(({ date_due }) => Number(date_due.slice(8, 10)));
  assert.deepEqual(days, [1, 2, 3, 4, 5]);
});
