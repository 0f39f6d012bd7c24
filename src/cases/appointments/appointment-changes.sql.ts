import { iso, type Statement, statement } from '../../kernel/sql.ts';
import { calendars, ofAppointment } from '../../messages/calendars.sql.ts';
import { messageLog } from '../../messages/message-log.sql.ts';
import { followAppointments } from '../../video/wish.sql.ts';
import { appointmentLog, held, isHeld } from './appointment-log.sql.ts';
import { words } from './appointment-shapes.sql.ts';

/** What the messages of an appointment depend on, and the version that was read. */
export const APPOINTMENT_ROW = `${iso('start_at')} AS start, ${iso('end_at')} AS end, email_recipient, sms_recipient,
  email_reminder, sms_reminder, cancelled, video_meeting, version`;

/** The message arrays, one element per message, from parameter `first` on. */
export const placed = (first: number) =>
  `unnest(${['uuid', 'text', 'text', 'text', 'timestamptz', 'boolean'].map((type, i) => `$${first + i}::${type}[]`).join(', ')})
     AS n (id, channel, kind, state, due_at, day_before)`;

export const MESSAGE_COLUMNS =
  'company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at';

/** A cancellation for each address whose calendar has the entry; `id` is that of the first. */
export const callOff = (id: string, now: string, from: string) =>
  `INSERT INTO messages (${MESSAGE_COLUMNS}, recipient)
   SELECT a.company_id, a.case_id, a.id, a.start_at, CASE k.place WHEN 1 THEN ${id} ELSE gen_random_uuid() END,
          'email', 'cancellation', 'scheduled', ${now}, false, ${now}, ${now}, k.recipient
     FROM ${from} CROSS JOIN LATERAL (${calendars()}) k
    WHERE a.end_at > ${now}
   ON CONFLICT (company_id, case_id, appointment_id, channel, recipient) WHERE kind = 'cancellation' AND state = 'scheduled'
   DO NOTHING`;

/** A meeting that was given up is not waited for by what is asked for later. */
const meetingFailed = `EXISTS (
  SELECT 1 FROM meetings g WHERE g.company_id = $1 AND g.case_id = $2 AND g.appointment_id = $3 AND g.state = 'failed')`;

type Change = {
  verb: Parameters<typeof appointmentLog.entry>[0];
  set: string;
  meets: string;
  where: string;
  answer: (zone: string) => string;
};

/**
 * A change of an appointment together with that of its messages and its meeting: $1 company, $2 case, $3 id, $4 the version that was
 * read, $5 now, $6 zone, $7… messages placed, $13… messages withdrawn, $16 origin, from $17 on what `set` takes. What has
 * gone out, or is on its way, stays as it is. `meets`: whether a meeting has to be made or told of it, on the row as it was.
 * Nothing where another change came between.
 */
export const change = (name: string, { verb, set, meets, where, answer }: Change): Statement =>
  statement(
    name,
    `WITH ${held(`a.version = $4 AND ${where}`)}, a AS (
       UPDATE appointments a
          SET ${set}, updated_at = $5, version = a.version + 1,
              meeting_pending = a.video_meeting AND ${meets} OR a.meeting_pending AND NOT ${meetingFailed}
         FROM held WHERE ${isHeld}
       RETURNING a.*
     ), e AS (
       ${appointmentLog.entry(verb, { from: 'a, held', at: '$5', origin: '$16', before: 'held.before' })}
     ), old AS (
       SELECT m.* FROM messages m JOIN a ON ${ofAppointment('m')}
     ), withdrawn AS (
       UPDATE messages m
          SET state = CASE m.state WHEN 'sending' THEN m.state ELSE x.state END,
              withdrawn = m.state = 'sending' AND m.kind <> 'reminder', updated_at = $5
         FROM a, unnest($13::text[], $14::text[], $15::text[]) AS x (channel, kind, state)
        WHERE ${ofAppointment('m')}
          AND m.channel = x.channel AND m.kind = x.kind AND m.state IN ('scheduled', 'sending', 'skipped')
       RETURNING m.*
     ), superseded AS (
       UPDATE messages m SET state = 'cancelled', updated_at = $5
         FROM a, ${placed(7)}
        WHERE ${ofAppointment('m')}
          AND n.kind = 'reminder' AND m.kind = 'reminder' AND m.channel = n.channel
          AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
       RETURNING m.*
     ), placed_before AS MATERIALIZED (
       SELECT m.id, m.channel, m.state, ${messageLog.image} AS before
         FROM a CROSS JOIN ${placed(7)}
         JOIN messages m ON ${ofAppointment('m')} AND m.channel = n.channel AND m.start_at = a.start_at
        WHERE n.kind = 'reminder' AND m.kind = 'reminder' AND m.resend_of IS NULL FOR NO KEY UPDATE OF m
     ), reminders AS (
       INSERT INTO messages (${MESSAGE_COLUMNS})
       SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, $5, $5
         FROM a CROSS JOIN ${placed(7)} LEFT JOIN placed_before b ON b.channel = n.channel
        WHERE n.kind = 'reminder' AND coalesce(b.state NOT IN ('sent', 'sending', 'scheduled'), true)
       ON CONFLICT (company_id, case_id, appointment_id, channel, start_at) WHERE kind = 'reminder' AND resend_of IS NULL
       DO UPDATE SET state = excluded.state, due_at = excluded.due_at, day_before = excluded.day_before,
                     updated_at = excluded.updated_at, attempts = 0, doubts = 0, last_error = NULL, lease_by = NULL, lease_until = NULL
       RETURNING *
     ), rescheduled AS (
       ${messageLog.entry('rescheduled', {
         from: `reminders m JOIN placed_before b ON b.id = m.id WHERE b.state = 'failed'`,
         at: '$5',
         origin: '$16',
         before: 'b.before',
       })}
     ), confirmations AS (
       INSERT INTO messages (${MESSAGE_COLUMNS})
       SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, $5, $5 FROM a, ${placed(7)} WHERE n.kind = 'confirmation'
       ON CONFLICT (company_id, case_id, appointment_id, channel) WHERE kind = 'confirmation' AND state = 'scheduled'
       DO NOTHING
       RETURNING *
     ), cancellations AS (
       ${callOff('n.id', '$5::timestamptz', `a JOIN ${placed(7)} ON n.kind = 'cancellation'`)}
     ), meeting AS (
       ${followAppointments('$5')}
     ), changed AS (
       SELECT * FROM withdrawn UNION ALL SELECT * FROM superseded
       UNION ALL SELECT * FROM reminders UNION ALL SELECT * FROM confirmations
     )
     SELECT ${answer('$6')}::text
       FROM a, ${words('SELECT * FROM changed UNION ALL SELECT * FROM old WHERE id NOT IN (SELECT id FROM changed)')}`,
  );
