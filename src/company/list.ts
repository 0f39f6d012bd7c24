import type { Executor } from '../kernel/database/database.ts';
import { notFound } from '../kernel/errors.ts';
import { type ListRequest, likePattern, type PageOfJson } from '../kernel/validation/paging.ts';
import type { ListStatements } from './list.sql.ts';

/** `scope`: whose list it is. `further`: what a search looks at beside the pattern. */
export async function readListPage(
  db: Executor,
  { all, matching }: ListStatements,
  scope: string[],
  { search, limit, offset }: ListRequest,
  ...further: unknown[]
): Promise<PageOfJson> {
  const values = [...scope, limit, offset];
  const page = await (search === null
    ? db.queryFirst<PageOfJson>(all, values)
    : db.queryFirst<PageOfJson>(matching, [...values, likePattern(search), ...further]));
  // Only the list of a case's customers can lack what it belongs to.
  if (!page) throw notFound('case');
  return page;
}
