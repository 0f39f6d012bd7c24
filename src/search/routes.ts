import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../http/operation/operation.ts';
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
      'numbers come first, then hits in texts, then hits by the case; of equal ones the newest comes first. What is ' +
      'written is found within seconds; what is deleted is not found any more.',
    params: {},
    query: SearchQuery,
    response: SearchResult,
    handle: (context, _params, _form, request) => search(context, readForm(SearchQuery, request.query)),
  });
}
