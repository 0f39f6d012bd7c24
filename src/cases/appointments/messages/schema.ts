import { instant, nullable } from '../../../kernel/validation/schema-types.ts';
import { Type } from '../../../kernel/validation/type.ts';
import { COMPANY_FIELDS } from '../../company-list.schema.ts';

export const STATES = ['scheduled', 'sent', 'failed', 'cancelled', 'skipped'] as const;

const oneOf = (values: readonly string[], description: string) =>
  Type.Unsafe<string>({ type: 'string', enum: [...values], description });

const fields = {
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
};

export const Message = Type.Object(fields, { title: 'Message', additionalProperties: false });
export const Messages = Type.Array(Message);

/** A message in the list of the company also says what it is about. */
export const CompanyMessages = Type.Array(
  Type.Object(
    {
      ...fields,
      start: instant({ description: 'When the appointment starts of which the message tells.' }),
      case: COMPANY_FIELDS.case,
    },
    { title: 'CompanyMessage', additionalProperties: false },
  ),
);

export const STATE_QUERY = {
  state: Type.Optional(oneOf(STATES, 'Only messages in this state.')),
};
