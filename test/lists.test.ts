import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { test } from 'node:test';
import { addressBookLists } from '../src/cases/address-book/reads.sql.ts';
import { interactionLists } from '../src/cases/interactions/reads.sql.ts';
import { invoiceLists } from '../src/cases/invoices/reads.sql.ts';
import type { PoolName } from '../src/kernel/sql/statement.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import { FILL_INTERACTIONS } from './harness/bodies.ts';
import type { Answer } from './harness/http.ts';
import { testQuery } from './harness/query.ts';

/** The lists of a case: arrays, whole or in pages, short or very long. */

const app = await startApp();
const idsOf = (list: { id: string }[]) => list.map(({ id }) => id);

const fill = (company: TestCompany, count: number) =>
  app.sql(FILL_INTERACTIONS, [company.companyId, company.caseId, count]);

async function invoice({ client, caseId, customers }: TestCompany, number: string, due: string): Promise<string> {
  const dates = { date_created: '2026-06-01 09:00:00', date_due: due };
  const body = { sender_id: customers[0].id, ...dates, vat: 0, sub_total: 100, total: 100, items: [] };
  return (await client.createCaseInvoice({ caseId, body: { invoice_number: number, ...body } })).data.id;
}

async function person(
  { client, caseId }: TestCompany,
  first: string,
  last: string,
  more: object = {},
): Promise<string> {
  const body = { entity_id: 'person' as const, title: 'Ms', first_names: first, last_name: last, relationship: {} };
  return (await client.createCaseAddressBookEntry({ caseId, body: { ...body, ...more } })).data.id;
}

test('pages are parts of the whole list, and their headers say how many entries there are and where', async () => {
  const company = await app.company();
  await fill(company, 7);
  const all = await company.get(`${company.path}/interactions`);
  const list = `${company.path}/interactions`;
  assert.equal(all.headers['x-total-count'], undefined);
  const first = await company.get(`${list}?per_page=3`);
  const second = await company.get(`${list}?page=2&per_page=3`);
  const third = await company.get(`${list}?page=3&per_page=3`);
  const beyond = await company.get(`${list}?page=4&per_page=3`);
  assert.deepEqual([...first.body, ...second.body, ...third.body], all.body);
  assert.deepEqual([first.body.length, third.body.length, beyond.body.length], [3, 1, 0]);
  for (const page of [first, second, third, beyond]) assert.equal(page.headers['x-total-count'], '7');
  assert.equal(
    second.headers.link,
    [
      ['page=1', 'first'],
      ['page=3', 'last'],
      ['page=1', 'prev'],
      ['page=3', 'next'],
    ]
      .map(([page, rel]) => `<${list}?${page}&per_page=3>; rel="${rel}"`)
      .join(', '),
  );
});

test('the address book and the invoices come in pages too', async () => {
  const company = await app.company();
  for (const [i, name] of ['A', 'B', 'C'].entries()) {
    await person(company, name, 'Doe');
    await invoice(company, `N${i}`, '2026-07-01 00:00:00');
  }
  for (const [path, count] of [
    ['address-book', 6],
    ['address_book', 6],
    ['invoices', 3],
  ] as const) {
    const all = await company.get(`${company.path}/${path}`);
    assert.equal(all.body.length, count);
    const page = await company.get(`${company.path}/${path}?page=2&per_page=2`);
    assert.deepEqual(page.body, all.body.slice(2, 4));
    assert.equal(page.headers['x-total-count'], String(count));
  }
});

test('interactions are chosen by type and time', async () => {
  const company = await app.company();
  const { client, caseId } = company;
  const at = async (type: 'phone' | 'letter', when: string) =>
    (await client.createCaseInteraction({ caseId, body: { type, when } })).data.id;
  const march = await at('phone', '2026-03-10 10:00:00');
  const april = await at('letter', '2026-04-10 10:00:00');
  const may = await at('phone', '2026-05-10 10:00:00');
  const chosen = async (query: string) => idsOf((await company.get(`${company.path}/interactions?${query}`)).body);
  assert.deepEqual(await chosen('type=phone'), [may, march]);
  assert.deepEqual(await chosen('from=2026-04-10T10:00:00%2B01:00'), [may, april]);
  assert.deepEqual(await chosen('to=2026-04-10 10:00:00'.replaceAll(' ', '%20')), [march]);
  assert.deepEqual(await chosen('type=phone&from=2026-04-01%2000:00&to=2026-06-01%2000:00'), [may]);
  assert.deepEqual(await chosen('type=email'), []);
  const page = await company.get(`${company.path}/interactions?type=phone&per_page=1`);
  assert.deepEqual([idsOf(page.body), page.headers['x-total-count']], [[may], '2']);
});

