import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { respondWithCaseList } from '../../http/operation/paging.ts';
import { readForm } from '../../kernel/validation/form.ts';
import { listInteractions } from './reads.ts';
import { InteractionBody, InteractionList, InteractionQuery, InteractionRecord } from './schema.ts';
import { createInteraction, updateInteraction } from './writes.ts';

const tag = 'Interactions';
const list = '/cases/{caseId}/interactions';
const one = `${list}/{interactionId}`;

export function interactionRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    id: 'getCaseInteractions',
    method: 'GET',
    path: list,
    access: 'interactions:read',
    tag,
    summary: 'Get case interactions',
    description: 'Every interaction of the case, newest first. The parameters are not part of the specification.',
    params: { caseId: 'case' },
    query: InteractionQuery,
    response: InteractionList,
    handle: (context, { caseId }, _form, request) =>
      respondWithCaseList(request, listInteractions(context, caseId, readForm(InteractionQuery, request.query))),
  });

  registerOperation(app, services, {
    id: 'createCaseInteraction',
    method: 'POST',
    path: list,
    access: 'interactions:write',
    tag,
    summary: 'Create case interaction',
    description: 'Records a contact with the client in the case.',
    params: { caseId: 'case' },
    body: InteractionBody,
    response: InteractionRecord,
    handle: (context, { caseId }, form) => createInteraction(context, caseId, form),
  });

  registerOperation(app, services, {
    id: 'updateCaseInteraction',
    method: 'PATCH',
    path: one,
    aliases: [['POST', one]],
    access: 'interactions:write',
    tag,
    summary: 'Update case interaction',
    description: '`type` is required; other fields that are not sent stay as they are, and null clears them.',
    params: { caseId: 'case', interactionId: 'interaction' },
    body: InteractionBody,
    response: InteractionRecord,
    handle: (context, { caseId, interactionId }, form) => updateInteraction(context, caseId, interactionId, form),
  });
}
