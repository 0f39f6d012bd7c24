import {
  isoTime,
  jsonObject,
  jsonObjectText,
  jsonRaw,
  jsonString,
  jsonUnescaped,
  nullable,
  SPACED,
  wallTime,
} from '../../kernel/sql/json.ts';
import { companyFields } from '../company-list.sql.ts';
import { ofAppointment } from './appointment-key.sql.ts';

/** The JSON of an appointment `a` with the states of its messages. */

/** SQL for ORDER BY: the first message of a channel and kind is the one whose state an appointment shows. */
export const byPrecedence = (start: string) => `(m.kind = 'reminder' AND m.start_at = ${start}) DESC, m.id DESC`;

/** SQL: the state of a message as an appointment shows it. A message that is being sent counts as scheduled. */
export const shownState = `CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END`;

/** States in which a reminder counts as one for its day: it will be sent, is being sent, was sent, or has failed. */
export const ACTIVE_REMINDER_STATES: readonly string[] = ['scheduled', 'sending', 'sent', 'failed'];

const activeStates = ACTIVE_REMINDER_STATES.map((state) => `'${state}'`).join(', ');
/** SQL: whether an appointment shows that its reminder is for the day before. */
export const shownDayBefore = `(m.kind = 'reminder' AND m.state IN (${activeStates}) AND m.day_before)`;

/** The states of the messages as inputs, for a statement that need not look them up. Null: not requested. */
export const STATE_INPUTS = {
  email_confirmation: 'text?',
  email_notification: 'text?',
  email_day_before: 'int',
  sms_confirmation: 'text?',
  sms_notification: 'text?',
  sms_day_before: 'int',
} as const;

const messageRows = (from: string, written: boolean) =>
  `SELECT id, channel, kind, start_at, state, day_before, ${written} AS written FROM ${from}`;

/**
 * SQL: a row `states` with the columns of STATE_INPUTS, from the stored messages of the appointment `a`. A statement
 * sees the tables as they were before it, so the CTEs that have `written` messages are named: their rows replace the
 * stored ones.
 */
export const storedStates = (...written: string[]) => {
  const messages = [
    ...written.map((cte) => messageRows(cte, true)),
    messageRows(`messages m WHERE ${ofAppointment('m')}`, false),
  ];
  return `LATERAL (
      SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
             max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
             max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
             max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
             coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
             coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
        FROM (SELECT DISTINCT ON (channel, kind) channel, kind, ${shownState} AS state,
                     ${shownDayBefore}::int AS day_before
                FROM (${messages.join('\n                UNION ALL ')}) m
               ORDER BY channel, kind, ${byPrecedence('a.start_at')}, written DESC) shown) states`;
};

/** SQL: the end as a wall time, and the alias of the row with the states: `states`, or `input` if they are inputs. */
type Sources = { endTime: string; states: 'states' | 'input' };

/** SQL: changes with everything that an appointment shows. A message changes its state without the appointment. */
export const shownVersion = (states: Sources['states']) => {
  const columns = Object.keys(STATE_INPUTS).map((column) => `coalesce(${states}.${column}::text, '')`);
  return `a.version || '.' || to_hex(hashtextextended(concat_ws(',', ${columns.join(', ')}), 0))`;
};

const commonFields = ({ endTime, states }: Sources) => ({
  id: jsonUnescaped('a.id'),
  customer_case_id: jsonUnescaped('a.case_id'),
  start_time: jsonUnescaped(isoTime('a.start_at')),
  end_time: jsonUnescaped(endTime),
  email_confirmation: nullable(jsonUnescaped(`${states}.email_confirmation`)),
  email_notification: nullable(jsonUnescaped(`${states}.email_notification`)),
  email_day_before: jsonRaw(`${states}.email_day_before`),
  sms_recipient: nullable(jsonString('a.sms_recipient')),
  sms_confirmation: nullable(jsonUnescaped(`${states}.sms_confirmation`)),
  sms_notification: nullable(jsonUnescaped(`${states}.sms_notification`)),
  sms_day_before: jsonRaw(`${states}.sms_day_before`),
  notes: nullable(jsonString('a.notes')),
  location: nullable(jsonString('a.location')),
  created_at: jsonUnescaped(isoTime('a.created_at')),
  updated_at: jsonUnescaped(isoTime('a.updated_at')),
});

/** The response of a create, as text. */
export const createdAppointment = (sources: Sources) =>
  jsonObjectText(
    {
      ...commonFields(sources),
      adviser_email: jsonString('a.adviser_email'),
      email_recipient: nullable(jsonString('a.email_recipient')),
    },
    SPACED,
  );

const updatedFields = (sources: Sources) => ({
  ...commonFields(sources),
  type: nullable(jsonString('a.type')),
  attended: jsonRaw('a.attended'),
  cancelled: jsonRaw('a.cancelled'),
  deleted_at: nullable(jsonUnescaped(isoTime('a.deleted_at'))),
  email_recipient: jsonString(`coalesce(a.email_recipient, '')`),
  video_id: nullable(jsonString('a.video_id')),
  join_url: nullable(jsonString('a.join_url')),
});

/** The response of an update, as text. */
export const updatedAppointment = (sources: Sources) => jsonObjectText(updatedFields(sources), SPACED);

/** The record as the additional operations return it. */
export const fullAppointment = (sources: Sources) =>
  jsonObject({ ...updatedFields(sources), adviser_email: 'a.adviser_email', external_id: 'a.external_id' });

export const fullAppointmentText = (sources: Sources) => `${fullAppointment(sources)}::text`;

/** SQL: what became of an appointment. An index has the same text. */
export const outcome = `CASE WHEN a.cancelled = 1 THEN 'cancelled' WHEN a.attended = 1 THEN 'attended' ELSE 'none' END`;

/** The record in the lists of the whole company. */
export const companyAppointment = (input: { zone: string; reads_cases: string }) =>
  jsonObject({
    ...updatedFields({ endTime: wallTime('a.end_at', input.zone), states: 'states' }),
    adviser_email: 'a.adviser_email',
    end_time_utc: isoTime('a.end_at'),
    outcome: `(${outcome})`,
    ...companyFields('a', input),
  });

/** SQL: about how many bytes it has. Its other texts are short. */
export const APPOINTMENT_BYTES = '1200 + coalesce(octet_length(a.notes), 0) + coalesce(octet_length(a.location), 0)';
