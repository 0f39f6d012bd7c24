import type { Static } from 'typebox';
import { Event } from '../../events/schema.ts';
import { CURSOR_QUERY, cursorParameter } from '../../kernel/validation/paging.ts';
import { instant, nullable, uuid } from '../../kernel/validation/schema-types.ts';
import { Type } from '../../kernel/validation/type.ts';
import { Appointment } from '../appointments/schema.ts';
import { Interaction } from '../interactions/schema.ts';
import { Payment } from '../invoices/payments/schema.ts';
import { MAX_CURSOR_LENGTH } from './cursor.ts';

export const TimelineQuery = Type.Object({
  kinds: Type.Optional(
    Type.String({
      maxLength: 200,
      description:
        'Only these kinds, separated by commas: `interaction`, `appointment`, `invoice`, `payment`, `change`. By ' +
        'default all that the scopes of the credential allow.',
      examples: ['interaction,appointment'],
    }),
  ),
  limit: CURSOR_QUERY.limit,
  cursor: cursorParameter('kinds', MAX_CURSOR_LENGTH),
});
export type TimelineQuery = Static<typeof TimelineQuery>;

const invoice = Type.Object(
  {
    id: uuid(),
    invoice_number: Type.String(),
    recipients_name: Type.String(),
    date_created: instant(),
    date_due: instant(),
    total: Type.Number({ examples: [144] }),
    paid: Type.Number({ examples: [72] }),
    outstanding: Type.Number({ examples: [72] }),
    status: Type.Unsafe<'Not Paid' | 'Part Paid' | 'Paid' | 'Cancelled'>({
      title: 'InvoiceStatus',
      type: 'string',
      enum: ['Not Paid', 'Part Paid', 'Paid', 'Cancelled'],
    }),
  },
  { title: 'TimelineInvoice', additionalProperties: false },
);

const change = Type.Object(
  {
    id: Type.String({ description: 'The id of the event.', examples: ['evt_3q2-7wE9mXr0cVb1kqvJ5w'] }),
    type: Type.String({ description: 'The type of the record and the change.', examples: ['interaction.updated'] }),
    at: instant(),
    actor: Event.properties.actor,
    request_id: nullable(Type.String()),
    record: Event.properties.record,
  },
  { title: 'TimelineChange', additionalProperties: false },
);

const entry = Type.Object(
  {
    kind: Type.Unsafe<'interaction' | 'appointment' | 'invoice' | 'payment' | 'change'>({
      title: 'TimelineKind',
      type: 'string',
      enum: ['interaction', 'appointment', 'invoice', 'payment', 'change'],
      description: 'The field that is not null.',
    }),
    at: instant({
      description:
        'When the interaction happened, the appointment starts, the invoice is dated, the payment was made, or the ' +
        'change was made. A change may be a moment late: then it has the time of the change after it.',
    }),
    interaction: nullable(Interaction),
    appointment: nullable(Appointment),
    invoice: nullable(invoice),
    payment: nullable(Payment),
    change: nullable(change),
  },
  { title: 'TimelineEntry', additionalProperties: false },
);

export const Timeline = Type.Array(entry);
