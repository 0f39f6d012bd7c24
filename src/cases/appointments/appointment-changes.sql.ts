import { iso, type Statement, statement } from '../../kernel/sql.ts';
import { followAppointments } from '../../video/wish.sql.ts';
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

const ofAppointment = (alias: string) =>
  `${alias}.company_id = a.company_id AND ${alias}.case_id = a.case_id AND ${alias}.appointment_id = a.id`;

/** Whether the client's calendar has the entry, or is about to get it: what was sent last by email decides. */
export const inCalendar = `coalesce((
  SELECT max(m.sequence) FILTER (WHERE m.kind = 'confirmation')
         > coalesce(max(m.sequence) FILTER (WHERE m.kind = 'cancellation'), 0)
    FROM messages m WHERE ${ofAppointment('m')} AND m.channel = 'email' AND m.state IN ('sending', 'sent')), false)`;

/** A meeting that was given up is not waited for by what is asked for later. */
const meetingFailed = `EXISTS (
  SELECT 1 FROM meetings g WHERE g.company_id = $1 AND g.case_id = $2 AND g.appointment_id = $3 AND g.state = 'failed')`;

/**
 * A change of an appointment together with that of its messages and its meeting: $1 company, $2 case, $3 id, $4 the version that was
 * read, $5 now, $6 zone, $7… messages placed, $13… messages withdrawn, from $16 on what `set` takes. What has gone out,
 * or is on its way, stays as it is. `meets`: whether a meeting has to be made or told of it, on the row as it was.
 * Nothing where another change came between.
 */
export const change = (
  name: string,
  { set, meets, where, answer }: { set: string; meets: string; where: string; answer: (zone: string) => string },
): Statement =>
  statement(
    name,
    `WITH a AS (
       UPDATE appointments
          SET ${set}, updated_at = $5, version = version + 1,
              meeting_pending = video_meeting AND ${meets} OR meeting_pending AND NOT ${meetingFailed}
        WHERE company_id = $1 AND case_id = $2 AND id = $3 AND version = $4 AND ${where}
       RETURNING *
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
     ), reminders AS (
       INSERT INTO messages AS m (${MESSAGE_COLUMNS})
       SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, $5, $5 FROM a, ${placed(7)} WHERE n.kind = 'reminder'
       ON CONFLICT (company_id, case_id, appointment_id, channel, start_at) WHERE kind = 'reminder' AND resend_of IS NULL
       DO UPDATE SET state = excluded.state, due_at = excluded.due_at, day_before = excluded.day_before,
                     updated_at = excluded.updated_at, attempts = 0, doubts = 0, last_error = NULL, lease_by = NULL, lease_until = NULL
        WHERE m.state NOT IN ('sent', 'sending', 'scheduled')
       RETURNING m.*
     ), confirmations AS (
       INSERT INTO messages (${MESSAGE_COLUMNS})
       SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, $5, $5 FROM a, ${placed(7)} WHERE n.kind = 'confirmation'
       ON CONFLICT (company_id, case_id, appointment_id, channel) WHERE kind = 'confirmation' AND state = 'scheduled'
       DO NOTHING
       RETURNING *
     ), cancellations AS (
       INSERT INTO messages (${MESSAGE_COLUMNS})
       SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, $5, $5 FROM a, ${placed(7)}
        WHERE n.kind = 'cancellation' AND a.end_at > $5 AND ${inCalendar}
       ON CONFLICT (company_id, case_id, appointment_id, channel) WHERE kind = 'cancellation' AND state = 'scheduled'
       DO NOTHING
     ), meeting AS (
       ${followAppointments('$5')}
     ), changed AS (
       SELECT * FROM withdrawn UNION ALL SELECT * FROM superseded
       UNION ALL SELECT * FROM reminders UNION ALL SELECT * FROM confirmations
     )
     SELECT ${answer('$6')}::text
       FROM a, ${words('SELECT * FROM changed UNION ALL SELECT * FROM old WHERE id NOT IN (SELECT id FROM changed)')}`,
  );
