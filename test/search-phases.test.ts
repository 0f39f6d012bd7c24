import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextOf } from './harness/company-lists.ts';
import { addCalls, addEntry, addInteraction, app, fillers, type Hit, ids, index, rebuilt } from './harness/search.ts';
import { pagesOf } from './harness/search-pages.ts';

/** Better hits come first, and words are only beginnings if nothing has them as they were typed. */

for (const [where, others] of [
  ['few records', []],
  ['many newer records', fillers()],
  ['many older records', fillers(Date.parse('2023-01-01T12:00:00Z'))],
] as const) {
  test(`a record that is written between two pages of a search for beginnings is found where its time is: ${where}`, async () => {
    const company = await app.company();
    const searches = [
      { q: 'maple oak', limit: 2 },
      { q: 'hazel elm', limit: 5 },
    ].map(({ q, limit }) => ({ q, limit, words: q.split(' ') }));
    const calls = searches.flatMap(({ words }) =>
      Array.from({ length: 9 }, (_, i) => ({
        notes: words.map((word) => `${word}tree`).join(' '),
        at: `2024-05-0${i + 1}T10:00:00Z`,
      })),
    );
    await addCalls(company, company.caseId, [...calls, ...others]);
    await rebuilt(company);
    for (const { q, limit, words } of searches) {
      const hits: Hit[] = [];
      const read = async (path: string): Promise<string> => {
        const { body, headers } = await company.get(path);
        hits.push(...body.hits);
        return nextOf(headers.link) ?? '';
      };
      let next = await read(`/search?q=${encodeURIComponent(q)}&limit=${limit}`);
      assert.equal(hits.length, limit);
      const [first_names, last_name] = words;
      const written = [
        await addInteraction(company, company.caseId, { notes: q, when: '2024-05-02 12:00' }),
        await addInteraction(company, company.caseId, { notes: `${q}s`, when: '2024-05-02 13:00' }),
        await addInteraction(company, company.caseId, {
          notes: `${first_names}tree ${last_name}`,
          when: '2024-05-02 14:00',
        }),
        // A name is the best hit, and comes no earlier either.
        await addEntry(company, company.caseId, { first_names, last_name }),
      ];
      await app.sql('UPDATE people SET created_at = $2 WHERE id = $1', [written[3], '2024-05-02T20:00:00Z']);
      await index();
      while (next) next = await read(next);
      const onThatDay = hits.filter(({ at }) => at.startsWith('2024-05-02'));
      assert.deepEqual(ids(onThatDay).slice(0, -1), written.toReversed(), `limit ${limit}`);
      const days = hits.map(({ at }) => at.slice(0, 10));
      assert.deepEqual(days, days.toSorted().reverse(), `limit ${limit}: the newest first`);
      assert.equal(new Set(ids(hits)).size, 9 + written.length, `limit ${limit}: each once`);
      assert.equal(hits.length, 9 + written.length);
    }
  });
}

test('names come first, then whole words, then beginnings, of equal ones the newest, though names are the oldest', async () => {
  const company = await app.company();
  const names: [last_name: string, year: number][] = [
    ['Elm', 2010],
    ['Elm', 2011],
    ['Elmtree', 2012],
    ['Elmtree', 2013],
  ];
  for (const [last_name, year] of names) {
    const id = await addEntry(company, company.caseId, { first_names: 'Oak', last_name });
    await app.sql('UPDATE people SET created_at = $2 WHERE id = $1', [id, `${year}-05-01T10:00:00Z`]);
  }
  const texts = ['oak elm', 'elm, oak', 'oak elmtree', 'oak elms', 'oaktree elmtree', 'oaktree elm', 'oak', 'elm'];
  await addCalls(company, company.caseId, [
    ...texts.map((notes, i) => ({ notes, at: `${2014 + i}-05-01T10:00:00Z` })),
    // Without these, the whole names would be the only hits of 2011 and before.
    { notes: 'oak elm', at: '2009-05-01T10:00:00Z' },
    { notes: 'oak elmtree', at: '2008-05-01T10:00:00Z' },
  ]);
  const expected: [q: string, years: number[]][] = [
    ['oak elm', [2011, 2010, 2013, 2012, 2015, 2014, 2009, 2017, 2016, 2008]],
    ['elm oak', [2011, 2010, 2015, 2014, 2009, 2019]],
    ['oak elmt', [2013, 2012, 2016, 2008]],
    // Nothing has them as typed.
    ['oakt elmt', [2018]],
    ['oakt elm', [2019, 2018]],
  ];
  for (const newer of [[], fillers()]) {
    await addCalls(company, company.caseId, newer);
    await rebuilt(company);
    for (const [q, years] of expected) {
      for (const limit of [1, 2, 7, 50]) {
        const pages = await pagesOf(company, q, `&limit=${limit}`);
        const found = pages.flat().map(({ at }) => Number(at.slice(0, 4)));
        assert.deepEqual(found, years, `${q}, ${newer.length} newer ones, limit ${limit}`);
        assert.ok(
          pages.slice(0, -1).every(({ length }) => length === limit),
          `${q}, limit ${limit}: all pages but the last are full`,
        );
      }
    }
  }
});

test('a whole name comes before names that begin so, however many of these are newer', async () => {
  const company = await app.company();
  const years = [2010, 2011, 2012, 2013, 2014, 2015, 2016];
  for (const year of years) {
    const last_name = year === 2010 ? 'Elm' : 'Elmtree';
    const id = await addEntry(company, company.caseId, { first_names: 'Oak', last_name });
    await app.sql('UPDATE people SET created_at = $2 WHERE id = $1', [id, `${year}-05-01T10:00:00Z`]);
  }
  // As many recent calls have the words as fill a page, while no recent record has them as a name.
  const calls = Array.from({ length: 5 }, () => ({ notes: 'oak elm', at: '2026-11-01T12:00:00Z' }));
  await addCalls(company, company.caseId, [...calls, ...fillers()]);
  await rebuilt(company);
  for (const limit of [2, 3, 50]) {
    const found = (await pagesOf(company, 'oak elm', `&limit=${limit}`)).flat();
    assert.deepEqual(
      found.map(({ at }) => Number(at.slice(0, 4))),
      [2010, 2016, 2015, 2014, 2013, 2012, 2011, ...calls.map(() => 2026)],
      `limit ${limit}`,
    );
  }
});
