import { NIL_CASE_ID } from '../../kernel/audit/audit-log.ts';
import { credentialColumns, MAKER_COLUMNS, setCredentialIf } from '../../kernel/credential-columns.sql.ts';
import { isoTime, jsonObject, longStatement, statement } from '../../kernel/sql/statement.ts';
import { endpointAuditLog, endpointJson as record } from './audit.sql.ts';

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

/** $1 company, $2 id */
export const showEndpoint = statement(
  'webhook_endpoints.show',
  `SELECT ${record}::text FROM webhook_endpoints w WHERE ${kept}`,
);

/**
 * $1 company, $2 id, $3 url, $4 description, $5 types, $6 sealed secret, $7 now, $8 origin, $9 up to where the log is
 * settled: it begins with what comes after, $10 the most that there may be, $11… the credential that makes it. To be asked
 * under the lock of the company's credentials, so that the count holds.
 */
export const insertEndpoint = statement(
  'webhook_endpoints.insert',
  `WITH w AS (
     INSERT INTO webhook_endpoints (company_id, id, url, description, types, state, sealed_secret, position, created_at, updated_at,
                                    ${MAKER_COLUMNS}, ${credentialColumns('url_set_by')})
     SELECT $1, $2, $3, $4, $5, 'active', $6, $9, $7, $7, $11, $12, $13, $11, $12, $13
      WHERE (SELECT count(*) FROM webhook_endpoints WHERE company_id = $1 AND removed_at IS NULL) < $10
     RETURNING *
   ), e AS (
     ${endpointAuditLog.insertEvent('created', { from: 'w', at: '$7', origin: '$8' })}
   )
   SELECT ${record}::text FROM w`,
);

const seen = `seen AS MATERIALIZED (
  SELECT w.version, w.state, ${endpointAuditLog.image} AS before FROM webhook_endpoints w WHERE ${kept})`;
const isSeen = `${here} AND w.version = seen.version`;

/** What waits is tried at once, by workers, and as if it had never been tried before. */
const resumeIf = (resumed: string) =>
  `failing_since = CASE WHEN NOT (${resumed}) THEN w.failing_since END,
   paused_until = CASE WHEN NOT (${resumed}) THEN w.paused_until END,
   faltering = w.faltering AND NOT (${resumed}), epoch = w.epoch + (${resumed})::int,
   backlog = CASE WHEN ${resumed} THEN 'hasten' ELSE w.backlog END`;

/** That the types `w` has had since events were last queued for it, as many as that, would become more. */
const exceedsTypeChanges = (types: string, most: string) =>
  `(${types}::text[] <> w.types AND jsonb_array_length(w.earlier_types) >= ${most})`;

/** $1 company, $2 id, $3 types, $4 how many earlier ones are kept at most */
export const hasTooManyTypeChanges = statement(
  'webhook_endpoints.many_types',
  `SELECT 1 FROM webhook_endpoints w WHERE ${kept} AND ${exceedsTypeChanges('$3', '$4')}`,
);

/**
 * $1 company, $2 id, $3 now, $4 origin, $5 url, $6 description, $7 types, $8 state, each null to leave it, $9 whether the
 * description was sent, $10 how many earlier types are kept at most, $11… the credential that changes it. Returns no row if
 * another change came between, or there are as many. What has happened so far has the types of then.
 */
export const updateEndpoint = statement(
  'webhook_endpoints.update',
  `WITH ${seen}, w AS (
     UPDATE webhook_endpoints w
        SET ${setCredentialIf('$5 <> w.url', 'w', 'url_set_by', 11)},
            url = coalesce($5, w.url), description = CASE WHEN $9 THEN $6 ELSE w.description END,
            types = coalesce($7, w.types), state = coalesce($8, w.state),
            earlier_types = CASE WHEN $7 <> w.types THEN w.earlier_types || jsonb_build_object(
                                   'until', (SELECT last_value FROM event_positions), 'types', w.types)
                                 ELSE w.earlier_types END,
            state_reason = CASE WHEN $8 IS NULL THEN w.state_reason END,
            ${resumeIf("coalesce($8, '') = 'active' AND seen.state <> 'active'")},
            updated_at = $3, version = w.version + 1
       FROM seen WHERE ${isSeen} AND ($7::text[] IS NULL OR NOT ${exceedsTypeChanges('$7', '$10')})
     RETURNING w.*
   ), e AS (
     ${endpointAuditLog.insertEvent('updated', { from: 'w, seen', at: '$3', origin: '$4', before: 'seen.before' })}
   )
   SELECT ${record}::text FROM w`,
);

