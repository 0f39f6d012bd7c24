import { COMPANY_INPUTS, heldStatements, isHeld, ofCompany } from '../../kernel/jobs/held-jobs.sql.ts';
import { isoTime } from '../../kernel/sql/json.ts';
import { write } from '../../kernel/sql/statement.ts';

const OPEN_MESSAGE = `j.state IN ('scheduled', 'sending')`;
const OPEN_MEETING = `j.state = 'pending'`;

export const messages = heldStatements({
  kind: 'messages',
  table: 'messages',
  tenantTable: 'companies',
  open: OPEN_MESSAGE,
  description: `j.channel || ' ' || j.kind || ', appointment of ' || ${isoTime('j.start_at')} || coalesce(', to ' || (
             SELECT coalesce(j.recipient, CASE j.channel WHEN 'email' THEN a.email_recipient ELSE a.sms_recipient END)
               FROM appointments a
              WHERE a.company_id = j.company_id AND a.case_id = j.case_id AND a.id = j.appointment_id), '')`,
});

export const meetings = heldStatements({
  kind: 'meetings',
  table: 'meetings',
  tenantTable: 'companies',
  open: OPEN_MEETING,
  description: `CASE WHEN j.wished THEN 'meeting' ELSE 'removal of the meeting' END || ', appointment of '
             || ${isoTime('j.start_at')}`,
});

const DROP_INPUTS = { ...COMPANY_INPUTS, reason: 'text', now: 'timestamptz' } as const;

export const dropMessages = write('messages.drop_held', {
  inputs: DROP_INPUTS,
  sql: (input) => `
    WITH dropped AS (
      UPDATE messages j SET state = 'cancelled', lease_until = NULL, last_error = ${input.reason}, updated_at = ${input.now}
       WHERE ${OPEN_MESSAGE} AND ${isHeld('j')} AND ${ofCompany('j', input)} RETURNING 1
    )
    SELECT count(*)::int AS count FROM dropped`,
});

export const dropMeetings = write('meetings.drop_held', {
  inputs: DROP_INPUTS,
  sql: (input) => `
    WITH dropped AS (
      UPDATE meetings j SET state = 'failed', lease_until = NULL, last_error = ${input.reason}, updated_at = ${input.now}
       WHERE ${OPEN_MEETING} AND ${isHeld('j')} AND ${ofCompany('j', input)} RETURNING 1
    )
    SELECT count(*)::int AS count FROM dropped`,
});
