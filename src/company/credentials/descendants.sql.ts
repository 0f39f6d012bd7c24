import { createdBy, credentialJson } from '../../kernel/credential.sql.ts';
import { isoTime, jsonObject } from '../../kernel/sql/json.ts';
import { read, write } from '../../kernel/sql/statement.ts';
import { endpointAudit } from '../../webhooks/endpoints/audit.sql.ts';
import { clientAudit } from './clients/statements.sql.ts';
import { keyAudit } from './keys/statements.sql.ts';
import { userAudit } from './users/audit.sql.ts';

/** What a credential created, directly or indirectly, and the statements that end it. */

type ChildRows = {
  type: 'key' | 'client' | 'user' | 'webhook_endpoint';
  table: string;
  /** The prefix of the columns that name the credential which created or changed the row. */
  by: string;
  id?: string;
  where?: string;
};

const CHILD_ROWS: readonly ChildRows[] = [
  { type: 'key', table: 'tokens', by: 'created_by', where: 'r.client_id IS NULL' },
  { type: 'client', table: 'clients', by: 'created_by' },
  { type: 'client', table: 'client_rotations', by: 'rotated_by', id: 'r.client_id' },
  { type: 'user', table: 'users', by: 'created_by' },
  { type: 'webhook_endpoint', table: 'webhook_endpoints', by: 'created_by' },
  { type: 'webhook_endpoint', table: 'webhook_endpoints', by: 'url_set_by' },
];

const childrenOf = (parent: string, companyId: string) =>
  CHILD_ROWS.map(
    ({ type, table, by, id = 'r.id', where = 'true' }) =>
      `SELECT '${type}' AS type, ${id} AS id FROM ${table} r
        WHERE r.${by}_id = ${parent}.id AND r.${by}_type = ${parent}.type AND r.company_id = ${companyId} AND ${where}`,
  ).join(' UNION ALL ');

/**
 * SQL: the table expression `traced` with the credential and its descendants. A client descends from every credential
 * that replaced its secret, an endpoint from every one that set its URL. That can form a cycle, which UNION ends.
 */
const traced = (input: { company_id: string; type: string; id: string }) => `traced AS (
  SELECT ${input.type} AS type, ${input.id} AS id
  UNION
  SELECT child.type, child.id FROM traced parent CROSS JOIN LATERAL (
    ${childrenOf('parent', input.company_id)}) child
)`;

/** The path of a URL can contain a secret, and a caller that has only `manage` may not read endpoints. */
const originOfUrl = `substring(w.url FROM '^[a-z]+://[^/?#]+')`;
const lastToken = '(SELECT max(t.created_at) FROM tokens t WHERE t.company_id = k.company_id AND t.client_id = k.id)';
const lastSession =
  '(SELECT max(s.last_seen_at) FROM sessions s WHERE s.company_id = u.company_id AND s.user_id = u.id)';
const lastDelivery = `(SELECT max(d.ended_at) FROM webhook_deliveries d
  WHERE d.company_id = w.company_id AND d.endpoint_id = w.id AND d.ended_at IS NOT NULL)`;

/**
 * Lists the credential, which may belong to another company, and its descendants in this company. The credential comes
 * first, the others follow in the order of creation.
 */
export const traceInCompany = read('credentials.trace_in_company', {
  inputs: { company_id: 'uuid', type: 'text', id: 'uuid', now: 'timestamptz', only_working: 'boolean' },
  pool: 'search',
  sql: (input) => `
    WITH RECURSIVE ${traced(input)}, entries AS (
      SELECT 'key' AS type, t.id, t.name, t.created_at, t.last_used_at, ${createdBy('t')} AS created_by,
             NULL::json AS changed_by,
             CASE WHEN t.revoked_at IS NOT NULL THEN 'revoked'
                  WHEN t.expires_at <= ${input.now} THEN 'expired' ELSE 'active' END AS state
        FROM traced JOIN tokens t ON t.company_id = ${input.company_id} AND t.id = traced.id
       WHERE traced.type = 'key'
      UNION ALL
      SELECT 'client', k.id, k.name, k.created_at, ${lastToken}, ${createdBy('k')},
             ${credentialJson('k', 'rotated_by')}, CASE WHEN k.disabled_at IS NOT NULL THEN 'disabled' ELSE 'active' END
        FROM traced JOIN clients k ON k.company_id = ${input.company_id} AND k.id = traced.id
       WHERE traced.type = 'client'
      UNION ALL
      SELECT 'user', u.id, u.name, u.created_at, ${lastSession}, ${createdBy('u')}, NULL::json, u.state
        FROM traced JOIN users u ON u.company_id = ${input.company_id} AND u.id = traced.id
       WHERE traced.type = 'user'
      UNION ALL
      SELECT 'webhook_endpoint', w.id, ${originOfUrl}, w.created_at, ${lastDelivery}, ${createdBy('w')},
             ${credentialJson('w', 'url_set_by')}, CASE WHEN w.removed_at IS NOT NULL THEN 'removed' ELSE w.state END
        FROM traced JOIN webhook_endpoints w ON w.company_id = ${input.company_id} AND w.id = traced.id
       WHERE traced.type = 'webhook_endpoint'
    ), listed AS (
      SELECT e.*, e.type = ${input.type} AND e.id = ${input.id} AS root,
             e.state IN ('invited', 'active', 'failing') AS working
        FROM entries e
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
      FROM listed l WHERE l.working OR NOT ${input.only_working} ORDER BY l.root DESC, l.created_at, l.id`,
});

