import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { respondWithRemovableList } from '../../http/operation/paging.ts';
import { RemovableQuery } from '../../kernel/validation/paging.ts';
import { CaseKind, CaseKindBody, CaseKindList, CaseKindRemoved, CreateCaseKindBody } from './schema.ts';
import {
  createCaseKind,
  listCaseKinds,
  removeCaseKind,
  restoreCaseKind,
  showCaseKind,
  updateCaseKind,
} from './verbs.ts';

const common = { extension: true, access: 'manage', tag: 'Kinds of case' } as const;
const READ_ACCESS = ['cases:read', 'manage'] as const;
const collection = '/manage/case-kinds';
const item = `${collection}/{kindId}`;
const params = { kindId: 'kind of case' };

export function caseKindRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    ...common,
    id: 'listCaseKinds',
    access: READ_ACCESS,
    method: 'GET',
    path: collection,
    summary: 'List kinds of case',
    description: "The company's own kinds of case, ordered by name. `search` matches the name.",
    params: {},
    query: RemovableQuery,
    response: CaseKindList,
    handle: (context, _params, _form, request) =>
      respondWithRemovableList(request, (listing) => listCaseKinds(context, listing)),
  });

  registerOperation(app, services, {
    ...common,
    id: 'createCaseKind',
    method: 'POST',
    path: collection,
    summary: 'Create a kind of case',
    description: 'Cases can have it immediately.',
    params: {},
    body: CreateCaseKindBody,
    response: CaseKind,
    handle: (context, _params, form) => createCaseKind(context, form),
  });

  registerOperation(app, services, {
    ...common,
    id: 'getCaseKind',
    access: READ_ACCESS,
    method: 'GET',
    path: item,
    summary: 'Get a kind of case',
    description: 'One kind of case of the company.',
    params,
    response: CaseKind,
    record: { table: 'case_kinds', show: (context, { kindId }) => showCaseKind(context, kindId) },
    handle: (context, { kindId }) => showCaseKind(context, kindId),
  });

  registerOperation(app, services, {
    ...common,
    id: 'updateCaseKind',
    method: 'PATCH',
    path: item,
    summary: 'Rename a kind of case',
    description: 'Cases of the kind show the new name.',
    params,
    body: CaseKindBody,
    response: CaseKind,
    handle: (context, { kindId }, form) => updateCaseKind(context, kindId, form),
  });

  registerOperation(app, services, {
    ...common,
    id: 'removeCaseKind',
    method: 'DELETE',
    path: item,
    summary: 'Remove a kind of case',
    description: 'It leaves the list and can no longer be given to cases. Cases that have it keep it.',
    params,
    response: CaseKindRemoved,
    handle: (context, { kindId }) => removeCaseKind(context, kindId),
  });

  registerOperation(app, services, {
    ...common,
    id: 'restoreCaseKind',
    method: 'POST',
    path: `${item}/restore`,
    summary: 'Restore a removed kind of case',
    description: 'Answers 400 if the kind is not removed, or if another kind has its name by now.',
    params,
    response: CaseKind,
    handle: (context, { kindId }) => restoreCaseKind(context, kindId),
  });
}
