import { statement } from '../kernel/sql/statement.ts';
import { matchesTypes } from './deliveries/statements.sql.ts';

/** The log of events, turned into deliveries endpoint by endpoint. */

export const KEY = ['company_id', 'id'] as const;
export const OPEN = `(state = 'active' AND removed_at IS NULL OR backlog IS NOT NULL)`;

const isOpen = `(e.backlog IS NOT NULL OR e.state = 'active' AND e.removed_at IS NULL
  AND EXISTS (SELECT 1 FROM events v WHERE v.company_id = e.company_id AND v.position > e.position))`;

/** As `DueStatements` has it: an endpoint is due when its company has events behind its position, or it has a backlog. */
export const claim = statement(
  'webhook_endpoints.claim',
  `WITH due AS (
     SELECT e.company_id, e.id
       FROM webhook_endpoints e
       LEFT JOIN unnest($5::uuid[], $6::int[]) AS b (company_id, under_way) ON b.company_id = e.company_id
      WHERE ${isOpen} AND (e.lease_until IS NULL OR e.lease_until <= $1)
        AND coalesce(b.under_way, 0) < $7 AND $8::int IS NOT NULL
      ORDER BY coalesce(b.under_way, 0), e.position LIMIT $4 FOR NO KEY UPDATE OF e SKIP LOCKED
   )
   UPDATE webhook_endpoints w SET lease_by = $2, lease_until = $3 FROM due
    WHERE w.company_id = due.company_id AND w.id = due.id
   RETURNING w.company_id, w.id`,
);

export const nextDue = statement(
  'webhook_endpoints.next_due',
  `SELECT to_char(min(coalesce(e.lease_until, e.created_at)) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
     FROM webhook_endpoints e WHERE ${isOpen} AND e.company_id <> ALL ($1::uuid[])`,
);

/** $1 company, $2 endpoint, $3 claim: how far it has come. Others wait until the transaction ends; nobody is waited for. */
export const lockEndpointPosition = statement(
  'webhook_endpoints.hold_position',
  `SELECT position::text FROM webhook_endpoints
    WHERE company_id = $1 AND id = $2 AND lease_by = $3 AND state = 'active' AND removed_at IS NULL
      FOR NO KEY UPDATE NOWAIT`,
);

/** The types that the endpoint `w` had when the event `e` happened. */
const typesAtEvent = `coalesce((
  SELECT ARRAY(SELECT jsonb_array_elements_text(t -> 'types')) FROM jsonb_array_elements(w.earlier_types) t
   WHERE (t ->> 'until')::bigint >= e.position ORDER BY (t ->> 'until')::bigint LIMIT 1), w.types)`;

/**
 * $1 company, $2 endpoint, $3 up to where everything is there to be read, $4 how many events at most, $5 now. In a
 * transaction that holds the endpoint. Of each record the first that waits is ready.
 */
export const fanOut = statement(
  'webhook_deliveries.fan_out',
  `WITH read AS (
     SELECT e.position, e.type, e.record_id, w.epoch, ${typesAtEvent} AS types
       FROM webhook_endpoints w JOIN events e ON e.company_id = w.company_id AND e.position > w.position
      WHERE w.company_id = $1 AND w.id = $2 AND e.position <= $3::bigint
      ORDER BY e.position LIMIT $4
   ), made AS (
     INSERT INTO webhook_deliveries (company_id, endpoint_id, position, event_type, record_id, state, epoch, ready, due_at, created_at)
     SELECT $1, $2, r.position, r.type, r.record_id, 'waiting', r.epoch,
            row_number() OVER (PARTITION BY r.record_id ORDER BY r.position) = 1 AND NOT EXISTS (
              SELECT 1 FROM webhook_deliveries d
               WHERE d.company_id = $1 AND d.endpoint_id = $2 AND d.record_id = r.record_id AND d.state = 'waiting'),
            $5, $5
       FROM read r WHERE ${matchesTypes('r.type', 'r.types')}
     RETURNING 1
   ), come AS (
     SELECT greatest(w.position, CASE WHEN (SELECT count(*) FROM read) = $4
                                      THEN (SELECT max(position) FROM read) ELSE $3::bigint END) AS position
       FROM webhook_endpoints w WHERE w.company_id = $1 AND w.id = $2
   ), moved AS (
     UPDATE webhook_endpoints w
        SET position = come.position, earlier_types = jsonb_path_query_array(
              w.earlier_types, '$[*] ? (@.until > $come)', jsonb_build_object('come', come.position))
       FROM come WHERE w.company_id = $1 AND w.id = $2
   )
   SELECT (SELECT count(*)::int FROM read) AS read, (SELECT count(*)::int FROM made) AS made`,
);

/**
 * $1 company, $2 endpoint, $3 claim, $4 when to look again where there is more, or null for at once, $5 the backlog that
 * is done with, of which epoch $6, or null
 */
export const releaseEndpoint = statement(
  'webhook_endpoints.release',
  `WITH e AS (
     SELECT e.*, ${isOpen} AS more FROM webhook_endpoints e
      WHERE e.company_id = $1 AND e.id = $2 AND e.lease_by = $3 FOR NO KEY UPDATE NOWAIT
   )
   UPDATE webhook_endpoints w
      SET lease_by = NULL, lease_until = CASE WHEN e.more THEN $4::timestamptz END,
          backlog = CASE WHEN w.backlog = $5 AND w.epoch = $6 THEN NULL ELSE w.backlog END
     FROM e WHERE w.company_id = e.company_id AND w.id = e.id`,
);
