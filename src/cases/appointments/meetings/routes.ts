import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { registerOperation, type Services } from '../../../http/operation/operation.ts';
import { pageHeaders } from '../../../http/operation/paging.ts';
import { readForm } from '../../../kernel/validation/form.ts';
import { PAGE_QUERY, parsePage } from '../../../kernel/validation/paging.ts';
import { Meeting, Meetings, STATE_QUERY } from './schema.ts';
import { listMeetings, showMeeting, wishMeeting, withdrawMeeting } from './verbs.ts';

const ListQuery = Type.Object({ ...PAGE_QUERY, ...STATE_QUERY });
const common = { extension: true, tag: 'Additions: meetings' } as const;
const one = {
  ...common,
  path: '/cases/{caseId}/appointments/{appointmentID}/meeting',
  params: { caseId: 'case', appointmentID: 'appointment' },
  response: Meeting,
};

export function meetingRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    ...one,
    id: 'getAppointmentMeeting',
    method: 'GET',
    access: 'appointments:read',
    summary: 'Meeting of an appointment',
    description: 'Where it stands, its link, and what went wrong.',
    handle: (context, { caseId, appointmentID }) => showMeeting(context, caseId, appointmentID),
  });

  registerOperation(app, services, {
    ...one,
    id: 'wishAppointmentMeeting',
    method: 'POST',
    access: 'appointments:write',
    summary: 'Ask for a meeting',
    description:
      'After the booking, or once more after a failure. Refused with 400 when the appointment is cancelled or over, or ' +
      'when its adviser has no connected account.',
    handle: (context, { caseId, appointmentID }) => wishMeeting(context, caseId, appointmentID),
  });

  registerOperation(app, services, {
    ...one,
    id: 'withdrawAppointmentMeeting',
    method: 'DELETE',
    access: 'appointments:write',
    summary: 'Withdraw a meeting',
    description: 'It is removed at the provider. Refused with 400 when none is wished for.',
    handle: (context, { caseId, appointmentID }) => withdrawMeeting(context, caseId, appointmentID),
  });

  registerOperation(app, services, {
    ...common,
    id: 'listMeetings',
    method: 'GET',
    path: '/meetings',
    access: 'appointments:read',
    summary: 'Meetings of the company',
    description: 'In pages, the last that something happened to first; those of deleted appointments included.',
    params: {},
    query: ListQuery,
    response: Meetings,
    handle: async (context, _params, _form, request) => {
      const query = readForm(ListQuery, request.query);
      const page = parsePage(query);
      query.check();
      const { json, total } = await listMeetings(context, query.body.state, page);
      return { json, headers: pageHeaders(request.url, page, total) };
    },
  });
}
