import assert from 'node:assert/strict';
import { test } from 'node:test';
import { periodOf, startOf } from '../src/search/periods.ts';
import { refused } from './harness/assert.ts';
import { nextOf } from './harness/company-lists.ts';
import type { Caller } from './harness/http.ts';
import {
  addCalls,
  addInteraction,
  app,
  fillers,
  type Hit,
  ids,
  index,
  openCase,
  rebuilt,
  search,
  TODAY,
  titles,
} from './harness/search.ts';
import { isExpected, mayBeNumber, type SearchedTexts } from './harness/search-model.ts';
import { pagesOf } from './harness/search-pages.ts';
import { randomFrom } from './harness/simulated-year.ts';

/** The pages of a search have every hit once, best first, whether the newest records have it or the index does. */

const WORDS = ['al', 'alder', 'aldermoor', 'birch', 'bir', 'cedar', 'cedars', 'damson', 'elm', 'fig'];
const NUMBERS = ['42', '4200', '2025', '2026', '9876543210987'];

test('the pages of any search have exactly the records with its words, each once', { timeout: 120_000 }, async () => {
  const seed = Number(process.env.SEED ?? crypto.getRandomValues(new Uint32Array(1))[0]);
  const random = randomFrom(seed);
  const draw = (max: number) => Math.floor(random() * max);
  const word = () => [...WORDS, ...NUMBERS][draw(draw(2) ? 4 : WORDS.length + NUMBERS.length)] ?? '';
  const words = (count: number) => Array.from({ length: count }, word);
  const numbers = (count: number) => Array.from({ length: count }, () => NUMBERS[draw(NUMBERS.length)] ?? '');
  const company = await app.company();
  /** Each record that can be found, by id. */
  const known = new Map<string, SearchedTexts & { kind: string }>();
  for (let nth = 0; nth < 12; nth++) {
    const [reference = '', last_name = ''] = words(2);
    const caseId = await openCase(company, reference, [{ last_name }]);
    await addCalls(
      company,
      caseId,
      Array.from({ length: 100 }, () => ({
        notes: [...words(draw(3)), 'of', ...(draw(8) ? words(draw(2)) : numbers(2))].join(' '),
        // Half of them in one month, the others within thirty years.
        at: new Date(TODAY - random() * (draw(2) ? 31 : 11_000) * 86_400_000).toISOString(),
      })),
    );
    for (const [kind, sql] of Object.entries({
      interaction: 'SELECT id, notes AS text FROM interactions WHERE case_id = $1',
      customer: `SELECT id, concat_ws(' ', title, first_names, last_name) AS text FROM customers WHERE case_id = $1`,
      case: 'SELECT id, reference AS text FROM cases WHERE id = $1',
    })) {
      for (const { id, text } of await app.sql<{ id: string; text: string }>(sql, [caseId]))
        known.set(id, { kind, text: text.toLowerCase(), context: `${reference} ${last_name}` });
    }
  }
  await rebuilt(company);
  for (let nth = 0; nth < 40; nth++) {
    // Groups of digits side by side are rare among words that are drawn at random.
    const typed = draw(4) ? words(1 + draw(3)) : [...words(draw(2)), ...numbers(2 + draw(2)), ...words(draw(2))];
    const [kinds, limit] = [draw(3) ? undefined : 'interaction,customer', draw(2) ? 50 : 10 + draw(40)];
    const whole = typed.join(' ');
    const q = draw(4) || whole.endsWith(' al') || whole.length < 3 ? whole : whole.slice(0, -1);
    const searched = [...known].filter(([, { kind }]) => !kinds || kinds.includes(kind));
    const asTyped = searched.filter(([, record]) => isExpected(q, record));
    const isWhole = asTyped.length > 0;
    const records = isWhole ? asTyped : searched.filter(([, record]) => isExpected(q, record, 'all may be beginnings'));
    const pages = await pagesOf(company, q, `&limit=${limit}${kinds ? `&kinds=${kinds}` : ''}`);
    const message = `${q} ${kinds ?? ''} ${limit} (SEED=${seed})`;
    const found = pages.flat();
    assert.equal(new Set(ids(found)).size, found.length, `twice: ${message}`);
    assert.deepEqual(ids(found).sort(), records.map(([id]) => id).sort(), message);
    // Names come before all others.
    const isNamed = (id: string) => {
      const { kind = '', text = '' } = known.get(id) ?? {};
      return kind !== 'interaction' && isExpected(q, { text });
    };
    const order = found.map(({ id }) => (isNamed(id) ? 0 : 1));
    // Ends of phone numbers are found in any text.
    if (isWhole && !mayBeNumber(q)) assert.deepEqual(order, [...order].sort(), `names first: ${message}`);
  }
});

