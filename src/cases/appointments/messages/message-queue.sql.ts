import { isoTime, statement } from '../../../kernel/sql/statement.ts';
import { ofAppointment } from '../appointment-key.sql.ts';
import { messageAudit } from './audit.sql.ts';
import { calendarRecipients } from './calendar-recipients.sql.ts';
import { deadline, isKey, MESSAGE_KEY } from './statements.sql.ts';

/** The statements of one delivery attempt: start, record as sent, record a failure. */

export const OPEN = `state IN ('scheduled', 'sending')`;
/**
 * Means the same as OPEN but does not match the partial index of due messages. With fresh statistics the planner took
 * that index for the key's, and read a company's whole backlog for each message.
 */
const NOT_ENDED = `state NOT IN ('sent', 'failed', 'cancelled', 'skipped')`;

/** SQL: whether a second request for the same message, made while `m` was being sent, takes its place. */
const isReplaced = (m: string) => `EXISTS (
  SELECT 1 FROM messages o
   WHERE o.company_id = ${m}.company_id AND o.case_id = ${m}.case_id AND o.appointment_id = ${m}.appointment_id
     AND o.channel = ${m}.channel AND o.kind = ${m}.kind
     AND (o.state = 'scheduled' AND o.id <> ${m}.id OR o.state IN ('sending', 'sent') AND o.id > ${m}.id)
     AND (o.kind <> 'cancellation' OR o.state = 'scheduled' AND o.recipient = ${m}.recipient)
     AND (o.kind <> 'reminder' OR o.resend_of IS NOT NULL AND ${m}.resend_of IS NOT NULL))`;

const isOtherToRecipient = (other: string) => `${other}.id <> m.id AND lower(${other}.recipient) = lower(m.recipient)`;
/** SQL: whether the last other email to the recipient of `m` put the appointment into the calendar. */
const inCalendar = `EXISTS (${calendarRecipients(isOtherToRecipient)})`;

/** SQL: whether an earlier confirmation is being sent. Messages must arrive in the order they were requested in. */
const behindEarlierConfirmation = `EXISTS (
  SELECT 1 FROM messages c WHERE ${ofAppointment('c')} AND c.channel = m.channel AND c.kind = 'confirmation'
     AND c.state = 'sending' AND c.id < m.id)`;

/** How long a confirmation waits for the link of a meeting that is being created. */
const MAX_MEETING_WAIT = `interval '15 minutes'`;

const TOO_LATE = `CASE WHEN m.attempts > 0 THEN 'failed' ELSE 'skipped' END`;

/** SQL: whether to send the due message `m` now, given the current state of its appointment `a`. */
const decision = `CASE
  WHEN m.withdrawn OR m.state = 'sending' AND ${isReplaced('m')} THEN 'cancelled'
  WHEN m.kind = 'cancellation' THEN CASE
    WHEN a.deleted_at IS NULL AND a.cancelled = 0 THEN 'cancelled'
    WHEN EXISTS (SELECT 1 FROM messages c WHERE ${ofAppointment('c')} AND c.channel = 'email'
                    AND c.kind = 'confirmation' AND c.state = 'sending') THEN 'behind'
    WHEN NOT ${inCalendar} THEN 'cancelled'
    WHEN ${deadline} <= $6 THEN ${TOO_LATE}
    ELSE 'sending' END
  WHEN a.deleted_at IS NOT NULL OR a.cancelled = 1 THEN 'cancelled'
  WHEN m.kind = 'reminder' AND m.start_at <> a.start_at THEN 'cancelled'
  WHEN m.kind = 'reminder' AND m.resend_of IS NULL
       AND NOT CASE m.channel WHEN 'email' THEN a.email_reminder ELSE a.sms_reminder END THEN 'cancelled'
  WHEN CASE m.channel WHEN 'email' THEN a.email_recipient ELSE a.sms_recipient END IS NULL THEN 'skipped'
  WHEN ${deadline} <= $6 THEN ${TOO_LATE}
  WHEN m.kind = 'confirmation' AND a.meeting_pending AND m.due_at + ${MAX_MEETING_WAIT} > $6 THEN 'wait'
  WHEN m.kind = 'confirmation' AND ${behindEarlierConfirmation} THEN 'behind'
  ELSE 'sending' END`;

/** SQL: a cancellation goes to the address that got the confirmation, even if the appointment names another now. */
const recipient = `CASE
  WHEN m.kind = 'cancellation' THEN m.recipient
  WHEN m.channel = 'email' THEN a.email_recipient ELSE a.sms_recipient END`;

