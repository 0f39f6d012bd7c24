import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../../http/operation/operation.ts';
import { pageHeaders } from '../../../http/operation/paging.ts';
import { readForm } from '../../../kernel/validation/form.ts';
import { PAGE_QUERY, parsePage } from '../../../kernel/validation/paging.ts';
import { Type } from '../../../kernel/validation/type.ts';
import { Meeting, Meetings, STATE_QUERY } from './schema.ts';
import { listMeetings, readMeeting, requestMeeting, withdrawMeeting } from './verbs.ts';

const ListQuery = Type.Object({ ...PAGE_QUERY, ...STATE_QUERY });
const common = { extension: true, tag: 'Meetings' } as const;
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
    summary: 'Read the meeting of an appointment',
    description: 'The state of the meeting, its link, and the last error.',
    handle: (context, { caseId, appointmentID }) => readMeeting(context, caseId, appointmentID),
  });

  registerOperation(app, services, {
    ...one,
    id: 'requestAppointmentMeeting',
    method: 'POST',
    access: 'appointments:write',
    summary: 'Request a meeting',
    description:
      'For an appointment that was booked without a meeting, or whose meeting has failed. The answer is 400 if the ' +
      'appointment is cancelled or over, or if its adviser has no connected account.',
    handle: (context, { caseId, appointmentID }) => requestMeeting(context, caseId, appointmentID),
  });

  registerOperation(app, services, {
    ...one,
    id: 'withdrawAppointmentMeeting',
    method: 'DELETE',
    access: 'appointments:write',
    summary: 'Withdraw a meeting',
    description: 'Removes the meeting at the provider. The answer is 400 if the appointment has no meeting.',
    handle: (context, { caseId, appointmentID }) => withdrawMeeting(context, caseId, appointmentID),
  });

  registerOperation(app, services, {
    ...common,
    id: 'listMeetings',
    method: 'GET',
    path: '/meetings',
    access: 'appointments:read',
    summary: 'List the meetings of the company',
    description: 'Paged; the most recently changed comes first. Includes meetings of deleted appointments.',
    params: {},
    query: ListQuery,
    response: Meetings,
    handle: async (context, _params, _form, request) => {
      const query = readForm(ListQuery, request.query);
      const page = parsePage(query);
      query.check();
      const { json, total } = await listMeetings(context, query.body.state, page);
      return { json, headers: pageHeaders(request.originalUrl, page, total) };
    },
  });
}
