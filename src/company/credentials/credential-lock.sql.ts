import { statement } from '../../kernel/sql/statement.ts';

/** $1 companies, locked in one order. A row lock has a queue: a stream of new keys cannot starve a revocation. */
export const lockCompanies = statement(
  'credentials.lock',
  'SELECT 1 FROM companies WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE',
);

/**
 * $1 company, $2 token, $3 now. Returns no row if the token has ended. To be asked after the lock, for a fresh view.
 */
export const findActiveToken = statement(
  'credentials.find_working_token',
  `SELECT 1
     FROM tokens t LEFT JOIN clients k ON k.company_id = t.company_id AND k.id = t.client_id
    WHERE t.company_id = $1 AND t.id = $2 AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > $3)
      AND k.disabled_at IS NULL AND t.client_generation IS NOT DISTINCT FROM k.generation`,
);
