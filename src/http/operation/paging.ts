import type { FastifyRequest } from 'fastify';
import { type Form, readForm } from '../../kernel/validation/form.ts';
import {
  ListQuery,
  type ListRequest,
  type Page,
  type PageOfJson,
  parseListRequest,
  parseRemovableListRequest,
  type RemovableListRequest,
  RemovableQuery,
} from '../../kernel/validation/paging.ts';
import type { JsonResponse } from './operation.ts';

/** Answers one page of a list that can be searched. */
export const respondWithList = (
  request: FastifyRequest,
  list: (listing: ListRequest) => Promise<PageOfJson>,
): Promise<JsonResponse> => respond(request, readForm(ListQuery, request.query), parseListRequest, list);

/** The same of a list of what can be removed and restored. */
export const respondWithRemovableList = (
  request: FastifyRequest,
  list: (listing: RemovableListRequest) => Promise<PageOfJson>,
): Promise<JsonResponse> => respond(request, readForm(RemovableQuery, request.query), parseRemovableListRequest, list);

/** The list is asked even where the query has faults: its path may be unknown. */
async function respond<T, L extends ListRequest>(
  { url }: FastifyRequest,
  query: Form<T>,
  read: (query: Form<T>) => L,
  list: (listing: L) => Promise<PageOfJson>,
): Promise<JsonResponse> {
  const listing = read(query);
  const { json, total } = await list(listing);
  query.check();
  return { json, headers: pageHeaders(url, listing, total) };
}

type Listed = { json: string | AsyncIterable<string>; page?: Page & { total: number } };

/** Answers the list of a case: a page of it with its headers, or all of it. */
export async function respondWithCaseList(request: FastifyRequest, list: Promise<Listed>): Promise<JsonResponse> {
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
