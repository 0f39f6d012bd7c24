import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestCompany } from './harness/app.ts';
import { assertRefused, ok } from './harness/assert.ts';
import { app, nextOf, type Row, twoCompanies, walk } from './harness/company-lists.ts';

/** The cases of a company by kind, state and responsible adviser. */

const SORTS = ['opened_at', '-opened_at', 'updated_at', '-updated_at'];
const UNKNOWN = '0198c0de-0000-7000-8000-000000000000';

const idsOf = (rows: Row[]) => rows.map(({ id }) => id);
const openCase = (company: TestCompany, fields: Row): Promise<Row> =>
  ok(company.post('/manage/cases', { reference: 'Doe', ...fields }));
const addKind = async (company: TestCompany, name: string): Promise<string> =>
  (await ok(company.post('/manage/case-kinds', { name }))).id;
const adviserOf = async (company: TestCompany): Promise<string> =>
  (await ok(company.get(`/manage/advisers?search=${company.adviser}`)))[0].id;

/** Seven cases of two kinds and of none, of one adviser and of none, in all states, some opened at the same time. */
async function seven() {
  const { company, stranger } = await twoCompanies();
  await app.sql('DELETE FROM cases WHERE company_id = $1 AND id <> $2', [company.companyId, company.caseId]);
  const [wills, probate] = [await addKind(company, 'Wills'), await addKind(company, 'Probate')];
  const adviser = await adviserOf(company);
  const opened = (day: number) => ({ opened_at: `2026-05-0${day} 10:00:00` });
  const made = [
    await openCase(company, { ...opened(1), kind_id: wills, responsible_adviser_id: adviser }),
    await openCase(company, { ...opened(2), kind_id: wills, state: 'closed', closed_at: '2026-05-20 10:00:00' }),
    await openCase(company, { ...opened(2), kind_id: probate, responsible_adviser_id: adviser, state: 'archived' }),
    await openCase(company, { ...opened(2), kind_id: probate }),
    await openCase(company, { ...opened(4), responsible_adviser_id: adviser, state: 'closed' }),
    await openCase(company, { ...opened(5), kind_id: wills, responsible_adviser_id: adviser, state: 'closed' }),
  ];
  await openCase(stranger, { state: 'closed' });
  return { company, stranger, wills, probate, adviser, ids: [...idsOf(made), company.caseId] };
}

test('cases of the company are listed as the management API shows them, and no case of another company', async () => {
  const { company, stranger, ids } = await seven();
  const rows: Row[] = await ok(company.get('/cases'));
  assert.deepEqual(idsOf(rows).toSorted(), ids.toSorted());
  for (const row of rows) assert.deepEqual(row, await ok(company.get(`/manage/cases/${row.id}`)));
  assert.equal(rows.find(({ id }) => id === company.caseId).customers.length, 2);
  assert.equal((await ok(stranger.get('/cases'))).length, 2);
});

test('cases are filtered by kind, state and responsible adviser, in any combination', async () => {
  const { company, stranger, wills, probate, adviser, ids } = await seven();
  const [one, two, three, four, five, six, first] = ids;
  const found = async (query: string) => idsOf(await ok(company.get(`/cases?${query}`))).toSorted();
  const expected: Record<string, (string | undefined)[]> = {
    'state=open': [one, four, first],
    'state=closed': [two, five, six],
    'state=archived': [three],
    [`kind_id=${wills}`]: [one, two, six],
    [`kind_id=${probate.toUpperCase()}&state=open`]: [four],
    [`responsible_adviser_id=${adviser}`]: [one, three, five, six],
    [`responsible_adviser_id=${adviser}&state=closed`]: [five, six],
    [`responsible_adviser_id=${adviser}&kind_id=${wills}`]: [one, six],
    [`responsible_adviser_id=${adviser}&kind_id=${wills}&state=closed`]: [six],
    [`kind_id=${UNKNOWN}`]: [],
    [`kind_id=${await addKind(stranger, 'Wills')}`]: [],
    [`responsible_adviser_id=${await adviserOf(stranger)}`]: [],
  };
  for (const sort of SORTS) {
    for (const [query, cases] of Object.entries(expected))
      assert.deepEqual(await found(`${query}&sort=${sort}`), cases.toSorted(), query);
  }
});

test('a kind and an adviser that were removed still find their cases', async () => {
  const { company, probate, adviser, ids } = await seven();
  await ok(company.delete(`/manage/case-kinds/${probate}`));
  await ok(company.delete(`/manage/advisers/${adviser}`));
  const query = `/cases?kind_id=${probate}&responsible_adviser_id=${adviser}`;
  assert.deepEqual(idsOf(await ok(company.get(query))), [ids[2]]);
});

for (const sort of SORTS) {
  test(`cases by ${sort}: pages of any size have every case once, in the same order, with every filter`, async () => {
    const { company, wills, adviser, ids } = await seven();
    for (const [i, id] of ids.entries())
      await app.sql(`UPDATE cases SET updated_at = $1 WHERE id = $2`, [`2026-05-1${(i * 5) % 4}T09:00:00Z`, id]);
    const field = sort.replace('-', '');
    for (const filter of ['', `&kind_id=${wills}`, `&responsible_adviser_id=${adviser}`, '&state=closed']) {
      const all = await walk(company, `/cases?sort=${sort}${filter}`);
      assert.ok(all.length >= 3);
      const opposite = sort.startsWith('-') ? field : `-${field}`;
      assert.deepEqual(idsOf(await walk(company, `/cases?sort=${opposite}${filter}`)), idsOf(all).reverse());
      for (const limit of [1, 2, 3])
        assert.deepEqual(idsOf(await walk(company, `/cases?sort=${sort}${filter}&limit=${limit}`)), idsOf(all));
      const keys = all.map((row) => row[field]);
      assert.deepEqual(keys, sort.startsWith('-') ? keys.toSorted().reverse() : keys.toSorted());
    }
  });
}

