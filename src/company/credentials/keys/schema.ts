import type { Static } from 'typebox';
import { CreatedBy } from '../../../kernel/credential.schema.ts';
import { ALL_SCOPES, COMPANY_SCOPES, type Scope } from '../../../kernel/scopes.ts';
import { instant, nullable, optional, text, time, uuid } from '../../../kernel/validation/schema-types.ts';
import { Type } from '../../../kernel/validation/type.ts';
import { END_RESULT_FIELDS } from '../descendants.schema.ts';
import { scopeListSchema } from '../granted-scopes.ts';

const keyBody = (title: string, scopes: readonly Scope[]) =>
  Type.Object(
    {
      name: text({ minLength: 1, maxLength: 100, description: 'What the key is for.', examples: ['nightly export'] }),
      scopes: scopeListSchema(scopes),
      expires_at: optional(
        time({
          description: 'Must be in the future; without it the key works until it is revoked.',
        }),
      ),
    },
    { title },
  );

export const KeyBody = keyBody('ApiKeyBody', COMPANY_SCOPES);
/** The body for the command line; only there can `operator` be granted. */
export const AnyKeyBody = keyBody('AnyApiKeyBody', ALL_SCOPES);
export type KeyBody = Static<typeof AnyKeyBody>;

const fields = {
  id: uuid(),
  name: Type.String({ examples: ['nightly export'] }),
  scopes: scopeListSchema(ALL_SCOPES),
  created_at: instant(),
  expires_at: nullable(instant()),
  last_used_at: nullable(instant({ description: 'Exact to about a minute.' })),
  revoked_at: nullable(instant()),
  created_by: CreatedBy,
};

export const KeyRecord = Type.Object(fields, { title: 'ApiKey', additionalProperties: false });
export const KeyRevoked = Type.Object(
  { ...fields, ...END_RESULT_FIELDS },
  { title: 'ApiKeyRevoked', additionalProperties: false },
);
export const KeyList = Type.Array(KeyRecord);
export const KeyCreated = Type.Object(
  {
    ...fields,
    key: Type.String({ description: 'The bearer token. It is shown only in this answer.', examples: ['cr_…'] }),
  },
  { title: 'ApiKeyCreated', additionalProperties: false },
);