test('a page that is full as a phase ends leads to the hits of the next phase', async () => {
  const company = await app.company();
  const cases = [await openCase(company, 'oak'), await openCase(company, 'oak')];
  const calls = ['oak', 'oak', 'oak', 'oaktree', 'oaktree'].map((notes) => ({ notes, at: '2024-05-01T10:00:00Z' }));
  for (const more of [[], fillers()]) {
    await addCalls(company, company.caseId, more.length > 0 ? more : calls);
    await rebuilt(company);
    for (const limit of [1, 2, 3, 4, 7]) {
      const found = (await pagesOf(company, 'oak', `&limit=${limit}`)).flat();
      assert.equal(new Set(ids(found)).size, cases.length + calls.length, `limit ${limit}`);
      assert.equal(found.length, cases.length + calls.length);
    }
  }
});

test('of equal hits the newest come first, on every page and in every period', async () => {
  const company = await app.company();
  const caseId = await openCase(company, 'trees');
  const times = ['1987-05-01', '1999-12-31', '2000-01-01', '2012-03-01', '2023-12-31', '2024-01-01', '2024-01-15'];
  const calls = [...times, '2024-01-16', '2024-02-29', '2026-01-01'].map((day) => ({
    notes: 'rowan',
    at: `${day}T23:59:59.999Z`,
  }));
  await addCalls(company, caseId, [...calls, ...fillers()]);
  await rebuilt(company);
  for (const limit of [1, 2, 4, 50]) {
    const found = (await pagesOf(company, 'rowan', `&limit=${limit}`)).flat();
    const expected = calls.map(({ at }) => at.replace('Z', '000Z')).reverse();
    assert.deepEqual(
      found.map(({ at }) => at),
      expected,
      `limit ${limit}`,
    );
  }
});

test('a record of the first moment of a period is found once, by words and by long numbers', async () => {
  const company = await app.company();
  const halves = Array.from({ length: 30 }, (_, i) => Date.UTC(2024, i >> 1, i % 2 ? 16 : 1));
  const years = Array.from({ length: 10 }, (_, i) => Date.UTC(2014 + i));
  const calls = [...years, ...halves].map((at) => ({ notes: 'rowan 5550001112223', at: new Date(at).toISOString() }));
  await addCalls(company, company.caseId, [...calls, ...fillers()]);
  await rebuilt(company);
  const expected = calls.map(({ at }) => at.replace('Z', '000Z')).reverse();
  for (const q of ['rowan', '5550001112223', 'rowan 5550001112223']) {
    for (const limit of [7, 50]) {
      const found = (await pagesOf(company, q, `&limit=${limit}`)).flat();
      assert.deepEqual(
        found.map(({ at }) => at),
        expected,
        `${q}, limit ${limit}`,
      );
    }
  }
});

test('the service and the database have the same periods', async () => {
  const days = [
    '1999-12-31',
    '2000-01-01',
    '2007-12-31',
    '2023-12-31',
    '2024-01-01',
    '2024-02-29',
    '2026-11-15',
    '2026-11-16',
    '2099-12-31',
    '2100-01-01',
    '9999-12-31',
  ];
  const times = [
    '0001-01-01T00:00:00.000Z',
    ...days.flatMap((day) => [`${day}T00:00:00.000Z`, `${day}T23:59:59.999Z`]),
  ];
  const rows = await app.sql<{ words: string }>(
    `SELECT words_of_period(t.at, $2::tsvector)::text AS words FROM unnest($1::timestamptz[]) WITH ORDINALITY t (at, nth)
      ORDER BY nth`,
    [times, "'1:elm'"],
  );
  const periods = times.map((time) => periodOf(new Date(time)));
  assert.deepEqual(
    rows.map(({ words }) => words),
    periods.map((period) => `'${period}.1:elm'`),
  );
  for (const period of periods) assert.equal(periodOf(startOf(period)), period);
});

