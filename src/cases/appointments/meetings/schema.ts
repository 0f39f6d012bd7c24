import { Type } from 'typebox';
import { nullable } from '../../../kernel/validation/schema-types.ts';
import { PROVIDERS } from './provider.ts';

export const STATES = ['none', 'pending', 'ready', 'failed'] as const;

const word = (values: readonly string[], description: string) =>
  Type.Unsafe<string>({ type: 'string', enum: [...values], description });

export const Meeting = Type.Object(
  {
    appointment_id: Type.String(),
    customer_case_id: Type.String(),
    provider: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      enum: [...PROVIDERS, null],
      description: 'Where it is, or where it is being made.',
    }),
    state: word(STATES, 'Pending while the provider has yet to learn of something.'),
    video_id: nullable(Type.String({ description: 'What the provider calls it.' })),
    join_url: nullable(Type.String()),
    attempts: Type.Integer({ description: 'How often the provider was asked since the wish last changed.' }),
    last_error: nullable(Type.String({ description: 'Why the last attempt failed, where it did.' })),
  },
  { additionalProperties: false },
);

export const Meetings = Type.Array(Meeting);

export const STATE_QUERY = { state: Type.Optional(word(STATES, 'Only meetings in this state.')) };
