import {
  CLAIM_INPUTS,
  leaseStatements,
  NEXT_DUE_INPUTS,
  type QueueStatements,
} from '../../kernel/jobs/job-queue.sql.ts';
import { isoTime } from '../../kernel/sql/json.ts';
import { read, write } from '../../kernel/sql/statement.ts';
import { hasPredecessor } from './statements.sql.ts';

export const KEY = ['company_id', 'endpoint_id', 'id'] as const;
const OPEN = `state = 'waiting' AND ready`;

// The limit of one endpoint over all workers, so that an endpoint that hangs leaves slots for the company's others.
const MAX_CONCURRENT_DELIVERIES = 4;
const maxConcurrent = `(CASE WHEN e.faltering THEN 1 ELSE ${MAX_CONCURRENT_DELIVERIES} END)`;

const KEY_INPUTS = { company_id: 'uuid', endpoint_id: 'uuid', id: 'uuid' } as const;
const ENDPOINT_INPUTS = { company_id: 'uuid', endpoint_id: 'uuid' } as const;

const hasKey = (input: Record<keyof typeof KEY_INPUTS, string>) =>
  `d.company_id = ${input.company_id} AND d.endpoint_id = ${input.endpoint_id} AND d.id = ${input.id}`;
const ofEndpoint = 'company_id = e.company_id AND endpoint_id = e.id';
const isSameDelivery = 'w.company_id = d.company_id AND w.endpoint_id = d.endpoint_id AND w.id = d.id';

/**
 * The earliest time at which a delivery of the endpoint `e` can be claimed. Pings are sent in any state of the
 * endpoint, events only to an active one. Each branch is one probe of its own index, however many deliveries wait.
 */
const ping = `SELECT claim_at FROM webhook_deliveries WHERE ${ofEndpoint} AND ${OPEN} AND position IS NULL`;
const event = `SELECT claim_at FROM webhook_deliveries
              WHERE ${ofEndpoint} AND ${OPEN} AND position IS NOT NULL AND e.state = 'active'
              ORDER BY claim_at LIMIT 1`;
const oldest = `(
         SELECT min(claim_at) AS claim_at FROM (
           (${ping})
           UNION ALL
           (SELECT greatest(claim_at, e.paused_until) FROM (
             ${event}) f)) o) oldest`;

/**
 * Claims deliveries. Unlike `queueStatements`, endpoints take turns as well as companies, and each endpoint has a limit
 * of concurrent deliveries.
 */
const claim = write('webhook_deliveries.claim', {
  inputs: CLAIM_INPUTS,
  sql: (input) => `
    WITH due AS MATERIALIZED (
      SELECT e.*, coalesce(b.running, 0) AS running, busy.count AS busy, ${maxConcurrent} - busy.count AS free_slots
        FROM webhook_endpoints e
        LEFT JOIN unnest(${input.busy_companies}, ${input.busy_counts}) AS b (company_id, running)
          ON b.company_id = e.company_id
       CROSS JOIN LATERAL ${oldest}
       CROSS JOIN LATERAL (
         SELECT count(*)::int FROM webhook_deliveries
          WHERE ${ofEndpoint} AND state = 'waiting' AND lease_by IS NOT NULL AND lease_until > ${input.now}) busy
       WHERE e.removed_at IS NULL AND oldest.claim_at <= ${input.now}
         AND coalesce(b.running, 0) < ${input.max_per_company} AND busy.count < ${maxConcurrent}
       ORDER BY coalesce(b.running, 0), busy.count, oldest.claim_at LIMIT ${input.limit}
    ), free AS (
      SELECT t.*, e.running, e.busy, e.free_slots,
             row_number() OVER (PARTITION BY t.endpoint_id ORDER BY t.is_event, t.claim_at) AS in_line
        FROM due e CROSS JOIN LATERAL (
          SELECT * FROM (
            SELECT company_id, endpoint_id, id, claim_at, false AS is_event FROM webhook_deliveries
             WHERE ${ofEndpoint} AND ${OPEN} AND position IS NULL AND claim_at <= ${input.now}
               FOR UPDATE SKIP LOCKED) p
          UNION ALL
          SELECT * FROM (
            SELECT company_id, endpoint_id, id, claim_at, true FROM webhook_deliveries
             WHERE ${ofEndpoint} AND ${OPEN} AND position IS NOT NULL AND claim_at <= ${input.now}
               AND e.state = 'active' AND coalesce(e.paused_until, ${input.now}) <= ${input.now}
             ORDER BY claim_at LIMIT e.free_slots FOR UPDATE SKIP LOCKED) v) t
    ), turns AS (
      SELECT f.*, f.running + row_number() OVER (PARTITION BY f.company_id
                                                   ORDER BY f.busy + f.in_line, f.claim_at) AS turn
        FROM free f WHERE f.in_line <= f.free_slots
    ), taken AS (
      SELECT * FROM (SELECT *, row_number() OVER (ORDER BY turn, claim_at) AS place FROM turns
                      WHERE turn <= ${input.max_per_company}) f
       WHERE place <= CASE turn WHEN 1 THEN ${input.limit} ELSE ${input.limit} - ${input.reserved} END
    )
    UPDATE webhook_deliveries w SET lease_by = ${input.lease}, lease_until = ${input.lease_until} FROM taken t
     WHERE w.company_id = t.company_id AND w.endpoint_id = t.endpoint_id AND w.id = t.id
    RETURNING w.company_id, w.endpoint_id, w.id`,
});

