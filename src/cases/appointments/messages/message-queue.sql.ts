import { type QueueStatements, queueStatements } from '../../../kernel/jobs/job-queue.sql.ts';
import { isoTime } from '../../../kernel/sql/json.ts';
import { write } from '../../../kernel/sql/statement.ts';
import { APPOINTMENT_KEY_INPUTS, ofAppointment, ofInputAppointment } from '../appointment-key.sql.ts';
import { messageAudit } from './audit.sql.ts';
import { content, customer, firstOrganizer, organizer, ownTexts, recipientContext, SAID } from './content.sql.ts';
import { deadline } from './statements.sql.ts';

/** The statements of one delivery attempt: start, record as sent, record a failure. */

export const MESSAGE_KEY = ['company_id', 'case_id', 'appointment_id', 'id'] as const;
export type MessageKey = Record<(typeof MESSAGE_KEY)[number], string>;
const OPEN = `state IN ('scheduled', 'sending')`;

/** Each channel has a queue of its own, so that a provider that hangs does not delay the other channel. */
export const statements = { email: channelQueue('email'), sms: channelQueue('sms') };

function channelQueue(channel: string): QueueStatements {
  const open = `${OPEN} AND channel = '${channel}'`;
  const table = { tenantTable: 'companies', table: 'messages', key: MESSAGE_KEY, open };
  return queueStatements({ name: `messages.${channel}`, ...table });
}

/**
 * Means the same as OPEN but does not match the partial index of due messages. With fresh statistics the planner took
 * that index for the key's, and read a company's whole backlog for each message.
 */
const NOT_ENDED = `state NOT IN ('sent', 'failed', 'cancelled', 'skipped')`;

export const sameMessage = (one: string, other: string) =>
  MESSAGE_KEY.map((column) => `${one}.${column} = ${other}.${column}`).join(' AND ');

/** The message of the appointment whose key is in the other inputs. */
const MESSAGE_INPUTS = { ...APPOINTMENT_KEY_INPUTS, message_id: 'uuid' } as const;
/** SQL: whether `m` is the message in the inputs. */
const isMessage = (input: Record<keyof typeof MESSAGE_INPUTS, string>) =>
  `${ofInputAppointment('m', input)} AND m.id = ${input.message_id}`;

/** SQL: whether a second request for the same message, made while `m` was being sent, takes its place. */
const isReplaced = `EXISTS (
  SELECT 1 FROM messages o
   WHERE o.company_id = m.company_id AND o.case_id = m.case_id AND o.appointment_id = m.appointment_id
     AND o.channel = m.channel AND o.kind = m.kind
     AND (o.state = 'scheduled' AND o.id <> m.id OR o.state IN ('sending', 'sent') AND o.id > m.id)
     AND (o.kind <> 'cancellation' OR o.state = 'scheduled' AND o.recipient = m.recipient)
     AND (o.kind <> 'reminder' OR o.resend_of IS NOT NULL AND m.resend_of IS NOT NULL))`;

/** SQL: whether an earlier confirmation is being sent. Messages must arrive in the order they were requested in. */
const behindEarlierConfirmation = `EXISTS (
  SELECT 1 FROM messages c WHERE ${ofAppointment('c')} AND c.channel = m.channel AND c.kind = 'confirmation'
     AND c.state = 'sending' AND c.id < m.id)`;

/** How long a confirmation waits for the link of a meeting that is being created. */
const MAX_MEETING_WAIT = `interval '15 minutes'`;

const TOO_LATE = `CASE WHEN m.attempts > 0 THEN 'failed' ELSE 'skipped' END`;

