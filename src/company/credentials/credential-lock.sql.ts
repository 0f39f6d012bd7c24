import { read, write } from '../../kernel/sql/statement.ts';
import { CURRENT_SCOPES } from './authenticate.sql.ts';

/**
 * Locks the companies, always in the same order. A row lock has a queue, so a stream of new keys cannot starve a
 * revocation.
 */
export const lockCompanies = write('credentials.lock', {
  inputs: { company_ids: 'uuid[]' },
  sql: (input) => `SELECT 1 FROM companies WHERE id = ANY (${input.company_ids}) ORDER BY id FOR NO KEY UPDATE`,
});

/** Returns no row if the session or its user has ended. It must run after the lock was taken, too. */
export const findActiveSession = read('credentials.find_active_session', {
  inputs: { company_id: 'uuid', id: 'uuid' },
  sql: (input) => `
    SELECT u.role
      FROM sessions s JOIN users u ON u.company_id = s.company_id AND u.id = s.user_id
     WHERE s.company_id = ${input.company_id} AND s.id = ${input.id} AND s.ended_at IS NULL AND u.state <> 'disabled'`,
});

/** Returns the scopes that the token has now, and no row if it has ended. It must run after the lock was taken, so that it sees the latest state. */
export const findActiveToken = read('credentials.find_active_token', {
  inputs: { company_id: 'uuid', id: 'uuid', now: 'timestamptz' },
  sql: (input) => `
    SELECT ${CURRENT_SCOPES} AS scopes
      FROM tokens t LEFT JOIN clients k ON k.company_id = t.company_id AND k.id = t.client_id
     WHERE t.company_id = ${input.company_id} AND t.id = ${input.id} AND t.revoked_at IS NULL
       AND (t.expires_at IS NULL OR t.expires_at > ${input.now})
       AND k.disabled_at IS NULL AND t.client_generation IS NOT DISTINCT FROM k.generation`,
});
