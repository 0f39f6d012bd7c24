import type { Credential } from './context.ts';
import { uuid } from './validation/schema-types.ts';
import { Type } from './validation/type.ts';

/** The schema of a credential in a response: a key, an API client or a user; null for the command line. */
export const credentialSchema = (description: string) =>
  Type.Unsafe<Credential | null>({
    title: 'Credential',
    type: ['object', 'null'],
    description,
    properties: {
      type: Type.Unsafe<Credential['type']>({ type: 'string', enum: ['key', 'client', 'user'] }),
      id: uuid(),
      name: Type.String({ examples: ['website'] }),
    },
    required: ['type', 'id', 'name'],
    additionalProperties: false,
  });

export const CreatedBy = credentialSchema(
  'The key, API client or user that created it, with the name it had then; null for the command line.',
);
