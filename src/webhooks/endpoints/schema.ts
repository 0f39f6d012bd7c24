import { type Static, Type } from 'typebox';
import { CreatedBy, credentialOut } from '../../kernel/credential-columns.ts';
import { decimal, instant, nullable, optional, text, uuid } from '../../kernel/validation/schema-types.ts';

export const STATES = ['active', 'disabled', 'failing'] as const;

const word = <W extends string>(words: readonly W[], description: string) =>
  Type.Unsafe<W>({ type: 'string', enum: [...words], description });

const url = text({
  minLength: 1,
  maxLength: 2_000,
  description: 'Where events are posted to: https, at a public address, without credentials and fragment.',
  examples: ['https://firm.example/hooks/case-records'],
});
const description = optional(text({ maxLength: 500, description: 'For people.', examples: ['The bookkeeping'] }));
const types = Type.Array(Type.String({ maxLength: 100 }), {
  maxItems: 100,
  description: 'Which events: a type such as `invoice.sent`, all of a record as `invoice.*`, or `*` for everything.',
  examples: [['invoice.*', 'interaction.created']],
});

export const CreateEndpointBody = Type.Object({ url, description, types });
export type CreateEndpointBody = Static<typeof CreateEndpointBody>;

export const EndpointBody = Type.Object({
  url: Type.Optional(url),
  description,
  types: Type.Optional(types),
  state: Type.Optional(
    word(['active', 'disabled'], 'While it is disabled nothing is sent; once active again, all that has waited is.'),
  ),
});
export type EndpointBody = Static<typeof EndpointBody>;

export const RotateBody = Type.Object({
  overlap_hours: optional(
    decimal({
      description: 'How long the old secret signs beside the new one: 0 to 168 hours, 24 by default.',
      examples: [24],
    }),
  ),
});
export type RotateBody = Static<typeof RotateBody>;

const fields = {
  id: uuid(),
  url: Type.String(),
  description: nullable(Type.String()),
  types: Type.Array(Type.String()),
  state: word(STATES, 'Only to an active one anything is sent, but for pings.'),
  state_reason: nullable(Type.String({ description: 'Why nothing is sent, unless an update set the state.' })),
  failing_since: nullable(instant()),
  secret_rotated_at: nullable(instant()),
  previous_secret_until: nullable(instant({ description: 'Until then the secret before the last signs too.' })),
  created_at: instant(),
  updated_at: instant(),
  created_by: CreatedBy,
  url_set_by: credentialOut(
    'The key or the API client that set the present `url`, as it was called then; null for the command line.',
  ),
};
export const Endpoint = Type.Object(fields, { additionalProperties: false });
export const EndpointList = Type.Array(Endpoint);

export const EndpointWithSecret = Type.Object(
  {
    ...fields,
    secret: Type.String({ description: 'What deliveries are signed with. Shown this once.', examples: ['whsec_…'] }),
  },
  { additionalProperties: false },
);

export const EndpointRemoved = Type.Object({ id: uuid(), removed_at: instant() }, { additionalProperties: false });
