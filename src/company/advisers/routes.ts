import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { answerRemovable } from '../../http/operation/paging.ts';
import { RemovableQuery } from '../../kernel/validation/paging.ts';
import { AdviserBody, AdviserList, AdviserRecord, AdviserRemoved, CreateAdviserBody } from './schema.ts';
import { createAdviser, listAdvisers, removeAdviser, restoreAdviser, showAdviser, updateAdviser } from './verbs.ts';

const common = { addition: true, access: 'manage', tag: 'Management' } as const;
const list = '/manage/advisers';
const one = `${list}/{adviserId}`;

export function adviserRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    ...common,
    id: 'listAdvisers',
    method: 'GET',
    path: list,
    summary: 'List advisers',
    description: 'By name. `search` looks at name and email.',
    params: {},
    query: RemovableQuery,
    response: AdviserList,
    handle: (context, _params, _form, request) => answerRemovable(request, (listing) => listAdvisers(context, listing)),
  });

  registerOperation(app, services, {
    ...common,
    id: 'createAdviser',
    method: 'POST',
    path: list,
    summary: 'Create an adviser',
    description: 'Appointments can be booked with the adviser at once.',
    params: {},
    body: CreateAdviserBody,
    response: AdviserRecord,
    handle: (context, _params, form) => createAdviser(context, form),
  });

  registerOperation(app, services, {
    ...common,
    id: 'getAdviser',
    method: 'GET',
    path: one,
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
    path: one,
    summary: 'Update an adviser',
    description:
      'Fields that are not sent stay as they are. Appointments keep the email they were booked with. An adviser who is ' +
      'not active cannot be booked; what is booked stays.',
    params: { adviserId: 'adviser' },
    body: AdviserBody,
    response: AdviserRecord,
    handle: (context, { adviserId }, form) => updateAdviser(context, adviserId, form),
  });

  registerOperation(app, services, {
    ...common,
    id: 'removeAdviser',
    method: 'DELETE',
    path: one,
    summary: 'Remove an adviser',
    description:
      'The adviser leaves the lists and can no longer be booked, and the email becomes free. Appointments stay as they ' +
      'are.',
    params: { adviserId: 'adviser' },
    response: AdviserRemoved,
    handle: (context, { adviserId }) => removeAdviser(context, adviserId),
  });

  registerOperation(app, services, {
    ...common,
    id: 'restoreAdviser',
    method: 'POST',
    path: `${one}/restore`,
    summary: 'Restore a removed adviser',
    description:
      'As the adviser was before. Refused with 400 when the adviser is not removed, or when another has the email now.',
    params: { adviserId: 'adviser' },
    response: AdviserRecord,
    handle: (context, { adviserId }) => restoreAdviser(context, adviserId),
  });
}
