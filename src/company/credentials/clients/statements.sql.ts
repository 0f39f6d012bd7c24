import { imageAuditLog } from '../../../kernel/audit/audit-log.ts';
import { createdBy, credentialJson, MAKER_COLUMNS } from '../../../kernel/credential-columns.sql.ts';
import { isoTime, jsonObject, rowLimit, statement } from '../../../kernel/sql/statement.ts';
import { listStatements, searchIn } from '../../list.sql.ts';

const record = jsonObject({
  id: 'k.id',
  name: 'k.name',
  scopes: 'k.scopes',
  created_at: isoTime('k.created_at'),
  updated_at: isoTime('k.updated_at'),
  rotated_at: isoTime('k.rotated_at'),
  disabled_at: isoTime('k.disabled_at'),
  created_by: createdBy('k'),
  rotated_by: credentialJson('k', 'rotated_by'),
});

export const clientLog = imageAuditLog({
  record: 'api_client',
  verbs: ['created', 'updated', 'rotated', 'disabled', 'enabled'],
  path: '/manage/clients/{clientId}',
  params: { clientId: 'client' },
  access: 'manage',
  table: 'clients',
  as: 'k',
  image: record,
});

const here = 'k.company_id = $1 AND k.id = $2';

export const listClients = listStatements('clients', {
  scope: 1,
  from: 'clients k WHERE k.company_id = $1',
  as: 'k',
  element: record,
  order: 'k.created_at DESC, k.id DESC',
  matches: searchIn('lower(k.name)'),
});

/** $1 company, $2 id */
export const showClient = statement('clients.show', `SELECT ${record}::text FROM clients k WHERE ${here}`);

/** $1 company */
export const clientLimit = rowLimit('clients', 1_000, 'FROM clients WHERE company_id = $1');

/** $1 company, $2 id, $3 name, $4 scopes, $5 hash, $6 now, $7… who makes it, $10 origin */
export const insertClient = statement(
  'clients.insert',
  `WITH k AS (
     INSERT INTO clients (company_id, id, name, scopes, secret_sha256, created_at, updated_at, ${MAKER_COLUMNS})
     VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $8, $9)
     RETURNING *
   ), e AS (
     ${clientLog.insertEvent('created', { from: 'k', at: '$6', origin: '$10' })}
   )
   SELECT ${record}::text FROM k`,
);

const old = `old AS (SELECT k.* FROM clients k WHERE ${here} FOR NO KEY UPDATE)`;
const isOld = 'k.company_id = old.company_id AND k.id = old.id';
const before = clientLog.snapshotOf('old');

/**
 * $1 company, $2 id, $3 name or null, $4 scopes or null, $5 now, $6 what can be granted or null for everything,
 * $7 origin. Nothing where a scope would come that the client lacks and that cannot be granted.
 */
export const updateClient = statement(
  'clients.update',
  `WITH ${old}, k AS (
     UPDATE clients k SET name = coalesce($3, k.name), scopes = coalesce($4, k.scopes), updated_at = $5
       FROM old WHERE ${isOld} AND ($4::text[] IS NULL OR $6::text[] IS NULL OR $4 <@ (old.scopes || $6))
     RETURNING k.*
   ), e AS (
     ${clientLog.insertEvent('updated', { from: 'k', at: '$5', origin: '$7', before })}
   )
   SELECT ${record}::text FROM k`,
);

/** $1 company, $2 id */
export const findScopes = statement('clients.find_scopes', `SELECT k.scopes FROM clients k WHERE ${here}`);

/**
 * $1 company, $2 id, $3 hash, $4 now, $5 the scopes that can be granted or null for all, $6 origin, $7… the credential
 * that rotates. Returns no row if the client has other scopes.
 */
export const rotateClient = statement(
  'clients.rotate',
  `WITH ${old}, k AS (
     UPDATE clients k
        SET secret_sha256 = $3, rotated_at = $4, updated_at = $4,
            rotated_by_type = $7, rotated_by_id = $8, rotated_by_name = $9
       FROM old WHERE ${isOld} AND ($5::text[] IS NULL OR old.scopes <@ $5)
     RETURNING k.*
   ), r AS (
     INSERT INTO client_rotations (company_id, client_id, rotated_by_type, rotated_by_id)
     SELECT k.company_id, k.id, $7, $8 FROM k WHERE $8::uuid IS NOT NULL
     ON CONFLICT DO NOTHING
   ), e AS (
     ${clientLog.insertEvent('rotated', { from: 'k', at: '$4', origin: '$6', before })}
   )
   SELECT ${record}::text FROM k`,
);

const oneOf = (unchanged: string) => `(SELECT * FROM k UNION ALL SELECT * FROM old WHERE ${unchanged}) k`;

/** $1 company, $2 id, $3 now, $4 origin. The tokens of a disabled client are not found any more. */
export const disableClient = statement(
  'clients.disable',
  `WITH ${old}, k AS (
     UPDATE clients k SET disabled_at = $3, updated_at = $3 FROM old WHERE ${isOld} AND old.disabled_at IS NULL
     RETURNING k.*
   ), e AS (
     ${clientLog.insertEvent('disabled', { from: 'k', at: '$3', origin: '$4', before })}
   )
   SELECT ${record}::text FROM ${oneOf('old.disabled_at IS NOT NULL')}`,
);

/**
 * $1 company, $2 id, $3 now, $4 origin. The tokens of the time before do not come back to life: they are of another
 * generation, also those that a statement which has just waited for another cannot see.
 */
export const enableClient = statement(
  'clients.enable',
  `WITH ${old}, k AS (
     UPDATE clients k SET disabled_at = NULL, updated_at = $3, generation = k.generation + 1
       FROM old WHERE ${isOld} AND old.disabled_at IS NOT NULL
     RETURNING k.*
   ), e AS (
     ${clientLog.insertEvent('enabled', { from: 'k', at: '$3', origin: '$4', before })}
   )
   SELECT ${record}::text FROM ${oneOf('old.disabled_at IS NULL')}`,
);
