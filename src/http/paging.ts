import { type Static, Type } from 'typebox';
import type { Form } from '../kernel/form.ts';
import type { Page } from '../kernel/page.ts';

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
  page: natural(1, 1_000_000, 'Which page, from 1.'),
  per_page: natural(50, MOST_PER_PAGE, `Entries per page, at most ${MOST_PER_PAGE}.`),
};
const PageQuery = Type.Object(PAGE_QUERY);

export function readPage(query: Form<Static<typeof PageQuery>>): Page {
  const page = Number(query.faulty('page') ? 1 : (query.body.page ?? 1));
  const perPage = Number(query.faulty('per_page') ? 50 : (query.body.per_page ?? 50));
  if (perPage > MOST_PER_PAGE) query.fault('per_page', 'out_of_range', `must not be more than ${MOST_PER_PAGE}`);
  return { limit: perPage, offset: (page - 1) * perPage };
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
  if (current > 1) links.push(link(current - 1, 'prev'));
  if (current < last) links.push(link(current + 1, 'next'));
  return { 'x-total-count': String(total), link: links.join(', ') };
}