test('records with the same time are each on one page', async () => {
  const company = await app.company();
  const caseId = await openCase(company, 'trees');
  const calls = Array.from({ length: 30 }, () => ({ notes: 'hazel', at: '2024-05-01T10:00:00Z' }));
  await addCalls(company, caseId, [...calls, ...fillers()]);
  await rebuilt(company);
  const pages = await pagesOf(company, 'hazel', '&limit=7');
  assert.deepEqual(
    pages.map(({ length }) => length),
    [7, 7, 7, 7, 2],
  );
  assert.equal(new Set(ids(pages.flat())).size, 30);
});

test('words that are frequent and hardly ever meet end a page early, and the next pages look further back', async () => {
  const company = await app.company();
  const caseId = await openCase(company, 'trees');
  const frequent = fillers().map(({ at }, i) => ({ notes: i % 2 ? 'willow' : 'poplar', at }));
  const months = Array.from({ length: 40 }, (_, i) => new Date(Date.UTC(2026, 8 - i, 1)).toISOString());
  await addCalls(company, caseId, [
    ...[...frequent, { notes: 'willow and poplar', at: '2023-06-15T10:00:00Z' }],
    ...months.flatMap((at) => [
      { notes: 'willow', at },
      { notes: 'poplar', at },
    ]),
  ]);
  await rebuilt(company);
  const pages = await pagesOf(company, 'willow poplar');
  assert.equal(pages[0]?.length, 0, 'the first page looks back only so far');
  assert.equal(pages.flat().length, 1);
  assert.ok(pages.length < 12, `each page looks back twice as far as the one before it: ${pages.length}`);
  // A word that is rare is looked for at once.
  assert.equal((await pagesOf(company, 'willow xylophone')).length, 1);
  // Nothing was found by whole words, so that all words may be beginnings: on the last pages only.
  assert.deepEqual(titles((await pagesOf(company, 'will popl')).flat()), ['interaction letter']);
});

test('what is still to come counts from when it was written', async () => {
  const company = await app.company();
  const caseId = await openCase(company, 'trees');
  const planned = await addInteraction(company, caseId, { notes: 'sycamore', when: '2031-05-01 10:00' });
  for (const year of [2020, 2025])
    await addInteraction(company, caseId, { notes: 'sycamore', when: `${year}-05-01 10:00` });
  await app.sql('UPDATE interactions SET created_at = $2 WHERE id = $1', [planned, '2024-05-01T10:00:00Z']);
  await rebuilt(company);
  const found = await search(company, 'sycamore');
  assert.deepEqual(
    found.map(({ at }) => at.slice(0, 4)),
    ['2025', '2031', '2020'],
  );
});

test('what is written between two pages disturbs none of them', async () => {
  const company = await app.company();
  const caseId = await openCase(company, 'trees');
  const calls = Array.from({ length: 9 }, (_, i) => ({ notes: 'maple', at: `2024-05-0${i + 1}T10:00:00Z` }));
  await addCalls(company, caseId, [...calls, ...fillers()]);
  await rebuilt(company);
  const first = await company.get('/search?q=maple&limit=5');
  await addInteraction(company, caseId, { notes: 'maple', when: '2026-05-01 10:00' });
  await index();
  const second = await company.get(nextOf(first.headers.link) ?? '');
  const days = [...first.body.hits, ...second.body.hits].map(({ at }: Hit) => at.slice(8, 10));
  assert.deepEqual(days, ['09', '08', '07', '06', '05', '04', '03', '02', '01']);
  assert.equal(nextOf(second.headers.link), undefined);
});

test('a cursor belongs to its search, its company and what its credential may read', async () => {
  const [company, stranger] = [await app.company(), await app.company()];
  const caseId = await openCase(company, 'trees');
  await addInteraction(company, caseId, { notes: 'larch' });
  await addInteraction(company, caseId, { notes: 'larch' });
  await index();
  const { headers } = await company.get('/search?q=larch&limit=1');
  const cursor = new URLSearchParams(nextOf(headers.link)?.split('?')[1]).get('cursor') ?? '';
  assert.match(cursor, /^[\w-]+$/);
  const get = (caller: Caller, query: string) => caller.get(`/search?${query}`);
  assert.equal((await get(company, `q=larch&limit=50&cursor=${cursor}`)).body.hits.length, 1);
  await refused(get(company, `q=larches&cursor=${cursor}`), { cursor: 'unknown' });
  await refused(get(company, `q=larch&kinds=interaction&cursor=${cursor}`), { cursor: 'unknown' });
  await refused(get(await company.withScopes('interactions:read'), `q=larch&cursor=${cursor}`), { cursor: 'unknown' });
  const ofKind = nextOf((await company.get('/search?q=larch&kinds=interaction&limit=1')).headers.link) ?? '';
  assert.equal((await company.get(ofKind)).status, 200);
  // The same kinds, but without the cases by which the records could be found.
  await refused((await company.withScopes('interactions:read')).get(ofKind), { cursor: 'unknown' });
  await refused(get(stranger, `q=larch&cursor=${cursor}`), { cursor: 'unknown' });
  await refused(get(company, `q=larch&cursor=${'A'.repeat(80)}`), { cursor: 'unknown' });
  await refused(get(company, 'q=larch&cursor=?'), { cursor: 'format' });
});

