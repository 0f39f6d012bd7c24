import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { Deleted } from '../../kernel/validation/schema-types.ts';
import { AppointmentCreated, AppointmentUpdated, CreateAppointmentBody, UpdateAppointmentBody } from './schema.ts';
import { createAppointment, deleteAppointment, updateAppointment } from './writes.ts';

const tag = 'Appointments';
const list = '/cases/{caseId}/appointments';
const one = `${list}/{appointmentID}`;
const params = { caseId: 'case', appointmentID: 'appointment' };

export function appointmentRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    id: 'createCaseAppointment',
    method: 'POST',
    path: list,
    access: 'appointments:write',
    tag,
    summary: 'Create case appointment',
    description:
      'Books an appointment. A reminder goes out one day before the start at the same wall time; booked later than ' +
      'that, one hour before the start; later still, it is skipped.',
    params: { caseId: 'case' },
    body: CreateAppointmentBody,
    response: AppointmentCreated,
    handle: (context, { caseId }, form) => createAppointment(context, caseId, form),
  });

  registerOperation(app, services, {
    id: 'updateCaseAppointment',
    method: 'PATCH',
    path: one,
    access: 'appointments:write',
    tag,
    summary: 'Update case appointment',
    description:
      'Moving the start moves the reminders. A confirmation goes out again only when this request asks for it; ' +
      'false withdraws what has not gone out; notes and location send nothing.',
    params,
    body: UpdateAppointmentBody,
    response: AppointmentUpdated,
    handle: (context, { caseId, appointmentID }, form) => updateAppointment(context, caseId, appointmentID, form),
  });

  registerOperation(app, services, {
    id: 'deleteCaseAppointment',
    method: 'DELETE',
    path: one,
    access: 'appointments:write',
    tag,
    summary: 'Delete case appointment',
    description: 'Withdraws every message that has not gone out, and the meeting.',
    params,
    response: Deleted,
    handle: (context, { caseId, appointmentID }) => deleteAppointment(context, caseId, appointmentID),
  });

  // The specification names POST for both of the operations above: the body tells them apart.
  registerOperation(app, services, {
    id: 'updateOrDeleteCaseAppointment',
    method: 'POST',
    path: one,
    access: 'appointments:write',
    tag: 'Alternative forms',
    summary: 'Update or delete case appointment',
    description: 'With a JSON object the same as PATCH; with no body at all the same as DELETE.',
    params,
    body: UpdateAppointmentBody,
    bodyOptional: true,
    response: Type.Union([AppointmentUpdated, Deleted]),
    handle: (context, { caseId, appointmentID }, form) =>
      form.bodyMissing
        ? deleteAppointment(context, caseId, appointmentID)
        : updateAppointment(context, caseId, appointmentID, form),
  });
}
