import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { pageHeaders } from '../../http/operation/paging.ts';
import { Form, readForm } from '../../kernel/validation/form.ts';
import { parsePage } from '../../kernel/validation/paging.ts';
import { ENDPOINT_PARAMS, ENDPOINT_PATH, WEBHOOK_OPERATION } from '../endpoints/routes.ts';
import type { WebhookSettings } from '../endpoints/verbs.ts';
import { Delivery, DeliveryList, DeliveryQuery, DeliveryWithTries, ReplayBody, Replayed } from './schema.ts';
import { listDeliveries, pingEndpoint, replayDelivery, replayRange, showDelivery } from './verbs.ts';

const LIST_PATH = `${ENDPOINT_PATH}/deliveries`;
const DELIVERY_PARAMS = { ...ENDPOINT_PARAMS, deliveryId: 'delivery' };

export function deliveryRoutes(app: FastifyInstance, services: Services, settings: WebhookSettings): void {
  registerOperation(app, services, {
    ...WEBHOOK_OPERATION,
    id: 'listWebhookDeliveries',
    method: 'GET',
    path: LIST_PATH,
    summary: 'List deliveries to a webhook endpoint',
    description: 'Newest first, in pages. A delivery is deleted 30 days after it ended.',
    params: ENDPOINT_PARAMS,
    query: DeliveryQuery,
    response: DeliveryList,
    handle: async (context, { endpointId }, _form, request) => {
      const query = readForm(DeliveryQuery, request.query);
      const page = parsePage(query);
      const { json, total } = await listDeliveries(context, endpointId, query, page);
      return { json, headers: pageHeaders(request.originalUrl, page, total) };
    },
  });

  registerOperation(app, services, {
    ...WEBHOOK_OPERATION,
    id: 'getWebhookDelivery',
    method: 'GET',
    path: `${LIST_PATH}/{deliveryId}`,
    summary: 'Get a delivery',
    description: 'Includes every attempt: its time, its duration, and the answer or the error.',
    params: DELIVERY_PARAMS,
    response: DeliveryWithTries,
    handle: (context, { endpointId, deliveryId }) => showDelivery(context, endpointId, deliveryId),
  });

  registerOperation(app, services, {
    ...WEBHOOK_OPERATION,
    needsRecentSignIn: true,
    id: 'replayWebhookDelivery',
    method: 'POST',
    path: `${LIST_PATH}/{deliveryId}/replay`,
    summary: 'Replay a delivery',
    description:
      'Sends the event of an ended delivery again, as a new delivery. The token also needs the scope `events:read`.',
    params: DELIVERY_PARAMS,
    response: Delivery,
    handle: (context, { endpointId, deliveryId }) => replayDelivery(context, endpointId, deliveryId),
  });

  registerOperation(app, services, {
    ...WEBHOOK_OPERATION,
    needsRecentSignIn: true,
    id: 'replayWebhookEvents',
    method: 'POST',
    path: `${ENDPOINT_PATH}/replay`,
    summary: 'Replay a range of events',
    description:
      'Queues new deliveries of the events in the range, at most 10,000 per request. If there are more, `next` is ' +
      'the `after` of the next request. Without bounds the range is the whole log. Events that are already waiting ' +
      'are left out. Refused while more than 50,000 deliveries wait. The token also needs the scope `events:read`.',
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
      'Queues an event of the type `ping`. It is sent once, in any state of the endpoint. While a ping waits, no ' +
      'other is queued: the answer is the waiting one.',
    params: ENDPOINT_PARAMS,
    response: Delivery,
    handle: (context, { endpointId }) => pingEndpoint(context, endpointId),
  });
}
