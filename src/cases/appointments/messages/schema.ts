import { instant, nullable } from '../../../kernel/validation/schema-types.ts';
import { Type } from '../../../kernel/validation/type.ts';

export const STATES = ['scheduled', 'sent', 'failed', 'cancelled', 'skipped'] as const;

const oneOf = (values: readonly string[], description: string) =>
  Type.Unsafe<string>({ type: 'string', enum: [...values], description });

export const Message = Type.Object(
  {
    id: Type.String(),
    appointment_id: Type.String(),
    channel: oneOf(['email', 'sms'], 'How the message is sent.'),
    kind: oneOf(
      ['confirmation', 'reminder', 'cancellation'],
      'A cancellation goes to each recipient that a message has reached, when the appointment is deleted or cancelled.',
    ),
    state: oneOf(STATES, 'State of the message.'),
    due_at: instant(),
    sent_at: nullable(instant()),
    sent_to: nullable(Type.String({ description: 'The address or number it was sent to.' })),
    attempts: Type.Integer({ description: 'Number of attempts to send it.' }),
    last_error: nullable(Type.String({ description: 'Why the last failed attempt failed.' })),
  },
  { title: 'Message', additionalProperties: false },
);

export const Messages = Type.Array(Message);

export const STATE_QUERY = {
  state: Type.Optional(oneOf(STATES, 'Only messages in this state.')),
};
