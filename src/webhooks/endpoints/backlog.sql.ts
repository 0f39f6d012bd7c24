import { statement } from '../../kernel/sql/statement.ts';

/**
 * What a worker does with the waiting deliveries of an endpoint: after a resumption they are due immediately, after a
 * removal they are dropped. The database stores the values.
 */
export const BACKLOG_ACTIONS = { expedite: 'hasten', discard: 'drop' } as const;
export type BacklogAction = (typeof BACKLOG_ACTIONS)[keyof typeof BACKLOG_ACTIONS];

/** $1 company, $2 endpoint */
export const findBacklog = statement(
  'webhook_endpoints.backlog',
  'SELECT backlog, epoch FROM webhook_endpoints WHERE company_id = $1 AND id = $2 AND backlog IS NOT NULL',
);

/**
 * $1 company, $2 endpoint, $3 now, $4 how many, $5–$7 record, position and id of the last delivery of the batch before.
 * A batch starts after the one before, so deliveries that were skipped are not read again. Returns the last delivery of
 * the batch and the size of the batch, or no row if none is left.
 */
const backlogBatch = (name: string, lock: string, condition: string, changes: string) =>
  statement(
    name,
    `WITH batch AS MATERIALIZED (
       SELECT d.record_id, d.position, d.id FROM webhook_deliveries d
        WHERE d.company_id = $1 AND d.endpoint_id = $2 AND d.state = 'waiting'
          AND (d.record_id, d.position, d.id) > ($5::uuid, $6::bigint, $7::uuid)
        ORDER BY d.record_id, d.position, d.id LIMIT $4
     ), held AS MATERIALIZED (
       SELECT d.id FROM batch b CROSS JOIN LATERAL (
         SELECT d.id FROM webhook_deliveries d
          WHERE d.company_id = $1 AND d.endpoint_id = $2 AND d.id = b.id AND d.state = 'waiting' ${condition} ${lock}) d
     ), written AS (
       UPDATE webhook_deliveries d SET ${changes} WHERE d.company_id = $1 AND d.endpoint_id = $2
          AND d.id = ANY (ARRAY(SELECT h.id FROM held h)) AND $3::timestamptz IS NOT NULL
     )
     SELECT b.record_id, b.position::text, b.id, (SELECT count(*)::int FROM batch) AS count
       FROM batch b ORDER BY b.record_id DESC, b.position DESC, b.id DESC LIMIT 1`,
  );

/** Skips deliveries that a worker has leased: their attempt is under way. Skips those tried since the resumption, too. */
export const expediteBatch = backlogBatch(
  'webhook_deliveries.hasten',
  'FOR UPDATE SKIP LOCKED',
  `AND d.ready AND d.claim_at > $3 AND d.lease_by IS NULL
   AND d.epoch < (SELECT w.epoch FROM webhook_endpoints w WHERE w.company_id = $1 AND w.id = $2)`,
  'due_at = least(d.due_at, $3), lease_until = NULL',
);

export const discardBatch = backlogBatch(
  'webhook_deliveries.drop',
  'FOR UPDATE',
  '',
  `state = 'dropped', ready = false, ended_at = $3, lease_by = NULL, lease_until = NULL`,
);

/** $1 company, $2 endpoint, $3 now */
export const discardPing = statement(
  'webhook_deliveries.drop_ping',
  `UPDATE webhook_deliveries SET state = 'dropped', ready = false, ended_at = $3, lease_by = NULL, lease_until = NULL
    WHERE company_id = $1 AND endpoint_id = $2 AND state = 'waiting' AND position IS NULL`,
);
