import { caseKey, imageAuditLog } from '../../../kernel/audit/audit-log.ts';
import { isoTime, jsonObject } from '../../../kernel/sql/json.ts';

/** Until a message is sent or has failed its state follows from the appointment, so changes of it are not logged. */
const onceEnded = (value: string) => `CASE WHEN m.state IN ('sent', 'failed') THEN ${value} END`;

/** An event is logged when a message ends, when a failed one is scheduled again, and when one is resent by hand. */
export const messageAudit = imageAuditLog({
  record: 'message',
  actions: ['sent', 'failed', 'rescheduled', 'resent'],
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
    state: onceEnded('m.state'),
    due_at: onceEnded(isoTime('m.due_at')),
    sent_at: isoTime('m.sent_at'),
    sent_to: 'm.sent_to',
    attempts: onceEnded('m.attempts'),
    last_error: onceEnded('m.last_error'),
    created_at: isoTime('m.created_at'),
  }),
});
