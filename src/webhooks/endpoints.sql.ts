import { recordLog } from '../kernel/record-log.ts';
import { iso, json, limit, statement } from '../kernel/sql.ts';

const shown = {
  id: 'w.id',
  url: 'w.url',
  description: 'w.description',
  types: 'w.types',
  state: 'w.state',
  state_reason: 'w.state_reason',
  failing_since: iso('w.failing_since'),
  secret_rotated_at: iso('w.secret_rotated_at'),
  previous_secret_until: iso('w.previous_secret_until'),
  created_at: iso('w.created_at'),
  updated_at: iso('w.updated_at'),
};
const record = json(shown);

/** No secret is in it, sealed or not, nor how far the endpoint has come. */
export const endpointLog = recordLog({
  record: 'webhook_endpoint',
  verbs: ['created', 'updated', 'secret_rotated', 'marked_failing', 'disabled', 'resumed', 'removed'],
  path: '/webhooks/endpoints/{endpointId}',
  params: { endpointId: 'webhook endpoint' },
  access: 'webhooks',
  table: 'webhook_endpoints',
  as: 'w',
  image: json({ ...shown, removed_at: iso('w.removed_at') }),
});

const here = 'w.company_id = $1 AND w.id = $2';
const kept = `${here} AND w.removed_at IS NULL`;

/** $1 company, $2 limit, $3 offset, $4 pattern or null: the newest first */
export const listEndpoints = statement(
  'webhook_endpoints.list',
  `WITH listed AS (
     SELECT w.* FROM webhook_endpoints w
      WHERE w.company_id = $1 AND w.removed_at IS NULL
        AND ($4::text IS NULL OR lower(w.url) LIKE lower($4) OR lower(w.description) LIKE lower($4))
   )
   SELECT (SELECT count(*)::int FROM listed) AS total,
          (SELECT coalesce(json_agg(${record} ORDER BY w.created_at DESC, w.id DESC), '[]')::text
             FROM (SELECT * FROM listed ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3) w) AS json`,
);

/** $1 company. Every event goes to each of them. */
export const endpointLimit = limit(
  'webhook endpoints',
  50,
  'FROM webhook_endpoints WHERE company_id = $1 AND removed_at IS NULL',
);

/** $1 company, $2 id */
export const showEndpoint = statement(
  'webhook_endpoints.show',
  `SELECT ${record}::text FROM webhook_endpoints w WHERE ${kept}`,
);

/**
 * $1 company, $2 id, $3 url, $4 description, $5 types, $6 sealed secret, $7 now, $8 origin, $9 up to where the log is
 * settled: it begins with what comes after.
 */
export const insertEndpoint = statement(
  'webhook_endpoints.insert',
  `WITH w AS (
     INSERT INTO webhook_endpoints (company_id, id, url, description, types, state, sealed_secret, position, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, 'active', $6, $9, $7, $7)
     RETURNING *
   ), e AS (
     ${endpointLog.entry('created', { from: 'w', at: '$7', origin: '$8' })}
   )
   SELECT ${record}::text FROM w`,
);

const seen = `seen AS MATERIALIZED (
  SELECT w.version, w.state, w.failing_since, ${endpointLog.image} AS before FROM webhook_endpoints w WHERE ${kept})`;
const isSeen = `${here} AND w.version = seen.version`;

/**
 * $1 company, $2 id, $3 now, $4 origin, $5 url, $6 description, $7 types, $8 state, each null to leave it, $9 whether the
 * description was sent. Nothing where another change came between.
 */
export const updateEndpoint = statement(
  'webhook_endpoints.update',
  `WITH ${seen}, w AS (
     UPDATE webhook_endpoints w
        SET url = coalesce($5, w.url), description = CASE WHEN $9 THEN $6 ELSE w.description END,
            types = coalesce($7, w.types), state = coalesce($8, w.state),
            state_reason = CASE WHEN $8 IS NULL THEN w.state_reason END,
            failing_since = CASE WHEN $8 = 'active' THEN NULL ELSE w.failing_since END,
            updated_at = $3, version = w.version + 1
       FROM seen WHERE ${isSeen}
     RETURNING w.*
   ), e AS (
     ${endpointLog.entry('updated', { from: 'w, seen', at: '$3', origin: '$4', before: 'seen.before' })}
   )
   SELECT ${record}::text AS json, seen.state <> 'active' AND w.state = 'active' AS resumed, seen.failing_since::text FROM w, seen`,
);

