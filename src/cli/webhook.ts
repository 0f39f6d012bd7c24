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
import type { Call, Command } from './command.ts';
import { deskCommand, deskList, idOf } from './records.ts';

const ID = '01a1dedc-6c47-7000-b4be-5f8e3eb8d733';
const one = { argument: 'endpoint-id' };
const note = 'The secret is shown this once.';

const settingsOf = ({ config }: Call): WebhookSettings => ({
  secrets: config.SECRETS_KEY && new SecretBox(config.SECRETS_KEY),
  allowPrivateAddresses: config.WEBHOOK_ALLOW_PRIVATE_ADDRESSES,
  eventTypes: eventTypes(AUDIT_LOGS),
});

const endpointOf = (call: Call) => idOf(call, 'webhook endpoint');

export const commands: Command[] = [
  deskCommand(
    {
      name: 'webhook create',
      answer: EndpointWithSecret,
      summary: 'Have events sent to an address',
      description: 'Needs the setting SECRETS_KEY, under which the secret is kept.',
      body: CreateEndpointBody,
      note,
      examples: ['webhook create --url https://firm.example/hooks --type "invoice.*,interaction.created"'],
    },
    (desk, task) => createEndpoint(desk, task.form, settingsOf(task)),
  ),
  deskList(
    {
      name: 'webhook list',
      answer: EndpointList,
      summary: 'List webhook endpoints',
      columns: ['id', 'url', 'types', 'state', 'failing_since', 'created_by'],
      examples: ['webhook list'],
    },
    listEndpoints,
  ),
  deskCommand(
    {
      ...one,
      name: 'webhook show',
      answer: Endpoint,
      summary: 'Show a webhook endpoint',
      examples: [`webhook show ${ID}`],
    },
    (desk, task) => showEndpoint(desk, endpointOf(task)),
  ),
  deskCommand(
    {
      ...one,
      name: 'webhook update',
      answer: Endpoint,
      summary: 'Change a webhook endpoint',
      description: 'What is not given stays as it is.',
      body: EndpointBody,
      examples: [`webhook update ${ID} --state disabled`],
    },
    (desk, task) => updateEndpoint(desk, endpointOf(task), task.form, settingsOf(task)),
  ),
  deskCommand(
    {
      ...one,
      name: 'webhook rotate',
      answer: EndpointWithSecret,
      summary: 'Replace the secret of a webhook endpoint',
      body: RotateBody,
      note,
      examples: [`webhook rotate ${ID} --overlap-hours 2 --only secret`],
    },
    (desk, task) => rotateSecret(desk, endpointOf(task), task.form, settingsOf(task)),
  ),
  deskCommand(
    {
      ...one,
      name: 'webhook ping',
      answer: Delivery,
      summary: 'Queue a ping',
      description: 'A worker sends it once; "webhook deliveries" shows what became of it.',
      examples: [`webhook ping ${ID}`],
    },
    (desk, task) => pingEndpoint(desk, endpointOf(task)),
  ),
  deskList(
    {
      ...one,
      name: 'webhook deliveries',
      answer: DeliveryList,
      summary: 'List deliveries to a webhook endpoint',
      columns: ['id', 'event_type', 'state', 'attempts', 'next_attempt_at', 'created_at'],
      flags: { state: { type: 'string', value: 'word', description: 'Only those in this state.' } },
      examples: [`webhook deliveries ${ID} --state failed`],
    },
    (desk, listing, call) => {
      const { state } = call.flags;
      const query = readForm(DeliveryQuery, state === undefined ? {} : { state });
      return listDeliveries(desk, endpointOf(call), query, listing);
    },
  ),
  deskCommand(
    {
      ...one,
      name: 'webhook replay',
      answer: Replayed,
      summary: 'Deliver a range of events once more',
      description: 'Up to 10,000 at once; "next" is where the others begin.',
      body: ReplayBody,
      examples: [`webhook replay ${ID} --after "2026-06-01 09:00" --until "2026-06-02 09:00"`],
    },
    (desk, task) => replayRange(desk, endpointOf(task), task.form, settingsOf(task)),
  ),
  deskCommand(
    {
      ...one,
      name: 'webhook redeliver',
      answer: Delivery,
      summary: 'Deliver one event once more',
      flags: { delivery: { type: 'string', value: 'delivery-id', required: true, description: 'The delivery.' } },
      examples: [`webhook redeliver ${ID} --delivery 01a1dee0-0b3c-7000-9c1d-3f5a0e1f2b44`],
    },
    (desk, task) => replayDelivery(desk, endpointOf(task), idOf({ argument: String(task.flags.delivery) }, 'delivery')),
  ),
  deskCommand(
    {
      ...one,
      name: 'webhook resume',
      answer: Endpoint,
      summary: 'Send again to an endpoint that was failing or disabled',
      description: 'Everything that has happened since is delivered, in its order.',
      examples: [`webhook resume ${ID}`],
    },
    (desk, task) => resumeEndpoint(desk, endpointOf(task)),
  ),
  deskCommand(
    {
      ...one,
      name: 'webhook remove',
      answer: EndpointRemoved,
      summary: 'Remove a webhook endpoint',
      description: 'What waits for it is dropped.',
      examples: [`webhook remove ${ID}`],
    },
    (desk, task) => removeEndpoint(desk, endpointOf(task)),
  ),
];
