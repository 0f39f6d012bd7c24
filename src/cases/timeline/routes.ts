import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { respondWithCursorPage } from '../../http/operation/paging.ts';
import { readForm } from '../../kernel/validation/form.ts';
import { Timeline, TimelineQuery } from './schema.ts';
import { readTimeline, TIMELINE_SCOPES } from './verbs.ts';

export function timelineRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    id: 'readTimeline',
    method: 'GET',
    path: '/cases/{caseId}/timeline',
    access: TIMELINE_SCOPES,
    extension: true,
    tag: 'Cases',
    summary: 'Read the timeline of a case',
    description:
      'Interactions, appointments with the states of their messages, invoices, payments and changes in one order, ' +
      'latest first. Deleted records are only shown by their changes. The header `Link` leads to the next page.',
    params: { caseId: 'case' },
    query: TimelineQuery,
    response: Timeline,
    handle: (context, { caseId }, _form, request) =>
      respondWithCursorPage(request, readTimeline(context, caseId, readForm(TimelineQuery, request.query))),
  });
}
