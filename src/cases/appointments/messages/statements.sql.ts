import { isoTime, jsonObject, longStatement, statement } from '../../../kernel/sql/statement.ts';
import { ofAppointment } from '../appointment-key.sql.ts';
import { messageAudit } from './audit.sql.ts';

export const MESSAGE_KEY = ['company_id', 'case_id', 'appointment_id', 'id'] as const;

export const isKey = 'company_id = $1 AND case_id = $2 AND appointment_id = $3 AND id = $4';

/** SQL: until when sending the message `m` of the appointment `a` is useful. */
export const deadline = `CASE m.kind WHEN 'reminder' THEN a.start_at ELSE a.end_at END`;

const messageJson = jsonObject({
  id: 'm.id',
  appointment_id: 'm.appointment_id',
  channel: 'm.channel',
  kind: 'm.kind',
  state: `CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END`,
  due_at: isoTime('m.due_at'),
  sent_at: isoTime('m.sent_at'),
  sent_to: 'm.sent_to',
  attempts: 'm.attempts',
  last_error: 'm.last_error',
});

/** $1 company, $2 case, $3 appointment. Returns no row if the appointment does not exist or is deleted. */
export const listAppointmentMessages = statement(
  'messages.of_appointment',
  `SELECT coalesce((SELECT json_agg(${messageJson} ORDER BY m.due_at, m.id)
                      FROM messages m WHERE ${ofAppointment('m')}), '[]')::text
     FROM appointments a WHERE a.company_id = $1 AND a.case_id = $2 AND a.id = $3 AND a.deleted_at IS NULL`,
);

const inStates = 'messages WHERE company_id = $1 AND ($2::text[] IS NULL OR state = ANY($2))';

/** $1 company, $2 states or null for all, $3 limit, $4 offset. The latest due time comes first. */
export const listCompanyMessages = longStatement(
  'messages.of_company',
  `SELECT coalesce((SELECT json_agg(${messageJson} ORDER BY m.due_at DESC, m.id DESC) FROM (
            SELECT * FROM ${inStates} ORDER BY due_at DESC, id DESC LIMIT $3 OFFSET $4) m), '[]')::text AS json,
          (SELECT count(*)::int FROM ${inStates}) AS total`,
);

/** $1 company, $2 case, $3 appointment, $4 message. Returns what decides whether the message can be resent. */
export const findMessage = statement(
  'messages.find',
  `SELECT m.state, m.kind, ${isoTime(deadline)} AS deadline, a.cancelled = 1 AS cancelled
     FROM appointments a JOIN messages m ON ${ofAppointment('m')}
    WHERE a.company_id = $1 AND a.case_id = $2 AND a.id = $3 AND a.deleted_at IS NULL AND m.id = $4`,
);

/** $1–$4 key of the message, $5 id of the new one, $6 now, $7 origin. Returns no row if one is scheduled already. */
export const insertResend = statement(
  'messages.resend',
  `WITH m AS (
     INSERT INTO messages (company_id, case_id, appointment_id, id, channel, kind, start_at, state, due_at, day_before,
                           created_at, updated_at, resend_of)
     SELECT a.company_id, a.case_id, a.id, $5, m.channel, m.kind, a.start_at, 'scheduled', $6, m.day_before,
            $6, $6, m.id
       FROM appointments a JOIN messages m ON ${ofAppointment('m')}
      WHERE a.company_id = $1 AND a.case_id = $2 AND a.id = $3 AND a.deleted_at IS NULL AND a.cancelled = 0
        AND m.id = $4 AND m.state IN ('sent', 'failed') AND m.kind <> 'cancellation'
     ON CONFLICT DO NOTHING
     RETURNING *
   ), e AS (
     ${messageAudit.insertEvent('resent', { from: 'm', at: '$6', origin: '$7' })}
   )
   SELECT ${messageJson}::text FROM m`,
);
