import type { FastifyRequest } from 'fastify';
import { readForm } from '../kernel/form.ts';
import { type Listing, ListQuery, type Page, type PageOfJson, readListing } from '../kernel/page.ts';
import type { Answer } from './operation.ts';

/** Answers one page of a list that can be searched. The list is asked even where the query has faults: its path may be unknown. */
export async function answerList(
  request: FastifyRequest,
  list: (listing: Listing) => Promise<PageOfJson>,
): Promise<Answer> {
  const query = readForm(ListQuery, request.query);
  const listing = readListing(query);
  const { json, total } = await list(listing);
  query.check();
  return { json, headers: pageHeaders(request.url, listing, total) };
}

type Listed = { json: string | AsyncIterable<string>; page?: Page & { total: number } };

/** Answers the list of a case: a page of it with its headers, or all of it. */
export async function answerListed(request: FastifyRequest, list: Promise<Listed>): Promise<Answer> {
  const { json, page } = await list;
  return { json, headers: page ? pageHeaders(request.url, page, page.total) : {} };
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
