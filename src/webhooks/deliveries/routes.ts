import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { pageHeaders } from '../../http/operation/paging.ts';
import { Form, readForm } from '../../kernel/validation/form.ts';
import { parsePage } from '../../kernel/validation/paging.ts';
import { ENDPOINT_PARAMS, ENDPOINT_PATH, WEBHOOK_OPERATION } from '../endpoints/routes.ts';
import type { WebhookSettings } from '../endpoints/verbs.ts';
import { Delivery, DeliveryList, DeliveryQuery, DeliveryWithTries, ReplayBody, Replayed } from './schema.ts';
import { listDeliveries, pingEndpoint, replayDelivery, replayRange, showDelivery } from './verbs.ts';

const list = `${ENDPOINT_PATH}/deliveries`;
const ofOne = { ...ENDPOINT_PARAMS, deliveryId: 'delivery' };

export function deliveryRoutes(app: FastifyInstance, services: Services, settings: WebhookSettings): void {
  registerOperation(app, services, {
    ...WEBHOOK_OPERATION,
    id: 'listWebhookDeliveries',
    method: 'GET',
    path: list,
    summary: 'List deliveries to a webhook endpoint',
    description: 'In pages, the newest first. Those that have ended are forgotten after 30 days.',
    params: ENDPOINT_PARAMS,
    query: DeliveryQuery,
    response: DeliveryList,
    handle: async (context, { endpointId }, _form, request) => {
      const query = readForm(DeliveryQuery, request.query);
      const page = parsePage(query);
      const { json, total } = await listDeliveries(context, endpointId, query, page);
      return { json, headers: pageHeaders(request.url, page, total) };
    },
  });

  registerOperation(app, services, {
    ...WEBHOOK_OPERATION,
    id: 'getWebhookDelivery',
    method: 'GET',
    path: `${list}/{deliveryId}`,
    summary: 'Get a delivery',
    description: 'With every attempt: when, what was answered or what went wrong, and how long it took.',
    params: ofOne,
    response: DeliveryWithTries,
    handle: (context, { endpointId, deliveryId }) => showDelivery(context, endpointId, deliveryId),
  });

  registerOperation(app, services, {
    ...WEBHOOK_OPERATION,
    id: 'replayWebhookDelivery',
    method: 'POST',
    path: `${list}/{deliveryId}/replay`,
    summary: 'Deliver an event once more',
    description:
      'As a new delivery of the same event, of one that has ended. Only for tokens that also have `events:read`.',
    params: ofOne,
    response: Delivery,
    handle: (context, { endpointId, deliveryId }) => replayDelivery(context, endpointId, deliveryId),
  });

  registerOperation(app, services, {
    ...WEBHOOK_OPERATION,
    id: 'replayWebhookEvents',
    method: 'POST',
    path: `${ENDPOINT_PATH}/replay`,
    summary: 'Deliver a range of events once more',
    description:
      'Everything in the range as new deliveries of the same events, up to 10,000 at once; `next` leads on. Without ' +
      'bounds from the beginning of the log. What waits already is left out; refused while more than 50,000 wait. Only ' +
      'for tokens that also have `events:read`.',
    params: ENDPOINT_PARAMS,
    body: ReplayBody,
    bodyOptional: true,
    response: Replayed,
    handle: (context, { endpointId }, form) =>
      replayRange(context, endpointId, form.bodyMissing ? new Form({}) : form, settings),
  });

  registerOperation(app, services, {
    ...WEBHOOK_OPERATION,
    id: 'pingWebhookEndpoint',
    method: 'POST',
    path: `${ENDPOINT_PATH}/ping`,
    summary: 'Send a ping to a webhook endpoint',
    description:
      'Queues an event of the type `ping`, which goes out once and whatever state the endpoint is in. While one waits, ' +
      'it is the answer.',
    params: ENDPOINT_PARAMS,
    response: Delivery,
    handle: (context, { endpointId }) => pingEndpoint(context, endpointId),
  });
}
