import type { Static } from 'typebox';
import { InvalidValue } from '../errors.ts';
import { CURSOR_PATTERN, MAX_CURSOR_LENGTH } from './cursor.ts';
import type { Form } from './form.ts';
import { isTrue, POSITIVE_INTEGER_PATTERN, queryFlag } from './schema-types.ts';
import { Type } from './type.ts';

/** Which part of a list is requested. */
export type Page = { limit: number; offset: number };

/** A page of the entries that contain the text; null for a page of all entries. */
export type ListRequest = Page & { search: string | null };

/** A page of the removed entries, or (by default) of the others. */
export type RemovableListRequest = ListRequest & { removed?: boolean };

/** The page as JSON text, and the number of entries of the whole list. */
export type PageOfJson = { json: string; total: number };

const MAX_PAGE = 1_000_000;
const MAX_PER_PAGE = 200;

const positiveInteger = (defaultValue: number, max: number, description: string) =>
  Type.Optional(
    Type.Unsafe<string>({
      type: ['integer', 'string'],
      pattern: POSITIVE_INTEGER_PATTERN,
      minimum: 1,
      maximum: max,
      default: defaultValue,
      description,
    }),
  );

/** The query parameters of a paged list. */
export const PAGE_QUERY = {
  page: positiveInteger(1, MAX_PAGE, 'The number of the page, from 1.'),
  per_page: positiveInteger(50, MAX_PER_PAGE, `Entries per page, at most ${MAX_PER_PAGE}.`),
};
const PageQuery = Type.Object(PAGE_QUERY);
export type PageQuery = Static<typeof PageQuery>;

/** The query of a paged list that can be searched. */
export const ListQuery = Type.Object({
  ...PAGE_QUERY,
  search: Type.Optional(
    Type.String({ maxLength: 200, description: 'Only entries that contain this text. Case does not matter.' }),
  ),
});

/** The query of a paged list whose entries can be removed and restored. */
export const RemovableQuery = Type.Object({
  ...ListQuery.properties,
  removed: queryFlag({ description: 'True lists only the removed entries.' }),
});

export function parsePage(query: Form<Static<typeof PageQuery>>): Page {
  const page = readPositiveInteger(query, 'page', 1, MAX_PAGE);
  const perPage = readPositiveInteger(query, 'per_page', 50, MAX_PER_PAGE);
  return { limit: perPage, offset: (page - 1) * perPage };
}

export function parseListRequest(query: Form<Static<typeof ListQuery>>): ListRequest {
  const search = query.read('search', query.body.search, (text) => {
    if (text.includes('\0')) throw new InvalidValue('invalid_character', 'must not contain NUL characters');
    return text;
  });
  return { ...parsePage(query), search: search || null };
}

export const parseRemovableListRequest = (query: Form<Static<typeof RemovableQuery>>): RemovableListRequest => ({
  ...parseListRequest(query),
  removed: isTrue(query.body.removed),
});

const DEFAULT_LIMIT = 50;

/** The query parameter of a cursor, and the other parameters that it must be sent with. */
export const cursorParameter = (sentWith: string, maxLength = MAX_CURSOR_LENGTH) =>
  Type.Optional(
    Type.String({
      pattern: CURSOR_PATTERN,
      maxLength,
      description: `Where the page starts. The header \`Link\` of each page has it; send it with the same ${sentWith}.`,
    }),
  );

/** The query parameters of a list that is paged by a cursor. */
export const CURSOR_QUERY = {
  limit: positiveInteger(DEFAULT_LIMIT, MAX_PER_PAGE, `At most this many entries, up to ${MAX_PER_PAGE}.`),
  cursor: cursorParameter('filters and sort'),
};
const CursorQuery = Type.Object(CURSOR_QUERY);
export type CursorQuery = Static<typeof CursorQuery>;

export const parseLimit = (query: Form<CursorQuery>): number =>
  readPositiveInteger(query, 'limit', DEFAULT_LIMIT, MAX_PER_PAGE);

function readPositiveInteger<K extends string>(
  query: Form<{ [P in K]?: string | undefined }>,
  field: K,
  defaultValue: number,
  max: number,
): number {
  const read = query.read(field, query.body[field], (value) => {
    if (Number(value) > max) throw new InvalidValue('out_of_range', `must not be more than ${max}`);
    return Number(value);
  });
  return read ?? defaultValue;
}

/** Returns a LIKE pattern that matches values containing the text, with its wildcards escaped. */
export const likePattern = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
