import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Answer, registerOperation, type Services } from '../http/operation/operation.ts';
import type { AuditLog } from '../kernel/audit/audit-log.ts';
import { readForm } from '../kernel/validation/form.ts';
import { EventList, EventQuery } from './schema.ts';
import { type Events, eventReader } from './verbs.ts';

const tag = 'Additions: events';
const ORDER =
  'In the order in which they happened. The header `Link` leads to what follows: ask there again and again to stay up to date.';

export function eventRoutes(app: FastifyInstance, services: Services, logs: readonly AuditLog[]): void {
  const reader = eventReader(logs);

  registerOperation(app, services, {
    id: 'listEvents',
    method: 'GET',
    path: '/events',
    access: 'events:read',
    addition: true,
    tag,
    summary: 'List what happened in the company',
    description: `Every change of every record of the company. ${ORDER}`,
    params: {},
    query: EventQuery,
    response: EventList,
    handle: (context, _params, _form, request) => answer(request, reader.ofCompany(context, queryOf(request))),
  });

  registerOperation(app, services, {
    id: 'listCaseEvents',
    method: 'GET',
    path: '/cases/{caseId}/events',
    access: 'events:read',
    addition: true,
    tag,
    summary: 'List what happened in a case',
    description: `Every change of the case and of what belongs to it. ${ORDER}`,
    params: { caseId: 'case' },
    query: EventQuery,
    response: EventList,
    handle: (context, { caseId }, _form, request) => answer(request, reader.ofCase(context, caseId, queryOf(request))),
  });

  for (const log of logs) {
    const { path, record } = log;
    if (path === undefined) continue;
    const name = record.replaceAll('_', ' ');
    registerOperation(app, services, {
      id: `list${pascal(record)}History`,
      method: 'GET',
      path: `${path}/history`,
      access: log.access,
      addition: true,
      tag,
      summary: `History of one ${name}`,
      description: `Every change of it, also where it has been deleted. ${ORDER}`,
      params: log.params,
      query: EventQuery,
      response: EventList,
      handle: (context, params, _form, request) => {
        const id = /\{(\w+)\}$/.exec(path)?.[1];
        const key = { id: id === undefined ? context.company.id : (params[id] as string), caseId: params.caseId };
        return answer(request, reader.ofRecord(context, log, key, queryOf(request)));
      },
    });
  }
}

const queryOf = (request: FastifyRequest) => readForm(EventQuery, request.query);

async function answer({ url }: FastifyRequest, events: Promise<Events>): Promise<Answer> {
  const { json, next } = await events;
  const [path, query] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.set('after', next);
  return { json, headers: { link: `<${path}?${parameters}>; rel="next"` } };
}

const pascal = (words: string) => words.replaceAll(/(?:^|_)(\w)/g, (_all, letter: string) => letter.toUpperCase());
