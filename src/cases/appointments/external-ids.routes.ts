import type { FastifyInstance } from 'fastify';
import { externalIdRoutes } from '../../http/operation/external-id-routes.ts';
import type { Services } from '../../http/operation/operation.ts';
import { appointmentIds, currentVersion, readAppointment } from './reads.ts';
import { Appointment, AppointmentCreated, AppointmentUpdated, CreateAppointmentBody } from './schema.ts';
import { createAppointment, updateNamedAppointment } from './writes.ts';

export function appointmentExternalIdRoutes(app: FastifyInstance, services: Services): void {
  externalIdRoutes(app, services, {
    name: 'Appointment',
    ids: appointmentIds,
    collection: '/cases/{caseId}/appointments',
    idParam: 'appointmentID',
    tag: 'Appointments',
    access: { read: 'appointments:read', write: 'appointments:write' },
    currentVersion,
    body: CreateAppointmentBody,
    responses: { read: Appointment, created: AppointmentCreated, updated: AppointmentUpdated },
    remark:
      'Confirmations and `video_meeting` count only for the request that creates, so that nothing is sent twice. The ' +
      'adviser of an existing appointment cannot be changed.',
    verbs: { read: readAppointment, create: createAppointment, update: updateNamedAppointment },
  });
}
