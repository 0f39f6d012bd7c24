import { Type } from 'typebox';
import { instant, nullable } from '../../../kernel/validation/schema-types.ts';

export const STATES = ['scheduled', 'sent', 'failed', 'cancelled', 'skipped'] as const;

const word = (values: readonly string[], description: string) =>
  Type.Unsafe<string>({ type: 'string', enum: [...values], description });

export const Message = Type.Object(
  {
    id: Type.String(),
    appointment_id: Type.String(),
    channel: word(['email', 'sms'], 'How it goes out.'),
    kind: word(
      ['confirmation', 'reminder', 'cancellation'],
      'A cancellation calls off a confirmation that had gone out.',
    ),
    state: word(STATES, 'Where it stands.'),
    due_at: instant(),
    sent_at: nullable(instant()),
    sent_to: nullable(Type.String({ description: 'The address or number it was handed over for.' })),
    attempts: Type.Integer({ description: 'How often sending it was begun.' }),
    last_error: nullable(Type.String({ description: 'Why the last attempt that failed did so.' })),
  },
  { additionalProperties: false },
);

export const Messages = Type.Array(Message);

export const STATE_QUERY = {
  state: Type.Optional(word(STATES, 'Only messages in this state.')),
};
