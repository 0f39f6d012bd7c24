import { queueStatements } from '../../kernel/jobs/job-queue.sql.ts';
import { isoTime } from '../../kernel/sql/json.ts';
import { write } from '../../kernel/sql/statement.ts';

/** Mails that tell a company's contact that an endpoint is failing. */

export const KEY = ['company_id', 'endpoint_id', 'id'] as const;
export const statements = queueStatements({
  tenantTable: 'companies',
  table: 'webhook_notices',
  key: KEY,
  open: `state = 'waiting'`,
});
export type AlertKind = 'failing' | 'delivery_failed' | 'gone';

/** The states of an alert, with the values that the database stores. */
export const ALERT_STATES = { waiting: 'waiting', sent: 'told', failed: 'untold' } as const;
export type AlertState = (typeof ALERT_STATES)[keyof typeof ALERT_STATES];

const KEY_INPUTS = { company_id: 'uuid', endpoint_id: 'uuid', id: 'uuid' } as const;
const hasKey = (input: Record<keyof typeof KEY_INPUTS, string>) =>
  `n.company_id = ${input.company_id} AND n.endpoint_id = ${input.endpoint_id} AND n.id = ${input.id}`;

/**
 * Runs in a transaction that has locked the endpoint. An endpoint that accepts some events and rejects others could
 * cause many alerts, so those about single events are limited to one a day.
 */
export const insertAlert = write('webhook_notices.insert', {
  inputs: { ...KEY_INPUTS, kind: 'text', now: 'timestamptz' },
  sql: (input) => `
    INSERT INTO webhook_notices (company_id, endpoint_id, id, kind, state, due_at)
    SELECT ${input.company_id}, ${input.endpoint_id}, ${input.id}, ${input.kind}, 'waiting', ${input.now}
     WHERE ${input.kind} <> 'delivery_failed' OR NOT EXISTS (
             SELECT 1 FROM webhook_notices n
              WHERE n.company_id = ${input.company_id} AND n.endpoint_id = ${input.endpoint_id}
                AND n.due_at > ${input.now} - interval '1 day')`,
});

/** Starts an attempt. Returns no row if the lease was lost. */
export const startAlert = write('webhook_notices.start', {
  inputs: { ...KEY_INPUTS, lease: 'uuid' },
  sql: (input) => `
    WITH n AS (
      UPDATE webhook_notices n SET attempts = n.attempts + 1
       WHERE ${hasKey(input)} AND n.lease_by = ${input.lease} AND n.state = 'waiting'
      RETURNING n.*
    )
    SELECT n.id, n.kind, n.attempts AS attempt_number, ${isoTime('n.due_at')} AS due_at, w.url, c.name AS company,
           coalesce(nullif(c.contact_email, ''), nullif(c.sender_address, '')) AS recipient
      FROM n JOIN webhook_endpoints w ON w.company_id = n.company_id AND w.id = n.endpoint_id
      JOIN companies c ON c.id = n.company_id`,
});

/** Updates no row if the lease was lost. */
export const recordAlertResult = write('webhook_notices.record_result', {
  inputs: {
    ...KEY_INPUTS,
    lease: 'uuid',
    now: 'timestamptz',
    state: 'text',
    recipient: 'text?',
    error: 'text?',
    retry_at: 'timestamptz?',
  },
  sql: (input) => `
    UPDATE webhook_notices n
       SET state = ${input.state}, told_to = ${input.recipient}, last_error = ${input.error}, lease_by = NULL,
           lease_until = ${input.retry_at}, ended_at = CASE WHEN ${input.state} <> 'waiting' THEN ${input.now} END
     WHERE ${hasKey(input)} AND n.lease_by = ${input.lease} AND n.state = 'waiting'`,
});

export const purgeAlerts = write('webhook_notices.purge', {
  inputs: { ended_before: 'timestamptz' },
  sql: (input) => `DELETE FROM webhook_notices WHERE ended_at < ${input.ended_before}`,
});
