import { read } from '../../../kernel/sql/statement.ts';
import { KEPT_DAYS } from '../sessions/statements.sql.ts';

/**
 * Finds the account that a person means. An address may have accounts in several companies: without `company_id` it is
 * the one that was active first, so that an invitation by another company changes nothing. `knows_browser`: the user has
 * signed in from this browser before.
 */
export const findAccount = read('sign_in.find_account', {
  inputs: { email: 'text', company_id: 'uuid?', browser_sha256: 'bytea?', now: 'timestamptz' },
  sql: (input) => `
    SELECT u.company_id, u.id AS user_id, u.name, u.password_hash, u.sealed_secret,
           EXISTS (SELECT 1 FROM sessions s
                    WHERE s.browser_sha256 = ${input.browser_sha256} AND s.company_id = u.company_id AND s.user_id = u.id
                      AND s.created_at > ${input.now} - interval '${KEPT_DAYS} days') AS knows_browser
      FROM users u
     WHERE lower(u.email) = lower(${input.email}) AND u.state = 'active' AND u.password_hash IS NOT NULL
       AND u.sealed_secret IS NOT NULL AND (${input.company_id} IS NULL OR u.company_id = ${input.company_id})
     ORDER BY u.activated_at, u.id LIMIT 1`,
});
