import { statement } from '../kernel/sql.ts';

/** All that waits for an endpoint, after its resumption or removal, some at a time. */

/** $1 company, $2 endpoint */
export const backlogOf = statement(
  'webhook_endpoints.backlog',
  'SELECT backlog, epoch FROM webhook_endpoints WHERE company_id = $1 AND id = $2 AND backlog IS NOT NULL',
);

/** $1 company, $2 endpoint, $3 now, $4 how many: what waits for its next attempt, and has had none in this epoch. */
export const hastenSome = statement(
  'webhook_deliveries.hasten',
  `WITH batch AS (
     SELECT d.id FROM webhook_deliveries d JOIN webhook_endpoints w ON w.company_id = d.company_id AND w.id = d.endpoint_id
      WHERE d.company_id = $1 AND d.endpoint_id = $2 AND d.state = 'waiting' AND d.ready AND d.claim_at > $3
        AND d.lease_by IS NULL AND d.epoch < w.epoch
      ORDER BY d.claim_at LIMIT $4 FOR UPDATE OF d SKIP LOCKED
   )
   UPDATE webhook_deliveries d SET due_at = least(d.due_at, $3), lease_until = NULL FROM batch
    WHERE d.company_id = $1 AND d.endpoint_id = $2 AND d.id = batch.id
   RETURNING 1`,
);

/** $1 company, $2 endpoint, $3 now, $4 how many */
export const dropSome = statement(
  'webhook_deliveries.drop',
  `WITH batch AS (
     SELECT d.id FROM webhook_deliveries d
      WHERE d.company_id = $1 AND d.endpoint_id = $2 AND d.state = 'waiting' LIMIT $4 FOR UPDATE
   )
   UPDATE webhook_deliveries d SET state = 'dropped', ready = false, ended_at = $3, lease_by = NULL, lease_until = NULL
     FROM batch WHERE d.company_id = $1 AND d.endpoint_id = $2 AND d.id = batch.id
   RETURNING 1`,
);
