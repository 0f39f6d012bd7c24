import { type Static, Type } from 'typebox';
import { CreatedBy, credentialOut } from '../../kernel/credential-columns.ts';
import { instant, nullable, uuid } from '../../kernel/validation/schema-types.ts';

/** The words of `also`. */
export const DESCENDANT_KINDS = ['endpoints', 'keys', 'clients'] as const;
export type DescendantKind = (typeof DESCENDANT_KINDS)[number];

export const EndCredentialQuery = Type.Object({
  also: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        'What is ended with the credential, separated by commas: `endpoints`, `keys`, `clients`. Of these, everything that the credential made, ' +
        'directly or through what it made: endpoints and clients are disabled, keys revoked.',
      examples: ['endpoints,keys,clients'],
    }),
  ),
});
export type EndCredentialQuery = Static<typeof EndCredentialQuery>;

const enumOf = <W extends string>(words: readonly W[], description?: string) =>
  Type.Unsafe<W>({ type: 'string', enum: [...words], ...(description && { description }) });

const fields = {
  type: enumOf(['key', 'client', 'webhook_endpoint']),
  id: uuid(),
  name: Type.String({ description: 'Of an endpoint its scheme and host.', examples: ['website'] }),
  state: enumOf(['active', 'failing', 'disabled', 'revoked', 'expired', 'removed']),
  created_at: instant(),
  last_used_at: nullable(
    instant({ description: 'Of a client when it last got a token, of an endpoint when a delivery last ended.' }),
  ),
  created_by: CreatedBy,
  changed_by: credentialOut(
    'The key or the API client that last replaced the secret of the client, or set the address of the endpoint.',
  ),
};

const TraceEntry = Type.Object(fields, { additionalProperties: false });

/** The fields that the end of a credential adds to its record. */
export const END_RESULT_FIELDS = {
  also_ended: Type.Array(TraceEntry, { description: 'What it made, directly or not, and this request ended.' }),
  still_working: Type.Array(TraceEntry, { description: 'What it made, directly or not, that still works.' }),
};

/** For the command line, which looks through all companies. */
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
