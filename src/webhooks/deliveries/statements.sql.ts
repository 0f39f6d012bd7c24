import { isoTime, jsonObject } from '../../kernel/sql/json.ts';
import { read, write } from '../../kernel/sql/statement.ts';

/** Whether one of `names` matches `type`: by the type itself, by all types of its record, or by `*`. */
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
        SELECT ${isoTime('greatest(d.claim_at, CASE WHEN d.position IS NOT NULL THEN w.paused_until END)')}
          FROM webhook_endpoints w
         WHERE w.company_id = d.company_id AND w.id = d.endpoint_id
           AND (w.state = 'active' OR d.position IS NULL)) END`,
  created_at: isoTime('d.created_at'),
  first_attempt_at: isoTime('d.first_attempt_at'),
  delivered_at: `CASE d.state WHEN 'delivered' THEN ${isoTime('d.ended_at')} END`,
  replay_of: 'd.replay_of',
};
/** The id of the event is not a column: the verb derives it from the position and the company's key. */
const columns = `d.id, d.position::text, ${jsonObject(fields)}::text AS json`;

const ENDPOINT_INPUTS = { company_id: 'uuid', endpoint_id: 'uuid' } as const;
type EndpointInput = Record<keyof typeof ENDPOINT_INPUTS, string>;
const ofEndpoint = (input: EndpointInput) =>
  `d.company_id = ${input.company_id} AND d.endpoint_id = ${input.endpoint_id}`;

/** A filter that is null matches every delivery. */
const FILTER_INPUTS = {
  ...ENDPOINT_INPUTS,
  state: 'text?',
  type: 'text?',
  from: 'timestamptz?',
  to: 'timestamptz?',
} as const;
const matchesFilters = (input: Record<keyof typeof FILTER_INPUTS, string>) =>
  `${ofEndpoint(input)}
       AND (${input.state} IS NULL OR d.state = ${input.state})
       AND (${input.type} IS NULL OR d.event_type = ${input.type})
       AND (${input.from} IS NULL OR d.created_at >= ${input.from})
       AND (${input.to} IS NULL OR d.created_at < ${input.to})`;

/** Newest first. */
export const listDeliveries = read('webhook_deliveries.list', {
  inputs: { ...FILTER_INPUTS, limit: 'int', offset: 'int' },
  pool: 'search',
  sql: (input) => `
    SELECT ${columns} FROM webhook_deliveries d
     WHERE ${matchesFilters(input)}
     ORDER BY d.created_at DESC, d.position DESC, d.id DESC LIMIT ${input.limit} OFFSET ${input.offset}`,
});

export const countDeliveries = read('webhook_deliveries.count', {
  inputs: FILTER_INPUTS,
  pool: 'search',
  sql: (input) => `
    SELECT count(*)::int AS total FROM webhook_deliveries d
     WHERE ${matchesFilters(input)}`,
});

export const showDelivery = read('webhook_deliveries.show', {
  inputs: { ...ENDPOINT_INPUTS, id: 'uuid' },
  sql: (input) => `
    SELECT d.id, d.position::text, d.state, ${jsonObject({ ...fields, tries: 'd.tries' })}::text AS json
      FROM webhook_deliveries d WHERE ${ofEndpoint(input)} AND d.id = ${input.id}`,
});

/** Queues a ping, whatever the state of the endpoint. Returns no row if a ping is already waiting. */
export const insertPing = write('webhook_deliveries.insert_ping', {
  inputs: { ...ENDPOINT_INPUTS, id: 'uuid', now: 'timestamptz' },
  sql: (input) => `
    INSERT INTO webhook_deliveries AS d (company_id, endpoint_id, id, event_type, state, ready, due_at, created_at)
    SELECT w.company_id, w.id, ${input.id}, 'ping', 'waiting', true, ${input.now}, ${input.now}
      FROM webhook_endpoints w
     WHERE w.company_id = ${input.company_id} AND w.id = ${input.endpoint_id} AND w.removed_at IS NULL FOR SHARE
    ON CONFLICT (company_id, endpoint_id) WHERE state = 'waiting' AND position IS NULL DO NOTHING
    RETURNING ${columns}`,
});

export const findWaitingPing = read('webhook_deliveries.find_waiting_ping', {
  inputs: ENDPOINT_INPUTS,
  sql: (input) => `
    SELECT ${columns} FROM webhook_deliveries d
     WHERE ${ofEndpoint(input)} AND d.state = 'waiting' AND d.position IS NULL`,
});

/** Counts no further than `max`. */
export const countWaiting = read('webhook_deliveries.count_waiting', {
  inputs: { ...ENDPOINT_INPUTS, max: 'int' },
  sql: (input) => `
    SELECT count(*)::int AS waiting FROM (
      SELECT 1 FROM webhook_deliveries d WHERE ${ofEndpoint(input)} AND d.state = 'waiting' LIMIT ${input.max}) d`,
});

/** Until the transaction ends, no other one queues deliveries to the endpoint or records their results. */
export const lockEndpoint = write('webhook_endpoints.lock', {
  inputs: ENDPOINT_INPUTS,
  sql: (input) => `
    SELECT 1 FROM webhook_endpoints
     WHERE company_id = ${input.company_id} AND id = ${input.endpoint_id} AND removed_at IS NULL
       FOR NO KEY UPDATE`,
});

/** Whether an earlier delivery of the same record to the same endpoint is waiting. */
export const hasPredecessor = (d: string): string => `EXISTS (
               SELECT 1 FROM webhook_deliveries w
                WHERE w.company_id = ${d}.company_id AND w.endpoint_id = ${d}.endpoint_id
                  AND w.record_id = ${d}.record_id AND w.state = 'waiting'
                  AND (w.position, w.id) < (${d}.position, ${d}.id))`;

const isAlreadyWaiting = (input: EndpointInput, recordId: string, position: string) => `EXISTS (
             SELECT 1 FROM webhook_deliveries o
              WHERE o.company_id = ${input.company_id} AND o.endpoint_id = ${input.endpoint_id}
                AND o.record_id = ${recordId} AND o.position = ${position} AND o.state = 'waiting')`;

/** Runs in a transaction that has locked the endpoint. Returns no row if the event is already waiting. */
export const insertReplay = write('webhook_deliveries.replay', {
  inputs: { ...ENDPOINT_INPUTS, replayed_id: 'uuid', id: 'uuid', now: 'timestamptz' },
  sql: (input) => `
    INSERT INTO webhook_deliveries AS d
      (company_id, endpoint_id, id, position, event_type, record_id, state, ready, due_at, created_at, replay_of)
    SELECT d.company_id, d.endpoint_id, ${input.id}, d.position, d.event_type, d.record_id, 'waiting', false,
           ${input.now}, ${input.now}, d.id
      FROM webhook_deliveries d
     WHERE ${ofEndpoint(input)} AND d.id = ${input.replayed_id}
       AND NOT ${isAlreadyWaiting(input, 'd.record_id', 'd.position')}
    RETURNING ${columns}, ARRAY[d.record_id] AS records`,
});

/**
 * Runs in a transaction that has locked the endpoint. Leaves out events that are already waiting, and events after the
 * endpoint's position, which fan-out has not queued yet. A bound that is null does not limit.
 */
export const insertReplays = write('webhook_deliveries.replay_many', {
  inputs: {
    ...ENDPOINT_INPUTS,
    now: 'timestamptz',
    types: 'text[]',
    after_position: 'bigint?',
    until_position: 'bigint?',
    from: 'timestamptz?',
    to: 'timestamptz?',
    max_events: 'int',
  },
  sql: (input) => `
    WITH found AS (
      SELECT e.position, e.type, e.record_id
        FROM events e JOIN webhook_endpoints w ON w.company_id = e.company_id AND w.id = ${input.endpoint_id}
       WHERE e.company_id = ${input.company_id} AND e.position <= least(w.position, ${input.until_position})
         AND e.position > coalesce(${input.after_position}, 0)
         AND (${input.from} IS NULL OR e.at >= ${input.from}) AND (${input.to} IS NULL OR e.at < ${input.to})
         AND ${matchesTypes('e.type', input.types)} AND ${matchesTypes('e.type', 'w.types')}
         AND NOT ${isAlreadyWaiting(input, 'e.record_id', 'e.position')}
       ORDER BY e.position LIMIT ${input.max_events}
    ), queued AS (
      INSERT INTO webhook_deliveries (company_id, endpoint_id, position, event_type, record_id, state, ready, due_at,
                                      created_at)
      SELECT ${input.company_id}, ${input.endpoint_id}, f.position, f.type, f.record_id, 'waiting', false,
             ${input.now}, ${input.now} FROM found f
    )
    SELECT count(*)::int AS queued, max(f.position)::text AS last, array_agg(DISTINCT f.record_id) AS records
      FROM found f`,
});

/**
 * Makes the first waiting delivery of each record the one that is ready. Runs in the transaction that queued replays
 * ahead of others. An attempt that is under way is not interrupted.
 */
export const reorderDeliveries = write('webhook_deliveries.reorder', {
  inputs: { ...ENDPOINT_INPUTS, record_ids: 'uuid[]' },
  sql: (input) => `
    WITH ranked AS (
      SELECT d.id, row_number() OVER (PARTITION BY d.record_id ORDER BY d.position, d.id) = 1 AS first
        FROM webhook_deliveries d
       WHERE ${ofEndpoint(input)} AND d.state = 'waiting' AND d.record_id = ANY (${input.record_ids})
    )
    UPDATE webhook_deliveries d SET ready = r.first FROM ranked r
     WHERE ${ofEndpoint(input)} AND d.id = r.id AND d.ready <> r.first`,
});

/** Deletes at most `max_per_endpoint` ended deliveries of each endpoint. */
export const purgeDeliveries = write('webhook_deliveries.purge', {
  inputs: { ended_before: 'timestamptz', max_per_endpoint: 'int' },
  pool: 'search',
  sql: (input) => `
    WITH deleted AS (
      DELETE FROM webhook_deliveries d
       USING webhook_endpoints w CROSS JOIN LATERAL (
               SELECT o.id FROM webhook_deliveries o
                WHERE o.company_id = w.company_id AND o.endpoint_id = w.id AND o.ended_at < ${input.ended_before}
                ORDER BY o.ended_at LIMIT ${input.max_per_endpoint} FOR UPDATE SKIP LOCKED) o
       WHERE d.company_id = w.company_id AND d.endpoint_id = w.id AND d.id = o.id
      RETURNING 1
    )
    SELECT count(*)::int AS deleted FROM deleted`,
});
