import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../../http/operation/operation.ts';
import { pageHeaders } from '../../../http/operation/paging.ts';
import { readForm } from '../../../kernel/validation/form.ts';
import { PAGE_QUERY, parsePage } from '../../../kernel/validation/paging.ts';
import { Type } from '../../../kernel/validation/type.ts';
import { CompanyMessages, Message, Messages, STATE_QUERY } from './schema.ts';
import { listAppointmentMessages, listCompanyMessages, resendMessage } from './verbs.ts';

const tag = 'Messages';
const list = '/cases/{caseId}/appointments/{appointmentID}/messages';
const params = { caseId: 'case', appointmentID: 'appointment' };
const ListQuery = Type.Object({ ...PAGE_QUERY, ...STATE_QUERY });

export function messageRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    id: 'listAppointmentMessages',
    method: 'GET',
    path: list,
    access: 'appointments:read',
    extension: true,
    tag,
    summary: 'List the messages of an appointment',
    description:
      'All confirmations, reminders and cancellations, with state and last error. The earliest due comes first.',
    params,
    response: Messages,
    handle: (context, { caseId, appointmentID }) => listAppointmentMessages(context, caseId, appointmentID),
  });

  registerOperation(app, services, {
    id: 'listMessages',
    method: 'GET',
    path: '/messages',
    access: 'appointments:read',
    extension: true,
    tag,
    summary: 'List the messages of the company',
    description: 'Paged; the latest due time comes first. Includes messages of deleted appointments.',
    params: {},
    query: ListQuery,
    response: CompanyMessages,
    handle: async (context, _params, _form, request) => {
      const query = readForm(ListQuery, request.query);
      const page = parsePage(query);
      query.check();
      const { json, total } = await listCompanyMessages(context, query.body.state, page);
      return { json, headers: pageHeaders(request.originalUrl, page, total) };
    },
  });

  registerOperation(app, services, {
    id: 'resendMessage',
    method: 'POST',
    path: `${list}/{messageId}/resend`,
    access: 'appointments:write',
    extension: true,
    tag,
    summary: 'Resend a message',
    description:
      "Creates a new message of the same kind, due now, with the appointment's current details. Only a confirmation " +
      'or reminder that was sent or has failed can be resent: a reminder until the start, a confirmation until the ' +
      'end. Otherwise the answer is 400.',
    params: { ...params, messageId: 'message' },
    response: Message,
    handle: (context, { caseId, appointmentID, messageId }) => resendMessage(context, caseId, appointmentID, messageId),
  });
}
