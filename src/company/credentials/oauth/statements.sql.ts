import { statement } from '../../../kernel/sql/statement.ts';

/** $1 client. Its id is the one key that does not begin with the company: nobody has said yet which it is. */
export const findClient = statement(
  'oauth.find_client',
  'SELECT company_id, id, scopes, secret_sha256 FROM clients WHERE id = $1 AND disabled_at IS NULL',
);

/**
 * Of tokens that ended long ago, as many as one statement may spend its time on. They are picked once and for all:
 * a limit below IN is worked out again for every row in some plans, and then holds for none of them.
 */
const MAX_PRUNED_TOKENS = 20;

/**
 * $1 company, $2 client, $3 the hash with which it was let in, $4 id, $5 hash, $6 scopes, $7 expiry, $8 now, $9 since
 * when a token must have ended to be forgotten. Nothing where the client was changed in between; a change that is under
 * way is waited for, so that nobody is given a token that is dead already.
 */
export const insertToken = statement(
  'oauth.issue',
  `WITH old AS MATERIALIZED (
     SELECT t.id FROM tokens t
      WHERE t.company_id = $1 AND t.client_id IS NOT NULL AND least(t.expires_at, t.revoked_at) < $9
      ORDER BY least(t.expires_at, t.revoked_at) LIMIT ${MAX_PRUNED_TOKENS} FOR UPDATE SKIP LOCKED
   ), forgotten AS (
     DELETE FROM tokens t USING old WHERE t.company_id = $1 AND t.id = old.id
   )
   INSERT INTO tokens
     (company_id, client_id, client_generation, id, secret_sha256, name, scopes, expires_at, created_at)
   SELECT k.company_id, k.id, k.generation, $4, $5, k.name, $6, $7, $8
     FROM (SELECT * FROM clients k
            WHERE k.company_id = $1 AND k.id = $2 AND k.secret_sha256 = $3 AND k.disabled_at IS NULL
              FOR SHARE) k
   RETURNING 1`,
);

/** $1 company, $2 client, $3 hash, $4 now */
export const revokeToken = statement(
  'oauth.revoke',
  `UPDATE tokens SET revoked_at = $4
    WHERE company_id = $1 AND client_id = $2 AND secret_sha256 = $3 AND revoked_at IS NULL`,
);
