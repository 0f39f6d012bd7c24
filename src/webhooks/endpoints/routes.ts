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
  changeEndpoint,
  createEndpoint,
  listEndpoints,
  lockEndpoints,
  removeEndpoint,
  resumeEndpoint,
  rotateSecret,
  showEndpoint,
  type WebhookSettings,
} from './verbs.ts';

export const common = { addition: true, access: 'webhooks', tag: 'Webhooks' } as const;
export const one = '/webhooks/endpoints/{endpointId}';
export const params = { endpointId: 'webhook endpoint' };
const list = '/webhooks/endpoints';

/** Of an answer that shows a secret. */
const NOT_STORED = { 'cache-control': 'no-store' };

export function endpointRoutes(app: FastifyInstance, services: Services, settings: WebhookSettings): void {
  registerOperation(app, services, {
    ...common,
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
    ...common,
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
      headers: NOT_STORED,
    }),
  });

  registerOperation(app, services, {
    ...common,
    id: 'getWebhookEndpoint',
    method: 'GET',
    path: one,
    summary: 'Get a webhook endpoint',
    description: 'Everything but its secret.',
    params,
    response: Endpoint,
    record: {
      table: 'webhook_endpoints',
      show: (context, { endpointId }) => showEndpoint(context, endpointId),
      lock: lockEndpoints,
    },
    handle: (context, { endpointId }) => showEndpoint(context, endpointId),
  });

  registerOperation(app, services, {
    ...common,
    id: 'updateWebhookEndpoint',
    method: 'PATCH',
    path: one,
    summary: 'Update a webhook endpoint',
    description:
      'What is not sent stays as it is. What waits goes to the new address; other types are those of what happens from ' +
      'now on, and what has happened before is sent by the types of then. Only for tokens that also have `events:read`.',
    params,
    body: EndpointBody,
    response: Endpoint,
    handle: (context, { endpointId }, form) => changeEndpoint(context, endpointId, form, settings),
  });

  registerOperation(app, services, {
    ...common,
    id: 'removeWebhookEndpoint',
    method: 'DELETE',
    path: one,
    summary: 'Remove a webhook endpoint',
    description: 'Nothing more is sent to it; what waits is dropped.',
    params,
    response: EndpointRemoved,
    handle: (context, { endpointId }) => removeEndpoint(context, endpointId),
  });

  registerOperation(app, services, {
    ...common,
    id: 'rotateWebhookSecret',
    method: 'POST',
    path: `${one}/rotate`,
    summary: 'Replace the secret of a webhook endpoint',
    description:
      'The new one is shown this once. The old one signs too until the overlap is over. Only for tokens that also have ' +
      '`events:read`.',
    params,
    body: RotateBody,
    bodyOptional: true,
    response: EndpointWithSecret,
    handle: async (context, { endpointId }, form) => ({
      json: await rotateSecret(context, endpointId, form.bodyMissing ? new Form({}) : form, settings),
      headers: NOT_STORED,
    }),
  });

  registerOperation(app, services, {
    ...common,
    id: 'resumeWebhookEndpoint',
    method: 'POST',
    path: `${one}/resume`,
    summary: 'Resume a webhook endpoint',
    description:
      'Of one that is failing or disabled: everything that has happened since is delivered, in its order. Only for ' +
      'tokens that also have `events:read`.',
    params,
    response: Endpoint,
    handle: (context, { endpointId }) => resumeEndpoint(context, endpointId),
  });
}
