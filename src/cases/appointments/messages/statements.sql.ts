import { isoTime, jsonObject } from '../../../kernel/sql/json.ts';
import { read, write } from '../../../kernel/sql/statement.ts';
import { APPOINTMENT_KEY_INPUTS, isAppointment, ofAppointment } from '../appointment-key.sql.ts';
import { messageAudit } from './audit.sql.ts';

/** SQL: until when sending the message `m` of the appointment `a` is useful. */
export const deadline = `CASE m.kind WHEN 'reminder' THEN a.start_at ELSE a.end_at END`;

const messageFields = {
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
};
const messageJson = jsonObject(messageFields);

/** Returns no row if the appointment does not exist or is deleted. */
export const listAppointmentMessages = read('messages.of_appointment', {
  inputs: APPOINTMENT_KEY_INPUTS,
  sql: (input) => `
    SELECT coalesce((SELECT json_agg(${messageJson} ORDER BY m.due_at, m.id)
                       FROM messages m WHERE ${ofAppointment('m')}), '[]')::text
      FROM appointments a WHERE ${isAppointment(input)} AND a.deleted_at IS NULL`,
});

/** `states` is null for all. The latest due time comes first. */
export const listCompanyMessages = read('messages.of_company', {
  inputs: { company_id: 'uuid', states: 'text[]?', limit: 'int', offset: 'int', reads_cases: 'boolean' },
  pool: 'search',
  sql: (input) => {
    const matching = `messages
             WHERE company_id = ${input.company_id} AND (${input.states} IS NULL OR state = ANY (${input.states}))`;
    const reference = `(SELECT c.reference FROM cases c
      WHERE ${input.reads_cases} AND c.company_id = m.company_id AND c.id = m.case_id)`;
    const json = jsonObject({
      ...messageFields,
      start: isoTime('m.start_at'),
      case: jsonObject({ id: 'm.case_id', reference }),
    });
    return `
    SELECT coalesce((SELECT json_agg(${json} ORDER BY m.due_at DESC, m.id DESC) FROM (
             SELECT * FROM ${matching}
              ORDER BY due_at DESC, id DESC LIMIT ${input.limit} OFFSET ${input.offset}) m), '[]')::text AS json,
           (SELECT count(*)::int FROM ${matching}) AS total`;
  },
});

/** Returns what decides whether the message can be resent. */
export const findMessage = read('messages.find', {
  inputs: { ...APPOINTMENT_KEY_INPUTS, message_id: 'uuid' },
  sql: (input) => `
    SELECT m.state, m.kind, ${isoTime(deadline)} AS deadline, a.cancelled = 1 AS cancelled
      FROM appointments a JOIN messages m ON ${ofAppointment('m')}
     WHERE ${isAppointment(input)} AND a.deleted_at IS NULL AND m.id = ${input.message_id}`,
});

/** Returns no row if a message of this kind is scheduled already. */
export const insertResend = write('messages.resend', {
  inputs: {
    ...APPOINTMENT_KEY_INPUTS,
    message_id: 'uuid',
    new_message_id: 'uuid',
    now: 'timestamptz',
    origin: 'json',
  },
  sql: (input) => `
    WITH m AS (
      INSERT INTO messages (company_id, case_id, appointment_id, id, channel, kind, start_at, state, due_at, day_before,
                            created_at, updated_at, resend_of)
      SELECT a.company_id, a.case_id, a.id, ${input.new_message_id}, m.channel, m.kind, a.start_at, 'scheduled',
             ${input.now}, m.day_before, ${input.now}, ${input.now}, m.id
        FROM appointments a JOIN messages m ON ${ofAppointment('m')}
       WHERE ${isAppointment(input)} AND a.deleted_at IS NULL AND a.cancelled = 0
         AND m.id = ${input.message_id} AND m.state IN ('sent', 'failed') AND m.kind <> 'cancellation'
      ON CONFLICT DO NOTHING
      RETURNING *
    ), event AS (
      ${messageAudit.insertEvent('resent', { from: 'm', at: input.now, origin: input.origin })}
    )
    SELECT ${messageJson}::text FROM m`,
});
