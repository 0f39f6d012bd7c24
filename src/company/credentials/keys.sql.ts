import { iso, json, statement } from '../../kernel/sql.ts';
import { contains, lists } from '../listing.sql.ts';
import { createdBy, MAKER_COLUMNS } from './maker.sql.ts';

const record = json({
  id: 't.id',
  name: 't.name',
  scopes: 't.scopes',
  created_at: iso('t.created_at'),
  expires_at: iso('t.expires_at'),
  last_used_at: iso('t.last_used_at'),
  revoked_at: iso('t.revoked_at'),
  created_by: createdBy('t'),
});

const here = 't.company_id = $1 AND t.client_id IS NULL';

export const listKeys = lists('keys', {
  scope: 1,
  from: `tokens t WHERE ${here}`,
  as: 't',
  element: record,
  order: 't.created_at DESC, t.id DESC',
  matches: contains('lower(t.name)'),
});

/** $1 company, $2 id */
export const showKey = statement('keys.show', `SELECT ${record}::text FROM tokens t WHERE ${here} AND t.id = $2`);

/** $1 company, $2 id, $3 hash, $4 name, $5 scopes, $6 expiry or null, $7 now, $8… who makes it */
export const insertKey = statement(
  'keys.insert',
  `INSERT INTO tokens AS t (company_id, id, secret_sha256, name, scopes, expires_at, created_at, ${MAKER_COLUMNS})
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
   RETURNING ${record}::text`,
);

/** $1 company, $2 id, $3 now. A key that was revoked before keeps the time at which it was. */
export const revokeKey = statement(
  'keys.revoke',
  `UPDATE tokens t SET revoked_at = coalesce(t.revoked_at, $3) WHERE ${here} AND t.id = $2
   RETURNING ${record}::text`,
);
