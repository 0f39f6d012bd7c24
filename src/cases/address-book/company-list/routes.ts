import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../../http/operation/operation.ts';
import { respondWithCursorPage } from '../../../http/operation/paging.ts';
import { readForm } from '../../../kernel/validation/form.ts';
import { CSV_DESCRIPTION, Csv } from '../../company-list.schema.ts';
import { CompanyEntries, CompanyEntriesCsvQuery, CompanyEntriesQuery } from './schema.ts';
import { exportEntries, listCompanyEntries } from './verbs.ts';

export function companyEntryRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    id: 'listAddressBookEntries',
    method: 'GET',
    path: '/address-book',
    access: 'address_book:read',
    extension: true,
    tag: 'Address book',
    summary: 'List the address book entries of the company',
    description:
      'The people of all cases with their addresses, by name. With `email` they are sorted by email unless `sort` is sent.',
    params: {},
    query: CompanyEntriesQuery,
    response: CompanyEntries,
    handle: (context, _params, _form, request) =>
      respondWithCursorPage(request, listCompanyEntries(context, readForm(CompanyEntriesQuery, request.query))),
  });

  registerOperation(app, services, {
    id: 'exportAddressBookEntries',
    method: 'GET',
    path: '/address-book.csv',
    access: 'address_book:read',
    extension: true,
    tag: 'Address book',
    summary: 'Export the address book entries of the company as CSV',
    description: CSV_DESCRIPTION,
    params: {},
    query: CompanyEntriesCsvQuery,
    response: Csv,
    handle: async (context, _params, _form, request) => {
      const parts = await exportEntries(context, readForm(CompanyEntriesCsvQuery, request.query));
      return services.exports.respond(request, context.company.id, 'address-book', parts);
    },
  });
}
