import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused, ok } from './harness/assert.ts';
import { FILL_INTERACTIONS } from './harness/bodies.ts';
import {
  app,
  appointment,
  invoice,
  nextOf,
  pay,
  person,
  phoneCall,
  type Row,
  twoCompanies,
  walk,
} from './harness/company-lists.ts';

/** What the four lists of a whole company have in common. */

const LISTS = {
  interactions: { make: phoneCall, sorts: ['when', '-when'], scope: 'interactions:read' },
  invoices: {
    make: invoice,
    sorts: ['date_due', '-date_due', 'date_created', '-date_created'],
    scope: 'invoices:read',
  },
  appointments: { make: appointment, sorts: ['start_time', '-start_time'], scope: 'appointments:read' },
  'address-book': { make: person, sorts: ['name', '-name', 'email', '-email'], scope: 'address_book:read' },
} as const;
const ADDITIONS: Record<string, string[]> = {
  interactions: ['when_utc'],
  invoices: ['date_created_utc', 'outstanding', 'overdue', 'paid', 'sender_id', 'vat'],
  appointments: ['end_time_utc', 'outcome'],
  'address-book': ['address'],
};

/** Six records, of which some have the same key, in two cases. */
async function six(list: keyof typeof LISTS) {
  const { company, second, stranger } = await twoCompanies();
  const { make } = LISTS[list];
  for (const [i, path] of [company.path, second, company.path, second, company.path, second].entries()) {
    const day = `2026-06-1${i % 4}`;
    await make(
      company,
      path,
      {
        interactions: { when: `${day} 10:00:00` },
        invoices: { date_due: `${day} 10:00:00`, date_created: `${day} 09:00:00` },
        appointments: { start_time: `${day} 10:00:00`, end_time: `${day} 11:00:00` },
        'address-book': { last_name: `Doe${i % 4}`, email: `doe${i % 4}@client.example` },
      }[list],
    );
  }
  await make(stranger, stranger.path);
  return { company, second, stranger };
}

