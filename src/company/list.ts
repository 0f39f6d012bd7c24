import type { Executor } from '../kernel/database/database.ts';
import { notFound } from '../kernel/errors.ts';
import { type ListRequest, likePattern, type PageOfJson } from '../kernel/validation/paging.ts';
import type { ListStatements } from './list.sql.ts';

/** Returns a page of a list, or of the entries that match the search of the request. */
export async function readListPage<Values extends object>(
  db: Executor,
  statements: ListStatements<Values>,
  values: Values,
  { search, limit, offset }: ListRequest,
): Promise<PageOfJson> {
  const pageValues = { ...values, limit, offset };
  const page = await db.queryFirst<PageOfJson>(
    search === null ? statements.all(pageValues) : statements.search({ ...pageValues, pattern: likePattern(search) }),
  );
  // Only the list of a case's customers has a parent that may not exist.
  if (!page) throw notFound('case');
  return page;
}
