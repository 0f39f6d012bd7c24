import { imageAuditLog } from '../../../kernel/audit/audit-log.ts';
import { createdBy, MAKER_COLUMNS } from '../../../kernel/credential-columns.sql.ts';
import { isoTime, jsonObject, rowLimit, statement } from '../../../kernel/sql/statement.ts';
import { listStatements, searchIn } from '../../list.sql.ts';

const given = {
  id: 't.id',
  name: 't.name',
  scopes: 't.scopes',
  created_at: isoTime('t.created_at'),
  expires_at: isoTime('t.expires_at'),
};
const ended = { revoked_at: isoTime('t.revoked_at'), created_by: createdBy('t') };
const record = jsonObject({ ...given, last_used_at: isoTime('t.last_used_at'), ...ended });

/** When a key was used is no change of it. */
export const keyLog = imageAuditLog({
  record: 'api_key',
  verbs: ['created', 'revoked'],
  path: '/manage/keys/{keyId}',
  params: { keyId: 'key' },
  access: 'manage',
  table: '(SELECT * FROM tokens WHERE client_id IS NULL)',
  as: 't',
  image: jsonObject({ ...given, ...ended }),
});

const here = 't.company_id = $1 AND t.client_id IS NULL';

export const listKeys = listStatements('keys', {
  scope: 1,
  from: `tokens t WHERE ${here}`,
  as: 't',
  element: record,
  order: 't.created_at DESC, t.id DESC',
  matches: searchIn('lower(t.name)'),
});

/** $1 company, $2 id */
export const showKey = statement('keys.show', `SELECT ${record}::text FROM tokens t WHERE ${here} AND t.id = $2`);

/** $1 company, $2 now: those that work */
export const keyLimit = rowLimit(
  'keys',
  1_000,
  'FROM tokens WHERE company_id = $1 AND client_id IS NULL AND revoked_at IS NULL AND (expires_at > $2) IS NOT FALSE',
);

/** $1 company, $2 id, $3 hash, $4 name, $5 scopes, $6 expiry or null, $7 now, $8… who makes it, $11 origin */
export const insertKey = statement(
  'keys.insert',
  `WITH t AS (
     INSERT INTO tokens (company_id, id, secret_sha256, name, scopes, expires_at, created_at, ${MAKER_COLUMNS})
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     RETURNING *
   ), e AS (
     ${keyLog.insertEvent('created', { from: 't', at: '$7', origin: '$11' })}
   )
   SELECT ${record}::text FROM t`,
);

/** $1 company, $2 id, $3 now, $4 origin. A key that was revoked before keeps the time at which it was. */
export const revokeKey = statement(
  'keys.revoke',
  `WITH old AS (
     SELECT t.* FROM tokens t WHERE ${here} AND t.id = $2 FOR NO KEY UPDATE
   ), t AS (
     UPDATE tokens t SET revoked_at = $3
       FROM old WHERE t.company_id = old.company_id AND t.id = old.id AND old.revoked_at IS NULL
     RETURNING t.*
   ), e AS (
     ${keyLog.insertEvent('revoked', { from: 't', at: '$3', origin: '$4', before: keyLog.snapshotOf('old') })}
   )
   SELECT ${record}::text FROM (SELECT * FROM t UNION ALL SELECT * FROM old WHERE old.revoked_at IS NOT NULL) t`,
);
