import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addCalls, app, fillers, type Hit, openCase, rebuilt } from './harness/search.ts';
import { pagesOf } from './harness/search-pages.ts';

/** Groups of digits side by side may be words, and may be one phone number. */

test('groups of digits are words of their own, or the beginning or the end of a phone number', async () => {
  const company = await app.company();
  const texts = {
    both: 'of 1947 and of 3058',
    swapped: '3058, then 1947',
    adjacent: 'page 1947 3058',
    three: '62 in 1947 and in 3058',
    begun: 'of 1947 and of 30581',
    first: 'of 1947 alone',
    second: 'of 3058 alone',
    compact: 'account 19473058',
    begins: 'rang from 0194 730 5862',
    ends: 'rang from 07719 473058',
    inside: 'rang from 07194 730581',
  };
  const byText = new Map(Object.entries(texts).map(([name, text]) => [text, name]));
  const years = [...byText.keys()].map((notes, i) => ({ notes, at: `${2013 + i}-05-01T10:00:00Z` }));
  await addCalls(company, company.caseId, years);
  await addCalls(company, await openCase(company, '1947'), [{ notes: 'of 3058 here', at: '2009-05-01T10:00:00Z' }]);
  byText.set('of 3058 here', 'case');
  const words = ['both', 'swapped', 'adjacent', 'three', 'case'];
  const searches: [q: string, names: string[]][] = [
    ['1947 3058', [...words, 'begun', 'compact', 'begins', 'ends']],
    ['1947-3058', [...words, 'begun', 'compact', 'begins', 'ends']],
    ['3058 1947', words],
    ['1947 3058 62', ['three', 'begins']],
    ['62 1947 3058', ['three']],
    // With a word before them, after them, and both.
    ['letter 1947 3058', [...words, 'begun', 'compact', 'begins', 'ends']],
    ['1947 3058 letter', [...words, 'compact', 'begins', 'ends']],
    ['rang 1947 3058', ['begins', 'ends']],
    ['letter 1947 3058 rang', ['begins', 'ends']],
    ['letter 1947 3058 62 rang', ['begins']],
    ['alone 1947 3058', []],
    // The last group is incomplete.
    ['1947 305', [...words, 'begun', 'compact', 'begins']],
    ['letter 1947 305', [...words, 'begun', 'compact', 'begins']],
    ['1947 3058 6', ['begins']],
    // Not the last word of the search: only numbers may go on, and all words if nothing else is found.
    ['1947 305 letter', ['adjacent', 'compact', 'begins']],
    ['1947 30 letter', [...words, 'begun', 'compact', 'begins']],
    // More groups than a search may have words.
    ['0 1 9 4 7 3 0 5 8 6 2', ['begins']],
    ['+4 4 1 9 4 7 3 0 5 8 6 2', ['begins']],
    ['letter 0 1 9 4 7 3 0 5 8 6 2 rang', ['begins']],
  ];
  for (const [newer, limit] of [
    [[], 50],
    [fillers(), 4],
  ] as const) {
    await addCalls(company, company.caseId, newer);
    await rebuilt(company);
    for (const [q, names] of searches) {
      const hits = (await pagesOf(company, q, `&limit=${limit}`)).flat();
      const found = hits.map(({ fragment }) => byText.get(fragment.pieces.map(({ text }) => text).join('')));
      assert.deepEqual(found.sort(), names.toSorted(), `${q}, ${newer.length} newer ones`);
    }
  }
});

test('groups of digits that are frequent and hardly ever meet end a page early, as words do', async () => {
  const company = await app.company();
  const calls = fillers().map(({ at }, i) => ({ notes: i % 2 ? 'of 2025' : 'of 2026', at }));
  const hits = [
    { notes: 'of 2025 and of 2026', at: '2023-06-15T10:00:00Z' },
    { notes: 'rang from 2025 202 677', at: '2022-06-15T10:00:00Z' },
    { notes: 'rang from 07720 252026', at: '2015-06-15T10:00:00Z' },
  ];
  await addCalls(company, company.caseId, [...calls, ...hits]);
  await rebuilt(company);
  for (const q of ['2025 2026', '2025 2026 letter', 'letter 2025 2026']) {
    const [first = [], ...others] = await pagesOf(company, q);
    const yearsOf = (found: readonly Hit[]) => found.map(({ at }) => at.slice(0, 4));
    assert.ok(!yearsOf(first).includes('2023'), `${q}: the first page looks back only so far`);
    // Ends of numbers are found as names are, so they may come first.
    assert.deepEqual(yearsOf([...first, ...others.flat()]).sort(), ['2015', '2022', '2023'], q);
    assert.ok(others.length < 12, `${q}: ${others.length} further pages`);
  }
});
