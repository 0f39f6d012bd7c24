import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { registerOperation, type Services } from '../../../http/operation/operation.ts';
import { pageHeaders } from '../../../http/operation/paging.ts';
import { readForm } from '../../../kernel/validation/form.ts';
import { PAGE_QUERY, parsePage } from '../../../kernel/validation/paging.ts';
import { Message, Messages, STATE_QUERY } from './schema.ts';
import { messagesOfAppointment, messagesOfCompany, resendMessage } from './verbs.ts';

const tag = 'Additions: messages';
const ofAppointment = '/cases/{caseId}/appointments/{appointmentID}/messages';
const params = { caseId: 'case', appointmentID: 'appointment' };
const ListQuery = Type.Object({ ...PAGE_QUERY, ...STATE_QUERY });

export function messageRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    id: 'listAppointmentMessages',
    method: 'GET',
    path: ofAppointment,
    access: 'appointments:read',
    extension: true,
    tag,
    summary: 'Messages of an appointment',
    description: 'Every confirmation and reminder, the first due first: where it stands, and what went wrong.',
    params,
    response: Messages,
    handle: (context, { caseId, appointmentID }) => messagesOfAppointment(context, caseId, appointmentID),
  });

  registerOperation(app, services, {
    id: 'listMessages',
    method: 'GET',
    path: '/messages',
    access: 'appointments:read',
    extension: true,
    tag,
    summary: 'Messages of the company',
    description: 'In pages, the last due first; deleted appointments included.',
    params: {},
    query: ListQuery,
    response: Messages,
    handle: async (context, _params, _form, request) => {
      const query = readForm(ListQuery, request.query);
      const page = parsePage(query);
      query.check();
      const { json, total } = await messagesOfCompany(context, query.body.state, page);
      return { json, headers: pageHeaders(request.url, page, total) };
    },
  });

  registerOperation(app, services, {
    id: 'resendMessage',
    method: 'POST',
    path: `${ofAppointment}/{messageId}/resend`,
    access: 'appointments:write',
    extension: true,
    tag,
    summary: 'Send a message once more',
    description:
      'Makes a new message of the same kind that is due now, about the appointment as it stands. Only for messages ' +
      'that were sent or that failed, while a reminder or a confirmation still makes sense.',
    params: { ...params, messageId: 'message' },
    response: Message,
    handle: (context, { caseId, appointmentID, messageId }) => resendMessage(context, caseId, appointmentID, messageId),
  });
}
