import type { Context } from '../kernel/context.ts';
import { InvalidValue, notFound } from '../kernel/errors.ts';
import { parseTime, toSql } from '../kernel/time/time.ts';
import type { Form } from '../kernel/validation/form.ts';
import { type Page, type PageQuery, parsePage } from '../kernel/validation/paging.ts';
import { requireCase } from './case.ts';
import type { CaseLists } from './list.sql.ts';

/** The whole list, as one text or, where it is long, bit by bit; or a page of it and how many entries there are. */
export type Listed = { json: string | AsyncIterable<string>; page?: Page & { total: number } };

type Asked = {
  /** What the element's own parameters are. */
  own: unknown[];
  /** In the order of the statement's parameters; null or undefined for what is not asked for. */
  filters: unknown[];
};

/** Without parameters everything comes, as the specification has it. */
export async function readList(
  context: Context,
  caseId: string,
  lists: CaseLists,
  query: Form<PageQuery>,
  { own, filters }: Asked,
): Promise<Listed> {
  const { db, company } = context;
  const page = parsePage(query);
  if (!query.ok) {
    await requireCase(context, caseId);
    query.check();
  }
  const values = [company.id, caseId, ...own];
  const asked = [...values, ...filters.map((value) => value ?? null)];
  if (query.has('page') || query.has('per_page')) {
    const ofPage = [...asked, page.limit, page.offset];
    const found = await db.queryFirst<{ json: string | null; total: number }>(lists.page, ofPage);
    if (!found) throw notFound('case');
    const json = found.json ?? db.database.streamRows(lists.pagePieces, ofPage);
    return { json, page: { ...page, total: found.total } };
  }
  const filtered = filters.some((value) => value !== undefined && value !== null);
  const json = await (filtered ? db.queryJson(lists.matching, asked) : db.queryJson(lists.all, values));
  if (json === undefined) throw notFound('case');
  return { json: json ?? db.database.streamRows(lists.pieces, asked) };
}

type Texts<K extends string> = Form<{ [P in K]?: string | undefined }>;

export const readInstant = <K extends string>({ company }: Context, query: Texts<K>, field: K): string | undefined =>
  query.read(field, query.body[field], (text) => toSql(parseTime(text, company.timeZone)));

/** Query parameters reach a verb unread; PostgreSQL takes no text with NUL in it. */
export const readText = <K extends string>(query: Texts<K>, field: K): string | undefined =>
  query.read(field, query.body[field], (text) => {
    if (text.includes('\0')) throw new InvalidValue('invalid_character', 'must not contain NUL characters');
    return text;
  });
