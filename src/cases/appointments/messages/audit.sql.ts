import { caseKey, imageAuditLog } from '../../../kernel/audit/audit-log.ts';
import { isoTime, jsonObject } from '../../../kernel/sql/statement.ts';

/** Until it has gone out or was given up, where it stands follows from its appointment, and has no entries. */
const ended = (value: string) => `CASE WHEN m.state IN ('sent', 'failed') THEN ${value} END`;

/** Written where a message ends, where one that had failed is placed anew, and where one is sent again by hand. */
export const messageLog = imageAuditLog({
  record: 'message',
  verbs: ['sent', 'failed', 'rescheduled', 'resent'],
  access: 'appointments:read',
  table: 'messages',
  as: 'm',
  key: caseKey('m'),
  image: jsonObject({
    id: 'm.id',
    appointment_id: 'm.appointment_id',
    customer_case_id: 'm.case_id',
    channel: 'm.channel',
    kind: 'm.kind',
    resend_of: 'm.resend_of',
    state: ended('m.state'),
    due_at: ended(isoTime('m.due_at')),
    sent_at: isoTime('m.sent_at'),
    sent_to: 'm.sent_to',
    attempts: ended('m.attempts'),
    last_error: ended('m.last_error'),
    created_at: isoTime('m.created_at'),
  }),
});
