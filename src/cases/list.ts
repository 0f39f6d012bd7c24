import type { Context } from '../kernel/context.ts';
import { InvalidValue, notFound } from '../kernel/errors.ts';
import { parseTime, toSql } from '../kernel/time/time.ts';
import type { Form } from '../kernel/validation/form.ts';
import { type Page, type PageQuery, parsePage } from '../kernel/validation/paging.ts';
import { requireCase } from './case.ts';
import type { CaseLists } from './list.sql.ts';

/** The whole list, as one text or, if it is long, in pieces; or a page of it and the number of all entries. */
export type CaseList = { json: string | AsyncIterable<string>; page?: Page & { total: number } };

/** Returns the whole list without parameters, as the specification demands. */
export async function readList<Element extends object, Filters extends object>(
  context: Context,
  caseId: string,
  lists: CaseLists<Element, Filters>,
  query: Form<PageQuery>,
  { element, filters }: { element: Element; filters: Filters },
): Promise<CaseList> {
  const { db, company } = context;
  const page = parsePage(query);
  if (!query.ok) {
    await requireCase(context, caseId);
    query.check();
  }
  const all = { company_id: company.id, case_id: caseId, ...element };
  const matching = { ...all, ...filters };
  if (query.has('page') || query.has('per_page')) {
    const { limit, offset } = page;
    const ofPage = { ...matching, limit, offset };
    const found = await db.queryFirst<{ json: string | null; total: number }>(lists.page(ofPage));
    if (!found) throw notFound('case');
    const json = found.json ?? db.streamRows(lists.pagePieces(ofPage));
    return { json, page: { ...page, total: found.total } };
  }
  const filtered = Object.values(filters).some((value) => value !== undefined && value !== null);
  const json = await db.queryJson(filtered ? lists.matching(matching) : lists.all(all));
  if (json === undefined) throw notFound('case');
  return { json: json ?? db.streamRows(lists.pieces(matching)) };
}

type TextQuery<K extends string> = Form<{ [P in K]?: string | undefined }>;

export const readInstant = <K extends string>(
  { company }: Context,
  query: TextQuery<K>,
  field: K,
): string | undefined => query.read(field, query.body[field], (text) => toSql(parseTime(text, company.timeZone)));

/** Query parameters reach a verb as they were sent; PostgreSQL accepts no NUL in a text. */
export const readText = <K extends string>(query: TextQuery<K>, field: K): string | undefined =>
  query.read(field, query.body[field], (text) => {
    if (text.includes('\0')) throw new InvalidValue('invalid_character', 'must not contain NUL characters');
    return text;
  });
