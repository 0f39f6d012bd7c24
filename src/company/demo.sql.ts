import { read, write } from '../kernel/sql/statement.ts';

/** Finds revoked tokens too; `works` tells. */
export const findToken = read('demo.token', {
  inputs: { secret_sha256: 'bytea' },
  sql: (input) =>
    `SELECT company_id, revoked_at IS NULL AS works FROM tokens WHERE secret_sha256 = ${input.secret_sha256}`,
});

/**
 * Returns no row unless the first company of the installation has the name, the case with these customers, the
 * advisers, and a working key of that name that no credential created. `customer_ids` has the order of the emails.
 */
export const findDemo = read('demo.find', {
  inputs: {
    company_name: 'text',
    key_name: 'text',
    case_reference: 'text',
    customer_emails: 'text[]',
    adviser_emails: 'text[]',
  },
  sql: (input) => `
    SELECT c.id AS company_id, k.id AS key_id, s.id AS case_id, s.customer_ids
      FROM (SELECT id, name FROM companies ORDER BY created_at, id LIMIT 1) c
      CROSS JOIN LATERAL (
        SELECT t.id FROM tokens t
         WHERE t.company_id = c.id AND t.client_id IS NULL AND t.created_by_id IS NULL AND t.name = ${input.key_name}
           AND t.revoked_at IS NULL AND t.expires_at IS NULL
         ORDER BY t.created_at, t.id LIMIT 1
      ) k
      CROSS JOIN LATERAL (
        SELECT s.id, ARRAY(
                 SELECT u.id FROM unnest(${input.customer_emails}) WITH ORDINALITY wanted (email, nth)
                   JOIN customers u ON u.company_id = c.id AND u.case_id = s.id AND u.email = wanted.email
                  ORDER BY wanted.nth
               ) AS customer_ids
          FROM cases s WHERE s.company_id = c.id AND s.reference = ${input.case_reference}
         ORDER BY s.created_at, s.id LIMIT 1
      ) s
     WHERE c.name = ${input.company_name} AND cardinality(s.customer_ids) = cardinality(${input.customer_emails})
       AND (SELECT count(DISTINCT a.email) FROM advisers a
             WHERE a.company_id = c.id AND a.email = ANY (${input.adviser_emails}))
           = cardinality(${input.adviser_emails})`,
});

/** The owner of the demonstration signs in by a link, so no factor is needed. */
export const activateOwner = write('demo.activate_owner', {
  inputs: { company_id: 'uuid', id: 'uuid', now: 'timestamptz' },
  sql: (input) => `
    UPDATE users SET state = 'active', activated_at = ${input.now}
     WHERE company_id = ${input.company_id} AND id = ${input.id}`,
});

export const findOwner = read('demo.find_owner', {
  inputs: { company_id: 'uuid', email: 'text' },
  sql: (input) =>
    `SELECT id FROM users WHERE company_id = ${input.company_id} AND email = ${input.email} AND state = 'active'`,
});