test('invoices are chosen by status and due date', async () => {
  const company = await app.company();
  const june = await invoice(company, 'A', '2026-06-30 00:00:00');
  const july = await invoice(company, 'B', '2026-07-31 00:00:00');
  await company.client.recordPayment({ caseId: company.caseId, invoiceId: june, body: { amount: 100 } });
  const chosen = async (query: string) => idsOf((await company.get(`${company.path}/invoices?${query}`)).body);
  assert.deepEqual(await chosen('status=Paid'), [june]);
  assert.deepEqual(await chosen('status=Not%20Paid'), [july]);
  assert.deepEqual(await chosen('due_from=2026-07-01%2000:00:00'), [july]);
  assert.deepEqual(await chosen('due_to=2026-07-01%2000:00:00'), [june]);
  assert.deepEqual(await chosen('status=Cancelled'), []);
});

test('people are chosen by name and tag, and their addresses with them', async () => {
  const company = await app.company();
  const jane = await person(company, 'Jane', 'Doe', { tags: ['executor'] });
  const john = await person(company, 'John 100%', 'Roe', { custom_tags: ['vip-client'] });
  const chosen = async (query: string) => {
    const { body } = await company.get(`${company.path}/address-book?${query}`);
    assert.equal(body.length, 2 * body.filter((item: { entity_id: string }) => item.entity_id === 'person').length);
    return idsOf(body.filter((item: { entity_id: string }) => item.entity_id === 'person'));
  };
  assert.deepEqual(await chosen('name=jANE'), [jane]);
  assert.deepEqual(await chosen('name=jane%20doe'), [jane]);
  assert.deepEqual(await chosen('name=oe'), [jane, john]);
  assert.deepEqual(await chosen('name=%25'), [john]);
  assert.deepEqual(await chosen('name=_'), []);
  assert.deepEqual(await chosen('tag=executor'), [jane]);
  assert.deepEqual(await chosen('tag=vip-client'), [john]);
  assert.deepEqual(await chosen('tag=vip-client&name=jane'), []);
});

test('deleted records can be listed, to find what is to be restored', async () => {
  const company = await app.company();
  const { client, caseId } = company;
  await client.createCaseInteraction({ caseId, body: { type: 'phone' } });
  const { data: letter } = await client.createCaseInteraction({ caseId, body: { type: 'letter' } });
  await client.deleteInteraction({ caseId, interactionId: letter.id });
  assert.deepEqual(idsOf((await company.get(`${company.path}/interactions?deleted=true`)).body), [letter.id]);
  assert.equal((await company.get(`${company.path}/interactions?deleted=false`)).body.length, 1);
  const jane = await person(company, 'Jane', 'Doe');
  await client.deleteAddressBookEntry({ caseId, entryID: jane });
  assert.equal((await company.get(`${company.path}/address-book?deleted=1`)).body[0].id, jane);
  assert.deepEqual((await company.get(`${company.path}/address-book`)).body, []);
});

for (const [path, query, field] of [
  ['interactions', 'page=0', 'page'],
  ['interactions', 'per_page=201', 'per_page'],
  ['interactions', 'page=1&page=2', 'page'],
  ['interactions', 'type=Phone', 'type'],
  ['interactions', 'from=yesterday', 'from'],
  ['interactions', 'to=2026-02-30%2000:00:00', 'to'],
  ['interactions', 'deleted=maybe', 'deleted'],
  ['invoices', 'status=paid', 'status'],
  ['invoices', 'due_from=x', 'due_from'],
  ['invoices', 'per_page=x', 'per_page'],
  ['address-book', 'name=%00', 'name'],
  ['address-book', 'tag=%00', 'tag'],
  ['address-book', `name=${'x'.repeat(201)}`, 'name'],
] as const) {
  test(`${path}?${query.slice(0, 30)} is refused by name, but an unknown case comes first`, async () => {
    const company = await app.company();
    const refused = await company.get(`${company.path}/${path}?${query}`);
    assert.equal(refused.status, 400, refused.text);
    assert.deepEqual(
      refused.body.errors.map((fault: { field: string }) => fault.field),
      [field],
    );
    const stranger = await app.company();
    assert.equal((await stranger.get(`${company.path}/${path}?${query}`)).status, 404);
    assert.equal((await stranger.get(`${company.path}/${path}?per_page=5`)).status, 404);
  });
}

test('a long list comes whole, in the same order and the same form as its pages', async () => {
  const company = await app.company();
  await fill(company, 2_345);
  const { client, caseId } = company;
  const all = await company.get(`${company.path}/interactions`);
  assert.equal(all.body.length, 2_345);
  const pages = await Array.fromAsync(client.entries(client.getCaseInteractions, { caseId, per_page: 200 }));
  assert.deepEqual(all.body, pages);
  const letters = await company.get(`${company.path}/interactions?type=letter&to=2030-01-01%2000:00`);
  assert.equal(letters.body.length, 469);
});

