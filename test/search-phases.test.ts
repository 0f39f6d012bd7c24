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
