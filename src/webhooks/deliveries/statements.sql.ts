import { isoTime, jsonObject, longStatement, statement } from '../../kernel/sql/statement.ts';

/** Whether `type` is meant by one of `names`: itself, all of its record, or everything. */
export const matchesTypes = (type: string, names: string): string =>
  `(${type} = ANY (${names}) OR split_part(${type}, '.', 1) || '.*' = ANY (${names}) OR '*' = ANY (${names}))`;

const fields = {
  id: 'd.id',
  endpoint_id: 'd.endpoint_id',
  event_type: 'd.event_type',
  record_id: 'd.record_id',
  state: 'd.state',
  attempts: 'd.attempts',
  next_attempt_at: `CASE WHEN d.state = 'waiting' AND d.ready THEN (
    SELECT ${isoTime('greatest(d.claim_at, CASE WHEN d.position IS NOT NULL THEN w.paused_until END)')} FROM webhook_endpoints w
     WHERE w.company_id = d.company_id AND w.id = d.endpoint_id AND (w.state = 'active' OR d.position IS NULL)) END`,
  created_at: isoTime('d.created_at'),
  first_attempt_at: isoTime('d.first_attempt_at'),
  delivered_at: `CASE d.state WHEN 'delivered' THEN ${isoTime('d.ended_at')} END`,
  replay_of: 'd.replay_of',
};
/** The id of the event is made of the position, under the company's key. */
const columns = `d.id, d.position::text, ${jsonObject(fields)}::text AS json`;

const ofEndpoint = 'd.company_id = $1 AND d.endpoint_id = $2';
const matchesFilters = `${ofEndpoint} AND ($3::text IS NULL OR d.state = $3) AND ($4::text IS NULL OR d.event_type = $4)
  AND ($5::timestamptz IS NULL OR d.created_at >= $5) AND ($6::timestamptz IS NULL OR d.created_at < $6)`;

/** $1 company, $2 endpoint, $3 state, $4 type, $5 from, $6 to, each null for all, $7 limit, $8 offset: the newest first */
export const listDeliveries = longStatement(
  'webhook_deliveries.list',
  `SELECT ${columns} FROM webhook_deliveries d WHERE ${matchesFilters}
    ORDER BY d.created_at DESC, d.position DESC, d.id DESC LIMIT $7 OFFSET $8`,
);

/** As above, without $7 and $8 */
export const countDeliveries = longStatement(
  'webhook_deliveries.count',
  `SELECT count(*)::int AS total FROM webhook_deliveries d WHERE ${matchesFilters}`,
);

/** $1 company, $2 endpoint, $3 id. Its tries belong to it. */
export const showDelivery = statement(
  'webhook_deliveries.show',
  `SELECT d.id, d.position::text, d.state, ${jsonObject({ ...fields, tries: 'd.tries' })}::text AS json
     FROM webhook_deliveries d WHERE ${ofEndpoint} AND d.id = $3`,
);

/** $1 company, $2 endpoint, $3 id, $4 now. Also to an endpoint that gets nothing else; nothing where one waits. */
export const insertPing = statement(
  'webhook_deliveries.ping',
  `INSERT INTO webhook_deliveries AS d (company_id, endpoint_id, id, event_type, state, ready, due_at, created_at)
   SELECT w.company_id, w.id, $3, 'ping', 'waiting', true, $4, $4 FROM webhook_endpoints w
    WHERE w.company_id = $1 AND w.id = $2 AND w.removed_at IS NULL FOR SHARE
   ON CONFLICT (company_id, endpoint_id) WHERE state = 'waiting' AND position IS NULL DO NOTHING
   RETURNING ${columns}`,
);

/** $1 company, $2 endpoint */
export const findWaitingPing = statement(
  'webhook_deliveries.waiting_ping',
  `SELECT ${columns} FROM webhook_deliveries d WHERE ${ofEndpoint} AND d.state = 'waiting' AND d.position IS NULL`,
);

/** $1 company, $2 endpoint, $3 how many to count at most */
export const countWaiting = statement(
  'webhook_deliveries.count_waiting',
  `SELECT count(*)::int AS waiting FROM (
     SELECT 1 FROM webhook_deliveries d WHERE ${ofEndpoint} AND d.state = 'waiting' LIMIT $3) d`,
);

/** $1 company, $2 endpoint: nobody else queues, sends or settles anything of it until the transaction ends. */
export const lockEndpoint = statement(
  'webhook_endpoints.hold_all',
  `SELECT 1 FROM webhook_endpoints WHERE company_id = $1 AND id = $2 AND removed_at IS NULL FOR NO KEY UPDATE`,
);

