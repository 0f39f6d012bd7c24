import type { Static } from 'typebox';
import { CreatedBy, credentialSchema } from '../../../kernel/credential.schema.ts';
import { COMPANY_SCOPES } from '../../../kernel/scopes.ts';
import { instant, nullable, text, uuid } from '../../../kernel/validation/schema-types.ts';
import { Type } from '../../../kernel/validation/type.ts';
import { END_RESULT_FIELDS } from '../descendants.schema.ts';
import { scopeListSchema } from '../granted-scopes.ts';

const name = text({ minLength: 1, maxLength: 100, description: 'What the client is for.', examples: ['website'] });
const scopes = scopeListSchema(COMPANY_SCOPES);

export const CreateClientBody = Type.Object({ name, scopes }, { title: 'CreateApiClientBody' });
export type CreateClientBody = Static<typeof CreateClientBody>;
export const ClientBody = Type.Object(
  { name: Type.Optional(name), scopes: Type.Optional(scopes) },
  { title: 'UpdateApiClientBody' },
);
export type ClientBody = Static<typeof ClientBody>;

const fields = {
  id: uuid({ description: 'The client_id.' }),
  name: Type.String({ examples: ['website'] }),
  scopes,
  created_at: instant(),
  updated_at: instant(),
  rotated_at: nullable(instant({ description: 'When the secret was last replaced.' })),
  disabled_at: nullable(instant()),
  created_by: CreatedBy,
  rotated_by: credentialSchema(
    'The key or API client that last replaced the secret; null if none did, or if the command line did.',
  ),
};

export const ClientRecord = Type.Object(fields, { title: 'ApiClient', additionalProperties: false });
export const ClientDisabled = Type.Object(
  { ...fields, ...END_RESULT_FIELDS },
  { title: 'ApiClientDisabled', additionalProperties: false },
);
export const ClientList = Type.Array(ClientRecord);
export const ClientWithSecret = Type.Object(
  { ...fields, client_secret: Type.String({ description: 'It is shown only in this answer.', examples: ['crs_…'] }) },
  { title: 'ApiClientWithSecret', additionalProperties: false },
);