test('the last word may go on: records that nearly all have what it begins are on the first page', async () => {
  const company = await app.company();
  const both = fillers().map(({ at }) => ({ notes: 'willow and poplar', at }));
  await addCalls(company, company.caseId, [...both, { notes: 'elm', at: '2015-01-01T10:00:00Z' }]);
  await rebuilt(company);
  for (const q of ['willow poplar', 'willow popl']) {
    const { body } = await company.get(`/search?q=${encodeURIComponent(q)}`);
    assert.equal(body.hits.length, 20, q);
  }
});

test('a name that is still typed is as frequent as all that it begins, so a page looks back only so far', async () => {
  const company = await app.company();
  const names = fillers().map(({ at }, i) => ({ name: i % 2 ? 'willow' : 'poplar', at }));
  const all = [...names, { name: 'willow poplar', at: '2015-01-01T10:00:00Z' }];
  await app.sql(
    `INSERT INTO cases (company_id, id, reference, created_at, updated_at)
     SELECT $1, gen_random_uuid(), c.name, c.at, now() FROM unnest($2::text[], $3::timestamptz[]) AS c (name, at)`,
    [company.companyId, all.map(({ name }) => name), all.map(({ at }) => at)],
  );
  await rebuilt(company);
  for (const q of ['willow poplar', 'willow popl']) {
    const pages = await pagesOf(company, q, '&kinds=case');
    assert.equal(pages[0]?.length, 0, q);
    assert.equal(pages.flat().length, 1, q);
  }
});

test('of two words that no recent record has, the index is asked for both, in whichever order they are typed', async () => {
  const company = await app.company();
  await addCalls(company, company.caseId, [{ notes: 'lockdown', at: '2020-05-01T10:00:00Z' }, ...fillers()]);
  await rebuilt(company);
  for (const q of ['lockdown xylophone', 'xylophone lockdown']) {
    const statements = new Set<string>();
    const { onStatement } = app.db;
    app.db.onStatement = (name) => void statements.add(name);
    assert.deepEqual(await search(company, q), []);
    app.db.onStatement = onStatement;
    assert.deepEqual(
      [...statements].filter((name) => name.startsWith('search.find_')),
      ['search.find_in_index_by_2'],
      q,
    );
  }
});

test('few hits are in the order of their phases, and words are beginnings only if nothing has them as typed', async () => {
  const company = await app.company();
  const caseId = await openCase(company, 'oak elm');
  await addCalls(company, company.caseId, [
    { notes: 'oaktree elmtree', at: '2024-09-01T10:00:00Z' },
    { notes: 'oak elmtree', at: '2024-08-01T10:00:00Z' },
    { notes: 'oak elm', at: '2024-05-01T10:00:00Z' },
  ]);
  for (const newer of [[], fillers()]) {
    await addCalls(company, company.caseId, newer);
    await rebuilt(company);
    const found = async (q: string) => (await search(company, q)).map((hit) => `${hit.kind} ${hit.at.slice(0, 7)}`);
    assert.deepEqual(await found('oak elm'), ['case 2026-06', 'interaction 2024-05', 'interaction 2024-08']);
    assert.deepEqual(await found('oakt elm'), ['interaction 2024-09']);
    assert.deepEqual(await found('oa elmt'), ['interaction 2024-09', 'interaction 2024-08']);
  }
  assert.equal((await search(company, 'oak', `&kinds=case`))[0]?.id, caseId);
});