/** SQL: the name of the customer of the case who has the recipient's address. */
const customer = `(
  SELECT concat_ws(' ', nullif(u.title, ''), nullif(u.first_names, ''), nullif(u.last_name, '')) FROM customers u
   WHERE u.company_id = a.company_id AND u.case_id = a.case_id AND lower(u.email) = lower(${recipient})
   ORDER BY u.removed_at IS NOT NULL, u.id LIMIT 1)`;

/** SQL: the rows of the parameters, an array for each column: the key of the message from $1 on, then `columns`. */
const inputRows = (...columns: [name: string, type: string][]) => {
  const all = [...MESSAGE_KEY.map((name): [string, string] => [name, 'uuid']), ...columns];
  const arrays = all.map(([, type], i) => `$${i + 1}::${type}[]`).join(', ');
  return `unnest(${arrays}) AS input (${all.map(([name]) => name).join(', ')})`;
};
const sameKey = (left: string, right: string) =>
  MESSAGE_KEY.map((column) => `${left}.${column} = ${right}.${column}`).join(' AND ');

/** A batch never waits for a lock: it skips rows that are locked, and the caller retries each of them singly. */
type Locking = '' | 'SKIP LOCKED';

/**
 * $1–$4 keys, $5 leases, $6 now, $7 when a message with decision `behind` is due again, $8 origin. Reads everything
 * again and records the intent to send, or that the message is not to be sent. Appointments are locked against
 * concurrent changes: a concurrent delete is seen as done, or sees the message as being sent. Returns no row for a
 * message whose lease was lost.
 */
const start = (name: string, locking: Locking) =>
  statement(
    name,
    `WITH input AS (
       SELECT * FROM ${inputRows(['lease', 'uuid'])}
     ), a AS (
       SELECT * FROM appointments
        WHERE (company_id, case_id, id) IN (SELECT company_id, case_id, appointment_id FROM input)
          FOR SHARE ${locking}
     ), m AS (
       SELECT m.* FROM input JOIN a ON ${ofAppointment('input')} JOIN messages m ON ${sameKey('m', 'input')}
        WHERE m.lease_by = input.lease AND m.${NOT_ENDED} FOR NO KEY UPDATE OF m ${locking}
     ), decided AS (
       SELECT m.company_id, m.case_id, m.appointment_id, m.id, a.version, ${recipient} AS recipient,
              ${decision} AS decision
         FROM m JOIN a ON ${ofAppointment('m')}
     ), started AS (
       UPDATE messages s
          SET state = CASE WHEN d.decision IN ('wait', 'behind') THEN 'scheduled' ELSE d.decision END,
              attempts = s.attempts + (d.decision = 'sending')::int,
              sequence = CASE d.decision WHEN 'sending' THEN d.version ELSE s.sequence END,
              recipient = CASE d.decision WHEN 'sending' THEN d.recipient ELSE s.recipient END,
              lease_by = CASE d.decision WHEN 'sending' THEN s.lease_by END,
              lease_until = CASE WHEN d.decision = 'sending' THEN s.lease_until
                                 WHEN d.decision = 'behind' THEN $7::timestamptz
                                 WHEN d.decision = 'wait' THEN s.due_at + ${MAX_MEETING_WAIT} END,
              last_error = CASE WHEN d.decision = 'failed' AND s.last_error IS NULL
                                THEN 'The deadline passed while the message was being sent.' ELSE s.last_error END,
              updated_at = $6
         FROM decided d WHERE ${sameKey('s', 'd')}
     ), e AS (
       ${messageAudit.insertEvent('failed', {
         from: `decided d JOIN m ON ${sameKey('m', 'd')} WHERE d.decision = 'failed'`,
         at: '$6',
         origin: '$8',
         before: messageAudit.image,
       })}
     )
     SELECT m.id, d.decision, m.channel, m.kind, m.attempts + 1 AS attempt, m.doubts AS uncertain_attempts,
            ${isoTime('m.due_at')} AS due, ${isoTime(deadline)} AS deadline, ${isoTime('a.start_at')} AS start,
            ${isoTime('a.end_at')} AS end, a.location, a.join_url, a.version, d.recipient, o.name AS company,
            o.time_zone, o.phone_region, nullif(o.sender_name, '') AS sender_name,
            nullif(o.sender_address, '') AS sender_address, v.name AS adviser, ${customer} AS customer
       FROM decided d JOIN m ON ${sameKey('m', 'd')} JOIN a ON ${ofAppointment('m')}
       JOIN companies o ON o.id = a.company_id
       JOIN advisers v ON v.company_id = a.company_id AND v.id = a.adviser_id`,
  );