/** Leaves out endpoints at their limit: the worker checks again when one of their deliveries has ended. */
const nextDue = read('webhook_deliveries.next_due', {
  inputs: NEXT_DUE_INPUTS,
  sql: (input) => `
    SELECT ${isoTime('min(oldest.claim_at)')} AS at
      FROM webhook_endpoints e CROSS JOIN LATERAL ${oldest}
     WHERE e.removed_at IS NULL AND e.company_id <> ALL (${input.excluded_companies})
       AND (SELECT count(*) FROM webhook_deliveries
             WHERE ${ofEndpoint} AND state = 'waiting' AND lease_by IS NOT NULL) < ${maxConcurrent}`,
});

export const statements: QueueStatements = {
  claim,
  nextDue,
  ...leaseStatements({ table: 'webhook_deliveries', key: KEY, open: OPEN }),
};

/**
 * Starts an attempt. Since the claim, the endpoint may have been stopped, or a replay may have been queued ahead of the
 * delivery: then the lease is released. Returns no row if it was released or lost. Fails if another transaction has the
 * lock.
 */
export const startDelivery = write('webhook_deliveries.start', {
  inputs: { ...KEY_INPUTS, lease: 'uuid', now: 'timestamptz' },
  sql: (input) => `
    WITH d AS (
      SELECT d.*, e.epoch AS current_epoch, e.url, e.sealed_secret, d.epoch < e.epoch AS resumed,
             CASE WHEN e.previous_secret_until > ${input.now} THEN e.sealed_previous_secret
                  END AS sealed_previous_secret,
             d.ready AND e.removed_at IS NULL AND (e.state = 'active' OR d.position IS NULL) AS may_send
        FROM webhook_deliveries d JOIN webhook_endpoints e ON e.company_id = d.company_id AND e.id = d.endpoint_id
       WHERE ${hasKey(input)} AND d.lease_by = ${input.lease} AND d.state = 'waiting' FOR UPDATE OF d NOWAIT
    ), started AS (
      UPDATE webhook_deliveries w
         SET epoch = d.current_epoch, attempts = CASE WHEN d.resumed THEN 0 ELSE w.attempts END + 1,
             first_attempt_at = CASE WHEN d.resumed THEN ${input.now}
                                     ELSE coalesce(w.first_attempt_at, ${input.now}) END
        FROM d WHERE d.may_send AND ${isSameDelivery}
      RETURNING w.id, w.attempts, w.first_attempt_at
    ), released AS (
      UPDATE webhook_deliveries w SET lease_by = NULL, lease_until = NULL
        FROM d WHERE NOT d.may_send AND ${isSameDelivery}
    )
    SELECT d.id, d.position::text, d.event_type, d.current_epoch AS epoch, w.attempts AS attempt_number,
           ${isoTime('w.first_attempt_at')} AS first_attempt_at, ${isoTime('d.created_at')} AS created_at,
           d.url, c.event_key, d.sealed_secret, d.sealed_previous_secret
      FROM d JOIN started w ON w.id = d.id JOIN companies c ON c.id = d.company_id`,
});

