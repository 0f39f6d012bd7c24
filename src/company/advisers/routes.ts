import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { respondWithRemovableList } from '../../http/operation/paging.ts';
import { RemovableQuery } from '../../kernel/validation/paging.ts';
import { AdviserBody, AdviserList, AdviserRecord, AdviserRemoved, CreateAdviserBody } from './schema.ts';
import { createAdviser, listAdvisers, removeAdviser, restoreAdviser, showAdviser, updateAdviser } from './verbs.ts';

const common = { extension: true, access: 'manage', tag: 'Advisers' } as const;
const READ_ACCESS = ['appointments:read', 'cases:read', 'manage'] as const;
const collection = '/manage/advisers';
const item = `${collection}/{adviserId}`;

export function adviserRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    ...common,
    id: 'listAdvisers',
    access: READ_ACCESS,
    method: 'GET',
    path: collection,
    summary: 'List advisers',
    description: 'Ordered by name. `search` matches the name and the email.',
    params: {},
    query: RemovableQuery,
    response: AdviserList,
    handle: (context, _params, _form, request) =>
      respondWithRemovableList(request, (listing) => listAdvisers(context, listing)),
  });

  registerOperation(app, services, {
    ...common,
    id: 'createAdviser',
    method: 'POST',
    path: collection,
    summary: 'Create an adviser',
    description: 'Appointments can be booked with the adviser immediately.',
    params: {},
    body: CreateAdviserBody,
    response: AdviserRecord,
    handle: (context, _params, form) => createAdviser(context, form),
  });

  registerOperation(app, services, {
    ...common,
    id: 'getAdviser',
    access: READ_ACCESS,
    method: 'GET',
    path: item,
    summary: 'Get an adviser',
    description: 'One adviser of the company.',
    params: { adviserId: 'adviser' },
    response: AdviserRecord,
    record: { table: 'advisers', show: (context, { adviserId }) => showAdviser(context, adviserId) },
    handle: (context, { adviserId }) => showAdviser(context, adviserId),
  });

  registerOperation(app, services, {
    ...common,
    id: 'updateAdviser',
    method: 'PATCH',
    path: item,
    summary: 'Update an adviser',
    description:
      'Fields that are not sent stay unchanged. Appointments keep the email they were booked with. An inactive ' +
      'adviser cannot be booked; existing appointments stay.',
    params: { adviserId: 'adviser' },
    body: AdviserBody,
    response: AdviserRecord,
    handle: (context, { adviserId }, form) => updateAdviser(context, adviserId, form),
  });

  registerOperation(app, services, {
    ...common,
    id: 'removeAdviser',
    method: 'DELETE',
    path: item,
    summary: 'Remove an adviser',
    description:
      'The adviser leaves the lists, can no longer be booked, and the email can be used again. Appointments stay ' +
      'unchanged.',
    params: { adviserId: 'adviser' },
    response: AdviserRemoved,
    handle: (context, { adviserId }) => removeAdviser(context, adviserId),
  });

  registerOperation(app, services, {
    ...common,
    id: 'restoreAdviser',
    method: 'POST',
    path: `${item}/restore`,
    summary: 'Restore a removed adviser',
    description:
      'Restores the adviser unchanged. Answers 400 if the adviser is not removed, or if another adviser has the email.',
    params: { adviserId: 'adviser' },
    response: AdviserRecord,
    handle: (context, { adviserId }) => restoreAdviser(context, adviserId),
  });
}