/** SQL: whether to send the due message `m` now, given its appointment `a` and what its recipient was `told`. */
const decision = (now: string) => `CASE
  WHEN m.withdrawn OR m.state = 'sending' AND ${isReplaced} THEN 'cancelled'
  WHEN m.kind = 'cancellation' THEN CASE
    WHEN a.deleted_at IS NULL AND a.cancelled = 0 THEN 'cancelled'
    WHEN EXISTS (SELECT 1 FROM messages c WHERE ${ofAppointment('c')} AND c.channel = m.channel
                    AND c.kind <> 'cancellation' AND c.state = 'sending') THEN 'behind'
    WHEN told.id IS NULL THEN 'cancelled'
    WHEN ${deadline} <= ${now} THEN ${TOO_LATE}
    ELSE 'sending' END
  WHEN a.deleted_at IS NOT NULL OR a.cancelled = 1 THEN 'cancelled'
  WHEN m.kind = 'reminder' AND m.start_at <> a.start_at THEN 'cancelled'
  WHEN m.kind = 'reminder' AND m.resend_of IS NULL
       AND NOT CASE m.channel WHEN 'email' THEN a.email_reminder ELSE a.sms_reminder END THEN 'cancelled'
  WHEN CASE m.channel WHEN 'email' THEN a.email_recipient ELSE a.sms_recipient END IS NULL THEN 'skipped'
  WHEN ${deadline} <= ${now} THEN ${TOO_LATE}
  WHEN m.kind = 'confirmation' AND a.meeting_pending AND m.due_at + ${MAX_MEETING_WAIT} > ${now} THEN 'wait'
  WHEN m.kind = 'confirmation' AND ${behindEarlierConfirmation} THEN 'behind'
  ELSE 'sending' END`;

/** The keys of several messages, an element for each of them. */
const MESSAGES_INPUTS = {
  company_ids: 'uuid[]',
  case_ids: 'uuid[]',
  appointment_ids: 'uuid[]',
  message_ids: 'uuid[]',
} as const;

/** SQL: the row of the message in the inputs, with further columns. */
const messageRow = (input: Record<keyof typeof MESSAGE_INPUTS, string>, columns: Record<string, string>) => {
  const further = Object.entries(columns).map(([name, value]) => `, ${value} AS ${name}`);
  return `SELECT ${input.company_id} AS company_id, ${input.case_id} AS case_id, ${input.id} AS appointment_id,
             ${input.message_id} AS id${further.join('')}`;
};
/** SQL: the rows of the messages in the inputs, with further columns from arrays. */
const messageRows = (input: Record<keyof typeof MESSAGES_INPUTS, string>, columns: Record<string, string>) =>
  `SELECT * FROM unnest(${[input.company_ids, input.case_ids, input.appointment_ids, input.message_ids].join(', ')},
                           ${Object.values(columns).join(', ')})
           AS t (company_id, case_id, appointment_id, id, ${Object.keys(columns).join(', ')})`;

/** A batch never waits for a lock: it skips rows that are locked, and the caller retries each of them singly. */
type Locking = '' | 'SKIP LOCKED';

/** `mail_from`: the sender address of companies without one of their own. */
const START_INPUTS = { mail_from: 'text', now: 'timestamptz', behind_until: 'timestamptz', origin: 'json' } as const;

/**
 * `claimed`: SQL of the messages with their `lease`. Reads everything again and records the intent to send, or that the
 * message is not to be sent. A message with the decision `behind` is due again at `behind_until`. Appointments are
 * locked against concurrent changes: a concurrent delete is seen as done, or sees the message as being sent. The attempt
 * of a worker that died counts as uncertain. Returns no row for a message whose lease was lost.
 */
