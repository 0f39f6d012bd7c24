import { eventTypes } from '../events/event-types.ts';
import { SecretBox } from '../kernel/secret-box.ts';
import { readForm } from '../kernel/validation/form.ts';
import { AUDIT_LOGS } from '../server/audit-logs.ts';
import { Delivery, DeliveryList, DeliveryQuery, ReplayBody, Replayed } from '../webhooks/deliveries/schema.ts';
import { listDeliveries, pingEndpoint, replayDelivery, replayRange } from '../webhooks/deliveries/verbs.ts';
import {
  CreateEndpointBody,
  Endpoint,
  EndpointBody,
  EndpointList,
  EndpointRemoved,
  EndpointWithSecret,
  RotateBody,
} from '../webhooks/endpoints/schema.ts';
import {
  createEndpoint,
  listEndpoints,
  removeEndpoint,
  resumeEndpoint,
  rotateSecret,
  showEndpoint,
  updateEndpoint,
  type WebhookSettings,
} from '../webhooks/endpoints/verbs.ts';
import type { Command, Invocation } from './command.ts';
import { findDeliveryId, findEndpointId } from './lookup.ts';
import { companyCommand, companyListCommand } from './records.ts';

const URL = 'https://company.example/hooks';
const target = { argument: 'endpoint' };
const note = 'The secret is shown only once.';

const settingsOf = ({ config }: Invocation): WebhookSettings => ({
  secrets: config.SECRETS_KEY && new SecretBox(config.SECRETS_KEY),
  allowPrivateAddresses: config.WEBHOOK_ALLOW_PRIVATE_ADDRESSES,
  eventTypes: eventTypes(AUDIT_LOGS),
});

export const commands: Command[] = [
  companyCommand(
    {
      name: 'webhook create',
      resultSchema: EndpointWithSecret,
      summary: 'Create a webhook endpoint',
      description: 'Requires the setting SECRETS_KEY, which encrypts the signing secret.',
      body: CreateEndpointBody,
      note,
      examples: ['webhook create --url https://company.example/hooks --type "invoice.*,interaction.created"'],
    },
    (context, task) => createEndpoint(context, task.form, settingsOf(task)),
  ),
  companyListCommand(
    {
      name: 'webhook list',
      resultSchema: EndpointList,
      summary: 'List webhook endpoints',
      columns: ['id', 'url', 'types', 'state', 'failing_since', 'created_by'],
      examples: ['webhook list'],
    },
    listEndpoints,
  ),
  companyCommand(
    {
      ...target,
      name: 'webhook show',
      resultSchema: Endpoint,
      summary: 'Show a webhook endpoint',
      examples: [`webhook show ${URL}`],
    },
    async (context, task) => showEndpoint(context, await findEndpointId(context, task.argument)),
  ),
  companyCommand(
    {
      ...target,
      name: 'webhook update',
      resultSchema: Endpoint,
      summary: 'Change a webhook endpoint',
      description: 'Fields that are not given keep their values.',
      body: EndpointBody,
      examples: [`webhook update ${URL} --state disabled`],
    },
    async (context, task) =>
      updateEndpoint(context, await findEndpointId(context, task.argument), task.form, settingsOf(task)),
  ),
  companyCommand(
    {
      ...target,
      name: 'webhook rotate',
      resultSchema: EndpointWithSecret,
      summary: 'Replace the secret of a webhook endpoint',
      body: RotateBody,
      note,
      examples: [`webhook rotate ${URL} --overlap-hours 2 --only secret`],
    },
    async (context, task) =>
      rotateSecret(context, await findEndpointId(context, task.argument), task.form, settingsOf(task)),
  ),
  companyCommand(
    {
      ...target,
      name: 'webhook ping',
      resultSchema: Delivery,
      summary: 'Queue a ping',
      description: 'A worker sends it once; "webhook deliveries" shows the result.',
      examples: [`webhook ping ${URL}`],
    },
    async (context, task) => pingEndpoint(context, await findEndpointId(context, task.argument)),
  ),
  companyListCommand(
    {
      ...target,
      name: 'webhook deliveries',
      resultSchema: DeliveryList,
      summary: 'List deliveries to a webhook endpoint',
      columns: ['id', 'event_type', 'state', 'attempts', 'next_attempt_at', 'created_at'],
      flags: { state: { type: 'string', placeholder: 'word', description: 'Only deliveries in this state.' } },
      examples: [`webhook deliveries ${URL} --state failed`],
    },
    async (context, listRequest, invocation) => {
      const { state } = invocation.flags;
      const query = readForm(DeliveryQuery, state === undefined ? {} : { state });
      return listDeliveries(context, await findEndpointId(context, invocation.argument), query, listRequest);
    },
  ),
  companyCommand(
    {
      ...target,
      name: 'webhook replay',
      resultSchema: Replayed,
      summary: 'Deliver a range of events again',
      description: 'Up to 10,000 events per command; "next" is the start of the following range.',
      body: ReplayBody,
      examples: [`webhook replay ${URL} --after "2026-06-01 09:00" --until "2026-06-02 09:00"`],
    },
    async (context, task) =>
      replayRange(context, await findEndpointId(context, task.argument), task.form, settingsOf(task)),
  ),
  companyCommand(
    {
      ...target,
      name: 'webhook redeliver',
      resultSchema: Delivery,
      summary: 'Deliver one event again',
      flags: { delivery: { type: 'string', placeholder: 'delivery-id', required: true, description: 'The delivery.' } },
      examples: [`webhook redeliver ${URL} --delivery 01a1dee0-0b3c-7000-9c1d-3f5a0e1f2b44`],
    },
    async (context, task) => {
      const endpointId = await findEndpointId(context, task.argument);
      const deliveryId = await findDeliveryId(context, endpointId, String(task.flags.delivery));
      return replayDelivery(context, endpointId, deliveryId);
    },
  ),
  companyCommand(
    {
      ...target,
      name: 'webhook resume',
      resultSchema: Endpoint,
      summary: 'Resume deliveries to a failing or disabled endpoint',
      description: 'All events since then are delivered, in order.',
      examples: [`webhook resume ${URL}`],
    },
    async (context, task) => resumeEndpoint(context, await findEndpointId(context, task.argument)),
  ),
  companyCommand(
    {
      ...target,
      name: 'webhook remove',
      resultSchema: EndpointRemoved,
      summary: 'Remove a webhook endpoint',
      description: 'Pending deliveries are dropped.',
      examples: [`webhook remove ${URL}`],
    },
    async (context, task) => removeEndpoint(context, await findEndpointId(context, task.argument)),
  ),
];
