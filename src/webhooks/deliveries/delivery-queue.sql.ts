import { isoTime, statement } from '../../kernel/sql/statement.ts';
import { hasPredecessor } from './statements.sql.ts';

/** A delivery on its way: claim, begin, settle. */

export const KEY = ['company_id', 'endpoint_id', 'id'] as const;
export const OPEN = `state = 'waiting' AND ready`;
/** Of one endpoint, by all workers together: one that hangs leaves room for the company's others. */
export const MAX_CONCURRENT_DELIVERIES = 4;
const maxConcurrent = `(CASE WHEN e.faltering THEN 1 ELSE ${MAX_CONCURRENT_DELIVERIES} END)`;

const isKey = 'd.company_id = $1 AND d.endpoint_id = $2 AND d.id = $3';
const ofEndpoint = 'company_id = e.company_id AND endpoint_id = e.id';

/** Of the endpoint `e`, pings whatever state it is in; each from an index of its own, however much waits. */
const ping = `SELECT claim_at FROM webhook_deliveries WHERE ${ofEndpoint} AND ${OPEN} AND position IS NULL`;
const event = `SELECT claim_at FROM webhook_deliveries WHERE ${ofEndpoint} AND ${OPEN} AND position IS NOT NULL
   AND e.state = 'active' ORDER BY claim_at LIMIT 1`;
const oldest = `(SELECT min(claim_at) AS claim_at FROM (
     (${ping}) UNION ALL (SELECT greatest(claim_at, e.paused_until) FROM (${event}) f)) o) oldest`;

/** As `DueStatements` has it, but the endpoints take turns as the companies do, and each has a limit of its own. */
export const claim = statement(
  'webhook_deliveries.claim',
  `WITH due AS MATERIALIZED (
     SELECT e.*, coalesce(b.under_way, 0) AS under_way, busy.count AS busy, ${maxConcurrent} - busy.count AS room
       FROM webhook_endpoints e
       LEFT JOIN unnest($5::uuid[], $6::int[]) AS b (company_id, under_way) ON b.company_id = e.company_id
      CROSS JOIN LATERAL ${oldest}
      CROSS JOIN LATERAL (SELECT count(*)::int FROM webhook_deliveries
                           WHERE ${ofEndpoint} AND state = 'waiting' AND lease_by IS NOT NULL AND lease_until > $1) busy
      WHERE e.removed_at IS NULL AND oldest.claim_at <= $1 AND coalesce(b.under_way, 0) < $7 AND busy.count < ${maxConcurrent}
      ORDER BY coalesce(b.under_way, 0), busy.count, oldest.claim_at LIMIT $4
   ), free AS (
     SELECT t.*, e.under_way, e.busy, e.room, row_number() OVER (PARTITION BY t.endpoint_id ORDER BY t.is_event, t.claim_at) AS in_line
       FROM due e CROSS JOIN LATERAL (
         SELECT * FROM (SELECT company_id, endpoint_id, id, claim_at, false AS is_event FROM webhook_deliveries
           WHERE ${ofEndpoint} AND ${OPEN} AND position IS NULL AND claim_at <= $1 FOR UPDATE SKIP LOCKED) p
         UNION ALL
         SELECT * FROM (SELECT company_id, endpoint_id, id, claim_at, true FROM webhook_deliveries
           WHERE ${ofEndpoint} AND ${OPEN} AND position IS NOT NULL AND claim_at <= $1
             AND e.state = 'active' AND coalesce(e.paused_until, $1) <= $1
           ORDER BY claim_at LIMIT e.room FOR UPDATE SKIP LOCKED) v) t
   ), turns AS (
     SELECT f.*, f.under_way + row_number() OVER (PARTITION BY f.company_id ORDER BY f.busy + f.in_line, f.claim_at) AS turn
       FROM free f WHERE f.in_line <= f.room
   ), taken AS (
     SELECT * FROM (SELECT *, row_number() OVER (ORDER BY turn, claim_at) AS place FROM turns WHERE turn <= $7) f
      WHERE place <= CASE turn WHEN 1 THEN $4 ELSE $4 - $8 END
   )
   UPDATE webhook_deliveries w SET lease_by = $2, lease_until = $3 FROM taken t
    WHERE w.company_id = t.company_id AND w.endpoint_id = t.endpoint_id AND w.id = t.id
   RETURNING w.company_id, w.endpoint_id, w.id`,
);

/** Endpoints with as much under way as they may have are looked at when something of it has ended. */
export const nextDue = statement(
  'webhook_deliveries.next_due',
  `SELECT to_char(min(oldest.claim_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
     FROM webhook_endpoints e CROSS JOIN LATERAL ${oldest}
    WHERE e.removed_at IS NULL AND e.company_id <> ALL ($1::uuid[])
      AND (SELECT count(*) FROM webhook_deliveries
            WHERE ${ofEndpoint} AND state = 'waiting' AND lease_by IS NOT NULL) < ${maxConcurrent}`,
);

