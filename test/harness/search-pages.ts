import assert from 'node:assert/strict';
import { nextOf } from './company-lists.ts';
import type { Caller } from './http.ts';
import type { Hit } from './search.ts';

/** The hits of each page of a search, following the links. */
export async function pagesOf(caller: Caller, q: string, more = ''): Promise<Hit[][]> {
  const pages: Hit[][] = [];
  let next: string | undefined = `/search?q=${encodeURIComponent(q)}${more}`;
  while (next !== undefined) {
    const { status, body, headers } = await caller.get(next);
    assert.equal(status, 200);
    pages.push(body.hits);
    next = nextOf(headers.link);
    assert.ok(pages.length <= 500, 'the pages end');
  }
  return pages;
}
