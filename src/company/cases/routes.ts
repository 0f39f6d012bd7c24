import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { respondWithList } from '../../http/operation/paging.ts';
import { CASE_ACCESS } from '../../kernel/scopes.ts';
import { ListQuery } from '../../kernel/validation/paging.ts';
import { CaseBody, CaseList, CaseRecord, CreateCaseBody } from './schema.ts';
import { createCase, listCases, showCase, updateCase } from './verbs.ts';

const common = { extension: true, tag: 'Cases' } as const;
const collection = '/manage/cases';
const item = `${collection}/{caseId}`;

export function caseRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    ...common,
    id: 'listCases',
    method: 'GET',
    access: CASE_ACCESS.read,
    path: collection,
    summary: 'List cases',
    description:
      'Newest first. `search` matches the reference and the names, emails and phone numbers of the customers; a ' +
      'phone number is found in any notation.',
    params: {},
    query: ListQuery,
    response: CaseList,
    handle: (context, _params, _form, request) => respondWithList(request, (listing) => listCases(context, listing)),
  });

  registerOperation(app, services, {
    ...common,
    id: 'createCase',
    method: 'POST',
    access: CASE_ACCESS.write,
    path: collection,
    summary: 'Open a case',
    description: 'Creates the case and its customers together: all of them or nothing.',
    params: {},
    body: CreateCaseBody,
    response: CaseRecord,
    handle: (context, _params, form) => createCase(context, form),
  });

  registerOperation(app, services, {
    ...common,
    id: 'getCase',
    method: 'GET',
    access: CASE_ACCESS.read,
    path: item,
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
    access: CASE_ACCESS.write,
    path: item,
    summary: 'Update a case',
    description:
      'Fields that are not sent stay unchanged. A new `state` closes the case, archives it or opens it again; nothing ' +
      'is refused for a case because of its state.',
    params: { caseId: 'case' },
    body: CaseBody,
    response: CaseRecord,
    handle: (context, { caseId }, form) => updateCase(context, caseId, form),
  });
}
