import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { readForm } from '../../kernel/validation/form.ts';
import { Type } from '../../kernel/validation/type.ts';
import { AppointmentsQuery, OutcomeBody } from './lifecycle.schema.ts';
import { restoreAppointment, setOutcome } from './lifecycle.ts';
import { currentVersion, listAppointments, readAppointment } from './reads.ts';
import { Appointment } from './schema.ts';

const tag = 'Appointments';
const list = '/cases/{caseId}/appointments';
const one = `${list}/{appointmentID}`;
const params = { caseId: 'case', appointmentID: 'appointment' };

export function appointmentLifecycleRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    id: 'listCaseAppointments',
    method: 'GET',
    path: list,
    access: 'appointments:read',
    extension: true,
    tag,
    summary: 'List the appointments of a case',
    description: 'Ordered by start.',
    params: { caseId: 'case' },
    query: AppointmentsQuery,
    response: Type.Array(Appointment),
    handle: (context, { caseId }, _form, request) =>
      listAppointments(context, caseId, readForm(AppointmentsQuery, request.query)),
  });

  registerOperation(app, services, {
    id: 'readAppointment',
    method: 'GET',
    path: one,
    access: 'appointments:read',
    extension: true,
    tag,
    summary: 'Read one appointment',
    description: 'Returns 404 for a deleted appointment; the list can show it.',
    params,
    response: Appointment,
    record: {
      table: 'appointments',
      currentVersion,
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
      'Schedules the requested reminders again; confirmations are not sent again. The answer is 400 if the ' +
      'appointment is not deleted.',
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
    summary: 'Record the outcome of an appointment',
    description:
      'Cancelling withdraws every message that has not been sent; undoing it schedules the reminders again. No ' +
      'message is scheduled for a cancelled appointment. An appointment cannot be both attended and cancelled.',
    params,
    body: OutcomeBody,
    response: Appointment,
    handle: (context, { caseId, appointmentID }, form) => setOutcome(context, caseId, appointmentID, form),
  });
}
