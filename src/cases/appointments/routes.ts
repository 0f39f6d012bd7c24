import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { Deleted } from '../../kernel/validation/schema-types.ts';
import { Type } from '../../kernel/validation/type.ts';
import { deleteAppointment } from './lifecycle.ts';
import { AppointmentCreated, AppointmentUpdated, CreateAppointmentBody, UpdateAppointmentBody } from './schema.ts';
import { createAppointment, updateAppointment } from './writes.ts';

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
      'Books an appointment. A reminder is due at the wall time of the start, as many days before it as the company ' +
      'sets in `reminder_lead_days` (1 to 30, by default 1). If that time has passed, it is due one hour before the ' +
      'start; if that has passed too, it is skipped.',
    params: { caseId: 'case' },
    body: CreateAppointmentBody,
    response: AppointmentCreated,
    handle: (context, { caseId }, form) => createAppointment(context, caseId, form),
  });

  registerOperation(app, services, {
    id: 'updateCaseAppointment',
    method: 'PATCH',
    path: one,
    servedAlias: { form: ['POST', one], condition: 'with a body' },
    access: 'appointments:write',
    tag,
    summary: 'Update case appointment',
    description:
      'Moving the start moves the reminders. A confirmation is sent again only if this request asks for it; false ' +
      'withdraws a message that has not been sent. Changing notes or location sends no message.',
    params,
    body: UpdateAppointmentBody,
    response: AppointmentUpdated,
    handle: (context, { caseId, appointmentID }, form) => updateAppointment(context, caseId, appointmentID, form),
  });

  registerOperation(app, services, {
    id: 'deleteCaseAppointment',
    method: 'DELETE',
    path: one,
    servedAlias: { form: ['POST', one], condition: 'without a body' },
    access: 'appointments:write',
    tag,
    summary: 'Delete case appointment',
    description: 'Withdraws every message that has not been sent, and the meeting.',
    params,
    response: Deleted,
    handle: (context, { caseId, appointmentID }) => deleteAppointment(context, caseId, appointmentID),
  });

  // The specification allows POST for both update and delete; whether there is a body decides.
  registerOperation(app, services, {
    id: 'updateOrDeleteCaseAppointment',
    method: 'POST',
    path: one,
    access: 'appointments:write',
    tag,
    undocumented: true,
    summary: 'Update or delete case appointment',
    description: 'The same as PATCH with a JSON object as the body; the same as DELETE without a body.',
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
