import { read, write } from '../../../kernel/sql/statement.ts';

/** The company is not known before the client is, so the client is found by its id alone. */
export const findClient = read('oauth.find_client', {
  inputs: { id: 'uuid' },
  sql: (input) =>
    `SELECT company_id, id, scopes, secret_sha256 FROM clients WHERE id = ${input.id} AND disabled_at IS NULL`,
});

/** Bounds the time that issuing a token spends on deleting old ones. */
const MAX_PRUNED_TOKENS = 20;

/**
 * Issues a token and deletes tokens of the company that ended before `prune_before`. Returns no row if the client was
 * changed since it was authenticated with `client_secret_sha256`. Waits for a concurrent change of the client, so that
 * no token is issued that has already ended.
 *
 * `old` is materialized: some plans would evaluate a LIMIT below IN again for every row, so that it limits nothing.
 */
export const insertToken = write('oauth.issue', {
  inputs: {
    company_id: 'uuid',
    client_id: 'uuid',
    client_secret_sha256: 'bytea',
    id: 'uuid',
    secret_sha256: 'bytea',
    scopes: 'text[]',
    expires_at: 'timestamptz',
    now: 'timestamptz',
    prune_before: 'timestamptz',
  },
  sql: (input) => `
    WITH old AS MATERIALIZED (
      SELECT t.id FROM tokens t
       WHERE t.company_id = ${input.company_id} AND t.client_id IS NOT NULL
         AND least(t.expires_at, t.revoked_at) < ${input.prune_before}
       ORDER BY least(t.expires_at, t.revoked_at) LIMIT ${MAX_PRUNED_TOKENS} FOR UPDATE SKIP LOCKED
    ), pruned AS (
      DELETE FROM tokens t USING old WHERE t.company_id = ${input.company_id} AND t.id = old.id
    )
    INSERT INTO tokens
      (company_id, client_id, client_generation, id, secret_sha256, name, scopes, expires_at, created_at)
    SELECT k.company_id, k.id, k.generation, ${input.id}, ${input.secret_sha256}, k.name, ${input.scopes},
           ${input.expires_at}, ${input.now}
      FROM (SELECT * FROM clients k
             WHERE k.company_id = ${input.company_id} AND k.id = ${input.client_id}
               AND k.secret_sha256 = ${input.client_secret_sha256} AND k.disabled_at IS NULL
               FOR SHARE) k
    RETURNING 1`,
});

/** Revokes nothing if the token is unknown or belongs to another client. */
export const revokeToken = write('oauth.revoke', {
  inputs: { company_id: 'uuid', client_id: 'uuid', secret_sha256: 'bytea', now: 'timestamptz' },
  sql: (input) => `
    UPDATE tokens SET revoked_at = ${input.now}
     WHERE company_id = ${input.company_id} AND client_id = ${input.client_id}
       AND secret_sha256 = ${input.secret_sha256} AND revoked_at IS NULL`,
});