/**
 * $1–$3 key, $4 claim, $5 now. Reads everything anew. Of an endpoint that is not active only a ping goes out, and of a
 * record only the first: anything else is given back. Nothing where the claim is lost. Waits for nobody.
 */
export const startDelivery = statement(
  'webhook_deliveries.begin',
  `WITH d AS (
     SELECT d.*, e.epoch AS present, e.url, e.sealed_secret, d.epoch < e.epoch AS anew,
            CASE WHEN e.previous_secret_until > $5 THEN e.sealed_previous_secret END AS sealed_previous_secret,
            d.ready AND e.removed_at IS NULL AND (e.state = 'active' OR d.position IS NULL) AS sends
       FROM webhook_deliveries d JOIN webhook_endpoints e ON e.company_id = d.company_id AND e.id = d.endpoint_id
      WHERE ${isKey} AND d.lease_by = $4 AND d.state = 'waiting' FOR UPDATE OF d NOWAIT
   ), written AS (
     UPDATE webhook_deliveries w
        SET epoch = d.present, attempts = CASE WHEN d.anew THEN 0 ELSE w.attempts END + 1,
            first_attempt_at = CASE WHEN d.anew THEN $5 ELSE coalesce(w.first_attempt_at, $5) END
       FROM d WHERE d.sends AND w.company_id = d.company_id AND w.endpoint_id = d.endpoint_id AND w.id = d.id
     RETURNING w.id, w.attempts, w.first_attempt_at
   ), given_back AS (
     UPDATE webhook_deliveries w SET lease_by = NULL, lease_until = NULL
       FROM d WHERE NOT d.sends AND w.company_id = d.company_id AND w.endpoint_id = d.endpoint_id AND w.id = d.id
   )
   SELECT d.id, d.position::text, d.event_type, d.present AS epoch, w.attempts AS attempt, ${isoTime('w.first_attempt_at')} AS first,
          ${isoTime('d.created_at')} AS created, d.url, c.event_key, d.sealed_secret, d.sealed_previous_secret
     FROM d JOIN written w ON w.id = d.id JOIN companies c ON c.id = d.company_id`,
);

/**
 * $1 company, $2 endpoint. What is queued meanwhile is seen by the next statement of the transaction. It fails at once
 * where somebody holds the endpoint: who waited would keep a connection from others.
 */
const lockStatement = (strength: string) =>
  `SELECT state, epoch, faltering FROM webhook_endpoints
    WHERE company_id = $1 AND id = $2 AND removed_at IS NULL FOR ${strength} NOWAIT`;
export const lockEndpointShared = statement('webhook_endpoints.share', lockStatement('SHARE'));
export const lockEndpointExclusive = statement('webhook_endpoints.take', lockStatement('NO KEY UPDATE'));

/** $1 company, $2 endpoint, $3 whether the attempt failed, $4 until when the receiver wants nothing, or null */
export const recordEndpointHealth = statement(
  'webhook_endpoints.note_attempt',
  `UPDATE webhook_endpoints SET faltering = $3, paused_until = greatest(paused_until, $4::timestamptz)
    WHERE company_id = $1 AND id = $2`,
);

/**
 * $1–$3 key, $4 claim, or null for what has been delivered, whoever holds it by now, $5 now, $6 state, $7 the attempt, $8
 * when to try again. In a transaction that holds or shares the endpoint. At its end the next one of the record has its
 * turn.
 */
export const recordDeliveryResult = statement(
  'webhook_deliveries.settle',
  `WITH d AS (
     UPDATE webhook_deliveries d
        SET state = $6, tries = d.tries || $7::jsonb, lease_by = NULL, lease_until = $8::timestamptz,
            ready = $6 = 'waiting' AND NOT ${hasPredecessor('d')},
            ended_at = CASE WHEN $6 <> 'waiting' THEN $5::timestamptz END
      WHERE ${isKey} AND d.state = 'waiting' AND ($4::uuid IS NULL OR d.lease_by = $4)
     RETURNING d.*
   ), n AS (
     UPDATE webhook_deliveries n SET ready = true FROM d
      WHERE d.state <> 'waiting' AND n.company_id = d.company_id AND n.endpoint_id = d.endpoint_id AND NOT n.ready
        AND n.id = (SELECT w.id FROM webhook_deliveries w
                     WHERE w.company_id = d.company_id AND w.endpoint_id = d.endpoint_id AND w.record_id = d.record_id
                       AND w.state = 'waiting' AND w.id <> d.id
                     ORDER BY w.position, w.id LIMIT 1)
     RETURNING 1
   )
   SELECT d.state FROM d`,
);

/** $1 company, $2 endpoint, $3 since when: whether any event has been delivered to it. A ping is none. */
export const findDeliveredSince = statement(
  'webhook_deliveries.delivered_since',
  `SELECT 1 FROM webhook_deliveries
    WHERE company_id = $1 AND endpoint_id = $2 AND ended_at >= $3 AND state = 'delivered' AND position IS NOT NULL
    LIMIT 1`,
);
