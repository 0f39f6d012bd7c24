import { isoTime, statement } from '../../../kernel/sql/statement.ts';
import { messageLog } from './audit.sql.ts';
import { calendars, ofAppointment } from './calendar-recipients.sql.ts';
import { deadline, isKey, KEY } from './statements.sql.ts';

/** A message on its way: begin, sent, not sent. */

export { KEY };
export const OPEN = `state IN ('scheduled', 'sending')`;
// The same, but no match for the index of claims: on young statistics it was taken for that of the key, and a company's
// whole backlog was read for each message.
const NOT_ENDED = `state NOT IN ('sent', 'failed', 'cancelled', 'skipped')`;

/** A second request for the same thing, made while the first was on its way, stands in for it, also when it has gone out. */
const replaced = (m: string) => `EXISTS (
  SELECT 1 FROM messages o
   WHERE o.company_id = ${m}.company_id AND o.case_id = ${m}.case_id AND o.appointment_id = ${m}.appointment_id
     AND o.channel = ${m}.channel AND o.kind = ${m}.kind
     AND (o.state = 'scheduled' AND o.id <> ${m}.id OR o.state IN ('sending', 'sent') AND o.id > ${m}.id)
     AND (o.kind <> 'cancellation' OR o.state = 'scheduled' AND o.recipient = ${m}.recipient)
     AND (o.kind <> 'reminder' OR o.resend_of IS NOT NULL AND ${m}.resend_of IS NOT NULL))`;

/** What was last sent there, but for `m` itself, put the appointment into the calendar. */
const inCalendar = `EXISTS (${calendars((other) => `${other}.id <> m.id AND lower(${other}.recipient) = lower(m.recipient)`)})`;

/** What was asked for later never comes before what is on its way. */
const behindAnother = `EXISTS (
  SELECT 1 FROM messages c WHERE ${ofAppointment('c')} AND c.channel = m.channel AND c.kind = 'confirmation'
     AND c.state = 'sending' AND c.id < m.id)`;

/** How long a confirmation waits for a meeting that is being made. */
const MEETING_WAIT = `interval '15 minutes'`;

const TOO_LATE = `CASE WHEN m.attempts > 0 THEN 'failed' ELSE 'skipped' END`;

/** What becomes of a message whose turn has come, as things stand now. */
const verdict = `CASE
  WHEN m.withdrawn OR m.state = 'sending' AND ${replaced('m')} THEN 'cancelled'
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
  WHEN m.kind = 'confirmation' AND a.meeting_pending AND m.due_at + ${MEETING_WAIT} > $6 THEN 'wait'
  WHEN m.kind = 'confirmation' AND ${behindAnother} THEN 'behind'
  ELSE 'sending' END`;

const recipient = `CASE
  WHEN m.kind = 'cancellation' THEN m.recipient
  WHEN m.channel = 'email' THEN a.email_recipient ELSE a.sms_recipient END`;

/** Whoever it goes to, which for a cancellation need not be whom the appointment names by now. */
const customer = `(
  SELECT concat_ws(' ', nullif(u.title, ''), nullif(u.first_names, ''), nullif(u.last_name, '')) FROM customers u
   WHERE u.company_id = a.company_id AND u.case_id = a.case_id AND lower(u.email) = lower(${recipient})
   ORDER BY u.removed_at IS NOT NULL, u.id LIMIT 1)`;

/** The message arrays, one element each: company, case, appointment, id; and what else there is. */
const given = (...more: [name: string, type: string][]) => {
  const columns = [...KEY.map((name): [string, string] => [name, 'uuid']), ...more];
  const arrays = columns.map(([, type], i) => `$${i + 1}::${type}[]`).join(', ');
  return `unnest(${arrays}) AS t (${columns.map(([name]) => name).join(', ')})`;
};
const isGiven = (alias: string) => KEY.map((column) => `${alias}.${column} = t.${column}`).join(' AND ');