for (const count of [999, 1_000, 1_001, 1_500]) {
  test(`a list of ${count} has ${count} entries`, async () => {
    const company = await app.company();
    await fill(company, count);
    const { body, status } = await company.get(`${company.path}/interactions`);
    assert.equal(status, 200);
    assert.equal(new Set(idsOf(body)).size, count);
  });
}

test('readers that leave in the middle of a long list, or never read on, hold nothing up', async () => {
  const company = await app.company();
  await fill(company, 20_000);
  const url = `${app.baseUrl}${company.path}/interactions`;
  const headers = { authorization: `Bearer ${company.token}`, 'content-type': 'application/json' };
  const begin = () =>
    new Promise<{ destroy(): void }>((resolve, reject) => {
      const request = httpRequest(url, { headers, agent: false }, (response) => {
        response.pause();
        resolve(request);
      });
      request.on('error', reject).end();
    });
  const idle = await Promise.all(Array.from({ length: 4 }, begin));
  // All connections for long lists are taken; short lists are still answered.
  assert.equal((await company.get(`${company.path}/interactions?per_page=1`)).status, 200);
  for (const reader of idle) reader.destroy();
  assert.equal((await company.get(`${company.path}/interactions`)).body.length, 20_000);
});

test('a list is planned once, however the cases differ in size, and a search with what is searched for', async () => {
  const mode = async (pool: PoolName) => {
    const query = testQuery(`test.plan_${pool}`, 'SHOW plan_cache_mode', [], pool);
    return (await app.db.queryFirst<{ plan_cache_mode: string }>(query))?.plan_cache_mode;
  };
  assert.equal(await mode('list'), 'force_generic_plan');
  assert.equal(await mode('short'), 'force_generic_plan');
  assert.equal(await mode('search'), 'auto');
  // The server of the tests has JIT off anyway, so the setting of the session is checked.
  const jit = `SELECT source FROM pg_settings WHERE name = 'jit'`;
  for (const pool of ['list', 'short', 'search'] as const) {
    const found = await app.db.queryFirst<{ source: string }>(testQuery(`test.jit_${pool}`, jit, [], pool));
    assert.equal(found?.source === 'session', pool !== 'search', pool);
  }
});

test('of every table with records of cases the planner knows that a case belongs to one company', async () => {
  const tables = await app.sql(
    `SELECT table_name AS name FROM information_schema.columns
      WHERE table_schema = 'public' AND column_name = 'case_id'
        AND table_name NOT IN (
          SELECT c.relname FROM pg_statistic_ext s JOIN pg_class c ON c.oid = s.stxrelid
           WHERE 'f' = ANY (s.stxkind)
             AND (SELECT count(*) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = ANY (s.stxkeys)
                     AND a.attname IN ('company_id', 'case_id')) = 2)`,
  );
  assert.deepEqual(tables, []);
});

test('a list of a thousand is one text, a longer one is not, and no more of it is put together than one text has', async () => {
  const company = await app.company();
  const { text } = interactionLists.all.prepared;
  const values = [company.companyId, company.caseId, 'zone'];
  const isText = async () => (await app.sql<{ json: string | null }>(text, values))[0]?.json !== null;
  await fill(company, 1_000);
  assert.equal(await isText(), true);
  await fill(company, 1);
  assert.equal(await isText(), false);
  await fill(company, 2_000);
  const rows = (await explain(text, values)).map((line) => Number(/actual rows=(\d+)/.exec(line)?.[1] ?? 0));
  assert.equal(Math.max(...rows), 1_001);
});

test('of invoices, which may have thousands of items, none is rendered if they are too many for one text', async () => {
  const company = await app.company();
  const { text } = invoiceLists.all.prepared;
  const values = [company.companyId, company.caseId, 'zone', null];
  const add = (count: number) =>
    app.sql(
      `INSERT INTO invoices (company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total,
         vat_amount, total, terms, payment_terms, recipients_name, created_at, updated_at)
       SELECT $1, $2, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now(), now(), 20, 0, 0, 0, '', '', '', now(), now()
         FROM generate_series(1, $3)`,
      [company.companyId, company.caseId, count],
    );
  const items = async () => (await explain(text, values)).filter((line) => /on invoice_items/.test(line)).join();
  await add(1_000);
  assert.match(await items(), /actual rows/);
  await add(1);
  assert.match(await items(), /never executed/);
});

