import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../../http/operation/operation.ts';
import { respondWithCursorPage } from '../../../http/operation/paging.ts';
import { readForm } from '../../../kernel/validation/form.ts';
import { CSV_DESCRIPTION, Csv } from '../../company-list.schema.ts';
import {
  CompanyInvoices,
  CompanyInvoicesCsvQuery,
  CompanyInvoicesQuery,
  InvoiceSums,
  InvoiceSumsQuery,
} from './schema.ts';
import { exportInvoices, listCompanyInvoices, sumInvoices } from './verbs.ts';

const common = { method: 'GET', access: 'invoices:read', extension: true, tag: 'Invoices', params: {} } as const;

export function companyInvoiceRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    ...common,
    id: 'listInvoices',
    path: '/invoices',
    summary: 'List the invoices of the company',
    description: 'Across all cases, the one that is due last first.',
    query: CompanyInvoicesQuery,
    response: CompanyInvoices,
    handle: (context, _params, _form, request) =>
      respondWithCursorPage(request, listCompanyInvoices(context, readForm(CompanyInvoicesQuery, request.query))),
  });

  registerOperation(app, services, {
    ...common,
    id: 'sumInvoices',
    path: '/invoices/sums',
    summary: 'Sum the open invoices of the company',
    description: 'How many invoices can still be paid and what is outstanding, of all and of those that are overdue.',
    query: InvoiceSumsQuery,
    response: InvoiceSums,
    handle: (context, _params, _form, request) => sumInvoices(context, readForm(InvoiceSumsQuery, request.query)),
  });

  registerOperation(app, services, {
    id: 'exportInvoices',
    method: 'GET',
    path: '/invoices.csv',
    access: 'invoices:read',
    extension: true,
    tag: 'Invoices',
    summary: 'Export the invoices of the company as CSV',
    description: CSV_DESCRIPTION,
    params: {},
    query: CompanyInvoicesCsvQuery,
    response: Csv,
    handle: async (context, _params, _form, request) => {
      const parts = await exportInvoices(context, readForm(CompanyInvoicesCsvQuery, request.query));
      return services.exports.respond(request, context.company.id, 'invoices', parts);
    },
  });
}
