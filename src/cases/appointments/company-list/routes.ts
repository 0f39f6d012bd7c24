import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../../http/operation/operation.ts';
import { pageHeaders, respondWithCursorPage } from '../../../http/operation/paging.ts';
import { readForm } from '../../../kernel/validation/form.ts';
import { parsePage } from '../../../kernel/validation/paging.ts';
import { CSV_DESCRIPTION, Csv } from '../../company-list.schema.ts';
import { DiaryQuery } from '../lifecycle.schema.ts';
import { listDiary } from '../reads.ts';
import { CompanyAppointments, CompanyAppointmentsCsvQuery, CompanyAppointmentsQuery } from './schema.ts';
import { exportAppointments, listCompanyAppointments } from './verbs.ts';

export function companyAppointmentRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    id: 'listAppointments',
    method: 'GET',
    path: '/appointments',
    access: 'appointments:read',
    extension: true,
    tag: 'Appointments',
    summary: 'List the appointments of the company',
    description: 'Of one adviser or of all, across all cases, ordered by start. Deleted ones are not listed.',
    params: {},
    query: CompanyAppointmentsQuery,
    response: CompanyAppointments,
    handle: async (context, _params, _form, request) => {
      if (!isDiary(request.query)) {
        const query = readForm(CompanyAppointmentsQuery, request.query);
        return respondWithCursorPage(request, listCompanyAppointments(context, query));
      }
      const query = readForm(DiaryQuery, request.query);
      const page = parsePage(query);
      const { json, total } = await listDiary(context, query, page);
      return { json, headers: pageHeaders(request.originalUrl, page, total) };
    },
  });

  registerOperation(app, services, {
    id: 'exportAppointments',
    method: 'GET',
    path: '/appointments.csv',
    access: 'appointments:read',
    extension: true,
    tag: 'Appointments',
    summary: 'Export the appointments of the company as CSV',
    description: CSV_DESCRIPTION,
    params: {},
    query: CompanyAppointmentsCsvQuery,
    response: Csv,
    handle: async (context, _params, _form, request) => {
      const parts = await exportAppointments(context, readForm(CompanyAppointmentsCsvQuery, request.query));
      return services.exports.respond(request, context.company.id, 'appointments', parts);
    },
  });
}

/** Callers of earlier releases follow the pages of an adviser by number, and may list deleted appointments. */
const isDiary = (query: unknown) =>
  ['page', 'per_page', 'deleted'].some((name) => Object.hasOwn(query as object, name));
