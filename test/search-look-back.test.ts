import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addCalls, addEntry, app, fillers, ids, openCase, rebuilt, TODAY } from './harness/search.ts';
import { pagesOf } from './harness/search-pages.ts';

/** How far a page of a search looks back. */

test('what a credential may not read does not change its pages', async () => {
  const company = await app.company();
  const nobody = { first_names: 'Ann', last_name: 'Nobody' };
  const names = Array.from({ length: 10 }, () => nobody);
  await openCase(company, 'flowers', names);
  for (const name of names) await addEntry(company, company.caseId, name);
  for (const table of ['people', 'customers', 'cases'])
    await app.sql(`UPDATE ${table} SET created_at = $2 WHERE company_id = $1`, [company.companyId, new Date(TODAY)]);
  const years = [2023, 2019, 2012].flatMap((year) =>
    ['foxglove', 'heather', 'foxglove and heather'].map((notes) => ({ notes, at: `${year}-05-01T10:00:00Z` })),
  );
  await addCalls(company, company.caseId, [...fillers(), ...years]);
  const caller = await company.withScopes('interactions:read');
  const readPages = async () => {
    await rebuilt(company);
    const pages: string[][][] = [];
    for (const search of ['foxglove&limit=1', 'heather foxglove', 'foxglove xylophone', 'foxg heat&limit=2']) {
      const [q = '', limit = 'limit=20'] = search.split('&');
      pages.push((await pagesOf(caller, q, `&${limit}`)).map(ids));
    }
    return pages;
  };
  const expected = await readPages();
  assert.deepEqual(
    expected.map((pages) => pages.flat().length),
    [6, 3, 0, 3],
  );
  for (const [table, count] of [
    ['customers', 1],
    ['people', 10],
  ] as const) {
    const rename = `UPDATE ${table} SET first_names = $2, last_name = $3 WHERE id IN
                      (SELECT id FROM ${table} WHERE company_id = $1 ORDER BY id LIMIT $4)`;
    await app.sql(rename, [company.companyId, 'Heather', 'Foxglove', count]);
    assert.deepEqual(await readPages(), expected, `${count} of the ${table} have the words`);
    await app.sql(rename, [company.companyId, nobody.first_names, nobody.last_name, count]);
  }
});

test('words that are frequent only in older records are found wherever they meet, newest first', async () => {
  const company = await app.company();
  const frequent = fillers(Date.parse('2026-10-10T12:00:00Z')).map(({ at }, i) => ({
    notes: i % 2 ? 'willow' : 'poplar',
    at,
  }));
  const months = Array.from({ length: 40 }, (_, i) => new Date(Date.UTC(2026, 8 - i, 1)).toISOString());
  const hits = ['2026-10-10T11:30:01Z', '2023-06-15T10:00:00Z', '2015-01-01T10:00:00Z'];
  await addCalls(company, company.caseId, [
    ...[...fillers(), ...frequent, ...hits.map((at) => ({ notes: 'willow and poplar', at }))],
    ...months.flatMap((at) => [
      { notes: 'willow', at },
      { notes: 'poplar', at },
    ]),
  ]);
  await rebuilt(company);
  const days = hits.map((at) => at.slice(0, 10));
  for (const q of ['willow poplar', 'poplar willow', 'willow popl', 'will popl']) {
    const pages = await pagesOf(company, q);
    assert.deepEqual(
      pages.flat().map(({ at }) => at.slice(0, 10)),
      days,
      q,
    );
    assert.ok(pages.length < 16, `${q}: ${pages.length} pages`);
  }
  const found = await pagesOf(company, 'willow xylophone');
  assert.deepEqual([found.flat().length, found.length < 16], [0, true], `${found.length} pages`);
});

test('no page looks back more than sixteen times as far as the first one', async () => {
  const company = await app.company();
  await rebuilt(company);
  await app.sql('DELETE FROM search_documents WHERE company_id = $1', [company.companyId]);
  // In each half-month 300 records within 108 minutes: by them, a page looks back one day, and at most sixteen.
  const halves = Array.from({ length: 20 }, (_, i) => new Date(Date.UTC(2024, i >> 1, i % 2 ? 28 : 14)).toISOString());
  await app.sql(
    `INSERT INTO search_documents (company_id, case_id, kind, id, at, words)
     SELECT p.company_id, $2, 'interaction', gen_random_uuid(), h.at::timestamptz + n * interval '21.6 seconds',
            array_to_tsvector(ARRAY[p.company_number || CASE WHEN n % 2 = 0 THEN ':willow' ELSE ':poplar' END])
       FROM search_progress p, unnest($3::text[]) AS h (at), generate_series(1, 300) n WHERE p.company_id = $1`,
    [company.companyId, company.caseId, halves],
  );
  const pages = await pagesOf(company, 'willow poplar');
  assert.equal(pages.flat().length, 0);
  // Three phases, in each of which a page looks through two half-months at most.
  assert.ok(pages.length >= 30, `${pages.length} pages`);
});
