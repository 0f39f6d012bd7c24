import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { InvalidValue } from '../kernel/errors.ts';
import { type Form, readForm } from '../kernel/form.ts';
import type { Listing, Page, PageOfJson } from '../kernel/page.ts';
import type { Answer } from './operation.ts';

const MOST_PAGES = 1_000_000;
const MOST_PER_PAGE = 200;

const natural = (byDefault: number, most: number, description: string) =>
  Type.Optional(
    Type.Unsafe<string>({
      type: ['integer', 'string'],
      pattern: '^[1-9][0-9]{0,6}$',
      minimum: 1,
      maximum: most,
      default: byDefault,
      description,
    }),
  );

/** The query parameters of a list that comes in pages. */
export const PAGE_QUERY = {
  page: natural(1, MOST_PAGES, 'Which page, from 1.'),
  per_page: natural(50, MOST_PER_PAGE, `Entries per page, at most ${MOST_PER_PAGE}.`),
};
const PageQuery = Type.Object(PAGE_QUERY);

/** The same for a list that can be searched. */
export const ListQuery = Type.Object({
  ...PAGE_QUERY,
  search: Type.Optional(
    Type.String({ maxLength: 200, description: 'Only entries that contain this text, without regard to case.' }),
  ),
});

export function readPage(query: Form<Static<typeof PageQuery>>): Page {
  const page = readNatural(query, 'page', 1, MOST_PAGES);
  const perPage = readNatural(query, 'per_page', 50, MOST_PER_PAGE);
  return { limit: perPage, offset: (page - 1) * perPage };
}

function readNatural(
  query: Form<Static<typeof PageQuery>>,
  field: 'page' | 'per_page',
  byDefault: number,
  most: number,
) {
  const read = query.read(field, query.body[field], (value) => {
    if (!/^[1-9]\d*$/.test(value)) throw new InvalidValue('format', 'must be a whole number from 1');
    if (Number(value) > most) throw new InvalidValue('out_of_range', `must not be more than ${most}`);
    return Number(value);
  });
  return read ?? byDefault;
}

/** Answers one page of a list that can be searched. The list is asked even where the query has faults: its path may be unknown. */
export async function answerList(
  request: FastifyRequest,
  list: (listing: Listing) => Promise<PageOfJson>,
): Promise<Answer> {
  const query = readForm(ListQuery, request.query);
  const search = query.read('search', query.body.search, (text) => {
    if (text.includes('\0')) throw new InvalidValue('invalid_character', 'must not contain NUL characters');
    return text;
  });
  const listing = { ...readPage(query), search: search || null };
  const { json, total } = await list(listing);
  query.check();
  return { json, headers: pageHeaders(request.url, listing, total) };
}

/** Lists stay bare arrays; how many there are and where the others stand is said in headers. */
export function pageHeaders(url: string, { limit, offset }: Page, total: number): Record<string, string> {
  const current = offset / limit + 1;
  const last = Math.max(1, Math.ceil(total / limit));
  const link = (page: number, rel: string) => {
    const [path, query] = url.split('?', 2);
    const parameters = new URLSearchParams(query);
    parameters.set('page', String(page));
    parameters.set('per_page', String(limit));
    return `<${path}?${parameters}>; rel="${rel}"`;
  };
  const links = [link(1, 'first'), link(last, 'last')];
  if (current > 1) links.push(link(Math.min(current - 1, last), 'prev'));
  if (current < last) links.push(link(current + 1, 'next'));
  return { 'x-total-count': String(total), link: links.join(', ') };
}
