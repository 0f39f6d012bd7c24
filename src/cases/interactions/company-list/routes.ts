import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../../http/operation/operation.ts';
import { respondWithCursorPage } from '../../../http/operation/paging.ts';
import { readForm } from '../../../kernel/validation/form.ts';
import { CompanyInteractions, CompanyInteractionsQuery } from './schema.ts';
import { listCompanyInteractions } from './verbs.ts';

export function companyInteractionRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    id: 'listInteractions',
    method: 'GET',
    path: '/interactions',
    access: 'interactions:read',
    extension: true,
    tag: 'Interactions',
    summary: 'List the interactions of the company',
    description: 'Across all cases, latest first. Deleted ones are not listed.',
    params: {},
    query: CompanyInteractionsQuery,
    response: CompanyInteractions,
    handle: (context, _params, _form, request) =>
      respondWithCursorPage(
        request,
        listCompanyInteractions(context, readForm(CompanyInteractionsQuery, request.query)),
      ),
  });
}
