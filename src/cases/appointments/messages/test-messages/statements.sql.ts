import { queueStatements } from '../../../../kernel/jobs/job-queue.sql.ts';
import { isoTime, jsonObject } from '../../../../kernel/sql/json.ts';
import { read, write } from '../../../../kernel/sql/statement.ts';

/** Test messages: what a company sends to an address of its choice to see its words arrive. */

export const KEY = ['company_id', 'id'] as const;
export const statements = queueStatements({
  tenantTable: 'companies',
  table: 'test_messages',
  key: KEY,
  open: `state = 'scheduled'`,
});

const KEY_INPUTS = { company_id: 'uuid', id: 'uuid' } as const;
const hasKey = (input: Record<keyof typeof KEY_INPUTS, string>) =>
  `m.company_id = ${input.company_id} AND m.id = ${input.id}`;

const record = jsonObject({
  id: 'm.id',
  message: 'm.message',
  channel: 'm.channel',
  recipient: 'm.recipient',
  state: 'm.state',
  attempts: 'm.attempts',
  last_error: 'm.last_error',
  created_at: isoTime('m.created_at'),
  sent_at: `CASE m.state WHEN 'sent' THEN ${isoTime('m.ended_at')} END`,
});

/** Newest first. */
export const listTestMessages = read('test_messages.list', {
  inputs: { company_id: 'uuid', limit: 'int', offset: 'int' },
  sql: (input) => `
    SELECT coalesce((SELECT json_agg(${record} ORDER BY m.created_at DESC, m.id DESC) FROM (
             SELECT * FROM test_messages WHERE company_id = ${input.company_id}
              ORDER BY created_at DESC, id DESC LIMIT ${input.limit} OFFSET ${input.offset}) m), '[]')::text AS json,
           (SELECT count(*)::int FROM test_messages WHERE company_id = ${input.company_id}) AS total`,
});

export const countTestMessages = read('test_messages.count', {
  inputs: { company_id: 'uuid', since: 'timestamptz' },
  sql: (input) => `
    SELECT count(*)::int AS count FROM test_messages
     WHERE company_id = ${input.company_id} AND created_at > ${input.since}`,
});

export const insertTestMessage = write('test_messages.insert', {
  inputs: {
    ...KEY_INPUTS,
    message: 'text',
    channel: 'text',
    recipient: 'text',
    subject: 'text?',
    content: 'text',
    now: 'timestamptz',
  },
  sql: (input) => `
    INSERT INTO test_messages AS m
      (company_id, id, message, channel, recipient, subject, content, state, due_at, created_at)
    VALUES (${input.company_id}, ${input.id}, ${input.message}, ${input.channel}, ${input.recipient}, ${input.subject},
            ${input.content}, 'scheduled', ${input.now}, ${input.now})
    RETURNING ${record}::text`,
});

/** Starts an attempt. Returns no row if the lease was lost. */
export const startTestMessage = write('test_messages.start', {
  inputs: { ...KEY_INPUTS, lease: 'uuid' },
  sql: (input) => `
    WITH m AS (
      UPDATE test_messages m SET attempts = m.attempts + 1
       WHERE ${hasKey(input)} AND m.lease_by = ${input.lease} AND m.state = 'scheduled'
      RETURNING m.*
    )
    SELECT m.id, m.channel, m.recipient, m.subject, m.content, m.attempts AS attempt,
           ${isoTime('m.due_at')} AS due, coalesce(nullif(c.sender_name, ''), c.name) AS sender_name,
           nullif(c.sender_address, '') AS sender_address, c.client_contact_email AS reply_to
      FROM m JOIN companies c ON c.id = m.company_id`,
});

/** `state` is `scheduled` if another attempt follows at `retry_at`. Updates no row if the lease was lost. */
export const recordTestResult = write('test_messages.record_result', {
  inputs: {
    ...KEY_INPUTS,
    lease: 'uuid',
    state: 'text',
    last_error: 'text?',
    retry_at: 'timestamptz?',
    now: 'timestamptz',
  },
  sql: (input) => `
    UPDATE test_messages m
       SET state = ${input.state}, last_error = ${input.last_error}, lease_by = NULL, lease_until = ${input.retry_at},
           ended_at = CASE WHEN ${input.state} <> 'scheduled' THEN ${input.now} END
     WHERE ${hasKey(input)} AND m.lease_by = ${input.lease} AND m.state = 'scheduled'`,
});

export const purgeTestMessages = write('test_messages.purge', {
  inputs: { ended_before: 'timestamptz' },
  sql: (input) => `DELETE FROM test_messages WHERE ended_at < ${input.ended_before}`,
});
