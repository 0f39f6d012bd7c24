import { isNotHeld } from '../../kernel/jobs/held-jobs.sql.ts';
import { read, write } from '../../kernel/sql/statement.ts';

/**
 * What a worker does with the waiting deliveries of an endpoint: after a resumption they are due immediately, after a
 * removal they are dropped. The database stores the values.
 */
export const BACKLOG_ACTIONS = { expedite: 'hasten', discard: 'drop' } as const;
export type BacklogAction = (typeof BACKLOG_ACTIONS)[keyof typeof BACKLOG_ACTIONS];

const ENDPOINT_INPUTS = { company_id: 'uuid', endpoint_id: 'uuid' } as const;

/** Returns no row if the endpoint has no backlog. */
export const findBacklog = read('webhook_endpoints.find_backlog', {
  inputs: ENDPOINT_INPUTS,
  sql: (input) => `
    SELECT backlog, epoch FROM webhook_endpoints
     WHERE company_id = ${input.company_id} AND id = ${input.endpoint_id} AND backlog IS NOT NULL`,
});

/** `after_…`: the last delivery of the batch before. */
const BATCH_INPUTS = {
  ...ENDPOINT_INPUTS,
  now: 'timestamptz',
  batch_size: 'int',
  after_record_id: 'uuid',
  after_position: 'bigint',
  after_id: 'uuid',
} as const;
type BatchInput = Record<keyof typeof BATCH_INPUTS, string>;

type BatchChange = {
  lock: string;
  condition: (input: BatchInput) => string;
  changes: (input: BatchInput) => string;
};

/**
 * Changes a batch of the waiting deliveries. It starts after the batch before, so deliveries that were skipped are not
 * read again. Returns the last delivery of the batch and the size of the batch, or no row if none is left.
 */
const backlogBatch = (name: string, { lock, condition, changes }: BatchChange) =>
  write(name, {
    inputs: BATCH_INPUTS,
    sql: (input) => {
      const ofEndpoint = `d.company_id = ${input.company_id} AND d.endpoint_id = ${input.endpoint_id}`;
      return `
    WITH batch AS MATERIALIZED (
      SELECT d.record_id, d.position, d.id FROM webhook_deliveries d
       WHERE ${ofEndpoint} AND d.state = 'waiting'
         AND (d.record_id, d.position, d.id) > (${input.after_record_id}, ${input.after_position}, ${input.after_id})
       ORDER BY d.record_id, d.position, d.id LIMIT ${input.batch_size}
    ), locked AS MATERIALIZED (
      SELECT d.id FROM batch b CROSS JOIN LATERAL (
        SELECT d.id FROM webhook_deliveries d
         WHERE ${ofEndpoint} AND d.id = b.id AND d.state = 'waiting' AND ${condition(input)}
           ${lock}) d
    ), changed AS (
      UPDATE webhook_deliveries d SET ${changes(input)}
       WHERE ${ofEndpoint} AND d.id = ANY (ARRAY(SELECT l.id FROM locked l))
    )
    SELECT b.record_id, b.position::text, b.id, (SELECT count(*)::int FROM batch) AS count
      FROM batch b ORDER BY b.record_id DESC, b.position DESC, b.id DESC LIMIT 1`;
    },
  });

/** Skips leased deliveries, whose attempt is under way, and those that were tried since the resumption. */
export const expediteBatch = backlogBatch('webhook_deliveries.expedite', {
  lock: 'FOR UPDATE SKIP LOCKED',
  condition: (input) => `d.ready AND d.claim_at > ${input.now} AND d.lease_by IS NULL AND ${isNotHeld('d')}
           AND d.epoch < (SELECT w.epoch FROM webhook_endpoints w
                           WHERE w.company_id = ${input.company_id} AND w.id = ${input.endpoint_id})`,
  changes: (input) => `due_at = least(d.due_at, ${input.now}), lease_until = NULL`,
});

const discard = (now: string) =>
  `state = 'dropped', ready = false, ended_at = ${now}, lease_by = NULL, lease_until = NULL`;

export const discardBatch = backlogBatch('webhook_deliveries.discard', {
  lock: 'FOR UPDATE',
  condition: () => 'true',
  changes: (input) => discard(input.now),
});

export const discardPing = write('webhook_deliveries.discard_ping', {
  inputs: { ...ENDPOINT_INPUTS, now: 'timestamptz' },
  sql: (input) => `
    UPDATE webhook_deliveries SET ${discard(input.now)}
     WHERE company_id = ${input.company_id} AND endpoint_id = ${input.endpoint_id}
       AND state = 'waiting' AND position IS NULL`,
});
