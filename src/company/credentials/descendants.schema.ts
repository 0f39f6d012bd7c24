import type { Static } from 'typebox';
import { CreatedBy, credentialSchema } from '../../kernel/credential.schema.ts';
import { instant, nullable, uuid } from '../../kernel/validation/schema-types.ts';
import { Type } from '../../kernel/validation/type.ts';

/** The values of the query parameter `also`. */
export const DESCENDANT_KINDS = ['endpoints', 'keys', 'clients', 'users'] as const;
export type DescendantKind = (typeof DESCENDANT_KINDS)[number];

export const EndCredentialQuery = Type.Object({
  also: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        'What to end together with the credential, separated by commas: `endpoints`, `keys`, `clients`, `users`. Applies to ' +
        'everything of these kinds that the credential created, directly or indirectly: endpoints, clients and ' +
        'users are disabled, keys are revoked. `users` needs the scope `users`, the others need `manage`.',
      examples: ['endpoints,keys,clients'],
    }),
  ),
});
export type EndCredentialQuery = Static<typeof EndCredentialQuery>;

const enumOf = <W extends string>(words: readonly W[], description?: string) =>
  Type.Unsafe<W>({ type: 'string', enum: [...words], ...(description && { description }) });

const fields = {
  type: enumOf(['key', 'client', 'user', 'webhook_endpoint']),
  id: uuid(),
  name: Type.String({ description: 'For an endpoint, its scheme and host.', examples: ['website'] }),
  state: enumOf(['invited', 'active', 'failing', 'disabled', 'revoked', 'expired', 'removed']),
  created_at: instant(),
  last_used_at: nullable(
    instant({
      description:
        'For a client, when it last got a token; for a user, when a session was last used; for an endpoint, when its ' +
        'last delivery ended.',
    }),
  ),
  created_by: CreatedBy,
  changed_by: credentialSchema(
    'The key, API client or user that last replaced the secret of the client, or last set the URL of the endpoint.',
  ),
};

const TraceEntry = Type.Object(fields, { title: 'CredentialDescendant', additionalProperties: false });

/** The fields that are added to the record of a credential when it is ended. */
export const END_RESULT_FIELDS = {
  also_ended: Type.Array(TraceEntry, {
    description: 'Everything the credential created, directly or indirectly, that this request ended.',
  }),
  still_working: Type.Array(TraceEntry, {
    description: 'Everything the credential created, directly or indirectly, that still works and the caller may end.',
  }),
};

/** The answer of the command line, which searches all companies. */
export const CredentialTrace = Type.Array(
  Type.Object(
    {
      ...fields,
      company_id: uuid(),
      ended: Type.Boolean({ description: 'Whether this command ended it.' }),
    },
    { additionalProperties: false },
  ),
);
