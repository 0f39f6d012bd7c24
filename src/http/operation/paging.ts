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

/** Returns one page of a list that can be searched. */
export const respondWithList = (
  request: FastifyRequest,
  list: (listRequest: ListRequest) => Promise<PageOfJson>,
): Promise<JsonResponse> => respond(request, readForm(ListQuery, request.query), parseListRequest, list);

/** Returns one page of a list whose entries can be removed and restored. */
export const respondWithRemovableList = (
  request: FastifyRequest,
  list: (listRequest: RemovableListRequest) => Promise<PageOfJson>,
): Promise<JsonResponse> => respond(request, readForm(RemovableQuery, request.query), parseRemovableListRequest, list);

/** The list is read even if the query has faults, because an unknown path is reported first. */
async function respond<T, L extends ListRequest>(
  { originalUrl }: FastifyRequest,
  query: Form<T>,
  parse: (query: Form<T>) => L,
  list: (listRequest: L) => Promise<PageOfJson>,
): Promise<JsonResponse> {
  const listRequest = parse(query);
  const { json, total } = await list(listRequest);
  query.check();
  return { json, headers: pageHeaders(originalUrl, listRequest, total) };
}

type CaseList = { json: string | AsyncIterable<string>; page?: Page & { total: number } };

/** Returns the list of a case: a page with its headers, or the whole list. */
export async function respondWithCaseList(request: FastifyRequest, list: Promise<CaseList>): Promise<JsonResponse> {
  const { json, page } = await list;
  return { json, headers: page ? pageHeaders(request.originalUrl, page, page.total) : {} };
}

/** A list is a bare array. Headers tell its total length and link to the other pages. */
export function pageHeaders(url: string, { limit, offset }: Page, total: number): Record<string, string> {
  const current = offset / limit + 1;
  const last = Math.max(1, Math.ceil(total / limit));
  const link = (page: number, rel: string) => linkTo(url, { page: String(page), per_page: String(limit) }, rel);
  const links = [link(1, 'first'), link(last, 'last')];
  if (current > 1) links.push(link(Math.min(current - 1, last), 'prev'));
  if (current < last) links.push(link(current + 1, 'next'));
  return { 'x-total-count': String(total), link: links.join(', ') };
}

/** Returns a page of a list with a cursor. A header links to the next page, if there may be one. */
export async function respondWithCursorPage(
  { originalUrl }: FastifyRequest,
  page: Promise<{ json: string; next: string | undefined }>,
): Promise<JsonResponse> {
  const { json, next } = await page;
  if (next === undefined) return { json, headers: {} };
  return { json, headers: { link: linkTo(originalUrl, { cursor: next }) } };
}

/** A link to the same address with other values of some parameters. A query may have further question marks. */
export function linkTo(url: string, changed: Record<string, string>, rel = 'next'): string {
  const [path = '', ...query] = url.split('?');
  const parameters = new URLSearchParams(query.join('?'));
  for (const [name, value] of Object.entries(changed)) parameters.set(name, value);
  return `<${path}?${parameters}>; rel="${rel}"`;
}
