import { COMPANY_INPUTS, heldStatements, isHeld, ofCompany } from '../kernel/jobs/held-jobs.sql.ts';
import { read, write } from '../kernel/sql/statement.ts';

const OPEN = `j.state = 'waiting'`;
const url = `(SELECT w.url FROM webhook_endpoints w WHERE w.company_id = j.company_id AND w.id = j.endpoint_id)`;

export const deliveries = heldStatements({
  kind: 'webhooks',
  table: 'webhook_deliveries',
  tenantTable: 'companies',
  open: OPEN,
  description: `j.event_type || ' to ' || ${url}`,
});

export const alerts = heldStatements({
  kind: 'alerts',
  table: 'webhook_notices',
  tenantTable: 'companies',
  open: OPEN,
  description: `j.kind || ', endpoint ' || ${url}`,
});

/** An endpoint is itself the job that turns events into deliveries. Only imports hold it. */
export const endpoints = heldStatements({
  kind: 'endpoints',
  table: 'webhook_endpoints',
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

/** Locks the endpoints whose deliveries are dropped, as every statement does that decides which ones are ready. */
export const lockEndpointsWithHeld = write('webhook_endpoints.lock_with_held', {
  inputs: COMPANY_INPUTS,
  sql: (input) => `
    SELECT 1 FROM webhook_endpoints w
     WHERE ${ofCompany('w', input, 'companies')} AND EXISTS (
       SELECT 1 FROM webhook_deliveries j
        WHERE j.company_id = w.company_id AND j.endpoint_id = w.id AND ${OPEN} AND ${isHeld('j')})
     ORDER BY w.company_id, w.id FOR NO KEY UPDATE`,
});

export const dropDeliveries = write('webhook_deliveries.drop_held', {
  inputs: { ...COMPANY_INPUTS, now: 'timestamptz' },
  sql: (input) => `
    WITH dropped AS (
      UPDATE webhook_deliveries j SET state = 'dropped', ready = false, ended_at = ${input.now}, lease_until = NULL
       WHERE ${OPEN} AND ${isHeld('j')} AND ${ofCompany('j', input, 'companies')} RETURNING 1
    )
    SELECT count(*)::int AS count FROM dropped`,
});

/** Of the waiting deliveries of each record, the first one becomes ready. Runs in the transaction that dropped others. */
export const readyFirstDeliveries = write('webhook_deliveries.ready_first', {
  inputs: COMPANY_INPUTS,
  sql: (input) => `
    UPDATE webhook_deliveries d SET ready = true
      FROM (SELECT DISTINCT ON (j.company_id, j.endpoint_id, j.record_id) j.company_id, j.endpoint_id, j.id
              FROM webhook_deliveries j WHERE ${OPEN} AND j.position IS NOT NULL AND ${ofCompany('j', input, 'companies')}
             ORDER BY j.company_id, j.endpoint_id, j.record_id, j.position, j.id) f
     WHERE d.company_id = f.company_id AND d.endpoint_id = f.endpoint_id AND d.id = f.id AND NOT d.ready`,
});

export const dropAlerts = write('webhook_notices.drop_held', {
  inputs: { ...COMPANY_INPUTS, reason: 'text', now: 'timestamptz' },
  sql: (input) => `
    WITH dropped AS (
      UPDATE webhook_notices j
         SET state = 'untold', ended_at = ${input.now}, lease_until = NULL, last_error = ${input.reason}
       WHERE ${OPEN} AND ${isHeld('j')} AND ${ofCompany('j', input, 'companies')} RETURNING 1
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
