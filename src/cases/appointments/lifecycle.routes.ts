import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { pageHeaders } from '../../http/operation/paging.ts';
import { readForm } from '../../kernel/validation/form.ts';
import { PAGE_QUERY, parsePage } from '../../kernel/validation/paging.ts';
import { AppointmentsQuery, DIARY_QUERY, OutcomeBody } from './lifecycle.schema.ts';
import { restoreAppointment, setOutcome } from './lifecycle.ts';
import { listAppointments, listDiary, readAppointment } from './reads.ts';
import { Appointment } from './schema.ts';

const tag = 'Additions: appointments';
const list = '/cases/{caseId}/appointments';
const one = `${list}/{appointmentID}`;
const params = { caseId: 'case', appointmentID: 'appointment' };
const DiaryQuery = Type.Object({ ...DIARY_QUERY, ...PAGE_QUERY });

export function appointmentLifeRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    id: 'listCaseAppointments',
    method: 'GET',
    path: list,
    access: 'appointments:read',
    extension: true,
    tag,
    summary: 'List the appointments of a case',
    description: 'In the order of their starts.',
    params: { caseId: 'case' },
    query: AppointmentsQuery,
    response: Type.Array(Appointment),
    handle: (context, { caseId }, _form, request) =>
      listAppointments(context, caseId, readForm(AppointmentsQuery, request.query)),
  });

  registerOperation(app, services, {
    id: 'listAdviserAppointments',
    method: 'GET',
    path: '/appointments',
    access: 'appointments:read',
    extension: true,
    tag,
    summary: 'List the appointments of an adviser',
    description:
      'Across the cases of the company, in the order of their starts. `X-Total-Count` and `Link` tell of the other pages.',
    params: {},
    query: DiaryQuery,
    response: Type.Array(Appointment),
    handle: async (context, _params, _form, request) => {
      const query = readForm(DiaryQuery, request.query);
      const page = parsePage(query);
      const { json, total } = await listDiary(context, query, page);
      return { json, headers: pageHeaders(request.url, page, total) };
    },
  });

  registerOperation(app, services, {
    id: 'readAppointment',
    method: 'GET',
    path: one,
    access: 'appointments:read',
    extension: true,
    tag,
    summary: 'Read one appointment',
    description: 'A deleted one is unknown here; the list shows it on request.',
    params,
    response: Appointment,
    record: {
      table: 'appointments',
      show: (context, { caseId, appointmentID }) => readAppointment(context, caseId, appointmentID),
    },
    handle: (context, { caseId, appointmentID }) => readAppointment(context, caseId, appointmentID),
  });

  registerOperation(app, services, {
    id: 'restoreAppointment',
    method: 'POST',
    path: `${one}/restore`,
    access: 'appointments:write',
    extension: true,
    tag,
    summary: 'Restore a deleted appointment',
    description:
      'Places the reminders that were wanted anew; confirmations do not go out again. Refused with 400 when it is not deleted.',
    params,
    response: Appointment,
    handle: (context, { caseId, appointmentID }) => restoreAppointment(context, caseId, appointmentID),
  });

  registerOperation(app, services, {
    id: 'setAppointmentOutcome',
    method: 'PATCH',
    path: `${one}/outcome`,
    access: 'appointments:write',
    extension: true,
    tag,
    summary: 'Say what became of an appointment',
    description:
      'Cancelling withdraws every message that has not gone out, taking it back places the reminders anew. While ' +
      'it is cancelled no message is placed. It cannot be both attended and cancelled.',
    params,
    body: OutcomeBody,
    response: Appointment,
    handle: (context, { caseId, appointmentID }, form) => setOutcome(context, caseId, appointmentID, form),
  });
}
