import { COMPANY_INPUTS, heldStatements, isHeld, ofCompany } from '../../kernel/jobs/held-jobs.sql.ts';
import { isoTime } from '../../kernel/sql/json.ts';
import { write } from '../../kernel/sql/statement.ts';
import { messageAudit } from './messages/audit.sql.ts';
import { MESSAGE_KEY, sameMessage } from './messages/message-queue.sql.ts';

const openMessage = (alias: string) => `${alias}.state IN ('scheduled', 'sending')`;
const OPEN_MEETING = `j.state = 'pending'`;

export const messages = heldStatements({
  kind: 'messages',
  table: 'messages',
  tenantTable: 'companies',
  open: openMessage('j'),
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

const OPEN_TEST_MESSAGE = `j.state = 'scheduled'`;

export const testMessages = heldStatements({
  kind: 'test-messages',
  table: 'test_messages',
  tenantTable: 'companies',
  open: OPEN_TEST_MESSAGE,
  description: `j.channel || ' ' || j.message || ', to ' || j.recipient`,
});

const DROP_INPUTS = { ...COMPANY_INPUTS, reason: 'text', now: 'timestamptz' } as const;

/** The message failed for all that the company knows: a cancelled one would have to follow from its appointment. */
export const dropMessages = write('messages.drop_held', {
  inputs: { ...DROP_INPUTS, origin: 'json' },
  sql: (input) => `
    WITH held AS MATERIALIZED (
      SELECT ${MESSAGE_KEY.map((column) => `m.${column}`).join(', ')}, ${messageAudit.image} AS before FROM messages m
       WHERE ${openMessage('m')} AND ${isHeld('m')} AND ${ofCompany('m', input, 'companies')} FOR NO KEY UPDATE
    ), m AS (
      UPDATE messages m
         SET state = 'failed', lease_until = NULL, last_error = ${input.reason}, updated_at = ${input.now}
        FROM held WHERE ${sameMessage('m', 'held')}
      RETURNING m.*, held.before
    ), event AS (
      ${messageAudit.insertEvent('failed', { from: 'm', at: input.now, origin: input.origin, before: 'm.before' })}
    )
    SELECT count(*)::int AS count FROM m`,
});

export const dropMeetings = write('meetings.drop_held', {
  inputs: DROP_INPUTS,
  sql: (input) => `
    WITH dropped AS (
      UPDATE meetings j SET state = 'failed', lease_until = NULL, last_error = ${input.reason}, updated_at = ${input.now}
       WHERE ${OPEN_MEETING} AND ${isHeld('j')} AND ${ofCompany('j', input, 'companies')} RETURNING 1
    )
    SELECT count(*)::int AS count FROM dropped`,
});

export const dropTestMessages = write('test_messages.drop_held', {
  inputs: DROP_INPUTS,
  sql: (input) => `
    WITH dropped AS (
      UPDATE test_messages j SET state = 'failed', lease_until = NULL, last_error = ${input.reason}, ended_at = ${input.now}
       WHERE ${OPEN_TEST_MESSAGE} AND ${isHeld('j')} AND ${ofCompany('j', input, 'companies')} RETURNING 1
    )
    SELECT count(*)::int AS count FROM dropped`,
});
