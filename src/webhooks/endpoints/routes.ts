import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { answerList } from '../../http/operation/paging.ts';
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

export const WEBHOOK_OPERATION = { addition: true, access: 'webhooks', tag: 'Webhooks' } as const;
export const ENDPOINT_PATH = '/webhooks/endpoints/{endpointId}';
export const ENDPOINT_PARAMS = { endpointId: 'webhook endpoint' };
const list = '/webhooks/endpoints';

/** Of an answer that shows a secret. */
const NO_STORE = { 'cache-control': 'no-store' };

export function endpointRoutes(app: FastifyInstance, services: Services, settings: WebhookSettings): void {
  registerOperation(app, services, {
    ...WEBHOOK_OPERATION,
    id: 'listWebhookEndpoints',
    method: 'GET',
    path: list,
    summary: 'List webhook endpoints',
    description: 'Newest first. `search` looks at the address and the description.',
    params: {},
    query: ListQuery,
    response: EndpointList,
    handle: (context, _params, _form, request) => answerList(request, (listing) => listEndpoints(context, listing)),
  });

  registerOperation(app, services, {
    ...WEBHOOK_OPERATION,
    id: 'createWebhookEndpoint',
    method: 'POST',
    path: list,
    summary: 'Create a webhook endpoint',
    description:
      'From now on the events of these types are posted to it, signed with the secret, which is shown this once. At most ' +
      '50 for a company. Only for tokens that also have `events:read`.',
    params: {},
    body: CreateEndpointBody,
    response: EndpointWithSecret,
    handle: async (context, _params, form) => ({
      json: await createEndpoint(context, form, settings),
      headers: NO_STORE,
    }),
  });

  registerOperation(app, services, {
    ...WEBHOOK_OPERATION,
    id: 'getWebhookEndpoint',
    method: 'GET',
    path: ENDPOINT_PATH,
    summary: 'Get a webhook endpoint',
    description: 'Everything but its secret.',
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
    id: 'updateWebhookEndpoint',
    method: 'PATCH',
    path: ENDPOINT_PATH,
    summary: 'Update a webhook endpoint',
    description:
      'What is not sent stays as it is. What waits goes to the new address; other types are those of what happens from ' +
      'now on, and what has happened before is sent by the types of then. Only for tokens that also have `events:read`.',
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
    description: 'Nothing more is sent to it; what waits is dropped.',
    params: ENDPOINT_PARAMS,
    response: EndpointRemoved,
    handle: (context, { endpointId }) => removeEndpoint(context, endpointId),
  });

  registerOperation(app, services, {
    ...WEBHOOK_OPERATION,
    id: 'rotateWebhookSecret',
    method: 'POST',
    path: `${ENDPOINT_PATH}/rotate`,
    summary: 'Replace the secret of a webhook endpoint',
    description:
      'The new one is shown this once. The old one signs too until the overlap is over. Only for tokens that also have ' +
      '`events:read`.',
    params: ENDPOINT_PARAMS,
    body: RotateBody,
    bodyOptional: true,
    response: EndpointWithSecret,
    handle: async (context, { endpointId }, form) => ({
      json: await rotateSecret(context, endpointId, form.bodyMissing ? new Form({}) : form, settings),
      headers: NO_STORE,
    }),
  });

  registerOperation(app, services, {
    ...WEBHOOK_OPERATION,
    id: 'resumeWebhookEndpoint',
    method: 'POST',
    path: `${ENDPOINT_PATH}/resume`,
    summary: 'Resume a webhook endpoint',
    description:
      'Of one that is failing or disabled: everything that has happened since is delivered, in its order. Only for ' +
      'tokens that also have `events:read`.',
    params: ENDPOINT_PARAMS,
    response: Endpoint,
    handle: (context, { endpointId }) => resumeEndpoint(context, endpointId),
  });
}