/** Many at once never wait for a lock: what somebody else holds is passed over, and asked for alone. */
type Locking = '' | 'SKIP LOCKED';

/**
 * $1–$4 keys, $5 claims, $6 now, $7 when one that is behind another asks again, $8 origin. Reads everything anew and writes down the intent to
 * send, or that there is nothing to send. The appointments are locked against changes meanwhile: one that is being
 * deleted is seen as deleted, or sees the message as on its way. Nothing where a claim has been lost.
 */
const begin = (name: string, locking: Locking) =>
  statement(
    name,
    `WITH t AS (
       SELECT * FROM ${given(['claim', 'uuid'])}
     ), a AS (
       SELECT * FROM appointments WHERE (company_id, case_id, id) IN (SELECT company_id, case_id, appointment_id FROM t)
          FOR SHARE ${locking}
     ), m AS (
       SELECT m.* FROM t JOIN a ON ${ofAppointment('t')} JOIN messages m ON ${isGiven('m')}
        WHERE m.lease_by = t.claim AND m.${NOT_ENDED} FOR NO KEY UPDATE OF m ${locking}
     ), judged AS (
       SELECT m.company_id, m.case_id, m.appointment_id, m.id, a.version, ${recipient} AS recipient, ${verdict} AS verdict
         FROM m JOIN a ON ${ofAppointment('m')}
     ), written AS (
       UPDATE messages w
          SET state = CASE WHEN t.verdict IN ('wait', 'behind') THEN 'scheduled' ELSE t.verdict END,
              attempts = w.attempts + (t.verdict = 'sending')::int,
              sequence = CASE t.verdict WHEN 'sending' THEN t.version ELSE w.sequence END,
              recipient = CASE t.verdict WHEN 'sending' THEN t.recipient ELSE w.recipient END,
              lease_by = CASE t.verdict WHEN 'sending' THEN w.lease_by END,
              lease_until = CASE WHEN t.verdict = 'sending' THEN w.lease_until
                                 WHEN t.verdict = 'behind' THEN $7::timestamptz
                                 WHEN t.verdict = 'wait' THEN w.due_at + ${MEETING_WAIT} END,
              last_error = CASE WHEN t.verdict = 'failed' AND w.last_error IS NULL
                                THEN 'Its time passed while it was being sent.' ELSE w.last_error END,
              updated_at = $6
         FROM judged t WHERE ${isGiven('w')}
     ), e AS (
       ${messageLog.insertEvent('failed', {
         from: `judged t JOIN m ON ${isGiven('m')} WHERE t.verdict = 'failed'`,
         at: '$6',
         origin: '$8',
         before: messageLog.image,
       })}
     )
     SELECT m.id, t.verdict, m.channel, m.kind, m.attempts + 1 AS attempt, m.doubts, ${isoTime('m.due_at')} AS due,
            ${isoTime(deadline)} AS deadline, ${isoTime('a.start_at')} AS start, ${isoTime('a.end_at')} AS end,
            a.location, a.join_url, a.version, t.recipient, o.name AS company, o.time_zone, o.phone_region,
            nullif(o.sender_name, '') AS sender_name, nullif(o.sender_address, '') AS sender_address, d.name AS adviser,
            ${customer} AS customer
       FROM judged t JOIN m ON ${isGiven('m')} JOIN a ON ${ofAppointment('m')}
       JOIN companies o ON o.id = a.company_id
       JOIN advisers d ON d.company_id = a.company_id AND d.id = a.adviser_id`,
  );

export const beginMessages = begin('messages.begin_many', 'SKIP LOCKED');
export const beginMessage = begin('messages.begin', '');

/**
 * $1–$4 keys, $5 to whom, $6 the providers' ids, $7 now, $8 origin: gives those that it has written. Whoever holds the lease by
 * now, and whatever they have made of it: it has gone out.
 */