export const startMessages = start('messages.start_many', 'SKIP LOCKED');
export const startMessage = start('messages.start', '');

/**
 * $1–$4 keys, $5 recipients, $6 ids from the providers, $7 now, $8 origin. Returns the ids of the messages it changed.
 * The message has been sent, so it is recorded even if another worker holds the lease or has changed the state.
 */
const recordSent = (name: string, locking: Locking) =>
  statement(
    name,
    `WITH sent AS (
       SELECT input.*, ${messageAudit.image} AS before
         FROM ${inputRows(['sent_to', 'text'], ['provider_id', 'text'])} JOIN messages m ON ${sameKey('m', 'input')}
        WHERE m.state <> 'sent' FOR NO KEY UPDATE OF m ${locking}
     ), m AS (
       UPDATE messages m SET state = 'sent', sent_at = $7, sent_to = sent.sent_to, provider_id = sent.provider_id,
                             updated_at = $7, lease_by = NULL, lease_until = NULL
         FROM sent WHERE ${sameKey('m', 'sent')} RETURNING m.*
     ), e AS (
       ${messageAudit.insertEvent('sent', {
         from: `m JOIN sent ON ${sameKey('m', 'sent')}`,
         at: '$7',
         origin: '$8',
         before: 'sent.before',
       })}
     )
     SELECT m.id FROM m`,
  );

export const recordMessagesSent = recordSent('messages.record_sent_many', 'SKIP LOCKED');
export const recordMessageSent = recordSent('messages.record_sent', '');

/**
 * $1–$4 key, $5 recipient, $6 id from the provider, $7 now, $8 id for a cancellation, $9 origin. For a confirmation by
 * email. If the appointment was deleted or cancelled in the meantime, a cancellation is scheduled. The share lock waits
 * for a concurrent delete, which may not have seen the confirmation as sent and so scheduled none.
 */
export const recordConfirmationSent = statement(
  'messages.record_confirmation_sent',
  `WITH a AS (
     SELECT * FROM appointments WHERE company_id = $1 AND case_id = $2 AND id = $3 FOR SHARE
   ), locked AS MATERIALIZED (
     SELECT ${messageAudit.image} AS before FROM a JOIN messages m ON ${ofAppointment('m')}
      WHERE m.id = $4 AND m.state <> 'sent' FOR NO KEY UPDATE OF m
   ), m AS (
     UPDATE messages m SET state = 'sent', sent_at = $7, sent_to = $5, provider_id = $6, updated_at = $7,
                           lease_by = NULL, lease_until = NULL
       FROM locked WHERE ${isKey} RETURNING m.*
   ), e AS (
     ${messageAudit.insertEvent('sent', { from: 'm, locked', at: '$7', origin: '$9', before: 'locked.before' })}
   )
   INSERT INTO messages (company_id, case_id, appointment_id, id, channel, kind, start_at, state, due_at, created_at,
                         updated_at, recipient)
   SELECT a.company_id, a.case_id, a.id, $8, 'email', 'cancellation', a.start_at, 'scheduled', $7, $7, $7, $5
     FROM m, a WHERE (a.deleted_at IS NOT NULL OR a.cancelled = 1) AND a.end_at > $7
   ON CONFLICT (company_id, case_id, appointment_id, channel, recipient)
     WHERE kind = 'cancellation' AND state = 'scheduled'
   DO NOTHING`,
);

/**
 * $1–$4 key, $5 lease, $6 now, $7 reason, $8 when to retry, or null to give up, $9 number of new uncertain attempts (0
 * or 1), $10 origin. Returns no row if the lease was lost.
 */
export const recordMessageFailure = statement(
  'messages.record_failure',
  `WITH locked AS MATERIALIZED (
     SELECT ${messageAudit.image} AS before FROM messages m
      WHERE ${isKey} AND m.lease_by = $5 AND m.${NOT_ENDED} FOR NO KEY UPDATE
   ), m AS (
     UPDATE messages m
        SET state = CASE WHEN m.withdrawn OR ${isReplaced('m')} THEN 'cancelled'
                         WHEN $8::timestamptz IS NULL THEN 'failed' ELSE 'scheduled' END,
            lease_by = NULL, lease_until = $8, last_error = $7, doubts = m.doubts + $9::int, updated_at = $6
       FROM locked WHERE ${isKey}
     RETURNING m.*
   ), e AS (
     ${messageAudit.insertEvent('failed', {
       from: `m, locked WHERE m.state = 'failed'`,
       at: '$6',
       origin: '$10',
       before: 'locked.before',
     })}
   )
   SELECT state FROM m`,
);
