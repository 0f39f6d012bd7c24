import { BATCH_INPUTS, heldStatements, isSameJob, lockHeldBatch } from '../../kernel/jobs/held-jobs.sql.ts';
import { isoTime } from '../../kernel/sql/json.ts';
import { write } from '../../kernel/sql/statement.ts';
import { ofAppointment } from './appointment-key.sql.ts';
import { MEETING_KEY } from './meetings/meeting-queue.sql.ts';
import { messageAudit } from './messages/audit.sql.ts';
import { MESSAGE_KEY, sameMessage } from './messages/message-queue.sql.ts';
import { KEY as TEST_MESSAGE_KEY } from './messages/test-messages/statements.sql.ts';

const MESSAGES = {
  table: 'messages',
  key: MESSAGE_KEY,
  tenantTable: 'companies',
  open: `j.state IN ('scheduled', 'sending')`,
} as const;
const MEETINGS = {
  table: 'meetings',
  key: MEETING_KEY,
  tenantTable: 'companies',
  open: `j.state = 'pending'`,
} as const;
const TEST_MESSAGES = {
  table: 'test_messages',
  key: TEST_MESSAGE_KEY,
  tenantTable: 'companies',
  open: `j.state = 'scheduled'`,
} as const;

export const messages = heldStatements({
  ...MESSAGES,
  kind: 'messages',
  description: `j.channel || ' ' || j.kind || ', appointment of ' || ${isoTime('j.start_at')} || coalesce(', to ' || (
             SELECT coalesce(j.recipient, CASE j.channel WHEN 'email' THEN a.email_recipient ELSE a.sms_recipient END)
               FROM appointments a
              WHERE a.company_id = j.company_id AND a.case_id = j.case_id AND a.id = j.appointment_id), '')`,
});

/**
 * SQL for SET: a meeting `j` without a recorded one may have been created, at the account that the adviser has, so it is
 * looked up by its reference before it is created.
 */
const LOOK_UP_FIRST = `(provider, account_id, doubtful) = (
        SELECT CASE WHEN n.is_new THEN d.video_provider ELSE j.provider END,
               CASE WHEN n.is_new THEN d.video_account_id ELSE j.account_id END, j.doubtful OR n.is_new
          FROM appointments a JOIN advisers d ON d.company_id = a.company_id AND d.id = a.adviser_id
         CROSS JOIN LATERAL (
           SELECT j.external_id IS NULL AND NOT j.doubtful AND d.video_provider IS NOT NULL AS is_new) n
         WHERE ${ofAppointment('j')})`;

export const meetings = heldStatements({
  ...MEETINGS,
  kind: 'meetings',
  released: LOOK_UP_FIRST,
  description: `CASE WHEN j.wished THEN 'meeting' ELSE 'removal of the meeting' END || ', appointment of '
             || ${isoTime('j.start_at')}`,
});

export const testMessages = heldStatements({
  ...TEST_MESSAGES,
  kind: 'test-messages',
  description: `j.channel || ' ' || j.message || ', to ' || j.recipient`,
});

const DROP_INPUTS = { ...BATCH_INPUTS, reason: 'text', now: 'timestamptz' } as const;

/**
 * The message failed for all that the company knows: a cancelled one would have to follow from its appointment. The batch
 * may have waited for a lock, so `held` reads the locked rows: without a lock of its own it would read older versions.
 */
export const dropMessages = write('messages.drop_held', {
  inputs: { ...DROP_INPUTS, origin: 'json' },
  sql: (input) => `
    WITH batch AS MATERIALIZED (${lockHeldBatch(MESSAGES, input)}
    ), held AS MATERIALIZED (
      SELECT b.*, ${messageAudit.image} AS before FROM batch b JOIN messages m ON ${sameMessage('m', 'b')}
         FOR NO KEY UPDATE OF m
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

/** If it is wished again later, it is looked up first. */
export const dropMeetings = write('meetings.drop_held', {
  inputs: DROP_INPUTS,
  sql: (input) => `
    WITH batch AS MATERIALIZED (${lockHeldBatch(MEETINGS, input)}
    ), dropped AS (
      UPDATE meetings j
         SET ${LOOK_UP_FIRST}, state = 'failed', lease_until = NULL, last_error = ${input.reason},
             updated_at = ${input.now}
        FROM batch b WHERE ${isSameJob(MEETING_KEY, 'j', 'b')} RETURNING 1
    )
    SELECT count(*)::int AS count FROM dropped`,
});

export const dropTestMessages = write('test_messages.drop_held', {
  inputs: DROP_INPUTS,
  sql: (input) => `
    WITH batch AS MATERIALIZED (${lockHeldBatch(TEST_MESSAGES, input)}
    ), dropped AS (
      UPDATE test_messages j SET state = 'failed', lease_until = NULL, last_error = ${input.reason}, ended_at = ${input.now}
        FROM batch b WHERE ${isSameJob(TEST_MESSAGE_KEY, 'j', 'b')} RETURNING 1
    )
    SELECT count(*)::int AS count FROM dropped`,
});
