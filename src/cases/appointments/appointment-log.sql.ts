import { inCase, recordLog } from '../../kernel/record-log.ts';
import { iso, json } from '../../kernel/sql.ts';

/** Without the words for its messages: those are changed by whoever sends them, and have a log of their own. */
export const appointmentLog = recordLog({
  record: 'appointment',
  verbs: [
    'created',
    'updated',
    'deleted',
    'restored',
    'cancelled',
    'reinstated',
    'outcome_set',
    'meeting_wished',
    'meeting_withdrawn',
    'meeting_changed',
  ],
  path: '/cases/{caseId}/appointments/{appointmentID}',
  params: { caseId: 'case', appointmentID: 'appointment' },
  access: 'appointments:read',
  table: 'appointments',
  as: 'a',
  key: inCase('a'),
  image: json({
    id: 'a.id',
    customer_case_id: 'a.case_id',
    adviser_email: 'a.adviser_email',
    start_time: iso('a.start_at'),
    end_time: iso('a.end_at'),
    email_recipient: `coalesce(a.email_recipient, '')`,
    email_reminder: 'a.email_reminder',
    sms_recipient: 'a.sms_recipient',
    sms_reminder: 'a.sms_reminder',
    notes: 'a.notes',
    location: 'a.location',
    type: 'a.type',
    attended: 'a.attended',
    cancelled: 'a.cancelled',
    video_meeting: 'a.video_meeting',
    video_id: 'a.video_id',
    join_url: 'a.join_url',
    created_at: iso('a.created_at'),
    updated_at: iso('a.updated_at'),
    deleted_at: iso('a.deleted_at'),
  }),
});

/**
 * The appointment as it is, and held: $1 company, $2 case, $3 id. A version does not do here, because the worker that
 * makes meetings changes what is shown and leaves the version alone.
 */
export const held = (condition: string, beside = '') => `held AS MATERIALIZED (
  SELECT ${appointmentLog.image} AS before FROM appointments a ${beside}
   WHERE a.company_id = $1 AND a.case_id = $2 AND a.id = $3 AND ${condition} FOR NO KEY UPDATE OF a)`;
export const isHeld = 'a.company_id = $1 AND a.case_id = $2 AND a.id = $3';

/** The same for one that has no meeting and is written onto the version that is seen. */
export const seen = (condition: string) => `held AS MATERIALIZED (
  SELECT ${appointmentLog.image} AS before FROM appointments a WHERE ${isHeld} AND ${condition})`;