for (const [list, { sorts, scope, make }] of Object.entries(LISTS) as [
  keyof typeof LISTS,
  (typeof LISTS)['invoices'],
][]) {
  test(`${list}: records of all cases with their case, as the list of the case shows them, and of no other company`, async () => {
    const { company, second } = await six(list);
    const rows = await ok(company.get(`/${list}`));
    assert.equal(rows.length, 6);
    for (const path of [company.path, second]) {
      const ofCase: Row[] = await ok(company.get(`${path}/${list}`));
      const shown = rows.filter((row: Row) => row.case.id === path.slice('/cases/'.length));
      assert.equal(shown.length, 3);
      for (const row of shown) {
        assert.equal(row.case.reference, path === company.path ? 'Smith' : 'another');
        const { case: _case, external_id, created_at, updated_at, ...rest } = row;
        assert.equal(external_id, null);
        assert.match(`${created_at} ${updated_at}`, /^2026\S+Z 2026\S+Z$/);
        const element = ofCase.find(({ id }) => id === row.id);
        const added = Object.keys(rest).filter((field) => !Object.hasOwn(element, field));
        assert.deepEqual(added.sort(), ADDITIONS[list]);
        for (const field of Object.keys(element)) {
          if (!['created_at', 'updated_at', 'external_id'].includes(field))
            assert.deepEqual(rest[field], element[field]);
        }
      }
    }
  });

  for (const sort of sorts) {
    test(`${list} by ${sort}: pages of any size have every record once, in the same order`, async () => {
      const { company } = await six(list);
      const ids = (rows: Row[]) => rows.map(({ id }) => id);
      const all = await walk(company, `/${list}?sort=${sort}`);
      assert.equal(all.length, 6);
      const opposite = sort.startsWith('-') ? sort.slice(1) : `-${sort}`;
      assert.deepEqual(ids(await walk(company, `/${list}?sort=${opposite}`)), ids(all).reverse());
      for (const limit of [1, 2, 4, 6]) {
        assert.deepEqual(ids(await walk(company, `/${list}?sort=${sort}&limit=${limit}`)), ids(all), `limit ${limit}`);
      }
      const key = (row: Row) =>
        ({ when: row.when, name: row.data?.last_name, email: row.data?.email, ...row })[sort.replace('-', '')];
      const keys = all.map(key);
      assert.deepEqual(keys, sort.startsWith('-') ? keys.toSorted().reverse() : keys.toSorted());
    });
  }

  test(`${list}: what is added between two pages neither repeats nor hides a record`, async () => {
    const { company } = await six(list);
    const before = await walk(company, `/${list}`);
    const first = await company.get(`/${list}?limit=2`);
    await make(company, company.path);
    const rest = await walk(company, nextOf(first.headers.link) ?? '');
    const met = [...first.body, ...rest].map(({ id }: Row) => id);
    assert.equal(new Set(met).size, met.length);
    for (const { id } of before) assert.ok(met.includes(id));
  });

  test(`${list}: a cursor opens only the list, filters, sort and company that it was made for`, async () => {
    const { company, stranger } = await six(list);
    const { headers } = await company.get(`/${list}?limit=1&sort=${sorts[0]}`);
    const cursor = new URL(nextOf(headers.link) ?? '', 'http://x').searchParams.get('cursor') ?? '';
    const page = `/${list}?sort=${sorts[0]}&cursor=`;
    assert.equal((await ok(company.get(`${page}${cursor}&limit=3`))).length, 3, 'the limit may change');
    const refusals = [
      () => company.get(`/${list}?sort=${sorts[1]}&cursor=${cursor}`),
      () => company.get(`${page}${cursor}&external_id=x`),
      () => stranger.get(`${page}${cursor}`),
      () => company.get(`${page}${cursor.slice(0, -2)}`),
      () => company.get(`${page}${cursor[0] === 'A' ? 'B' : 'A'}${cursor.slice(1)}`),
      () => company.get(`${page}AAAA`),
    ];
    for (const refusal of refusals) assertRefused(await refusal(), { cursor: 'unknown' });
    assertRefused(await company.get(`${page}%2B`), { cursor: 'format' });
    for (const [other, { sorts: otherSorts }] of Object.entries(LISTS)) {
      if (other !== list)
        assertRefused(await company.get(`/${other}?sort=${otherSorts[0]}&cursor=${cursor}`), { cursor: 'unknown' });
    }
  });

  test(`${list}: a cursor does not show what the list is sorted by`, async () => {
    const { company } = await six(list);
    const { headers } = await company.get(`/${list}?limit=1`);
    const cursor = new URL(nextOf(headers.link) ?? '', 'http://x').searchParams.get('cursor') ?? '';
    assert.doesNotMatch(Buffer.from(cursor, 'base64url').toString('latin1'), /doe|2026/i);
  });

  test(`${list}: every faulty parameter is named`, async () => {
    const { company } = await twoCompanies();
    assertRefused(await company.get(`/${list}?limit=0&sort=id`), { limit: 'format', sort: 'not_allowed' });
    assertRefused(await company.get(`/${list}?limit=201&external_id=a%00b`), {
      limit: 'out_of_range',
      external_id: 'invalid_character',
    });
    assertRefused(await company.get(`/${list}?external_id=${'x'.repeat(256)}`), { external_id: 'too_long' });
  });

  test(`${list}: takes the scope ${scope} and no other, and asks for no Content-Type`, async () => {
    const { company } = await twoCompanies();
    const narrow = await company.withScopes(scope.replace('read', 'write'), 'manage', 'events:read');
    for (const path of [`/${list}`, `/${list}.csv`]) {
      assert.equal((await narrow.get(path)).status, 403);
      assert.equal((await app.anonymous.get(path)).status, 401);
      assert.equal((await (await company.withScopes(scope)).get(path, { 'content-type': undefined })).status, 200);
    }
  });

  test(`${list}: the reference of a case is shown to who may read cases`, async () => {
    const { company, second } = await six(list);
    const shown = async (...scopes: string[]) => {
      const caller = await company.withScopes(scope, ...scopes);
      const rows: Row[] = await ok(caller.get(`/${list}`));
      assert.deepEqual(new Set(rows.map((row) => row.case.id)), new Set([company.caseId, second.slice(7)]));
      const { text } = await caller.get(`/${list}.csv`);
      const written = text.split('\r\n').slice(1, -1);
      assert.deepEqual(
        written.map((line) => line.split(',')[2]),
        rows.map((row) => row.case.reference ?? ''),
      );
      // By page number, appointments are another statement.
      const diary = `/appointments?page=1&adviser_email=${company.adviser}`;
      if (list === 'appointments') rows.push(...(await ok(caller.get(diary))));
      return [...new Set(rows.map((row) => row.case.reference))].sort();
    };
    assert.deepEqual(await shown(), [null]);
    assert.deepEqual(await shown('events:read'), [null]);
    assert.deepEqual(await shown('cases:read'), ['Smith', 'another']);
    assert.deepEqual(await shown('manage'), ['Smith', 'another']);
  });

  test(`${list}: an external id finds its record, of this company only, and other filters apply as well`, async () => {
    const { company, stranger } = await six(list);
    const table = list === 'address-book' ? 'people' : list;
    const [first] = await ok(company.get(`/${list}`));
    await app.sql(`UPDATE ${table} SET external_id = 'A-1' WHERE id = $1`, [first.id]);
    const found = await ok(company.get(`/${list}?external_id=A-1`));
    assert.deepEqual(found, [{ ...first, external_id: 'A-1' }]);
    assert.deepEqual(await ok(company.get(`/${list}?external_id=a-1`)), []);
    assert.deepEqual(await ok(stranger.get(`/${list}?external_id=A-1`)), []);
    const other = {
      interactions: 'type=letter',
      invoices: 'status=Paid',
      appointments: 'outcome=attended',
      'address-book': 'tag=executor',
    }[list];
    assert.deepEqual(await ok(company.get(`/${list}?external_id=A-1&${other}`)), []);
  });
}