test('a page with hits of two phases has no more than its limit', async () => {
  const company = await app.company();
  for (let nth = 0; nth < 3; nth++) await openCase(company, 'oak');
  const call = { notes: 'oak', at: '2024-05-01T10:00:00Z' };
  await addCalls(company, company.caseId, [call, call, call, call, ...fillers()]);
  await rebuilt(company);
  // The second page begins with the last name.
  const pages = await pagesOf(company, 'oak', '&limit=2');
  assert.deepEqual(
    pages.map((hits) => hits.map(({ kind }) => kind)),
    [['case', 'case'], ['case', 'interaction'], ['interaction', 'interaction'], ['interaction']],
  );
});

test('on pages that end early, words are beginnings only if no page had a hit', async () => {
  const hit = 'willow and poplar';
  const beginnings = 'willows and poplars';
  for (const [early, late] of [
    [hit, beginnings],
    [beginnings, hit],
  ] as const) {
    const company = await app.company();
    const frequent = fillers().map(({ at }, i) => ({ notes: i % 2 ? 'willow' : 'poplar', at }));
    await addCalls(company, company.caseId, [
      ...frequent,
      { notes: early, at: '2026-11-01T05:00:00Z' },
      { notes: late, at: '2023-06-15T10:00:00Z' },
    ]);
    await rebuilt(company);
    const pages = await pagesOf(company, 'willow poplar');
    assert.ok(pages.length > 2, 'pages end early');
    assert.deepEqual(
      pages.flat().map(({ fragment }) => fragment.pieces.map(({ text }) => text).join('')),
      [hit],
    );
  }
});

test('numbers and ends of phone numbers are found in every period', async () => {
  const company = await app.company();
  const times = ['1987-05-01', '2012-03-01', '2024-01-15', '2026-01-01'].map((day) => `${day}T10:00:00Z`);
  const notes = 'rang from 07700 908765 about 5550001112223 and 4217';
  await addCalls(company, company.caseId, [...times.map((at) => ({ notes, at })), ...fillers()]);
  await rebuilt(company);
  for (const q of ['908765', '8765', '+44 7700 908765', '07700 9087', '5550001112223', '55500011', '555000', '4217']) {
    assert.equal((await search(company, q)).length, times.length, q);
  }
});

test('what a credential may not read takes no place on a page, and leads to no further one', async () => {
  const company = await app.company();
  const caseId = await openCase(company, 'Marigold', [{ last_name: 'Marigold' }]);
  const calls = Array.from({ length: 3 }, (_, i) => ({ notes: `call ${i}`, at: '2024-05-01T10:00:00Z' }));
  await addCalls(company, caseId, [...calls, { notes: 'marigold', at: '2024-05-01T10:00:00Z' }]);
  for (const newer of [[], fillers()]) {
    await addCalls(company, company.caseId, newer);
    await rebuilt(company);
    const pages = await pagesOf(await company.withScopes('interactions:read'), 'marigold', '&limit=1');
    assert.deepEqual(
      pages.map(({ length }) => length),
      [1],
    );
  }
});

test('a page that ends early looks back twice as far as the one before it', async () => {
  const company = await app.company();
  // In December of each of these years, 300 records within 25 days: by them, a page looks back 333 days.
  const calls = Array.from({ length: 10 }, (_, year) =>
    Array.from({ length: 300 }, (_, i) => ({
      notes: i % 2 ? 'willow' : 'poplar',
      at: new Date(Date.UTC(2023 - year, 11, 31) - i * 7_200_000).toISOString(),
    })),
  );
  await addCalls(company, company.caseId, calls.flat());
  for (const table of ['cases', 'customers'])
    await app.sql(`UPDATE ${table} SET created_at = '2001-01-01' WHERE company_id = $1`, [company.companyId]);
  await rebuilt(company);
  // Whole words and all beginnings: 1 + 2 + 4 years, then the others; twice.
  const { length } = await pagesOf(company, 'willow poplar');
  assert.ok(length < 8, `${length} pages`);
});

test('a page looks back as far as the rarest of its words allows', async () => {
  const company = await app.company();
  // By the sample, a page looks back 12,000 seconds for the frequent word and seven days for the rare one.
  const calls = fillers().map(({ at }, i) => ({ notes: i % 100 === 50 ? 'alder' : 'willow', at }));
  const both = ['2026-10-25', '2015-01-01'].map((day) => ({ notes: 'alder and willow', at: `${day}T10:00:00Z` }));
  await addCalls(company, company.caseId, [...calls, ...both]);
  await rebuilt(company);
  const [first, ...others] = await pagesOf(company, 'alder willow');
  assert.deepEqual([first?.length, others.flat().length], [1, 1]);
});
