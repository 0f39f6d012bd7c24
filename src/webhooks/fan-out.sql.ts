import { CLAIM_INPUTS, leaseStatements, NEXT_DUE_INPUTS, type QueueStatements } from '../kernel/jobs/job-queue.sql.ts';
import { isoTime } from '../kernel/sql/json.ts';
import { read, write } from '../kernel/sql/statement.ts';
import { matchesTypes } from './deliveries/statements.sql.ts';

export const KEY = ['company_id', 'id'] as const;
const OPEN = `(state = 'active' AND removed_at IS NULL OR backlog IS NOT NULL)`;

/** An endpoint has work if it has a backlog, or if its company has events after its position. */
const hasWork = `(
         e.backlog IS NOT NULL OR e.state = 'active' AND e.removed_at IS NULL
         AND EXISTS (SELECT 1 FROM events v WHERE v.company_id = e.company_id AND v.position > e.position))`;

const { reserved: _reserved, ...UNRESERVED_CLAIM_INPUTS } = CLAIM_INPUTS;

/** Reserves no slots: endpoints of the companies with the fewest running jobs are claimed first. */
const claim = write('webhook_endpoints.claim', {
  inputs: UNRESERVED_CLAIM_INPUTS,
  sql: (input) => `
    WITH due AS (
      SELECT e.company_id, e.id
        FROM webhook_endpoints e
        LEFT JOIN unnest(${input.busy_companies}, ${input.busy_counts}) AS b (company_id, running)
          ON b.company_id = e.company_id
       WHERE ${hasWork} AND (e.lease_until IS NULL OR e.lease_until <= ${input.now})
         AND coalesce(b.running, 0) < ${input.max_per_company}
       ORDER BY coalesce(b.running, 0), e.position LIMIT ${input.limit} FOR NO KEY UPDATE OF e SKIP LOCKED
    )
    UPDATE webhook_endpoints w SET lease_by = ${input.lease}, lease_until = ${input.lease_until} FROM due
     WHERE w.company_id = due.company_id AND w.id = due.id
    RETURNING w.company_id, w.id`,
});

const nextDue = read('webhook_endpoints.next_due', {
  inputs: NEXT_DUE_INPUTS,
  sql: (input) => `
    SELECT ${isoTime('min(coalesce(e.lease_until, e.created_at))')} AS at
      FROM webhook_endpoints e WHERE ${hasWork} AND e.company_id <> ALL (${input.excluded_companies})`,
});

export const statements: QueueStatements = {
  claim,
  nextDue,
  ...leaseStatements({ table: 'webhook_endpoints', key: KEY, open: OPEN }),
};

/** Returns no row if the lease was lost or the endpoint is not active. Fails if another transaction has the lock. */
export const lockEndpointPosition = write('webhook_endpoints.lock_position', {
  inputs: { company_id: 'uuid', id: 'uuid', lease: 'uuid' },
  sql: (input) => `
    SELECT position::text FROM webhook_endpoints
     WHERE company_id = ${input.company_id} AND id = ${input.id} AND lease_by = ${input.lease}
       AND state = 'active' AND removed_at IS NULL
       FOR NO KEY UPDATE NOWAIT`,
});

/** The types that the endpoint `w` had when the event `e` happened. */
const typesAtEvent = `coalesce((
        SELECT ARRAY(SELECT jsonb_array_elements_text(t -> 'types')) FROM jsonb_array_elements(w.earlier_types) t
         WHERE (t ->> 'until')::bigint >= e.position ORDER BY (t ->> 'until')::bigint LIMIT 1), w.types)`;

/**
 * Queues deliveries of the events between the endpoint's position and the watermark, and advances the position. Runs in
 * a transaction that has locked the endpoint. Only the first waiting delivery of a record is ready.
 */
export const fanOut = write('webhook_deliveries.fan_out', {
  inputs: { company_id: 'uuid', endpoint_id: 'uuid', watermark: 'bigint', max_events: 'int', now: 'timestamptz' },
  sql: (input) => `
    WITH read AS (
      SELECT e.position, e.type, e.record_id, w.epoch, ${typesAtEvent} AS types
        FROM webhook_endpoints w JOIN events e ON e.company_id = w.company_id AND e.position > w.position
       WHERE w.company_id = ${input.company_id} AND w.id = ${input.endpoint_id} AND e.position <= ${input.watermark}
       ORDER BY e.position LIMIT ${input.max_events}
    ), queued AS (
      INSERT INTO webhook_deliveries (company_id, endpoint_id, position, event_type, record_id, state, epoch, ready,
                                      due_at, created_at)
      SELECT ${input.company_id}, ${input.endpoint_id}, r.position, r.type, r.record_id, 'waiting', r.epoch,
             row_number() OVER (PARTITION BY r.record_id ORDER BY r.position) = 1 AND NOT EXISTS (
               SELECT 1 FROM webhook_deliveries d
                WHERE d.company_id = ${input.company_id} AND d.endpoint_id = ${input.endpoint_id}
                  AND d.record_id = r.record_id AND d.state = 'waiting'),
             ${input.now}, ${input.now}
        FROM read r WHERE ${matchesTypes('r.type', 'r.types')}
      RETURNING 1
    ), reached AS (
      SELECT greatest(w.position, CASE WHEN (SELECT count(*) FROM read) = ${input.max_events}
                                       THEN (SELECT max(position) FROM read) ELSE ${input.watermark} END) AS position
        FROM webhook_endpoints w WHERE w.company_id = ${input.company_id} AND w.id = ${input.endpoint_id}
    ), advanced AS (
      UPDATE webhook_endpoints w
         SET position = reached.position, earlier_types = jsonb_path_query_array(
               w.earlier_types, '$[*] ? (@.until > $reached)', jsonb_build_object('reached', reached.position))
        FROM reached WHERE w.company_id = ${input.company_id} AND w.id = ${input.endpoint_id}
    )
    SELECT (SELECT count(*)::int FROM read) AS events_read, (SELECT count(*)::int FROM queued) AS deliveries_queued`,
});

/** Ends the lease. If the endpoint has more work, it can be claimed from `recheck_at` on, or immediately if null. */
export const releaseEndpoint = write('webhook_endpoints.release', {
  inputs: {
    company_id: 'uuid',
    id: 'uuid',
    lease: 'uuid',
    recheck_at: 'timestamptz?',
    finished_backlog: 'text?',
    finished_epoch: 'int?',
  },
  sql: (input) => `
    WITH e AS (
      SELECT e.*, ${hasWork} AS has_work FROM webhook_endpoints e
       WHERE e.company_id = ${input.company_id} AND e.id = ${input.id} AND e.lease_by = ${input.lease}
         FOR NO KEY UPDATE NOWAIT
    )
    UPDATE webhook_endpoints w
       SET lease_by = NULL, lease_until = CASE WHEN e.has_work THEN ${input.recheck_at} END,
           backlog = CASE WHEN w.backlog = ${input.finished_backlog} AND w.epoch = ${input.finished_epoch}
                          THEN NULL ELSE w.backlog END
      FROM e WHERE w.company_id = e.company_id AND w.id = e.id`,
});
