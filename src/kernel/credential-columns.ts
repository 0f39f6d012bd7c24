import { Type } from 'typebox';
import type { Credential } from './context.ts';
import { uuid } from './validation/schema-types.ts';

/** A credential in an answer: the key or the API client that did something, or null. */
export const credentialOut = (description: string) =>
  Type.Unsafe<Credential | null>({
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

export const CreatedBy = credentialOut(
  'The key or the API client that made it, as it was called then; null for the command line.',
);

/** The values of the three columns, in the order in which `credentialColumns` names them. */
export const credentialValues = (credential: Credential | undefined): (string | null)[] => [
  credential?.type ?? null,
  credential?.id ?? null,
  credential?.name ?? null,
];
