import { statement } from '../../kernel/sql/statement.ts';
import { COMPANY_COLUMNS } from '../company.sql.ts';

/** $1 hash, $2 now. A token never does more than its client may do at this moment. */
export const findToken = statement(
  'tokens.find',
  `SELECT t.id AS token_id, t.client_id, coalesce(k.name, t.name) AS name, ${COMPANY_COLUMNS},
          CASE WHEN t.client_id IS NULL THEN t.scopes
               ELSE ARRAY(SELECT s FROM unnest(t.scopes) s WHERE s = ANY (k.scopes)) END AS scopes
     FROM tokens t
     JOIN companies c ON c.id = t.company_id
     LEFT JOIN clients k ON k.company_id = t.company_id AND k.id = t.client_id
    WHERE t.secret_sha256 = $1 AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > $2)
      AND k.disabled_at IS NULL AND t.client_generation IS NOT DISTINCT FROM k.generation`,
);

/**
 * $1 companies, $2 tokens, $3 times, one element per use. A row that another process is writing is left to it: its
 * time is as good.
 */
export const recordLastUsed = statement(
  'tokens.note_uses',
  `WITH used AS (
     SELECT t.company_id, t.id, u.at
       FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) AS u (company_id, id, at)
       JOIN tokens t ON t.company_id = u.company_id AND t.id = u.id
      WHERE t.last_used_at IS NULL OR t.last_used_at < u.at
        FOR NO KEY UPDATE OF t SKIP LOCKED
   )
   UPDATE tokens t SET last_used_at = used.at FROM used WHERE t.company_id = used.company_id AND t.id = used.id`,
);
