import type { TProperties } from 'typebox';
import type { Context } from '../kernel/context.ts';
import { InvalidValue } from '../kernel/errors.ts';
import { CASE_ACCESS } from '../kernel/scopes.ts';
import { readCursor, toCursor } from '../kernel/validation/cursor.ts';
import type { Form } from '../kernel/validation/form.ts';
import { type CursorQuery, parseLimit } from '../kernel/validation/paging.ts';
import type { CompanyLists, Direction } from './company-list.sql.ts';

/** How many records a page looks at if not all of them match, so that it takes as long in a company of any size. */
const MAX_SCANNED = 1_000;

/** Whether the caller may see the reference of a case. */
export const mayReadCases = ({ scopes }: Context): boolean =>
  scopes === undefined || CASE_ACCESS.read.some((scope) => scopes.has(scope));

/** Bounds of the key: from the first value on, and below the second. */
type Range = readonly [from: string, to: string];

export const timesBetween = (from?: string, to?: string): Range => [from ?? '-infinity', to ?? 'infinity'];

/** Keys have at most 254 characters, so this is above all that begin with the same text. */
const HIGHEST = '\u{10ffff}'.repeat(255);
export const textsBeginningWith = (prefix = ''): Range => [prefix, prefix + HIGHEST];

/** How a request walks through the records of its company. */
export type CompanyListRequest<W extends string, Filters> = {
  /** The name of the list in its cursors. */
  name: string;
  lists: CompanyLists<W, Filters>;
  walk: W;
  direction: Direction;
  range: Range;
  filters: Filters;
  /** Whether the walk also meets records that the filters exclude. */
  meetsOthers: boolean;
};

/** Entries as JSON, and the cursor of the next page if there may be one. */
export type CompanyPage = { json: string; next: string | undefined };

type PageRow = { json: string; key: string | null; id: string | null };
type Position = { key: string; id: string };

/** Every issued id is greater. */
const LOWEST_ID = '00000000-0000-0000-0000-000000000000';

/** Reads the page that begins at the cursor of the query. `properties` are the parameters that the cursor is bound to. */
export async function readCompanyPage<W extends string, Filters extends object>(
  context: Context,
  query: Form<CursorQuery>,
  properties: TProperties,
  request: CompanyListRequest<W, Filters>,
): Promise<CompanyPage> {
  const { eventKey } = context.company;
  const list = boundTo(request.name, query, properties);
  const after = query.read('cursor', query.body.cursor, (cursor) => {
    const position = readCursor(eventKey, list, cursor);
    if (!position) throw new InvalidValue('unknown', 'is not a cursor of this list with these filters and this sort');
    return position;
  });
  const limit = parseLimit(query);
  query.check();
  const { json, next } = await readPage(context, request, limit, after);
  return { json, next: next && toCursor(eventKey, list, next) };
}

/** Yields all entries, page by page. Each page is read when it is asked for, so a slow reader holds nothing. */
export async function* readAllPages<W extends string, Filters extends object>(
  context: Context,
  request: CompanyListRequest<W, Filters>,
  limit: number,
): AsyncGenerator<string> {
  let next: Position | undefined;
  do {
    const page = await readPage(context, request, limit, next);
    yield page.json;
    next = page.next;
  } while (next);
}

async function readPage<W extends string, Filters extends object>(
  context: Context,
  { lists, walk, direction, range: [from, to], filters, meetsOthers }: CompanyListRequest<W, Filters>,
  limit: number,
  after: Position | undefined,
): Promise<{ json: string; next: Position | undefined }> {
  const { db, company } = context;
  const [start, until] = direction === 'asc' ? [from, to] : [to, from];
  const { key: after_key, id: after_id } = after ?? { key: start, id: LOWEST_ID };
  const page = await db.queryFirst<PageRow>(
    lists[walk][direction]({
      ...filters,
      company_id: company.id,
      limit,
      scan: meetsOthers ? Math.max(MAX_SCANNED, limit + 1) : limit + 1,
      after_key,
      after_id,
      until,
      reads_cases: mayReadCases(context),
    }),
  );
  if (!page) throw new Error('The page of a list has no row.');
  const { json, key, id } = page;
  return { json, next: key === null || id === null ? undefined : { key, id } };
}

/** The default also if the sort has a fault, which is reported with the others. */
export const sortOf = <S extends string>(query: Form<{ sort?: S | undefined }>, defaultSort: S): S =>
  (query.hasFault('sort') ? undefined : query.body.sort) ?? defaultSort;

/** A sort such as `-when` is descending. */
export const directionOf = (sort: string): Direction => (sort.startsWith('-') ? 'desc' : 'asc');

/** Names the list with its filters and its sort. */
function boundTo(name: string, query: Form<CursorQuery>, properties: TProperties): string {
  const { limit: _limit, cursor: _cursor, ...filters } = properties;
  const values = query.body as Record<string, unknown>;
  return JSON.stringify([name, ...Object.keys(filters).map((filter) => values[filter])]);
}
