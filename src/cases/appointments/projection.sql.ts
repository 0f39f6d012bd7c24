import { isoTime, jsonObject, wallTime } from '../../kernel/sql/statement.ts';
import { ofAppointment } from './messages/calendar-recipients.sql.ts';

/** The parts of an appointment `a` with the words `w` for its messages that the answers are made of. */

const rows = (from: string, written: boolean) =>
  `SELECT id, channel, kind, start_at, state, day_before, ${written} AS written FROM ${from}`;

/**
 * The four words and the two days before, from rows of messages. A reminder is that of the present start where there
 * is one, else the last; a confirmation is the last that was asked for. What is being sent has not gone out yet.
 */
const wordsOf = (messages: string[]) => `LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind,
                 CASE state WHEN 'sending' THEN 'scheduled' ELSE state END AS state,
                 (kind = 'reminder' AND state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int
                   AS day_before
            FROM (${messages.join(' UNION ALL ')}) m
           ORDER BY channel, kind, (kind = 'reminder' AND m.start_at = a.start_at) DESC, id DESC, written DESC) latest) w`;

export const WORDS = ['text', 'text', 'int', 'text', 'text', 'int'];
/** As the process gives them, in parameters from `first` on: those of a new appointment are what is planned for it. */
export const givenWords = (first: number) => {
  const [emailConfirmation, emailReminder, emailDay, smsConfirmation, smsReminder, smsDay] = WORDS.map(
    (type, i) => `$${first + i}::${type}`,
  );
  return `LATERAL (
    SELECT ${emailConfirmation} AS email_confirmation, ${emailReminder} AS email_notification, ${emailDay} AS email_day_before,
           ${smsConfirmation} AS sms_confirmation, ${smsReminder} AS sms_notification, ${smsDay} AS sms_day_before) w`;
};

/** From all that there are. The statement sees them as they were before it: what it has `written` is the newer form. */
export const storedWords = (...written: string[]) =>
  wordsOf([...written.map((messages) => rows(messages, true)), rows(`messages m WHERE ${ofAppointment('m')}`, false)]);

const common = (zone: string) => ({
  id: 'a.id',
  customer_case_id: 'a.case_id',
  start_time: isoTime('a.start_at'),
  end_time: wallTime('a.end_at', zone),
  email_confirmation: 'w.email_confirmation',
  email_notification: 'w.email_notification',
  email_day_before: 'w.email_day_before',
  sms_recipient: 'a.sms_recipient',
  sms_confirmation: 'w.sms_confirmation',
  sms_notification: 'w.sms_notification',
  sms_day_before: 'w.sms_day_before',
  notes: 'a.notes',
  location: 'a.location',
  created_at: isoTime('a.created_at'),
  updated_at: isoTime('a.updated_at'),
});

export const created = (zone: string) =>
  jsonObject({ ...common(zone), adviser_email: 'a.adviser_email', email_recipient: 'a.email_recipient' });

const updatedFields = (zone: string) => ({
  ...common(zone),
  type: 'a.type',
  attended: 'a.attended',
  cancelled: 'a.cancelled',
  deleted_at: isoTime('a.deleted_at'),
  email_recipient: `coalesce(a.email_recipient, '')`,
  video_id: 'a.video_id',
  join_url: 'a.join_url',
});

export const updated = (zone: string) => jsonObject(updatedFields(zone));

/** The record as the additional operations give it. */
export const whole = (zone: string) => jsonObject({ ...updatedFields(zone), adviser_email: 'a.adviser_email' });
