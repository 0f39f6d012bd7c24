import { Type } from 'typebox';
import type { Credential } from '../../kernel/context.ts';
import { uuid } from '../../kernel/shapes.ts';

export const CreatedBy = Type.Unsafe<Credential | null>({
  type: ['object', 'null'],
  description: 'The key or the API client that made it, as it was called then; null for the command line.',
  properties: {
    type: Type.Unsafe<'key' | 'client'>({ type: 'string', enum: ['key', 'client'] }),
    id: uuid(),
    name: Type.String({ examples: ['website'] }),
  },
  required: ['type', 'id', 'name'],
  additionalProperties: false,
});

/** In the order of the statements' parameters. */
export const makerColumns = (maker: Credential | undefined): (string | null)[] => [
  maker?.type ?? null,
  maker?.id ?? null,
  maker?.name ?? null,
];