/** Whether something of the same record and endpoint comes before it. */
export const hasPredecessor = (d: string): string => `EXISTS (
  SELECT 1 FROM webhook_deliveries w
   WHERE w.company_id = ${d}.company_id AND w.endpoint_id = ${d}.endpoint_id AND w.record_id = ${d}.record_id
     AND w.state = 'waiting' AND (w.position, w.id) < (${d}.position, ${d}.id))`;

/** $1 company, $2 endpoint: whether the event of that position is on its way already. */
const isAlreadyWaiting = (record: string, position: string) => `EXISTS (
  SELECT 1 FROM webhook_deliveries o WHERE o.company_id = $1 AND o.endpoint_id = $2 AND o.record_id = ${record}
     AND o.position = ${position} AND o.state = 'waiting')`;

/** $1 company, $2 endpoint, $3 id, $4 the id of the repetition, $5 now. In a transaction that holds the endpoint. Nothing where the event waits already. */
export const insertReplay = statement(
  'webhook_deliveries.replay',
  `INSERT INTO webhook_deliveries AS d
     (company_id, endpoint_id, id, position, event_type, record_id, state, ready, due_at, created_at, replay_of)
   SELECT d.company_id, d.endpoint_id, $4, d.position, d.event_type, d.record_id, 'waiting', false, $5, $5, d.id
     FROM webhook_deliveries d WHERE ${ofEndpoint} AND d.id = $3 AND NOT ${isAlreadyWaiting('d.record_id', 'd.position')}
   RETURNING ${columns}, ARRAY[d.record_id] AS records`,
);

/**
 * $1 company, $2 endpoint, $3 now, $4 names of types, $5 after, $6 up to this position, $7 not before, $8 before this
 * time, each null for none, $9 how many at most. In a transaction that holds the endpoint. What has not been queued for the first
 * time is left to that, and what waits stays as it is.
 */
export const insertReplays = statement(
  'webhook_deliveries.replay_many',
  `WITH found AS (
     SELECT e.position, e.type, e.record_id
       FROM events e JOIN webhook_endpoints w ON w.company_id = e.company_id AND w.id = $2
      WHERE e.company_id = $1 AND e.position <= least(w.position, $6::bigint) AND e.position > coalesce($5::bigint, 0)
        AND ($7::timestamptz IS NULL OR e.at >= $7) AND ($8::timestamptz IS NULL OR e.at < $8)
        AND ${matchesTypes('e.type', '$4::text[]')} AND ${matchesTypes('e.type', 'w.types')}
        AND NOT ${isAlreadyWaiting('e.record_id', 'e.position')}
      ORDER BY e.position LIMIT $9
   ), made AS (
     INSERT INTO webhook_deliveries (company_id, endpoint_id, position, event_type, record_id, state, ready, due_at, created_at)
     SELECT $1, $2, f.position, f.type, f.record_id, 'waiting', false, $3, $3 FROM found f
   )
   SELECT count(*)::int AS queued, max(f.position)::text AS last, array_agg(DISTINCT f.record_id) AS records FROM found f`,
);

/**
 * $1 company, $2 endpoint, $3 records. After something of them was put before others, in its transaction: of each the
 * first is ready. One that is on its way already is not called back.
 */
export const reorderDeliveries = statement(
  'webhook_deliveries.order',
  `WITH placed AS (
     SELECT d.id, row_number() OVER (PARTITION BY d.record_id ORDER BY d.position, d.id) = 1 AS first
       FROM webhook_deliveries d WHERE ${ofEndpoint} AND d.state = 'waiting' AND d.record_id = ANY ($3::uuid[])
   )
   UPDATE webhook_deliveries d SET ready = p.first FROM placed p
    WHERE ${ofEndpoint} AND d.id = p.id AND d.ready <> p.first`,
);

/** $1 before when, $2 how many of an endpoint at most: gives how many were forgotten. */
export const purgeDeliveries = longStatement(
  'webhook_deliveries.forget',
  `WITH gone AS (
     DELETE FROM webhook_deliveries d
      USING webhook_endpoints w CROSS JOIN LATERAL (
              SELECT o.id FROM webhook_deliveries o
               WHERE o.company_id = w.company_id AND o.endpoint_id = w.id AND o.ended_at < $1
               ORDER BY o.ended_at LIMIT $2 FOR UPDATE SKIP LOCKED) o
      WHERE d.company_id = w.company_id AND d.endpoint_id = w.id AND d.id = o.id
     RETURNING 1
   )
   SELECT count(*)::int AS forgotten FROM gone`,
);