/** Inserts invoices with this many items each. `counted`: whether their items were counted. */
async function fillInvoices(company: TestCompany, count: number, items: number, counted = true): Promise<void> {
  await app.sql(
    `WITH v AS (
       INSERT INTO invoices (company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total,
         vat_amount, total, terms, payment_terms, recipients_name, created_at, updated_at, item_count, payment_count)
       SELECT $1, $2, gen_random_uuid(), 'INV-' || n, $1, timestamptz '2026-01-01' + n * interval '1 day', now(), 0, 1, 0, 1,
              '', '', '', now(), now(), CASE WHEN $5 THEN $4::int END, CASE WHEN $5 THEN 0 END
         FROM generate_series(1, $3) n RETURNING id)
     INSERT INTO invoice_items (company_id, case_id, invoice_id, id, description, quantity, rate, amount, subtotal, vat_amount, position)
     SELECT $1, $2, v.id, gen_random_uuid(), 'Item ' || i, 1, 1, 1, 1, 0, i FROM v, generate_series(1, $4::int) i`,
    [company.companyId, company.caseId, count, items, counted],
  );
}

/** Whether a list came in pieces, so that its length was unknown at the beginning. */
const inPieces = ({ headers }: Answer) => headers['content-length'] === undefined;

for (const counted of [true, false]) {
  test(`few invoices of many items come in pieces, whole, in a page and chosen alike, ${counted ? '' : 'un'}counted`, async () => {
    const company = await app.company();
    await fillInvoices(company, 20, 600, counted);
    const list = `${company.path}/invoices`;
    const all = await company.get(list);
    const pages = await Promise.all([1, 2, 3, 4].map((page) => company.get(`${list}?per_page=5&page=${page}`)));
    const large = await company.get(`${list}?per_page=20`);
    const chosen = await company.get(`${list}?status=Not%20Paid`);
    assert.equal(all.body.length, 20);
    assert.ok(all.body.every(({ items }: { items: object[] }) => items.length === 600));
    assert.deepEqual(
      pages.flatMap(({ body }) => body),
      all.body,
    );
    for (const answer of [large, chosen]) assert.deepEqual(answer.body, all.body);
    assert.deepEqual([all, large, chosen].map(inPieces), [true, true, true]);
    assert.deepEqual(pages.map(inPieces), [false, false, false, false]);
    assert.deepEqual(
      [large, ...pages].map(({ headers }) => headers['x-total-count']),
      Array(5).fill('20'),
    );
  });
}

test('a second page that is too long for one text begins where it should', async () => {
  const company = await app.company();
  await fillInvoices(company, 30, 900);
  const all = await company.get(`${company.path}/invoices`);
  const second = await company.get(`${company.path}/invoices?per_page=12&page=2`);
  assert.ok(inPieces(second));
  assert.deepEqual(second.body, all.body.slice(12, 24));
});

test('few invoices with long headings come in pieces', async () => {
  const company = await app.company();
  await fillInvoices(company, 20, 1);
  await app.sql(`UPDATE invoices SET recipients_name = repeat('x', 300000) WHERE case_id = $1`, [company.caseId]);
  const all = await company.get(`${company.path}/invoices`);
  assert.ok(inPieces(all));
  assert.equal(all.body.length, 20);
});

test('few interactions with long notes come in pieces', async () => {
  const company = await app.company();
  await fill(company, 150);
  const list = `${company.path}/interactions`;
  assert.equal(inPieces(await company.get(list)), false);
  await app.sql(`UPDATE interactions SET notes = repeat('🏠', 10000) WHERE case_id = $1`, [company.caseId]);
  const all = await company.get(list);
  assert.ok(inPieces(all));
  assert.equal(all.body.length, 150);
  assert.deepEqual((await company.get(`${list}?type=phone`)).body.length, 120);
});

test('the address book of a case does not read the addresses of others', async () => {
  const [company, other] = [await app.company(), await app.company()];
  await app.sql(
    `INSERT INTO addresses (company_id, case_id, id, created_at, updated_at)
     SELECT $1, $2, gen_random_uuid(), now(), now() FROM generate_series(1, 1000)`,
    [other.companyId, other.caseId],
  );
  for (let i = 0; i < 5; i++) await person(company, 'Jane', `Doe ${i}`);
  await app.sql('ANALYZE people, addresses, relationships');
  const plan = await explain(addressBookLists.all.prepared.text, [company.companyId, company.caseId]);
  assert.match(plan.join('\n'), /Index Scan using addresses_pkey on addresses a .*loops=5/);
});

const explain = async (text: string, values: unknown[]) =>
  (await app.sql<{ 'QUERY PLAN': string }>(`EXPLAIN (ANALYZE, TIMING OFF) ${text}`, values)).map(
    (line) => line['QUERY PLAN'],
  );
