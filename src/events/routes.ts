import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type JsonResponse, registerOperation, type Services } from '../http/operation/operation.ts';
import { linkTo } from '../http/operation/paging.ts';
import type { AuditLog } from '../kernel/audit/audit-log.ts';
import { readForm } from '../kernel/validation/form.ts';
import { CompanyEventQuery, Event, EventList, EventQuery } from './schema.ts';
import { type EventPage, eventReader } from './verbs.ts';

const tag = 'Events';
const ORDER =
  'Oldest first. The header `Link` is always present and leads to the next events: poll it to stay up to date.';

export function eventRoutes(app: FastifyInstance, services: Services, auditLogs: readonly AuditLog[]): void {
  const reader = eventReader(auditLogs);

  registerOperation(app, services, {
    id: 'listEvents',
    method: 'GET',
    path: '/events',
    access: 'events:read',
    extension: true,
    tag,
    summary: 'List the events of the company',
    description: `Returns every change of every record of the company. ${ORDER} \`order=newest\` is for reading backwards.`,
    params: {},
    query: CompanyEventQuery,
    response: EventList,
    handle: (context, _params, _form, request) =>
      pageAnswer(request, reader.ofCompany(context, readForm(CompanyEventQuery, request.query))),
  });

  registerOperation(app, services, {
    id: 'listCaseEvents',
    method: 'GET',
    path: '/cases/{caseId}/events',
    access: 'events:read',
    extension: true,
    tag,
    summary: 'List the events of a case',
    description: `Returns every change of the case and of its records. ${ORDER}`,
    params: { caseId: 'case' },
    query: EventQuery,
    response: EventList,
    handle: (context, { caseId }, _form, request) =>
      pageAnswer(request, reader.ofCase(context, caseId, eventQuery(request))),
  });

  registerOperation(app, services, {
    id: 'getEvent',
    method: 'GET',
    path: '/events/{eventId}',
    access: 'events:read',
    extension: true,
    tag,
    summary: 'Get an event',
    description: 'One change of one record, with the record before and after it.',
    params: { eventId: 'event' },
    nonUuidParams: ['eventId'],
    response: Event,
    handle: (context, { eventId }) => reader.one(context, eventId),
  });

  for (const log of auditLogs) {
    const { path, record } = log;
    if (path === undefined) continue;
    const name = record.replaceAll('_', ' ');
    registerOperation(app, services, {
      id: `list${pascal(record)}History`,
      method: 'GET',
      path: `${path}/history`,
      access: log.access,
      extension: true,
      tag,
      summary: `List the history of one ${name}`,
      description: `Returns every change of the record, even if it has been deleted. ${ORDER}`,
      params: log.params,
      query: EventQuery,
      response: EventList,
      handle: (context, params, _form, request) => {
        const id = /\{(\w+)\}$/.exec(path)?.[1];
        const key = { id: id === undefined ? context.company.id : (params[id] as string), caseId: params.caseId };
        return pageAnswer(request, reader.ofRecord(context, log, key, eventQuery(request)));
      },
    });
  }
}

const eventQuery = (request: FastifyRequest) => readForm(EventQuery, request.query);

async function pageAnswer({ originalUrl }: FastifyRequest, page: Promise<EventPage>): Promise<JsonResponse> {
  const { json, next } = await page;
  return { json, headers: next === undefined ? {} : { link: linkTo(originalUrl, { after: next }) } };
}

const pascal = (words: string) => words.replaceAll(/(?:^|_)(\w)/g, (_all, letter: string) => letter.toUpperCase());
