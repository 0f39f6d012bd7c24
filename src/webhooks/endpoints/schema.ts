import type { Static } from 'typebox';
import { CreatedBy, credentialSchema } from '../../kernel/credential.schema.ts';
import { decimal, instant, nullable, optional, text, uuid } from '../../kernel/validation/schema-types.ts';
import { Type } from '../../kernel/validation/type.ts';

const ENDPOINT_STATES = ['active', 'disabled', 'failing'] as const;

const enumOf = <Value extends string>(values: readonly Value[], description: string) =>
  Type.Unsafe<Value>({ type: 'string', enum: [...values], description });

const url = text({
  minLength: 1,
  maxLength: 2_000,
  description: 'The URL that events are posted to: https, a public address, no credentials and no fragment.',
  examples: ['https://company.example/hooks/case-records'],
});
const description = optional(text({ maxLength: 500, description: 'A note for people.', examples: ['Bookkeeping'] }));
const types = Type.Array(Type.String({ maxLength: 100 }), {
  maxItems: 100,
  description:
    'The events to send: a type such as `invoice.sent`, all types of a record (`invoice.*`), or all events (`*`).',
  examples: [['invoice.*', 'interaction.created']],
});

export const CreateEndpointBody = Type.Object({ url, description, types }, { title: 'CreateWebhookEndpointBody' });
export type CreateEndpointBody = Static<typeof CreateEndpointBody>;

export const EndpointBody = Type.Object(
  {
    url: Type.Optional(url),
    description,
    types: Type.Optional(types),
    state: Type.Optional(
      enumOf(['active', 'disabled'], 'A disabled endpoint is sent no events. They wait until it is active again.'),
    ),
  },
  { title: 'UpdateWebhookEndpointBody' },
);
export type EndpointBody = Static<typeof EndpointBody>;

export const RotateBody = Type.Object(
  {
    overlap_hours: optional(
      decimal({
        description: 'How long deliveries are also signed with the old secret: 0 to 168 hours, 24 by default.',
        examples: [24],
      }),
    ),
  },
  { title: 'RotateWebhookSecretBody' },
);
export type RotateBody = Static<typeof RotateBody>;

const fields = {
  id: uuid(),
  url: Type.String(),
  description: nullable(Type.String()),
  types: Type.Array(Type.String()),
  state: enumOf(ENDPOINT_STATES, 'Events are sent only to an active endpoint; pings are sent to any.'),
  state_reason: nullable(Type.String({ description: 'Why no events are sent; null if an update set the state.' })),
  failing_since: nullable(instant()),
  secret_rotated_at: nullable(instant()),
  previous_secret_until: nullable(
    instant({ description: 'Until then deliveries are also signed with the previous secret.' }),
  ),
  created_at: instant(),
  updated_at: instant(),
  created_by: CreatedBy,
  url_set_by: credentialSchema(
    'The key or API client that set the current `url`, with its name at that time; null for the command line.',
  ),
};
export const Endpoint = Type.Object(fields, { title: 'WebhookEndpoint', additionalProperties: false });
export const EndpointList = Type.Array(Endpoint);

export const EndpointWithSecret = Type.Object(
  {
    ...fields,
    secret: Type.String({
      description: 'Deliveries are signed with it. It is shown only in this answer.',
      examples: ['whsec_…'],
    }),
  },
  { title: 'WebhookEndpointWithSecret', additionalProperties: false },
);

export { Removed as EndpointRemoved } from '../../kernel/validation/schema-types.ts';
