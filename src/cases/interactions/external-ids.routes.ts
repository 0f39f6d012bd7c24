import type { FastifyInstance } from 'fastify';
import { externalIdRoutes } from '../../http/operation/external-id-routes.ts';
import type { Services } from '../../http/operation/operation.ts';
import { currentVersion, interactionIds, readInteraction } from './reads.ts';
import { Interaction, InteractionBody, InteractionRecord } from './schema.ts';
import { createInteraction, updateInteraction } from './writes.ts';

export function interactionExternalIdRoutes(app: FastifyInstance, services: Services): void {
  externalIdRoutes(app, services, {
    name: 'Interaction',
    ids: interactionIds,
    collection: '/cases/{caseId}/interactions',
    idParam: 'interactionId',
    tag: 'Interactions',
    access: { read: 'interactions:read', write: 'interactions:write' },
    currentVersion,
    body: InteractionBody,
    responses: { read: Interaction, created: InteractionRecord, updated: InteractionRecord },
    verbs: { read: readInteraction, create: createInteraction, update: updateInteraction },
  });
}