const isChosen = (row: string, input: { company_id: string; ids: string }) =>
  `${row}.company_id = ${input.company_id} AND ${row}.id = ANY (${input.ids})`;
const isOld = (row: string) => `${row}.company_id = old.company_id AND ${row}.id = old.id`;

/** Revokes those of the keys that are not revoked yet. */
export const revokeKeys = write('credentials.revoke_keys', {
  inputs: { company_id: 'uuid', ids: 'uuid[]', now: 'timestamptz', origin: 'json' },
  sql: (input) => `
    WITH old AS (
      SELECT t.company_id, t.id, ${keyAudit.image} AS before FROM tokens t
       WHERE ${isChosen('t', input)} AND t.client_id IS NULL AND t.revoked_at IS NULL FOR NO KEY UPDATE
    ), t AS (
      UPDATE tokens t SET revoked_at = ${input.now} FROM old WHERE ${isOld('t')} RETURNING t.*, old.before
    )
    ${keyAudit.insertEvent('revoked', { from: 't', at: input.now, origin: input.origin, before: 't.before' })}`,
});

/** Disables those of the clients that are not disabled yet. */
export const disableClients = write('credentials.disable_clients', {
  inputs: { company_id: 'uuid', ids: 'uuid[]', now: 'timestamptz', origin: 'json' },
  sql: (input) => `
    WITH old AS (
      SELECT k.company_id, k.id, ${clientAudit.image} AS before FROM clients k
       WHERE ${isChosen('k', input)} AND k.disabled_at IS NULL FOR NO KEY UPDATE
    ), k AS (
      UPDATE clients k SET disabled_at = ${input.now}, updated_at = ${input.now}
        FROM old WHERE ${isOld('k')}
      RETURNING k.*, old.before
    )
    ${clientAudit.insertEvent('disabled', { from: 'k', at: input.now, origin: input.origin, before: 'k.before' })}`,
});

/** Disables those of the users that are not disabled yet. */
export const disableUsers = write('credentials.disable_users', {
  inputs: { company_id: 'uuid', ids: 'uuid[]', now: 'timestamptz', origin: 'json' },
  sql: (input) => `
    WITH old AS (
      SELECT u.company_id, u.id, ${userAudit.image} AS before FROM users u
       WHERE ${isChosen('u', input)} AND u.state <> 'disabled' FOR NO KEY UPDATE
    ), u AS (
      UPDATE users u SET state = 'disabled', updated_at = ${input.now} FROM old WHERE ${isOld('u')}
      RETURNING u.*, old.before
    ), ended AS (
      UPDATE sessions s SET ended_at = ${input.now} FROM u
       WHERE s.company_id = u.company_id AND s.user_id = u.id AND s.ended_at IS NULL
    )
    ${userAudit.insertEvent('disabled', { from: 'u', at: input.now, origin: input.origin, before: 'u.before' })}`,
});

/** Disables the endpoints that are not disabled yet. Workers update endpoints too, so the rows are locked first. */
export const disableEndpoints = write('credentials.disable_endpoints', {
  inputs: { company_id: 'uuid', ids: 'uuid[]', state_reason: 'text', now: 'timestamptz', origin: 'json' },
  sql: (input) => `
    WITH old AS (
      SELECT w.company_id, w.id, ${endpointAudit.image} AS before FROM webhook_endpoints w
       WHERE ${isChosen('w', input)} AND w.removed_at IS NULL AND w.state <> 'disabled' FOR NO KEY UPDATE
    ), w AS (
      UPDATE webhook_endpoints w
         SET state = 'disabled', state_reason = ${input.state_reason}, updated_at = ${input.now},
             version = w.version + 1
        FROM old WHERE ${isOld('w')}
      RETURNING w.*, old.before
    )
    ${endpointAudit.insertEvent('disabled', {
      from: 'w',
      at: input.now,
      origin: input.origin,
      before: 'w.before',
    })}`,
});
