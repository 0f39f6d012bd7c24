import { jsonObject } from '../../../kernel/sql/json.ts';
import { read, write } from '../../../kernel/sql/statement.ts';
import { APPOINTMENT_KEY_INPUTS, isAppointment, ofAppointment } from '../appointment-key.sql.ts';
import { appointmentAudit } from '../audit.sql.ts';
import { scheduleReconcile } from './desired-state.sql.ts';

const meetingJson = jsonObject({
  appointment_id: 'a.id',
  customer_case_id: 'a.case_id',
  provider: `CASE WHEN g.state <> 'none' THEN g.provider END`,
  state: `coalesce(g.state, 'none')`,
  video_id: 'a.video_id',
  join_url: 'a.join_url',
  attempts: 'coalesce(g.attempts, 0)',
  last_error: 'g.last_error',
});

/** Returns no row if the appointment does not exist or is deleted. */
export const readMeeting = read('meetings.read', {
  inputs: APPOINTMENT_KEY_INPUTS,
  sql: (input) => `
    SELECT ${meetingJson}::text
      FROM appointments a LEFT JOIN meetings g ON ${ofAppointment('g')}
     WHERE ${isAppointment(input)} AND a.deleted_at IS NULL`,
});

/** `state` is null for all. The most recently changed meeting comes first. */
export const listMeetings = read('meetings.list', {
  inputs: { company_id: 'uuid', state: 'text?', limit: 'int', offset: 'int' },
  pool: 'search',
  sql: (input) => {
    const matching = `meetings g
             WHERE g.company_id = ${input.company_id} AND (${input.state} IS NULL OR g.state = ${input.state})`;
    return `
    SELECT coalesce((SELECT json_agg(${meetingJson} ORDER BY g.updated_at DESC, g.appointment_id DESC)
             FROM (SELECT * FROM ${matching}
                    ORDER BY g.updated_at DESC, g.appointment_id DESC LIMIT ${input.limit} OFFSET ${input.offset}) g
             JOIN appointments a ON ${ofAppointment('g')}), '[]')::text AS json,
           (SELECT count(*)::int FROM ${matching}) AS total`;
  },
});

/** Returns what decides whether a meeting can be requested or withdrawn. */
export const rejectionReasons = read('meetings.rejection_reasons', {
  inputs: { ...APPOINTMENT_KEY_INPUTS, now: 'timestamptz' },
  sql: (input) => `
    SELECT a.cancelled = 1 AS cancelled, a.end_at <= ${input.now} AS over, d.video_provider IS NOT NULL AS connected,
           a.video_meeting AS requested
      FROM appointments a JOIN advisers d ON d.company_id = a.company_id AND d.id = a.adviser_id
     WHERE ${isAppointment(input)} AND a.deleted_at IS NULL`,
});

const CHANGE_INPUTS = { ...APPOINTMENT_KEY_INPUTS, now: 'timestamptz', origin: 'json' } as const;

/** A failed meeting is tried again. Returns no row if a meeting cannot be requested, or after a concurrent update. */
export const requestMeeting = write('meetings.request', {
  inputs: CHANGE_INPUTS,
  fromInput: (input, inputTable) => `
    WITH ${inputTable}, ${appointmentAudit.update({
      action: 'meeting_wished',
      set: 'video_meeting = true, meeting_pending = true',
      where: `a.deleted_at IS NULL AND a.cancelled = 0 AND a.end_at > ${input.now} AND EXISTS (
           SELECT 1 FROM advisers d
            WHERE d.company_id = a.company_id AND d.id = a.adviser_id AND d.video_provider IS NOT NULL)`,
    })}, g AS (
      INSERT INTO meetings AS g
        (company_id, case_id, appointment_id, start_at, end_at, wished, state, due_at, created_at, updated_at)
      SELECT a.company_id, a.case_id, a.id, a.start_at, a.end_at, true, 'pending', a.now, a.now, a.now FROM a
      ON CONFLICT (company_id, case_id, appointment_id)
      DO UPDATE SET wished = true, ${scheduleReconcile('excluded.updated_at')}
      RETURNING *
    )
    SELECT ${meetingJson}::text FROM a, g`,
});

/** Returns no row if the appointment has no meeting, or after a concurrent update. */
export const withdrawMeeting = write('meetings.withdraw', {
  inputs: CHANGE_INPUTS,
  fromInput: (_input, inputTable) => `
    WITH ${inputTable}, ${appointmentAudit.update({
      action: 'meeting_withdrawn',
      set: 'video_meeting = false',
      where: 'a.deleted_at IS NULL AND a.video_meeting',
    })}, g AS (
      UPDATE meetings g SET wished = false, ${scheduleReconcile('a.now')}
        FROM a WHERE ${ofAppointment('g')}
      RETURNING g.*
    )
    SELECT ${meetingJson}::text FROM a, g`,
});
