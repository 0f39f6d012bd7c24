import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../../http/operation/operation.ts';
import { respondWithCursorPage } from '../../../http/operation/paging.ts';
import { readForm } from '../../../kernel/validation/form.ts';
import { CSV_DESCRIPTION, Csv } from '../../company-list.schema.ts';
import { CompanyInteractions, CompanyInteractionsCsvQuery, CompanyInteractionsQuery } from './schema.ts';
import { exportInteractions, listCompanyInteractions } from './verbs.ts';

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

  registerOperation(app, services, {
    id: 'exportInteractions',
    method: 'GET',
    path: '/interactions.csv',
    access: 'interactions:read',
    extension: true,
    tag: 'Interactions',
    summary: 'Export the interactions of the company as CSV',
    description: CSV_DESCRIPTION,
    params: {},
    query: CompanyInteractionsCsvQuery,
    response: Csv,
    handle: async (context, _params, _form, request) => {
      const parts = await exportInteractions(context, readForm(CompanyInteractionsCsvQuery, request.query));
      return services.exports.respond(request, context.company.id, 'interactions', parts);
    },
  });
}
