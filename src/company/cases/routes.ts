import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { answerList } from '../../http/operation/paging.ts';
import { ListQuery } from '../../kernel/validation/paging.ts';
import { CaseBody, CaseList, CaseRecord, CreateCaseBody } from './schema.ts';
import { createCase, listCases, showCase, updateCase } from './verbs.ts';

const common = { addition: true, access: 'manage', tag: 'Management' } as const;
const list = '/manage/cases';
const one = `${list}/{caseId}`;

export function caseRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    ...common,
    id: 'listCases',
    method: 'GET',
    path: list,
    summary: 'List cases',
    description:
      'Newest first. `search` looks at the reference and at names, emails and phones of the customers; a phone number is ' +
      'found however it is written.',
    params: {},
    query: ListQuery,
    response: CaseList,
    handle: (context, _params, _form, request) => answerList(request, (listing) => listCases(context, listing)),
  });

  registerOperation(app, services, {
    ...common,
    id: 'createCase',
    method: 'POST',
    path: list,
    summary: 'Open a case',
    description: 'With its customers, all of them or nothing.',
    params: {},
    body: CreateCaseBody,
    response: CaseRecord,
    handle: (context, _params, form) => createCase(context, form),
  });

  registerOperation(app, services, {
    ...common,
    id: 'getCase',
    method: 'GET',
    path: one,
    summary: 'Get a case',
    description: 'With its customers.',
    params: { caseId: 'case' },
    response: CaseRecord,
    record: { table: 'cases', show: (context, { caseId }) => showCase(context, caseId) },
    handle: (context, { caseId }) => showCase(context, caseId),
  });

  registerOperation(app, services, {
    ...common,
    id: 'updateCase',
    method: 'PATCH',
    path: one,
    summary: 'Update a case',
    description: 'Changes the reference.',
    params: { caseId: 'case' },
    body: CaseBody,
    response: CaseRecord,
    handle: (context, { caseId }, form) => updateCase(context, caseId, form),
  });
}
