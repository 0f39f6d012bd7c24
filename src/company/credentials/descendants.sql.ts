import { createdBy, credentialJson } from '../../kernel/credential-columns.sql.ts';
import { isoTime, jsonObject, longStatement, statement } from '../../kernel/sql/statement.ts';
import { endpointAuditLog } from '../../webhooks/endpoints/audit.sql.ts';
import { clientLog } from './clients/statements.sql.ts';
import { keyLog } from './keys/statements.sql.ts';

/** What a credential made, and how all of it is ended. */

const ofCompany = (type: string, table: string, by: string, where = 'true', id = 'r.id') =>
  `SELECT '${type}' AS type, ${id} AS id FROM ${table} r
    WHERE r.${by}_id = c.id AND r.${by}_type = c.type AND r.company_id = $1 AND ${where}`;

/**
 * The credential, what it made, what that made in turn, and so on. A client belongs to it if a credential of the set
 * has ever replaced its secret, an endpoint if one of them set its address. That can lead back in a circle, which UNION
 * ends.
 */
const made = `made AS (
  SELECT $2::text AS type, $3::uuid AS id
  UNION
  SELECT m.type, m.id FROM made c CROSS JOIN LATERAL (
    ${[
      ofCompany('key', 'tokens', 'created_by', 'r.client_id IS NULL'),
      ofCompany('client', 'clients', 'created_by'),
      ofCompany('client', 'client_rotations', 'rotated_by', 'true', 'r.client_id'),
      ofCompany('webhook_endpoint', 'webhook_endpoints', 'created_by'),
      ofCompany('webhook_endpoint', 'webhook_endpoints', 'url_set_by'),
    ].join(' UNION ALL ')}) m
)`;

/** An address can hold a secret in its path, and a caller with `manage` alone cannot read endpoints. */
const originOfUrl = `substring(w.url FROM '^[a-z]+://[^/?#]+')`;
const lastToken = '(SELECT max(t.created_at) FROM tokens t WHERE t.company_id = $1 AND t.client_id = k.id)';
const lastDelivery = `(SELECT max(d.ended_at) FROM webhook_deliveries d
  WHERE d.company_id = $1 AND d.endpoint_id = w.id AND d.ended_at IS NOT NULL)`;

/**
 * $1 company, $2 type and $3 id of the credential, which may belong to another company, $4 now, $5 whether only those
 * that work are listed. The credential itself comes first, the others follow in the order in which they were made.
 */
export const traceInCompany = longStatement(
  'credentials.list_made',
  `WITH RECURSIVE ${made}, all_made AS (
     SELECT 'key' AS type, t.id, t.name, t.created_at, t.last_used_at, ${createdBy('t')} AS created_by, NULL::json AS changed_by,
            CASE WHEN t.revoked_at IS NOT NULL THEN 'revoked' WHEN t.expires_at <= $4 THEN 'expired' ELSE 'active' END AS state
       FROM made m JOIN tokens t ON t.company_id = $1 AND t.id = m.id WHERE m.type = 'key'
     UNION ALL
     SELECT 'client', k.id, k.name, k.created_at, ${lastToken}, ${createdBy('k')}, ${credentialJson('k', 'rotated_by')},
            CASE WHEN k.disabled_at IS NOT NULL THEN 'disabled' ELSE 'active' END
       FROM made m JOIN clients k ON k.company_id = $1 AND k.id = m.id WHERE m.type = 'client'
     UNION ALL
     SELECT 'webhook_endpoint', w.id, ${originOfUrl}, w.created_at, ${lastDelivery}, ${createdBy('w')},
            ${credentialJson('w', 'url_set_by')}, CASE WHEN w.removed_at IS NOT NULL THEN 'removed' ELSE w.state END
       FROM made m JOIN webhook_endpoints w ON w.company_id = $1 AND w.id = m.id WHERE m.type = 'webhook_endpoint'
   ), listed AS (
     SELECT a.*, a.type = $2 AND a.id = $3 AS root, a.state IN ('active', 'failing') AS working FROM all_made a
   )
   SELECT l.type, l.id, l.root, l.working,
          ${jsonObject({
            type: 'l.type',
            id: 'l.id',
            name: 'l.name',
            state: 'l.state',
            created_at: isoTime('l.created_at'),
            last_used_at: isoTime('l.last_used_at'),
            created_by: 'l.created_by',
            changed_by: 'l.changed_by',
          })}::text AS json
     FROM listed l WHERE l.working OR NOT $5 ORDER BY l.root DESC, l.created_at, l.id`,
);

const chosen = (row: string) => `${row}.company_id = $1 AND ${row}.id = ANY ($2::uuid[])`;
const isOld = (row: string) => `${row}.company_id = old.company_id AND ${row}.id = old.id`;

/** $1 company, $2 ids, $3 now, $4 origin */
export const revokeKeys = statement(
  'credentials.end_keys',
  `WITH old AS (
     SELECT t.company_id, t.id, ${keyLog.image} AS before FROM tokens t
      WHERE ${chosen('t')} AND t.client_id IS NULL AND t.revoked_at IS NULL FOR NO KEY UPDATE
   ), t AS (
     UPDATE tokens t SET revoked_at = $3 FROM old WHERE ${isOld('t')} RETURNING t.*, old.before
   )
   ${keyLog.insertEvent('revoked', { from: 't', at: '$3', origin: '$4', before: 't.before' })}`,
);

/** $1 company, $2 ids, $3 now, $4 origin */
export const disableClients = statement(
  'credentials.end_clients',
  `WITH old AS (
     SELECT k.company_id, k.id, ${clientLog.image} AS before FROM clients k
      WHERE ${chosen('k')} AND k.disabled_at IS NULL FOR NO KEY UPDATE
   ), k AS (
     UPDATE clients k SET disabled_at = $3, updated_at = $3 FROM old WHERE ${isOld('k')} RETURNING k.*, old.before
   )
   ${clientLog.insertEvent('disabled', { from: 'k', at: '$3', origin: '$4', before: 'k.before' })}`,
);

/**
 * $1 company, $2 ids, $3 now, $4 origin, $5 why. A worker may be writing to an endpoint, so its row is locked first.
 */
export const disableEndpoints = statement(
  'credentials.end_endpoints',
  `WITH old AS (
     SELECT w.company_id, w.id, ${endpointAuditLog.image} AS before FROM webhook_endpoints w
      WHERE ${chosen('w')} AND w.removed_at IS NULL AND w.state <> 'disabled' FOR NO KEY UPDATE
   ), w AS (
     UPDATE webhook_endpoints w SET state = 'disabled', state_reason = $5, updated_at = $3, version = w.version + 1
       FROM old WHERE ${isOld('w')}
     RETURNING w.*, old.before
   )
   ${endpointAuditLog.insertEvent('disabled', { from: 'w', at: '$3', origin: '$4', before: 'w.before' })}`,
);
