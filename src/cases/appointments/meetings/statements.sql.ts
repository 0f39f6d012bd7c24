import { jsonObject, longStatement, statement } from '../../../kernel/sql/statement.ts';
import { ofAppointment } from '../appointment-key.sql.ts';
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

const isAppointment = 'a.company_id = $1 AND a.case_id = $2 AND a.id = $3 AND a.deleted_at IS NULL';

/** $1 company, $2 case, $3 appointment */
export const readMeeting = statement(
  'meetings.read',
  `SELECT ${meetingJson}::text
     FROM appointments a LEFT JOIN meetings g ON ${ofAppointment('g')} WHERE ${isAppointment}`,
);

const inState = 'meetings g WHERE g.company_id = $1 AND ($2::text IS NULL OR g.state = $2)';

/** $1 company, $2 state or null for all, $3 limit, $4 offset. The most recently changed meeting comes first. */
export const listMeetings = longStatement(
  'meetings.list',
  `SELECT coalesce((SELECT json_agg(${meetingJson} ORDER BY g.updated_at DESC, g.appointment_id DESC)
            FROM (SELECT * FROM ${inState} ORDER BY g.updated_at DESC, g.appointment_id DESC LIMIT $3 OFFSET $4) g
            JOIN appointments a ON ${ofAppointment('g')}), '[]')::text AS json,
          (SELECT count(*)::int FROM ${inState}) AS total`,
);

/**
 * $1 company, $2 case, $3 appointment, $4 now. Returns what decides whether a meeting can be requested or withdrawn.
 */
export const rejectionReasons = statement(
  'meetings.rejection_reasons',
  `SELECT a.cancelled = 1 AS cancelled, a.end_at <= $4 AS over, d.video_provider IS NOT NULL AS connected,
          a.video_meeting AS requested
     FROM appointments a JOIN advisers d ON d.company_id = a.company_id AND d.id = a.adviser_id WHERE ${isAppointment}`,
);

/** $1 company, $2 case, $3 appointment, $4 now, $5 origin. A failed meeting is tried again. */
export const requestMeeting = statement(
  'meetings.request',
  `WITH ${appointmentAudit.auditedUpdate({
    verb: 'meeting_wished',
    set: 'video_meeting = true, meeting_pending = true',
    where: `a.deleted_at IS NULL AND a.cancelled = 0 AND a.end_at > $4 AND EXISTS (
      SELECT 1 FROM advisers d WHERE d.company_id = $1 AND d.id = a.adviser_id AND d.video_provider IS NOT NULL)`,
    at: '$4',
    origin: '$5',
  })}, g AS (
     INSERT INTO meetings AS g
       (company_id, case_id, appointment_id, start_at, end_at, wished, state, due_at, created_at, updated_at)
     SELECT a.company_id, a.case_id, a.id, a.start_at, a.end_at, true, 'pending', $4, $4, $4 FROM a
     ON CONFLICT (company_id, case_id, appointment_id) DO UPDATE SET wished = true, ${scheduleReconcile('$4')}
     RETURNING *
   )
   SELECT ${meetingJson}::text FROM a, g`,
);

/** $1 company, $2 case, $3 appointment, $4 now, $5 origin */
export const withdrawMeeting = statement(
  'meetings.withdraw',
  `WITH ${appointmentAudit.auditedUpdate({
    verb: 'meeting_withdrawn',
    set: 'video_meeting = false',
    where: 'a.deleted_at IS NULL AND a.video_meeting',
    at: '$4',
    origin: '$5',
  })}, g AS (
     UPDATE meetings g SET wished = false, ${scheduleReconcile('$4')} FROM a WHERE ${ofAppointment('g')} RETURNING g.*
   )
   SELECT ${meetingJson}::text FROM a, g`,
);
