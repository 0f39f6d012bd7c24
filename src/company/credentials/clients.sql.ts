import { iso, json, statement } from '../../kernel/sql.ts';
import { contains, lists } from '../listing.sql.ts';
import { createdBy, MAKER_COLUMNS } from './maker.sql.ts';

const record = json({
  id: 'k.id',
  name: 'k.name',
  scopes: 'k.scopes',
  created_at: iso('k.created_at'),
  updated_at: iso('k.updated_at'),
  rotated_at: iso('k.rotated_at'),
  disabled_at: iso('k.disabled_at'),
  created_by: createdBy('k'),
});

const here = 'k.company_id = $1 AND k.id = $2';

export const listClients = lists('clients', {
  scope: 1,
  from: 'clients k WHERE k.company_id = $1',
  as: 'k',
  element: record,
  order: 'k.created_at DESC, k.id DESC',
  matches: contains('lower(k.name)'),
});

/** $1 company, $2 id */
export const showClient = statement('clients.show', `SELECT ${record}::text FROM clients k WHERE ${here}`);

/** $1 company, $2 id, $3 name, $4 scopes, $5 hash, $6 now, $7… who makes it */
export const insertClient = statement(
  'clients.insert',
  `INSERT INTO clients AS k (company_id, id, name, scopes, secret_sha256, created_at, updated_at, ${MAKER_COLUMNS})
   VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $8, $9)
   RETURNING ${record}::text`,
);

/**
 * $1 company, $2 id, $3 name or null, $4 scopes or null, $5 now, $6 what can be granted or null for everything.
 * Nothing where a scope would come that the client lacks and that cannot be granted.
 */
export const updateClient = statement(
  'clients.update',
  `UPDATE clients k SET name = coalesce($3, k.name), scopes = coalesce($4, k.scopes), updated_at = $5
    WHERE ${here} AND ($4::text[] IS NULL OR $6::text[] IS NULL OR $4 <@ (k.scopes || $6))
   RETURNING ${record}::text`,
);

/** $1 company, $2 id */
export const findScopes = statement('clients.find_scopes', `SELECT k.scopes FROM clients k WHERE ${here}`);

/** $1 company, $2 id, $3 hash, $4 now, $5 what can be granted or null for everything. Nothing where it has more. */
export const rotateClient = statement(
  'clients.rotate',
  `UPDATE clients k SET secret_sha256 = $3, rotated_at = $4, updated_at = $4
    WHERE ${here} AND ($5::text[] IS NULL OR k.scopes <@ $5)
   RETURNING ${record}::text`,
);

/** $1 company, $2 id, $3 now. The tokens of a disabled client are not found any more. */
export const disableClient = statement(
  'clients.disable',
  `UPDATE clients k
      SET updated_at = CASE WHEN k.disabled_at IS NULL THEN $3 ELSE k.updated_at END, disabled_at = coalesce(k.disabled_at, $3)
    WHERE ${here}
   RETURNING ${record}::text`,
);

/**
 * $1 company, $2 id, $3 now. The tokens of the time before do not come back to life: they are of another generation,
 * also those that a statement which has just waited for another cannot see.
 */
export const enableClient = statement(
  'clients.enable',
  `UPDATE clients k
      SET updated_at = CASE WHEN k.disabled_at IS NULL THEN k.updated_at ELSE $3 END, disabled_at = NULL,
          generation = CASE WHEN k.disabled_at IS NULL THEN k.generation ELSE k.generation + 1 END
    WHERE ${here}
   RETURNING ${record}::text`,
);