const startSql = (
  claimed: string,
  { mail_from, now, behind_until, origin }: Record<keyof typeof START_INPUTS, string>,
  locking: Locking,
) => `
    WITH claimed AS (
      ${claimed}
    ), a AS (
      SELECT * FROM appointments
       WHERE (company_id, case_id, id) IN (SELECT company_id, case_id, appointment_id FROM claimed)
         FOR SHARE ${locking}
    ), m AS (
      SELECT m.* FROM claimed JOIN a ON ${ofAppointment('claimed')} JOIN messages m ON ${sameMessage('m', 'claimed')}
       WHERE m.lease_by = claimed.lease AND m.${NOT_ENDED} FOR NO KEY UPDATE OF m ${locking}
    ), decided AS (
      SELECT m.company_id, m.case_id, m.appointment_id, m.id, a.version AS sequence, ${decision(now)} AS decision,
             ${content}
        FROM m JOIN a ON ${ofAppointment('m')}
       ${recipientContext}
    ), d AS (
      SELECT decided.*, ${organizer(mail_from)}
        FROM decided JOIN a ON ${ofAppointment('decided')} JOIN companies o ON o.id = a.company_id
       ${firstOrganizer}
    ), started AS (
      UPDATE messages s
         SET state = CASE WHEN d.decision IN ('wait', 'behind') THEN 'scheduled' ELSE d.decision END,
             attempts = s.attempts + (d.decision = 'sending')::int,
             doubts = s.doubts + (s.state = 'sending')::int,
             ${SAID.map((name) => `${name} = CASE d.decision WHEN 'sending' THEN d.${name} ELSE s.${name} END`).join(`,
             `)},
             lease_by = CASE d.decision WHEN 'sending' THEN s.lease_by END,
             lease_until = CASE d.decision WHEN 'sending' THEN s.lease_until
                                           WHEN 'behind' THEN ${behind_until}
                                           WHEN 'wait' THEN s.due_at + ${MAX_MEETING_WAIT} END,
             last_error = CASE WHEN d.decision = 'failed' AND s.last_error IS NULL
                               THEN 'The deadline passed while the message was being sent.' ELSE s.last_error END,
             updated_at = ${now}
        FROM d WHERE ${sameMessage('s', 'd')}
    ), event AS (
      ${messageAudit.insertEvent('failed', {
        from: `decided d JOIN m ON ${sameMessage('m', 'd')} WHERE d.decision = 'failed'`,
        at: now,
        origin,
        before: messageAudit.image,
      })}
    )
    SELECT m.id, d.decision, m.channel, m.kind, m.attempts + 1 AS attempt, m.doubts AS uncertain_attempts,
           ${isoTime('m.due_at')} AS due, ${isoTime(deadline)} AS deadline, ${isoTime('d.told_start_at')} AS start,
           ${isoTime('d.told_end_at')} AS end, d.told_location AS location, d.told_join_url AS join_url,
           ${isoTime('d.earlier_start_at')} AS earlier_start, ${isoTime('d.earlier_end_at')} AS earlier_end,
           d.earlier_location, d.sequence AS version, d.recipient, d.organizer_name, d.organizer_address,
           o.name AS company, o.time_zone, o.phone_region, nullif(o.sender_name, '') AS sender_name,
           nullif(o.sender_address, '') AS sender_address, o.client_contact_email, o.client_contact_phone,
           o.contact_line, o.message_signature, v.name AS adviser, ${customer} AS customer,
           ${ownTexts} AS own_texts
      FROM d JOIN m ON ${sameMessage('m', 'd')} JOIN a ON ${ofAppointment('m')}
      JOIN companies o ON o.id = a.company_id
      JOIN advisers v ON v.company_id = a.company_id AND v.id = a.adviser_id`;

export const startMessages = write('messages.start_many', {
  inputs: { ...MESSAGES_INPUTS, leases: 'uuid[]', ...START_INPUTS },
  sql: (input) => startSql(messageRows(input, { lease: input.leases }), input, 'SKIP LOCKED'),
});
export const startMessage = write('messages.start', {
  inputs: { ...MESSAGE_INPUTS, lease: 'uuid', ...START_INPUTS },
  sql: (input) => startSql(messageRow(input, { lease: input.lease }), input, ''),
});

/**
 * `delivered`: SQL of the messages with `sent_to`, `provider_id` and `cancellation_id`. Returns the ids of the messages
 * it changed. The message has been sent, so it is recorded even if another worker holds the lease or has changed the
 * state. If the appointment was deleted or cancelled in the meantime, a cancellation is scheduled. The share lock waits
 * for a concurrent delete, which may not have seen the message as sent and so scheduled none.
 */