/** $1 company, $2 id, $3 now, $4 origin. Nothing where it is active, or another change came between. */
export const resumeEndpoint = statement(
  'webhook_endpoints.resume',
  `WITH ${seen}, w AS (
     UPDATE webhook_endpoints w
        SET state = 'active', state_reason = NULL, failing_since = NULL, updated_at = $3, version = w.version + 1
       FROM seen WHERE ${isSeen} AND seen.state <> 'active'
     RETURNING w.*
   ), e AS (
     ${endpointLog.entry('resumed', { from: 'w, seen', at: '$3', origin: '$4', before: 'seen.before' })}
   )
   SELECT ${record}::text AS json, seen.failing_since::text FROM w, seen`,
);

/**
 * $1 company, $2 endpoint, $3 now, $4 since when it was failing, or null. In the transaction that has made it active,
 * whose row keeps others away: all that waits is tried at once and anew, with what was given up when it began to fail.
 */
export const resumeDeliveries = statement(
  'webhook_deliveries.resume',
  `WITH open AS (
     SELECT d.id, row_number() OVER (PARTITION BY d.record_id ORDER BY d.position, d.id) = 1 AS first
       FROM webhook_deliveries d
      WHERE d.company_id = $1 AND d.endpoint_id = $2 AND d.record_id IS NOT NULL
        AND (d.state = 'waiting' OR d.state = 'failed' AND d.ended_at >= $4)
   )
   UPDATE webhook_deliveries d
      SET state = 'waiting', ended_at = NULL, ready = o.first, due_at = $3, attempts = 0, first_attempt_at = NULL,
          lease_until = CASE WHEN d.lease_by IS NOT NULL THEN d.lease_until END
     FROM open o WHERE d.company_id = $1 AND d.endpoint_id = $2 AND d.id = o.id`,
);

/**
 * $1 company, $2 id, $3 now, $4 origin, $5 sealed secret, $6 until when the present one signs too. Nothing where another
 * change came between.
 */
export const rotateSecret = statement(
  'webhook_endpoints.rotate',
  `WITH ${seen}, w AS (
     UPDATE webhook_endpoints w
        SET sealed_secret = $5, sealed_previous_secret = CASE WHEN $6::timestamptz > $3 THEN w.sealed_secret END,
            secret_rotated_at = $3, previous_secret_until = $6, updated_at = $3, version = w.version + 1
       FROM seen WHERE ${isSeen}
     RETURNING w.*
   ), e AS (
     ${endpointLog.entry('secret_rotated', { from: 'w, seen', at: '$3', origin: '$4', before: 'seen.before' })}
   )
   SELECT ${record}::text FROM w`,
);

/** $1 company, $2 id, $3 now, $4 origin. Its secrets go with it. */
export const removeEndpoint = statement(
  'webhook_endpoints.remove',
  `WITH ${seen}, w AS (
     UPDATE webhook_endpoints w
        SET removed_at = $3, sealed_secret = NULL, sealed_previous_secret = NULL, updated_at = $3, version = w.version + 1
       FROM seen WHERE ${isSeen}
     RETURNING w.*
   ), e AS (
     ${endpointLog.entry('removed', { from: 'w, seen', at: '$3', origin: '$4', before: 'seen.before' })}
   )
   SELECT ${json({ id: 'w.id', removed_at: iso('w.removed_at') })}::text FROM w`,
);

/** $1 company, $2 endpoint, $3 now. In the transaction that removes it. */
export const dropDeliveries = statement(
  'webhook_deliveries.drop',
  `UPDATE webhook_deliveries SET state = 'dropped', ready = false, ended_at = $3, lease_by = NULL, lease_until = NULL
    WHERE company_id = $1 AND endpoint_id = $2 AND state = 'waiting'`,
);

/** $1 company, $2 id, $3 now, $4 origin, $5 why. To be asked in a transaction that holds the endpoint's row. */
const stop = (verb: 'marked_failing' | 'disabled', changes: string) =>
  statement(
    `webhook_endpoints.${verb}`,
    `WITH ${seen}, w AS (
       UPDATE webhook_endpoints w SET ${changes}, state_reason = $5, updated_at = $3, version = w.version + 1
         FROM seen WHERE ${isSeen}
       RETURNING w.*
     ), e AS (
       ${endpointLog.entry(verb, { from: 'w, seen', at: '$3', origin: '$4', before: 'seen.before' })}
     )
     SELECT 1 FROM w`,
  );
export const markFailing = stop('marked_failing', `state = 'failing', failing_since = $3`);
export const disableEndpoint = stop('disabled', `state = 'disabled'`);
