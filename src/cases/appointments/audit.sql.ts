import { rowAuditLog } from '../../kernel/audit/row-audit-log.ts';
import { isoTime, jsonObject } from '../../kernel/sql/json.ts';

/** Without the states of its messages: they change when a worker sends them, and have an audit log of their own. */
export const appointmentAudit = rowAuditLog({
  record: 'appointment',
  actions: [
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
  image: () =>
    jsonObject({
      id: 'a.id',
      customer_case_id: 'a.case_id',
      external_id: 'a.external_id',
      adviser_email: 'a.adviser_email',
      start_time: isoTime('a.start_at'),
      end_time: isoTime('a.end_at'),
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
      created_at: isoTime('a.created_at'),
      updated_at: isoTime('a.updated_at'),
      deleted_at: isoTime('a.deleted_at'),
    }),
});
