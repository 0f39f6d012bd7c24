import { read, write } from '../../../kernel/sql/statement.ts';
import { KEPT_DAYS } from '../sessions/statements.sql.ts';

/**
 * SQL: the order of the accounts `u` of an address, the one that was active first in this database at first. A company
 * that was imported brings times of its own, which must not take over the address.
 */
export const FIRST_ACTIVE =
  'greatest(u.activated_at, (SELECT c.imported_at FROM companies c WHERE c.id = u.company_id)), u.id';

/**
 * Finds the account that a person means. An address may have accounts in several companies: without `company_id` it is
 * the one that was active first, so that an invitation by another company changes nothing. Returns a row also if there
 * is no account, with the address in the form by which accounts are found and attempts counted. `knows_browser`: the
 * user has signed in from this browser before.
 */
export const findAccount = read('sign_in.find_account', {
  inputs: { email: 'text', company_id: 'uuid?', browser_sha256: 'bytea?', code_sha256: 'bytea', now: 'timestamptz' },
  sql: (input) => `
    SELECT e.address, u.*
      FROM (SELECT lower(${input.email}) AS address) e LEFT JOIN LATERAL (
        SELECT u.company_id, u.id AS user_id, u.name, u.password_hash, u.sealed_secret, u.code_step,
               ${input.code_sha256} = ANY (u.recovery_sha256s) AS has_recovery_code,
               EXISTS (SELECT 1 FROM sessions s
                        WHERE s.browser_sha256 = ${input.browser_sha256} AND s.company_id = u.company_id
                          AND s.user_id = u.id
                          AND s.created_at > ${input.now} - interval '${KEPT_DAYS} days') AS knows_browser
          FROM users u
         WHERE lower(u.email) = e.address AND u.state = 'active' AND u.password_hash IS NOT NULL
           AND u.sealed_secret IS NOT NULL AND (${input.company_id} IS NULL OR u.company_id = ${input.company_id})
         ORDER BY ${FIRST_ACTIVE} LIMIT 1) u ON true`,
});

/**
 * Locks the user until the session has begun, so that a factor that is changed or removed meanwhile begins none: either
 * the change waits and ends the session, or this waits and sees the change. Returns no row if the user has another
 * password or secret by now than the ones that were checked.
 */
export const lockUser = write('sign_in.lock_user', {
  inputs: { company_id: 'uuid', user_id: 'uuid', password_hash: 'text?', sealed_secret: 'text?' },
  sql: (input) => `
    SELECT 1 FROM users u
     WHERE u.company_id = ${input.company_id} AND u.id = ${input.user_id}
       AND (${input.password_hash} IS NULL OR u.password_hash = ${input.password_hash})
       AND (${input.sealed_secret} IS NULL OR u.sealed_secret = ${input.sealed_secret})
       FOR NO KEY UPDATE`,
});
