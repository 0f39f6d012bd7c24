import { iso, statement } from '../kernel/sql.ts';
import { isBehind } from './deliveries.sql.ts';

/** A delivery on its way: claim, begin, settle. */

export const KEY = ['company_id', 'endpoint_id', 'id'] as const;
export const OPEN = `state = 'waiting' AND ready`;
/** Of one endpoint, by all workers together: one that hangs leaves room for the company's others. */
export const MOST_AT_ONCE = 4;

const isKey = 'd.company_id = $1 AND d.endpoint_id = $2 AND d.id = $3';

const oldest = (condition: string) => `CROSS JOIN LATERAL (
  SELECT claim_at FROM webhook_deliveries
   WHERE company_id = e.company_id AND endpoint_id = e.id AND ${OPEN} ${condition} ORDER BY claim_at LIMIT 1) oldest`;

/** $1 now */
const underWay = (now: string) => `(
  SELECT count(*)::int FROM webhook_deliveries h
   WHERE h.company_id = e.company_id AND h.endpoint_id = e.id AND h.state = 'waiting' AND h.lease_by IS NOT NULL
     AND h.lease_until > ${now})`;

/** As `DueStatements` has it, but the endpoints take turns as the companies do, and each has a limit of its own. */
export const claim = statement(
  'webhook_deliveries.claim',
  `WITH due AS MATERIALIZED (
     SELECT e.company_id, e.id AS endpoint_id, coalesce(b.under_way, 0) AS under_way, ${underWay('$1')} AS busy
       FROM webhook_endpoints e
       LEFT JOIN unnest($5::uuid[], $6::int[]) AS b (company_id, under_way) ON b.company_id = e.company_id
      ${oldest('AND claim_at <= $1')}
      WHERE coalesce(b.under_way, 0) < $7
      ORDER BY coalesce(b.under_way, 0), oldest.claim_at
   ), free AS (
     SELECT t.*, due.under_way, row_number() OVER (PARTITION BY t.endpoint_id ORDER BY t.claim_at) AS in_line
       FROM (SELECT * FROM due WHERE busy < ${MOST_AT_ONCE} LIMIT $4) due CROSS JOIN LATERAL (
         SELECT company_id, endpoint_id, id, claim_at FROM webhook_deliveries
          WHERE company_id = due.company_id AND endpoint_id = due.endpoint_id AND ${OPEN} AND claim_at <= $1
          ORDER BY claim_at LIMIT ${MOST_AT_ONCE} - due.busy FOR UPDATE SKIP LOCKED) t
   ), turns AS (
     SELECT f.*, f.under_way + row_number() OVER (PARTITION BY f.company_id ORDER BY f.in_line, f.claim_at) AS turn FROM free f
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
     FROM webhook_endpoints e ${oldest('')}
    WHERE e.company_id <> ALL ($1::uuid[]) AND (
            SELECT count(*) FROM webhook_deliveries h
             WHERE h.company_id = e.company_id AND h.endpoint_id = e.id AND h.state = 'waiting' AND h.lease_by IS NOT NULL)
          < ${MOST_AT_ONCE}`,
);

/**
 * $1–$3 key, $4 claim, $5 now. Reads everything anew. Of an endpoint that is not active only a ping goes out; anything
 * else stops being ready until the endpoint is resumed, whose row is held meanwhile. Nothing where the claim is lost.
 */
export const beginDelivery = statement(
  'webhook_deliveries.begin',
  `WITH e AS (
     SELECT * FROM webhook_endpoints WHERE company_id = $1 AND id = $2 FOR SHARE
   ), d AS (
     SELECT d.*, e.state = 'active' OR d.position IS NULL AS sends FROM webhook_deliveries d, e
      WHERE ${isKey} AND d.lease_by = $4 AND d.state = 'waiting' FOR UPDATE OF d
   ), written AS (
     UPDATE webhook_deliveries w
        SET attempts = w.attempts + d.sends::int, ready = d.sends,
            first_attempt_at = CASE WHEN d.sends THEN coalesce(w.first_attempt_at, $5) ELSE w.first_attempt_at END,
            lease_by = CASE WHEN d.sends THEN w.lease_by END, lease_until = CASE WHEN d.sends THEN w.lease_until END
       FROM d WHERE w.company_id = d.company_id AND w.endpoint_id = d.endpoint_id AND w.id = d.id
   )
   SELECT d.id, d.position::text, d.event_type, d.attempts + 1 AS attempt, ${iso('coalesce(d.first_attempt_at, $5)')} AS first,
          ${iso('d.created_at')} AS created, e.url, c.event_key, e.sealed_secret,
          CASE WHEN e.previous_secret_until > $5 THEN e.sealed_previous_secret END AS sealed_previous_secret
     FROM d, e JOIN companies c ON c.id = e.company_id WHERE d.sends`,
);

/** $1 company, $2 endpoint. What is queued meanwhile is seen by the next statement of the transaction. */
export const shareEndpoint = statement(
  'webhook_endpoints.share',
  'SELECT state FROM webhook_endpoints WHERE company_id = $1 AND id = $2 FOR SHARE',
);

/**
 * $1–$3 key, $4 claim, or null for what has been delivered, whoever holds it by now, $5 now, $6 state, $7 the attempt, $8
 * when to try again, $9 whether it may be taken then. In a transaction that holds or shares the endpoint. At its end the next one of the record has its turn.
 */
export const settleDelivery = statement(
  'webhook_deliveries.settle',
  `WITH d AS (
     UPDATE webhook_deliveries d
        SET state = $6, tries = d.tries || $7::jsonb, lease_by = NULL, lease_until = $8::timestamptz,
            ready = $6 = 'waiting' AND $9 AND NOT ${isBehind('d')},
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

/** $1 company, $2 endpoint, $3 since when: whether anything has been delivered to it. */
export const deliveredSince = statement(
  'webhook_deliveries.delivered_since',
  `SELECT 1 FROM webhook_deliveries
    WHERE company_id = $1 AND endpoint_id = $2 AND ended_at >= $3 AND state = 'delivered' LIMIT 1`,
);