const recordSentSql = (delivered: string, { now, origin }: Record<'now' | 'origin', string>, locking: Locking) => `
    WITH delivered AS (
      ${delivered}
    ), a AS (
      SELECT * FROM appointments
       WHERE (company_id, case_id, id) IN (SELECT company_id, case_id, appointment_id FROM delivered)
         FOR SHARE ${locking}
    ), sent AS (
      SELECT delivered.*, ${messageAudit.image} AS before
        FROM delivered JOIN a ON ${ofAppointment('delivered')} JOIN messages m ON ${sameMessage('m', 'delivered')}
       WHERE m.state <> 'sent' FOR NO KEY UPDATE OF m ${locking}
    ), m AS (
      UPDATE messages m SET state = 'sent', sent_at = ${now}, sent_to = sent.sent_to, provider_id = sent.provider_id,
                            updated_at = ${now}, lease_by = NULL, lease_until = NULL
        FROM sent WHERE ${sameMessage('m', 'sent')} RETURNING m.*
    ), event AS (
      ${messageAudit.insertEvent('sent', {
        from: `m JOIN sent ON ${sameMessage('m', 'sent')}`,
        at: now,
        origin,
        before: 'sent.before',
      })}
    ), cancellations AS (
      INSERT INTO messages (company_id, case_id, appointment_id, id, channel, kind, start_at, state, due_at, created_at,
                            updated_at, recipient)
      SELECT a.company_id, a.case_id, a.id, sent.cancellation_id, m.channel, 'cancellation', a.start_at, 'scheduled',
             ${now}, ${now}, ${now}, m.recipient
        FROM m JOIN sent ON ${sameMessage('m', 'sent')} JOIN a ON ${ofAppointment('m')}
       WHERE m.kind <> 'cancellation' AND (a.deleted_at IS NOT NULL OR a.cancelled = 1) AND a.end_at > ${now}
      ON CONFLICT (company_id, case_id, appointment_id, channel, recipient)
        WHERE kind = 'cancellation' AND state = 'scheduled'
      DO NOTHING
    )
    SELECT m.id FROM m`;

export const recordMessagesSent = write('messages.record_sent_many', {
  inputs: {
    ...MESSAGES_INPUTS,
    sent_to: 'text[]',
    provider_ids: 'text[]',
    cancellation_ids: 'uuid[]',
    now: 'timestamptz',
    origin: 'json',
  },
  sql: (input) => {
    const { sent_to, provider_ids: provider_id, cancellation_ids: cancellation_id } = input;
    return recordSentSql(messageRows(input, { sent_to, provider_id, cancellation_id }), input, 'SKIP LOCKED');
  },
});
export const recordMessageSent = write('messages.record_sent', {
  inputs: {
    ...MESSAGE_INPUTS,
    sent_to: 'text',
    provider_id: 'text?',
    cancellation_id: 'uuid',
    now: 'timestamptz',
    origin: 'json',
  },
  sql: (input) => {
    const { sent_to, provider_id, cancellation_id } = input;
    return recordSentSql(messageRow(input, { sent_to, provider_id, cancellation_id }), input, '');
  },
});

/**
 * `retry_at` is null to give up; `uncertain_attempts` is 1 if the attempt was uncertain, else 0. Returns no row if the
 * lease was lost.
 */
export const recordMessageFailure = write('messages.record_failure', {
  inputs: {
    ...MESSAGE_INPUTS,
    lease: 'uuid',
    last_error: 'text?',
    retry_at: 'timestamptz?',
    uncertain_attempts: 'int',
    now: 'timestamptz',
    origin: 'json',
  },
  sql: (input) => `
    WITH locked AS MATERIALIZED (
      SELECT ${messageAudit.image} AS before FROM messages m
       WHERE ${isMessage(input)} AND m.lease_by = ${input.lease} AND m.${NOT_ENDED} FOR NO KEY UPDATE
    ), m AS (
      UPDATE messages m
         SET state = CASE WHEN m.withdrawn OR ${isReplaced} THEN 'cancelled'
                          WHEN ${input.retry_at} IS NULL THEN 'failed' ELSE 'scheduled' END,
             lease_by = NULL, lease_until = ${input.retry_at}, last_error = ${input.last_error},
             doubts = m.doubts + ${input.uncertain_attempts}, updated_at = ${input.now}
        FROM locked WHERE ${isMessage(input)}
      RETURNING m.*
    ), event AS (
      ${messageAudit.insertEvent('failed', {
        from: `m, locked WHERE m.state = 'failed'`,
        at: input.now,
        origin: input.origin,
        before: 'locked.before',
      })}
    )
    SELECT state FROM m`,
});
