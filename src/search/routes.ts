import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../http/operation/operation.ts';
import { respondWithCursorPage } from '../http/operation/paging.ts';
import { readForm } from '../kernel/validation/form.ts';
import { SearchQuery, SearchResult } from './schema.ts';
import { SEARCH_SCOPES, search } from './verbs.ts';

export function searchRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    id: 'search',
    method: 'GET',
    path: '/search',
    access: SEARCH_SCOPES,
    extension: true,
    tag: 'Search',
    summary: 'Search all cases',
    description:
      'Finds cases, customers, address book entries, interactions, invoices and appointments of the company. A record ' +
      'is found if it has all words; the reference and the customers of its case count as well. Hits in names and ' +
      'numbers come first, then the others; whole words before beginnings, and of equal ones the newest. Within a page, ' +
      'records that are found by the words of their case come last. The header `Link` leads to the next page. A page ' +
      'looks back only so far, so it may have few hits or none and yet a next page. What is written is found within ' +
      'seconds; what is deleted is not found any more.',
    params: {},
    query: SearchQuery,
    response: SearchResult,
    handle: (context, _params, _form, request) =>
      respondWithCursorPage(request, search(context, readForm(SearchQuery, request.query))),
  });
}
