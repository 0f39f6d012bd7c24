import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { Deleted } from '../../kernel/validation/schema-types.ts';
import { deleteInteraction, restoreInteraction } from './lifecycle.ts';
import { currentVersion, readInteraction } from './reads.ts';
import { Interaction } from './schema.ts';

const tag = 'Interactions';
const one = '/cases/{caseId}/interactions/{interactionId}';
const params = { caseId: 'case', interactionId: 'interaction' };

export function interactionLifecycleRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    id: 'readInteraction',
    method: 'GET',
    path: one,
    access: 'interactions:read',
    extension: true,
    tag,
    summary: 'Read one interaction',
    description: 'The element of the list of the case, and its external id.',
    params,
    response: Interaction,
    record: {
      table: 'interactions',
      currentVersion,
      show: (context, { caseId, interactionId }) => readInteraction(context, caseId, interactionId),
    },
    handle: (context, { caseId, interactionId }) => readInteraction(context, caseId, interactionId),
  });

  registerOperation(app, services, {
    id: 'deleteInteraction',
    method: 'DELETE',
    path: one,
    access: 'interactions:write',
    extension: true,
    tag,
    summary: 'Delete interaction',
    description: 'Removes it from the list. Every operation except restore then answers 404.',
    params,
    response: Deleted,
    handle: (context, { caseId, interactionId }) => deleteInteraction(context, caseId, interactionId),
  });

  registerOperation(app, services, {
    id: 'restoreInteraction',
    method: 'POST',
    path: `${one}/restore`,
    access: 'interactions:write',
    extension: true,
    tag,
    summary: 'Restore a deleted interaction',
    description: 'Returns 400 if the interaction is not deleted.',
    params,
    response: Interaction,
    handle: (context, { caseId, interactionId }) => restoreInteraction(context, caseId, interactionId),
  });
}