test('without a sort the case that was opened last is the first', async () => {
  const { company } = await seven();
  assert.deepEqual(await ok(company.get('/cases')), await ok(company.get('/cases?sort=-opened_at')));
});

test('a cursor of cases opens only the list, filters, sort and company that it was made for', async () => {
  const { company, stranger, wills } = await seven();
  const { headers } = await company.get('/cases?limit=1&state=open');
  const cursor = new URL(nextOf(headers.link) ?? '', 'http://x').searchParams.get('cursor') ?? '';
  assert.equal((await ok(company.get(`/cases?state=open&limit=9&cursor=${cursor}`))).length, 2);
  for (const refusal of [
    company.get(`/cases?cursor=${cursor}`),
    company.get(`/cases?state=closed&cursor=${cursor}`),
    company.get(`/cases?state=open&kind_id=${wills}&cursor=${cursor}`),
    company.get(`/cases?state=open&sort=opened_at&cursor=${cursor}`),
    company.get(`/interactions?cursor=${cursor}`),
    stranger.get(`/cases?state=open&cursor=${cursor}`),
  ])
    assertRefused(await refusal, { cursor: 'unknown' });
});

test('every faulty parameter of the list of cases is named', async () => {
  const { company } = await twoCompanies();
  const faults = { kind_id: 'format', responsible_adviser_id: 'format', state: 'not_allowed', sort: 'not_allowed' };
  const query = 'kind_id=Wills&responsible_adviser_id=me&state=Open&sort=id';
  assertRefused(await company.get(`/cases?${query}&limit=0`), { ...faults, limit: 'format' });
  assertRefused(await company.get(`/cases.csv?${query}`), faults);
});

test('cases are listed with the scope cases:read or manage, and with no other', async () => {
  const { company } = await twoCompanies();
  for (const path of ['/cases', '/cases.csv']) {
    assert.equal((await app.anonymous.get(path)).status, 401);
    for (const [scope, status] of [
      ['cases:read', 200],
      ['manage', 200],
      ['interactions:read', 403],
      ['events:read', 403],
    ] as const)
      assert.equal((await (await company.withScopes(scope)).get(path)).status, status, scope);
  }
});

test('an external id finds its case, of this company only, and other filters apply as well', async () => {
  const { company, stranger } = await twoCompanies();
  await app.sql(`UPDATE cases SET external_id = 'A-1' WHERE id = $1`, [company.caseId]);
  assert.deepEqual(idsOf(await ok(company.get('/cases?external_id=A-1'))), [company.caseId]);
  assert.deepEqual(await ok(company.get('/cases?external_id=a-1')), []);
  assert.deepEqual(await ok(company.get('/cases?external_id=A-1&state=closed')), []);
  assert.deepEqual(await ok(stranger.get('/cases?external_id=A-1')), []);
});

test('a page of cases with thousands of customers stays below some megabytes, and the walk still has every case', async () => {
  const company = await app.company();
  await app.sql(
    `INSERT INTO cases (company_id, id, reference, created_at, updated_at)
     SELECT $1, gen_random_uuid(), 'many', now(), now() FROM generate_series(1, 8)`,
    [company.companyId],
  );
  await app.sql(
    `INSERT INTO customers (company_id, case_id, id, title, first_names, last_name, created_at, updated_at)
     SELECT c.company_id, c.id, gen_random_uuid(), '', repeat('x', 30), repeat('y', 30), now(), now()
       FROM cases c, generate_series(1, 1000) WHERE c.company_id = $1 AND c.reference = 'many'`,
    [company.companyId],
  );
  const page = await company.get('/cases');
  assert.ok(page.text.length < 3_000_000, String(page.text.length));
  assert.ok(page.body.length < 9);
  assert.equal(new Set(idsOf(await walk(company, '/cases'))).size, 9);
});

test('cases as CSV: the whole list with the same filters and sort, a line for each case', async () => {
  const { company, wills, adviser } = await seven();
  const query = `kind_id=${wills}&responsible_adviser_id=${adviser}&sort=opened_at`;
  const [header, ...lines] = (await company.get(`/cases.csv?${query}`)).text.split('\r\n');
  assert.equal(
    header,
    'id,reference,kind_id,kind,state,opened_at,closed_at,responsible_adviser_id,external_id,created_at,updated_at,time_zone',
  );
  const rows: Row[] = await ok(company.get(`/cases?${query}`));
  assert.deepEqual(lines, [
    ...rows.map((row) =>
      [
        ...[row.id, row.reference, wills, 'Wills', row.state, row.opened_at, row.closed_at, adviser, ''],
        ...[row.created_at, row.updated_at, 'Europe/London'],
      ].join(),
    ),
    '',
  ]);
  assert.deepEqual(
    rows.map(({ state }) => state),
    ['open', 'closed'],
  );
});