const sent = (name: string, locking: Locking) =>
  statement(
    name,
    `WITH t AS (
       SELECT t.*, ${messageLog.image} AS before FROM ${given(['sent_to', 'text'], ['provider_id', 'text'])} JOIN messages m ON ${isGiven('m')}
        WHERE m.state <> 'sent' FOR NO KEY UPDATE OF m ${locking}
     ), m AS (
       UPDATE messages m SET state = 'sent', sent_at = $7, sent_to = t.sent_to, provider_id = t.provider_id,
                             updated_at = $7, lease_by = NULL, lease_until = NULL
         FROM t WHERE ${isGiven('m')} RETURNING m.*
     ), e AS (
       ${messageLog.insertEvent('sent', { from: `m JOIN t ON ${isGiven('m')}`, at: '$7', origin: '$8', before: 't.before' })}
     )
     SELECT m.id FROM m`,
  );

export const messagesSent = sent('messages.sent_many', 'SKIP LOCKED');
export const messageSent = sent('messages.sent', '');

/**
 * A confirmation by email: $1–$4 key, $5 to whom, $6 the provider's id, $7 now, $8 the id of a cancellation, $9 origin. Where the appointment was deleted or cancelled
 * meanwhile it is called off; one that is just being deleted is waited for, because that may have seen nothing sent.
 */
export const confirmationSent = statement(
  'messages.confirmation_sent',
  `WITH a AS (
     SELECT * FROM appointments WHERE company_id = $1 AND case_id = $2 AND id = $3 FOR SHARE
   ), held AS MATERIALIZED (
     SELECT ${messageLog.image} AS before FROM a JOIN messages m ON ${ofAppointment('m')}
      WHERE m.id = $4 AND m.state <> 'sent' FOR NO KEY UPDATE OF m
   ), m AS (
     UPDATE messages m SET state = 'sent', sent_at = $7, sent_to = $5, provider_id = $6, updated_at = $7,
                           lease_by = NULL, lease_until = NULL
       FROM held WHERE ${isKey} RETURNING m.*
   ), e AS (
     ${messageLog.insertEvent('sent', { from: 'm, held', at: '$7', origin: '$9', before: 'held.before' })}
   )
   INSERT INTO messages (company_id, case_id, appointment_id, id, channel, kind, start_at, state, due_at, created_at, updated_at,
                         recipient)
   SELECT a.company_id, a.case_id, a.id, $8, 'email', 'cancellation', a.start_at, 'scheduled', $7, $7, $7, $5
     FROM m, a WHERE (a.deleted_at IS NOT NULL OR a.cancelled = 1) AND a.end_at > $7
   ON CONFLICT (company_id, case_id, appointment_id, channel, recipient) WHERE kind = 'cancellation' AND state = 'scheduled'
   DO NOTHING`,
);

/**
 * $1–$4 key, $5 claim, $6 now, $7 the reason, $8 when to try again, or null when never, $9 how many doubts are new,
 * $10 origin
 */
export const messageNotSent = statement(
  'messages.not_sent',
  `WITH held AS MATERIALIZED (
     SELECT ${messageLog.image} AS before FROM messages m
      WHERE ${isKey} AND m.lease_by = $5 AND m.${NOT_ENDED} FOR NO KEY UPDATE
   ), m AS (
     UPDATE messages m
        SET state = CASE WHEN m.withdrawn OR ${replaced('m')} THEN 'cancelled'
                         WHEN $8::timestamptz IS NULL THEN 'failed' ELSE 'scheduled' END,
            lease_by = NULL, lease_until = $8, last_error = $7, doubts = m.doubts + $9::int, updated_at = $6
       FROM held WHERE ${isKey}
     RETURNING m.*
   ), e AS (
     ${messageLog.insertEvent('failed', {
       from: `m, held WHERE m.state = 'failed'`,
       at: '$6',
       origin: '$10',
       before: 'held.before',
     })}
   )
   SELECT state FROM m`,
);
