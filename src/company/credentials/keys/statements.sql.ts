import { imageAuditLog } from '../../../kernel/audit/audit-log.ts';
import { createdBy } from '../../../kernel/credential.sql.ts';
import { isoTime, jsonObject } from '../../../kernel/sql/json.ts';
import { read, rowLimit, write } from '../../../kernel/sql/statement.ts';
import { anyContains, listStatements } from '../../list.sql.ts';

const creationFields = {
  id: 't.id',
  name: 't.name',
  scopes: 't.scopes',
  created_at: isoTime('t.created_at'),
  expires_at: isoTime('t.expires_at'),
};
const endFields = { revoked_at: isoTime('t.revoked_at'), created_by: createdBy('t') };
const record = jsonObject({ ...creationFields, last_used_at: isoTime('t.last_used_at'), ...endFields });

/** The image has no `last_used_at`, because using a key is not a change of it. */
export const keyAudit = imageAuditLog({
  record: 'api_key',
  actions: ['created', 'revoked'],
  path: '/manage/keys/{keyId}',
  params: { keyId: 'key' },
  access: 'manage',
  table: '(SELECT * FROM tokens WHERE client_id IS NULL)',
  as: 't',
  image: jsonObject({ ...creationFields, ...endFields }),
});

/** SQL: whether the token `t` is a key of the company. Access tokens have a client. */
const isKey = (input: { company_id: string }) => `t.company_id = ${input.company_id} AND t.client_id IS NULL`;

export const listKeys = listStatements('keys', {
  inputs: { company_id: 'uuid' },
  table: 'tokens',
  alias: 't',
  where: isKey,
  element: record,
  order: 't.created_at DESC, t.id DESC',
  matches: anyContains('lower(t.name)'),
});

export const showKey = read('keys.show', {
  inputs: { company_id: 'uuid', id: 'uuid' },
  sql: (input) => `SELECT ${record}::text FROM tokens t WHERE ${isKey(input)} AND t.id = ${input.id}`,
});

/** Counts the keys that work. */
export const keyLimit = rowLimit('keys', 1_000, {
  inputs: { company_id: 'uuid', now: 'timestamptz' },
  rows: (input) =>
    `FROM tokens t WHERE ${isKey(input)} AND t.revoked_at IS NULL AND (t.expires_at > ${input.now}) IS NOT FALSE`,
});

export const insertKey = write('keys.insert', {
  inputs: {
    company_id: 'uuid',
    id: 'uuid',
    secret_sha256: 'bytea',
    name: 'text',
    scopes: 'text[]',
    expires_at: 'timestamptz?',
    created_by_type: 'text?',
    created_by_id: 'uuid?',
    created_by_name: 'text?',
    now: 'timestamptz',
    origin: 'json',
  },
  sql: (input) => `
    WITH t AS (
      INSERT INTO tokens (company_id, id, secret_sha256, name, scopes, expires_at, created_at,
                          created_by_type, created_by_id, created_by_name)
      VALUES (${input.company_id}, ${input.id}, ${input.secret_sha256}, ${input.name}, ${input.scopes},
              ${input.expires_at}, ${input.now},
              ${input.created_by_type}, ${input.created_by_id}, ${input.created_by_name})
      RETURNING *
    ), event AS (
      ${keyAudit.insertEvent('created', { from: 't', at: input.now, origin: input.origin })}
    )
    SELECT ${record}::text FROM t`,
});

/** A key that was revoked before keeps its `revoked_at`. Returns no row if the key does not exist. */
export const revokeKey = write('keys.revoke', {
  inputs: { company_id: 'uuid', id: 'uuid', now: 'timestamptz', origin: 'json' },
  sql: (input) => `
    WITH old AS (
      SELECT t.* FROM tokens t WHERE ${isKey(input)} AND t.id = ${input.id} FOR NO KEY UPDATE
    ), t AS (
      UPDATE tokens t SET revoked_at = ${input.now}
        FROM old WHERE t.company_id = old.company_id AND t.id = old.id AND old.revoked_at IS NULL
      RETURNING t.*
    ), event AS (
      ${keyAudit.insertEvent('revoked', {
        from: 't',
        at: input.now,
        origin: input.origin,
        before: keyAudit.snapshotOf('old'),
      })}
    )
    SELECT ${record}::text FROM (SELECT * FROM t UNION ALL SELECT * FROM old WHERE old.revoked_at IS NOT NULL) t`,
});
