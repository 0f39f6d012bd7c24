import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { respondWithList } from '../../http/operation/paging.ts';
import { Form } from '../../kernel/validation/form.ts';
import { ListQuery } from '../../kernel/validation/paging.ts';
import {
  CreateEndpointBody,
  Endpoint,
  EndpointBody,
  EndpointList,
  EndpointRemoved,
  EndpointWithSecret,
  RotateBody,
} from './schema.ts';
import {
  createEndpoint,
  listEndpoints,
  lockCompanyEndpoints,
  removeEndpoint,
  resumeEndpoint,
  rotateSecret,
  showEndpoint,
  updateEndpoint,
  type WebhookSettings,
} from './verbs.ts';

export const WEBHOOK_OPERATION = { extension: true, access: 'webhooks', tag: 'Webhooks' } as const;
export const ENDPOINT_PATH = '/webhooks/endpoints/{endpointId}';
export const ENDPOINT_PARAMS = { endpointId: 'webhook endpoint' };
const LIST_PATH = '/webhooks/endpoints';

/** For an answer that holds a secret. */
const NO_STORE_HEADERS = { 'cache-control': 'no-store' };

export function endpointRoutes(app: FastifyInstance, services: Services, settings: WebhookSettings): void {
  registerOperation(app, services, {
    ...WEBHOOK_OPERATION,
    id: 'listWebhookEndpoints',
    method: 'GET',
    path: LIST_PATH,
    summary: 'List webhook endpoints',
    description: 'Newest first. `search` looks in the URL and the description.',
    params: {},
    query: ListQuery,
    response: EndpointList,
    handle: (context, _params, _form, request) =>
      respondWithList(request, (listing) => listEndpoints(context, listing)),
  });

  registerOperation(app, services, {
    ...WEBHOOK_OPERATION,
    needsRecentSignIn: true,
    id: 'createWebhookEndpoint',
    method: 'POST',
    path: LIST_PATH,
    summary: 'Create a webhook endpoint',
    description:
      'Events of these types are posted to it from now on, signed with the secret. The secret is shown only in this ' +
      'answer. A company can have at most 50 endpoints. The token also needs the scope `events:read`.',
    params: {},
    body: CreateEndpointBody,
    response: EndpointWithSecret,
    handle: async (context, _params, form) => ({
      json: await createEndpoint(context, form, settings),
      headers: NO_STORE_HEADERS,
    }),
  });

  registerOperation(app, services, {
    ...WEBHOOK_OPERATION,
    id: 'getWebhookEndpoint',
    method: 'GET',
    path: ENDPOINT_PATH,
    summary: 'Get a webhook endpoint',
    description: 'Returns everything except the secret.',
    params: ENDPOINT_PARAMS,
    response: Endpoint,
    record: {
      table: 'webhook_endpoints',
      show: (context, { endpointId }) => showEndpoint(context, endpointId),
      lock: lockCompanyEndpoints,
    },
    handle: (context, { endpointId }) => showEndpoint(context, endpointId),
  });

  registerOperation(app, services, {
    ...WEBHOOK_OPERATION,
    needsRecentSignIn: true,
    id: 'updateWebhookEndpoint',
    method: 'PATCH',
    path: ENDPOINT_PATH,
    summary: 'Update a webhook endpoint',
    description:
      'Fields that are not sent stay as they are. A new `url` also applies to waiting deliveries; new `types` apply ' +
      'to later events only. The token also needs the scope `events:read`.',
    params: ENDPOINT_PARAMS,
    body: EndpointBody,
    response: Endpoint,
    handle: (context, { endpointId }, form) => updateEndpoint(context, endpointId, form, settings),
  });

  registerOperation(app, services, {
    ...WEBHOOK_OPERATION,
    id: 'removeWebhookEndpoint',
    method: 'DELETE',
    path: ENDPOINT_PATH,
    summary: 'Remove a webhook endpoint',
    description: 'No more events are sent to it, and waiting deliveries are dropped.',
    params: ENDPOINT_PARAMS,
    response: EndpointRemoved,
    handle: (context, { endpointId }) => removeEndpoint(context, endpointId),
  });

  registerOperation(app, services, {
    ...WEBHOOK_OPERATION,
    needsRecentSignIn: true,
    id: 'rotateWebhookSecret',
    method: 'POST',
    path: `${ENDPOINT_PATH}/rotate`,
    summary: 'Replace the secret of a webhook endpoint',
    description:
      'The new secret is shown only in this answer. Until the overlap ends, deliveries are also signed with the old ' +
      'one. The token also needs the scope `events:read`.',
    params: ENDPOINT_PARAMS,
    body: RotateBody,
    bodyOptional: true,
    response: EndpointWithSecret,
    handle: async (context, { endpointId }, form) => ({
      json: await rotateSecret(context, endpointId, form.bodyMissing ? new Form({}) : form, settings),
      headers: NO_STORE_HEADERS,
    }),
  });

  registerOperation(app, services, {
    ...WEBHOOK_OPERATION,
    needsRecentSignIn: true,
    id: 'resumeWebhookEndpoint',
    method: 'POST',
    path: `${ENDPOINT_PATH}/resume`,
    summary: 'Resume a webhook endpoint',
    description:
      'Activates a failing or disabled endpoint. All events since then are delivered, those of each record in order. ' +
      'The token also needs the scope `events:read`.',
    params: ENDPOINT_PARAMS,
    response: Endpoint,
    handle: (context, { endpointId }) => resumeEndpoint(context, endpointId),
  });
}
