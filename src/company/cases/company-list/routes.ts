import type { FastifyInstance } from 'fastify';
import { CSV_DESCRIPTION, Csv } from '../../../cases/company-list.schema.ts';
import { registerOperation, type Services } from '../../../http/operation/operation.ts';
import { respondWithCursorPage } from '../../../http/operation/paging.ts';
import { readForm } from '../../../kernel/validation/form.ts';
import { CaseList } from '../schema.ts';
import { CompanyCasesCsvQuery, CompanyCasesQuery } from './schema.ts';
import { exportCases, findCases } from './verbs.ts';

const common = {
  method: 'GET',
  access: ['cases:read', 'manage'],
  extension: true,
  tag: 'Cases',
  params: {},
} as const;

export function companyCaseRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    ...common,
    id: 'findCases',
    path: '/cases',
    summary: 'List the cases of the company',
    description: 'By kind, state and responsible adviser, the one that was opened last first. Each with its customers.',
    query: CompanyCasesQuery,
    response: CaseList,
    handle: (context, _params, _form, request) =>
      respondWithCursorPage(request, findCases(context, readForm(CompanyCasesQuery, request.query))),
  });

  registerOperation(app, services, {
    ...common,
    id: 'exportCases',
    path: '/cases.csv',
    summary: 'Export the cases of the company as CSV',
    description: CSV_DESCRIPTION,
    query: CompanyCasesCsvQuery,
    response: Csv,
    handle: async (context, _params, _form, request) => {
      const parts = await exportCases(context, readForm(CompanyCasesCsvQuery, request.query));
      return services.exports.respond(request, context.company.id, 'cases', parts);
    },
  });
}
