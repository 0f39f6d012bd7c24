import type { Credential } from './context.ts';
import { uuid } from './validation/schema-types.ts';
import { Type } from './validation/type.ts';

/** The schema of a credential in a response: a key or an API client; null for the command line. */
export const credentialSchema = (description: string) =>
  Type.Unsafe<Credential | null>({
    title: 'Credential',
    type: ['object', 'null'],
    description,
    properties: {
      type: Type.Unsafe<'key' | 'client'>({ type: 'string', enum: ['key', 'client'] }),
      id: uuid(),
      name: Type.String({ examples: ['website'] }),
    },
    required: ['type', 'id', 'name'],
    additionalProperties: false,
  });

export const CreatedBy = credentialSchema(
  'The key or API client that created it, with the name it had then; null for the command line.',
);
