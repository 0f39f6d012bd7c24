import { isoTime, statement } from '../../kernel/sql/statement.ts';

/** Mails that tell a company's contact that an endpoint is failing. */

export const KEY = ['company_id', 'endpoint_id', 'id'] as const;
export const OPEN = `state = 'waiting'`;
export type AlertKind = 'failing' | 'delivery_failed' | 'gone';

/** The states of an alert, with the values that the database stores. */
export const ALERT_STATES = { waiting: 'waiting', sent: 'told', failed: 'untold' } as const;
export type AlertState = (typeof ALERT_STATES)[keyof typeof ALERT_STATES];

const isKey = 'n.company_id = $1 AND n.endpoint_id = $2 AND n.id = $3';

/**
 * $1 company, $2 endpoint, $3 id, $4 kind, $5 now. Runs in a transaction that has locked the endpoint. An endpoint that
 * accepts some events and rejects others could cause many alerts, so those about single events are limited to one a day.
 */
export const insertAlert = statement(
  'webhook_notices.insert',
  `INSERT INTO webhook_notices (company_id, endpoint_id, id, kind, state, due_at)
   SELECT $1, $2, $3, $4, 'waiting', $5
    WHERE $4 <> 'delivery_failed' OR NOT EXISTS (
            SELECT 1 FROM webhook_notices n
             WHERE n.company_id = $1 AND n.endpoint_id = $2 AND n.due_at > $5::timestamptz - interval '1 day')`,
);

/** $1–$3 key, $4 lease. Returns no row if the lease was lost. */
export const startAlert = statement(
  'webhook_notices.begin',
  `WITH n AS (
     UPDATE webhook_notices n SET attempts = n.attempts + 1 WHERE ${isKey} AND n.lease_by = $4 AND n.state = 'waiting'
     RETURNING n.*
   )
   SELECT n.id, n.kind, n.attempts AS attempt, ${isoTime('n.due_at')} AS due, w.url, c.name AS company,
          coalesce(nullif(c.contact_email, ''), nullif(c.sender_address, '')) AS recipient
     FROM n JOIN webhook_endpoints w ON w.company_id = n.company_id AND w.id = n.endpoint_id
     JOIN companies c ON c.id = n.company_id`,
);

/** $1–$3 key, $4 lease, $5 now, $6 state, $7 recipient, $8 error, $9 time of the next attempt */
export const recordAlertResult = statement(
  'webhook_notices.settle',
  `UPDATE webhook_notices n
      SET state = $6, told_to = $7, last_error = $8, lease_by = NULL, lease_until = $9,
          ended_at = CASE WHEN $6 <> 'waiting' THEN $5::timestamptz END
    WHERE ${isKey} AND n.lease_by = $4 AND n.state = 'waiting'`,
);

/** $1 ended before */
export const purgeAlerts = statement('webhook_notices.forget', 'DELETE FROM webhook_notices WHERE ended_at < $1');