for (const [list, path] of [
  ['interactions', 'interactions'],
  ['appointments', 'appointments'],
  ['address-book', 'address-book/entry'],
] as const) {
  test(`${list}: a deleted record is not listed, and a restored one is`, async () => {
    const { company } = await six(list);
    const [first] = await ok(company.get(`/${list}`));
    const one = `/cases/${first.case.id}/${path}/${first.id}`;
    await ok(company.delete(one));
    const shows = async () => (await walk(company, `/${list}?limit=2`)).some(({ id }) => id === first.id);
    assert.equal(await shows(), false);
    await ok(company.post(`${one}/restore`));
    assert.equal(await shows(), true);
  });
}

for (const [list, fields] of Object.entries({
  appointments: `notes = repeat('x', 10000), location = repeat('€', 10000)`,
  'address-book': `custom_tags = array_fill(repeat('€', 100), ARRAY[100])`,
}) as ['appointments' | 'address-book', string][]) {
  test(`${list}: a page of long records ends at about 2 MB, and the next one continues`, async () => {
    const { company } = await twoCompanies();
    const { id } = await LISTS[list].make(company, company.path);
    const table = list === 'address-book' ? 'people' : list;
    const [row] = await app.sql<Row>(`UPDATE ${table} SET ${fields} WHERE id = $1 RETURNING *`, [id]);
    const columns = Object.keys(row).filter((column) => column !== 'id');
    await app.sql(
      `INSERT INTO ${table} (id, ${columns}) SELECT gen_random_uuid(), ${columns} FROM ${table}, generate_series(1, 120)
        WHERE id = $1`,
      [id],
    );
    let records = 0;
    for (let next: string | undefined = `/${list}?limit=200`; next; ) {
      const answer = await company.get(next);
      assert.ok(
        answer.text.length > 0 && Buffer.byteLength(answer.text) < 2_200_000,
        `${Buffer.byteLength(answer.text)}`,
      );
      records += answer.body.length;
      next = nextOf(answer.headers.link);
    }
    assert.equal(records, 121);
  });
}

test('the links to the next pages keep question marks in a filter', async () => {
  const { company } = await twoCompanies();
  for (const name of ['Wh?t', 'Wh?tever', 'What']) await person(company, company.path, { last_name: name });
  assert.equal((await walk(company, '/address-book?name=wh?t&limit=1')).length, 2);
  for (const path of ['/address-book?limit=1', '/manage/customers?per_page=1', '/events?limit=1']) {
    const { headers } = await company.get(`${path}&other=a?b?c`);
    for (const [, link = ''] of String(headers.link).matchAll(/<([^>]+)>/g)) {
      const url = new URL(link, 'http://x');
      assert.deepEqual([url.pathname, url.searchParams.get('other')], [path.split('?')[0], 'a?b?c']);
    }
    assert.match(String(headers.link), /rel="next"/);
  }
  for (let i = 0; i < 2; i++) await phoneCall(company, company.path);
  const timeline = await company.get(`${company.path}/timeline?limit=1&other=a?b`);
  assert.match(String(timeline.headers.link), /other=a%3Fb.*rel="next"/);
});

test('interactions are filtered by type and by time, in the time zone of the company', async () => {
  const company = await app.company({ timeZone: 'America/New_York' });
  for (const [type, when] of [
    ['letter', '2026-03-08T06:59:59Z'],
    ['phone', '2026-03-08T07:00:00Z'],
    ['letter', '2026-03-08T07:30:00Z'],
  ]) {
    await phoneCall(company, company.path, { type, when });
  }
  const whens = async (query: string) =>
    (await ok(company.get(`/interactions?sort=when&${query}`))).map((row: Row) => row.when_utc);
  const [before, at, after] = [
    '2026-03-08T06:59:59.000000Z',
    '2026-03-08T07:00:00.000000Z',
    '2026-03-08T07:30:00.000000Z',
  ];
  // Clocks went forward at two o'clock.
  assert.deepEqual(await whens('from=2026-03-08%2003:00:00'), [at, after]);
  assert.deepEqual(await whens('to=2026-03-08%2003:00:00'), [before]);
  assert.deepEqual(await whens('from=2026-03-08T07:00:00Z&to=2026-03-08T07:30:00Z'), [at]);
  assert.deepEqual(await whens('from=2026-03-09%2000:00&to=2026-03-08%2000:00'), []);
  assert.deepEqual(await whens('type=letter'), [before, after]);
  assert.deepEqual(await whens('type=email'), []);
  assert.deepEqual(await whens('type=letter&from=2026-03-08T07:00:00Z'), [after]);
  assertRefused(await company.get('/interactions?from=soon&to=2026-02-30%2010:00&type=Phone'), {
    from: 'format',
    to: 'format',
    type: 'not_allowed',
  });
  const [row] = await ok(company.get('/interactions'));
  assert.equal(row.when, '2026-03-08 03:30:00');
});

