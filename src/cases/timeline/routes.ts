import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type JsonResponse, registerOperation, type Services } from '../../http/operation/operation.ts';
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
    handle: async (context, { caseId }, _form, request) =>
      pageAnswer(request, await readTimeline(context, caseId, readForm(TimelineQuery, request.query))),
  });
}

function pageAnswer({ originalUrl }: FastifyRequest, page: { json: string; next: string | undefined }): JsonResponse {
  if (page.next === undefined) return { json: page.json, headers: {} };
  const [path, query] = originalUrl.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.set('cursor', page.next);
  return { json: page.json, headers: { link: `<${path}?${parameters}>; rel="next"` } };
}
