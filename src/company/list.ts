import type { Executor } from '../kernel/database/database.ts';
import { notFound } from '../kernel/errors.ts';
import { containing, type Listing, type PageOfJson } from '../kernel/validation/paging.ts';
import type { Lists } from './list.sql.ts';

/** `scope`: whose list it is. `further`: what a search looks at beside the pattern. */
export async function readPage(
  db: Executor,
  { all, matching }: Lists,
  scope: string[],
  { search, limit, offset }: Listing,
  ...further: unknown[]
): Promise<PageOfJson> {
  const values = [...scope, limit, offset];
  const page = await (search === null
    ? db.first<PageOfJson>(all, values)
    : db.first<PageOfJson>(matching, [...values, containing(search), ...further]));
  // Only the list of a case's customers can lack what it belongs to.
  if (!page) throw notFound('case');
  return page;
}
