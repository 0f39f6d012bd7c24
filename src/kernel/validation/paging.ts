import { type Static, Type } from 'typebox';
import { InvalidValue } from '../errors.ts';
import type { Form } from './form.ts';
import { isTrue, NATURAL_PATTERN, queryFlag } from './schema-types.ts';

/** A part of a list. */
export type Page = { limit: number; offset: number };

/** A part of those entries of a list that contain a text; null for all of them. */
export type ListRequest = Page & { search: string | null };

/** The same of those that were removed, or (by default) of those that were not. */
export type RemovableListRequest = ListRequest & { removed?: boolean };

/** The part as JSON text, and how many entries the whole list has. */
export type PageOfJson = { json: string; total: number };

const MOST_PAGES = 1_000_000;
const MOST_PER_PAGE = 200;

const positiveInteger = (defaultValue: number, most: number, description: string) =>
  Type.Optional(
    Type.Unsafe<string>({
      type: ['integer', 'string'],
      pattern: NATURAL_PATTERN,
      minimum: 1,
      maximum: most,
      default: defaultValue,
      description,
    }),
  );

/** The parameters of a list that comes in pages. */
export const PAGE_QUERY = {
  page: positiveInteger(1, MOST_PAGES, 'Which page, from 1.'),
  per_page: positiveInteger(50, MOST_PER_PAGE, `Entries per page, at most ${MOST_PER_PAGE}.`),
};
const PageQuery = Type.Object(PAGE_QUERY);
export type PageQuery = Static<typeof PageQuery>;

/** The same for a list that can be searched. */
export const ListQuery = Type.Object({
  ...PAGE_QUERY,
  search: Type.Optional(
    Type.String({ maxLength: 200, description: 'Only entries that contain this text, without regard to case.' }),
  ),
});

/** The same for a list of what can be removed and restored. */
export const RemovableQuery = Type.Object({
  ...ListQuery.properties,
  removed: queryFlag({ description: 'True lists those that were removed, and only those.' }),
});

export function parsePage(query: Form<Static<typeof PageQuery>>): Page {
  const page = readNatural(query, 'page', 1, MOST_PAGES);
  const perPage = readNatural(query, 'per_page', 50, MOST_PER_PAGE);
  return { limit: perPage, offset: (page - 1) * perPage };
}

export function readListing(query: Form<Static<typeof ListQuery>>): ListRequest {
  const search = query.read('search', query.body.search, (text) => {
    if (text.includes('\0')) throw new InvalidValue('invalid_character', 'must not contain NUL characters');
    return text;
  });
  return { ...parsePage(query), search: search || null };
}

export const readRemovable = (query: Form<Static<typeof RemovableQuery>>): RemovableListRequest => ({
  ...readListing(query),
  removed: isTrue(query.body.removed),
});

function readNatural(
  query: Form<Static<typeof PageQuery>>,
  field: 'page' | 'per_page',
  byDefault: number,
  most: number,
) {
  const read = query.read(field, query.body[field], (value) => {
    if (Number(value) > most) throw new InvalidValue('out_of_range', `must not be more than ${most}`);
    return Number(value);
  });
  return read ?? byDefault;
}

/** The text as a LIKE pattern, with nothing in it that LIKE would read as a wildcard. */
export const likePattern = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