/** $1 company, $2 id, $3 now, $4 origin. Nothing where it is active, or another change came between. */
export const resumeEndpoint = statement(
  'webhook_endpoints.resume',
  `WITH ${seen}, w AS (
     UPDATE webhook_endpoints w
        SET state = 'active', state_reason = NULL, ${resumeIf('true')}, updated_at = $3, version = w.version + 1
       FROM seen WHERE ${isSeen} AND seen.state <> 'active'
     RETURNING w.*
   ), e AS (
     ${endpointAuditLog.insertEvent('resumed', { from: 'w, seen', at: '$3', origin: '$4', before: 'seen.before' })}
   )
   SELECT ${record}::text FROM w`,
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
     ${endpointAuditLog.insertEvent('secret_rotated', { from: 'w, seen', at: '$3', origin: '$4', before: 'seen.before' })}
   )
   SELECT ${record}::text FROM w`,
);

/** $1 company, $2 id, $3 now, $4 origin. Its secrets go with it; what waits is dropped by workers. */
export const removeEndpoint = statement(
  'webhook_endpoints.remove',
  `WITH ${seen}, w AS (
     UPDATE webhook_endpoints w
        SET removed_at = $3, backlog = 'drop', sealed_secret = NULL, sealed_previous_secret = NULL, updated_at = $3, version = w.version + 1
       FROM seen WHERE ${isSeen}
     RETURNING w.*
   ), e AS (
     ${endpointAuditLog.insertEvent('removed', { from: 'w, seen', at: '$3', origin: '$4', before: 'seen.before' })}
   )
   SELECT ${jsonObject({ id: 'w.id', removed_at: isoTime('w.removed_at') })}::text FROM w`,
);

/** $1 company, $2 id, $3 now, $4 origin, $5 why. To be asked in a transaction that holds the endpoint's row. */
const stopEndpoint = (verb: 'marked_failing' | 'disabled', changes: string) =>
  statement(
    `webhook_endpoints.${verb}`,
    `WITH ${seen}, w AS (
       UPDATE webhook_endpoints w SET ${changes}, state_reason = $5, updated_at = $3, version = w.version + 1
         FROM seen WHERE ${isSeen}
       RETURNING w.*
     ), e AS (
       ${endpointAuditLog.insertEvent(verb, { from: 'w, seen', at: '$3', origin: '$4', before: 'seen.before' })}
     )
     SELECT 1 FROM w`,
  );
export const markFailing = stopEndpoint('marked_failing', `state = 'failing', failing_since = $3`);
export const disableEndpoint = stopEndpoint('disabled', `state = 'disabled'`);

/** Of which nothing is left: the log shows what a record is as long as it has entries of it. */
export const purgeEndpoints = longStatement(
  'webhook_endpoints.forget',
  `DELETE FROM webhook_endpoints w
    WHERE w.removed_at IS NOT NULL AND w.backlog IS NULL
      AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.company_id = w.company_id AND d.endpoint_id = w.id)
      AND NOT EXISTS (SELECT 1 FROM webhook_notices n WHERE n.company_id = w.company_id AND n.endpoint_id = w.id)
      AND NOT EXISTS (SELECT 1 FROM events e
                       WHERE e.company_id = w.company_id AND e.case_id = '${NIL_CASE_ID}' AND e.record_id = w.id)`,
);

/** Counts the failing endpoints of all companies. */
export const countFailingEndpoints = statement(
  'webhook_endpoints.failing',
  `SELECT count(*)::int AS count FROM webhook_endpoints WHERE state = 'failing' AND removed_at IS NULL`,
);
