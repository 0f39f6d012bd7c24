import { nullable } from '../../../kernel/validation/schema-types.ts';
import { Type } from '../../../kernel/validation/type.ts';
import { PROVIDERS } from './provider.ts';

export const STATES = ['none', 'pending', 'ready', 'failed'] as const;

const oneOf = (values: readonly string[], description: string) =>
  Type.Unsafe<string>({ type: 'string', enum: [...values], description });

export const Meeting = Type.Object(
  {
    appointment_id: Type.String(),
    customer_case_id: Type.String(),
    provider: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      enum: [...PROVIDERS, null],
      description: 'Where the meeting exists, or is being created.',
    }),
    state: oneOf(STATES, '`pending` until the provider has carried out the last change.'),
    video_id: nullable(Type.String({ description: "The provider's identifier of the meeting." })),
    join_url: nullable(Type.String()),
    attempts: Type.Integer({ description: 'Number of attempts since the last change.' }),
    last_error: nullable(Type.String({ description: 'Why the last attempt failed.' })),
  },
  { title: 'Meeting', additionalProperties: false },
);

export const Meetings = Type.Array(Meeting);

export const STATE_QUERY = { state: Type.Optional(oneOf(STATES, 'Only meetings in this state.')) };
