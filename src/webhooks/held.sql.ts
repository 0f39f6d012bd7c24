import {
  BATCH_INPUTS,
  COMPANY_INPUTS,
  heldStatements,
  isHeld,
  isSameJob,
  lockHeldBatch,
  ofCompany,
} from '../kernel/jobs/held-jobs.sql.ts';
import { read, write } from '../kernel/sql/statement.ts';
import { KEY as DELIVERY_KEY } from './deliveries/delivery-queue.sql.ts';
import { KEY as ALERT_KEY } from './endpoints/alerts.sql.ts';
import { KEY as ENDPOINT_KEY } from './fan-out.sql.ts';

const OPEN = `j.state = 'waiting'`;
const ALERTS = { table: 'webhook_notices', key: ALERT_KEY, tenantTable: 'companies', open: OPEN } as const;
const url = `(SELECT w.url FROM webhook_endpoints w WHERE w.company_id = j.company_id AND w.id = j.endpoint_id)`;

export const deliveries = heldStatements({
  kind: 'webhooks',
  table: 'webhook_deliveries',
  key: DELIVERY_KEY,
  tenantTable: 'companies',
  open: OPEN,
  description: `j.event_type || ' to ' || ${url}`,
});

export const alerts = heldStatements({
  ...ALERTS,
  kind: 'alerts',
  description: `j.kind || ', endpoint ' || ${url}`,
});

/** An endpoint is itself the job that turns events into deliveries. Only imports hold it. */
export const endpoints = heldStatements({
  kind: 'endpoints',
  table: 'webhook_endpoints',
  key: ENDPOINT_KEY,
  tenantTable: 'companies',
  open: 'true',
  due: 'j.created_at',
  description: 'j.url',
});

/** The endpoints with events that have not become deliveries. */
export const findEndpointsBehind = read('webhook_endpoints.behind', {
  inputs: {},
  pool: 'search',
  sql: () => `
    SELECT w.company_id, w.id FROM webhook_endpoints w
     WHERE w.state = 'active' AND w.removed_at IS NULL
       AND EXISTS (SELECT 1 FROM events e WHERE e.company_id = w.company_id AND e.position > w.position)`,
});

export const lockEndpoint = write('webhook_endpoints.lock_restored', {
  inputs: { company_id: 'uuid', id: 'uuid' },
  sql: (input) => `
    SELECT 1 FROM webhook_endpoints WHERE company_id = ${input.company_id} AND id = ${input.id} FOR NO KEY UPDATE`,
});

export const listEndpointsWithHeld = read('webhook_endpoints.with_held', {
  inputs: COMPANY_INPUTS,
  pool: 'search',
  sql: (input) => `
    SELECT w.company_id, w.id FROM webhook_endpoints w
     WHERE ${ofCompany('w', input, 'companies')} AND EXISTS (
       SELECT 1 FROM webhook_deliveries j
        WHERE j.company_id = w.company_id AND j.endpoint_id = w.id AND ${OPEN} AND ${isHeld('j')})`,
});

const ENDPOINT_INPUTS = { company_id: 'uuid', endpoint_id: 'uuid' } as const;
const ofEndpoint = (alias: string, input: Record<keyof typeof ENDPOINT_INPUTS, string>) =>
  `${alias}.company_id = ${input.company_id} AND ${alias}.endpoint_id = ${input.endpoint_id}`;

/** Drops a batch of an endpoint that is locked, as by every statement that decides which deliveries are ready. */
export const dropDeliveries = write('webhook_deliveries.drop_held', {
  inputs: { ...ENDPOINT_INPUTS, batch_size: 'int', now: 'timestamptz' },
  sql: (input) => `
    WITH batch AS MATERIALIZED (
      SELECT j.id FROM webhook_deliveries j WHERE ${ofEndpoint('j', input)} AND ${OPEN} AND ${isHeld('j')}
       LIMIT ${input.batch_size} FOR NO KEY UPDATE
    ), dropped AS (
      UPDATE webhook_deliveries j SET state = 'dropped', ready = false, ended_at = ${input.now}, lease_until = NULL
        FROM batch b WHERE ${ofEndpoint('j', input)} AND j.id = b.id RETURNING j.record_id
    )
    SELECT count(*)::int AS count, array_agg(DISTINCT record_id) FILTER (WHERE record_id IS NOT NULL) AS record_ids
      FROM dropped`,
});

/** Of the waiting deliveries of each record, the first one becomes ready. Runs in the transaction that dropped others. */
export const readyFirstDeliveries = write('webhook_deliveries.ready_first', {
  inputs: { ...ENDPOINT_INPUTS, record_ids: 'uuid[]' },
  sql: (input) => `
    UPDATE webhook_deliveries d SET ready = true
      FROM unnest(${input.record_ids}) r (id) CROSS JOIN LATERAL (
        SELECT j.id FROM webhook_deliveries j WHERE ${ofEndpoint('j', input)} AND j.record_id = r.id AND ${OPEN}
         ORDER BY j.position, j.id LIMIT 1) f
     WHERE ${ofEndpoint('d', input)} AND d.id = f.id AND NOT d.ready`,
});

export const dropAlerts = write('webhook_notices.drop_held', {
  inputs: { ...BATCH_INPUTS, reason: 'text', now: 'timestamptz' },
  sql: (input) => `
    WITH batch AS MATERIALIZED (${lockHeldBatch(ALERTS, input)}
    ), dropped AS (
      UPDATE webhook_notices j
         SET state = 'untold', ended_at = ${input.now}, lease_until = NULL, last_error = ${input.reason}
        FROM batch b WHERE ${isSameJob(ALERT_KEY, 'j', 'b')} RETURNING 1
    )
    SELECT count(*)::int AS count FROM dropped`,
});

/** The endpoints go on with the events after the watermark. */
export const dropEndpoints = write('webhook_endpoints.drop_held', {
  inputs: { ...COMPANY_INPUTS, watermark: 'bigint' },
  sql: (input) => `
    WITH dropped AS (
      UPDATE webhook_endpoints j SET lease_until = NULL, position = greatest(j.position, ${input.watermark})
       WHERE ${isHeld('j')} AND ${ofCompany('j', input, 'companies')} RETURNING 1
    )
    SELECT count(*)::int AS count FROM dropped`,
});