test('without a filter a list has records of every type, status and outcome', async () => {
  const { company } = await twoCompanies();
  const types = ['phone', 'email', 'SMS', 'appointment', 'letter', 'video_conference', 'other'];
  for (const type of types) await phoneCall(company, company.path, { type });
  const listed = async (path: string, field: string) =>
    (await ok(company.get(path))).map((row: Row) => row[field]).toSorted();
  assert.deepEqual(await listed('/interactions', 'type'), types.toSorted());
  const ids = [];
  for (let i = 0; i < 4; i++) ids.push((await invoice(company, company.path, { total: 10, sub_total: 10 })).id);
  await pay(company, company.path, ids[1], 4);
  await pay(company, company.path, ids[2], 10);
  await ok(company.post(`${company.path}/invoices/${ids[3]}/cancel`));
  const statuses = ['Cancelled', 'Not Paid', 'Paid', 'Part Paid'];
  for (const sort of ['date_due', 'date_created'])
    assert.deepEqual(await listed(`/invoices?sort=${sort}`, 'status'), statuses);
});

test('a list of thousands is walked to its end in both directions', async () => {
  const company = await app.company();
  await app.sql(FILL_INTERACTIONS, [company.companyId, company.caseId, 1_500]);
  for (const sort of ['when', '-when']) {
    const rows = await walk(company, `/interactions?limit=200&sort=${sort}`);
    assert.equal(new Set(rows.map(({ id }) => id)).size, 1_500);
  }
  assert.equal((await walk(company, '/interactions?limit=200&type=letter')).length, 300);
});

test('appointments are filtered by adviser, outcome and time', async () => {
  const { company, second } = await twoCompanies();
  const at = (day: number) => ({ start_time: `2026-06-0${day} 10:00:00`, end_time: `2026-06-0${day} 11:00:00` });
  const [one, two, three] = [
    await appointment(company, company.path, at(1)),
    await appointment(company, second, { ...at(2), adviser_email: company.adviserWithVideo }),
    await appointment(company, company.path, at(3)),
  ];
  app.clock.set('2026-06-05T09:00:00Z');
  await ok(company.patch(`${company.path}/appointments/${one.id}/outcome`, { attended: true }));
  await ok(company.patch(`${second}/appointments/${two.id}/outcome`, { cancelled: true }));
  const found = async (query: string) =>
    (await ok(company.get(`/appointments?${query}`))).map((row: Row) => [row.id, row.outcome]);
  const [attended, cancelled, none] = [
    [one.id, 'attended'],
    [two.id, 'cancelled'],
    [three.id, 'none'],
  ];
  assert.deepEqual(await found(''), [attended, cancelled, none]);
  assert.deepEqual(await found('outcome=attended'), [attended]);
  assert.deepEqual(await found('outcome=cancelled'), [cancelled]);
  assert.deepEqual(await found('outcome=none'), [none]);
  assert.deepEqual(await found(`adviser_email=${company.adviser.toUpperCase()}`), [attended, none]);
  assert.deepEqual(await found(`adviser_email=${company.adviser}&outcome=none`), [none]);
  assert.deepEqual(await found(`adviser_email=${company.adviser}&outcome=cancelled`), []);
  assert.deepEqual(await found('from=2026-06-02%2010:00&to=2026-06-03%2010:00'), [cancelled]);
  assert.deepEqual(await found(`adviser_email=${company.adviser}&from=2026-06-02%2010:00&sort=-start_time`), [none]);
  const { stranger } = await twoCompanies();
  assertRefused(await company.get(`/appointments?adviser_email=${stranger.adviser}`), { adviser_email: 'unknown' });
  assertRefused(await company.get('/appointments?adviser_email=&outcome=missed'), {
    adviser_email: 'too_short',
    outcome: 'not_allowed',
  });
  app.clock.set('2026-06-01T09:00:00Z');
});