/**
 * Locks the endpoint, so later statements of the transaction see everything that was queued before. Fails if another
 * transaction has the lock, because a transaction that waited would hold a connection.
 */
const lockStatement = (name: string, strength: string) =>
  write(name, {
    inputs: ENDPOINT_INPUTS,
    sql: (input) => `
      SELECT state, epoch, faltering AS unhealthy FROM webhook_endpoints
       WHERE company_id = ${input.company_id} AND id = ${input.endpoint_id} AND removed_at IS NULL
         FOR ${strength} NOWAIT`,
  });
export const lockEndpointShared = lockStatement('webhook_endpoints.lock_shared', 'SHARE');
export const lockEndpointExclusive = lockStatement('webhook_endpoints.lock_exclusive', 'NO KEY UPDATE');

/** `paused_until`: the receiver accepts no events before this time. */
export const recordEndpointHealth = write('webhook_endpoints.record_health', {
  inputs: { ...ENDPOINT_INPUTS, unhealthy: 'boolean', paused_until: 'timestamptz?' },
  sql: (input) => `
    UPDATE webhook_endpoints
       SET faltering = ${input.unhealthy}, paused_until = greatest(paused_until, ${input.paused_until})
     WHERE company_id = ${input.company_id} AND id = ${input.endpoint_id}`,
});

/**
 * Records an attempt. When the delivery ends, the record's next one becomes ready. Runs in a transaction that has
 * locked the endpoint. Returns no row if the lease was lost; with null as `lease` the result is recorded even then.
 */
export const recordDeliveryResult = write('webhook_deliveries.record_result', {
  inputs: {
    ...KEY_INPUTS,
    lease: 'uuid?',
    now: 'timestamptz',
    state: 'text',
    tries: 'jsonb',
    retry_at: 'timestamptz?',
  },
  sql: (input) => `
    WITH d AS (
      UPDATE webhook_deliveries d
         SET state = ${input.state}, tries = d.tries || ${input.tries}, lease_by = NULL,
             lease_until = ${input.retry_at},
             ready = ${input.state} = 'waiting' AND NOT ${hasPredecessor('d')},
             ended_at = CASE WHEN ${input.state} <> 'waiting' THEN ${input.now} END
       WHERE ${hasKey(input)} AND d.state = 'waiting' AND (${input.lease} IS NULL OR d.lease_by = ${input.lease})
      RETURNING d.*
    ), n AS (
      UPDATE webhook_deliveries n SET ready = true FROM d
       WHERE d.state <> 'waiting' AND n.company_id = d.company_id AND n.endpoint_id = d.endpoint_id AND NOT n.ready
         AND n.id = (SELECT w.id FROM webhook_deliveries w
                      WHERE w.company_id = d.company_id AND w.endpoint_id = d.endpoint_id
                        AND w.record_id = d.record_id AND w.state = 'waiting' AND w.id <> d.id
                      ORDER BY w.position, w.id LIMIT 1)
      RETURNING 1
    )
    SELECT d.state FROM d`,
});

/** Returns a row if an event was delivered to the endpoint since then. Pings do not count. */
export const findDeliveredSince = read('webhook_deliveries.find_delivered_since', {
  inputs: { ...ENDPOINT_INPUTS, since: 'timestamptz' },
  sql: (input) => `
    SELECT 1 FROM webhook_deliveries
     WHERE company_id = ${input.company_id} AND endpoint_id = ${input.endpoint_id} AND ended_at >= ${input.since}
       AND state = 'delivered' AND position IS NOT NULL
     LIMIT 1`,
});
