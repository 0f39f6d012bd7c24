import type { Static } from 'typebox';
import { externalId } from '../../kernel/external-ids/schema.ts';
import {
  booleanFlag,
  instant,
  MAX_LONG_TEXT,
  nullable,
  optional,
  text,
  time,
  wallTime,
} from '../../kernel/validation/schema-types.ts';
import { Type } from '../../kernel/validation/type.ts';

const startTime = time({
  description: 'Wall time of the company, or ISO 8601 with a zone.',
});
const endTime = time({ description: 'Later than start_time.' });

const writableFields = {
  email_confirmation: optional(booleanFlag({ description: 'Sends a booking confirmation to email_recipient.' })),
  // `*_notification` is the specification's word for a reminder.
  email_notification: optional(booleanFlag({ description: 'Sends a reminder to email_recipient.' })),
  email_recipient: optional(
    text({
      maxLength: 254,
      description: 'Email of a customer of the case. An empty text means no recipient.',
      examples: ['john.smith@client.example'],
    }),
  ),
  sms_confirmation: optional(booleanFlag({ description: 'Sends a booking confirmation to sms_recipient.' })),
  sms_notification: optional(booleanFlag({ description: 'Sends a reminder to sms_recipient.' })),
  sms_recipient: optional(
    text({
      maxLength: 100,
      description: 'A possible phone number.',
      examples: ['07400 123456'],
    }),
  ),
  notes: optional(text({ maxLength: MAX_LONG_TEXT })),
  location: optional(
    text({ maxLength: MAX_LONG_TEXT, description: 'Included in the messages.', examples: ['1 High Street, Anytown'] }),
  ),
};

export const CreateAppointmentBody = Type.Object(
  {
    adviser_email: text({
      maxLength: 254,
      description: "Email of an adviser of the caller's company.",
      examples: ['paul.phone@demo.example'],
    }),
    start_time: startTime,
    end_time: endTime,
    ...writableFields,
    video_meeting: optional(
      booleanFlag({ description: 'Creates a video meeting, provided the adviser has connected an account.' }),
    ),
  },
  {
    title: 'CreateAppointmentBody',
    examples: [
      {
        adviser_email: 'paul.phone@demo.example',
        start_time: '2027-03-29 14:30:00',
        end_time: '2027-03-29 15:30:00',
        email_confirmation: true,
        email_recipient: 'john.smith@client.example',
        location: '1 High Street, Anytown',
      },
    ],
  },
);
export type CreateAppointmentBody = Static<typeof CreateAppointmentBody>;

export const UpdateAppointmentBody = Type.Object(
  {
    start_time: Type.Optional(startTime),
    end_time: Type.Optional(endTime),
    ...writableFields,
  },
  {
    title: 'UpdateAppointmentBody',
    examples: [{ notes: 'Bring the signed papers', location: '2 High Street, Anytown' }],
  },
);
export type UpdateAppointmentBody = Static<typeof UpdateAppointmentBody>;

const messageState = (description: string) =>
  Type.Unsafe<string | null>({
    title: 'MessageState',
    type: ['string', 'null'],
    enum: ['scheduled', 'sent', 'failed', 'cancelled', 'skipped', null],
    description: `State of the ${description}; null if it was not requested.`,
  });
const zeroOrOne = (description: string) => Type.Unsafe<0 | 1>({ type: 'integer', enum: [0, 1], description });
const dayBefore = zeroOrOne('1 if the reminder is due on the calendar day before the start, else 0.');

const common = {
  id: Type.String(),
  customer_case_id: Type.String(),
  start_time: instant(),
  end_time: wallTime({ description: 'Wall time of the company.' }),
  email_confirmation: messageState('booking confirmation by email'),
  email_notification: messageState('reminder by email'),
  email_day_before: dayBefore,
  sms_recipient: nullable(Type.String()),
  sms_confirmation: messageState('booking confirmation by SMS'),
  sms_notification: messageState('reminder by SMS'),
  sms_day_before: dayBefore,
  notes: nullable(Type.String()),
  location: nullable(Type.String()),
  created_at: instant(),
  updated_at: instant(),
};

export const AppointmentCreated = Type.Object(
  { ...common, adviser_email: Type.String(), email_recipient: nullable(Type.String()) },
  { title: 'AppointmentCreated', additionalProperties: false },
);

const updated = {
  ...common,
  type: nullable(Type.String()),
  attended: zeroOrOne('1 if the client attended, else 0.'),
  cancelled: zeroOrOne('1 if the appointment was cancelled, else 0.'),
  deleted_at: nullable(instant()),
  email_recipient: Type.String({ description: 'Empty if there is none.' }),
  video_id: nullable(Type.String()),
  join_url: nullable(Type.String()),
};

export const AppointmentUpdated = Type.Object(updated, { title: 'AppointmentUpdated', additionalProperties: false });

/** The record as the additional operations return it. */
export const Appointment = Type.Object(
  {
    ...updated,
    adviser_email: Type.String({ description: 'The address at the time of the booking.' }),
    external_id: externalId,
  },
  { title: 'Appointment', additionalProperties: false },
);
