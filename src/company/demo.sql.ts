import { statement } from '../kernel/sql/statement.ts';

/** $1 hash: whether the database knows the token, also if it was revoked. */
export const findToken = statement('demo.token', 'SELECT 1 FROM tokens WHERE secret_sha256 = $1');

/**
 * $1 name of the company, $2 name of the key, $3 reference of the case, $4 addresses of its customers, $5 of the
 * advisers. Returns no row unless the first company of the installation has all of them and the key, which no
 * credential made, works.
 */
export const findDemo = statement(
  'demo.find',
  `SELECT c.id AS company_id, k.id AS key_id, s.id AS case_id, s.customer_ids
     FROM (SELECT id, name FROM companies ORDER BY created_at, id LIMIT 1) c
     CROSS JOIN LATERAL (
       SELECT t.id FROM tokens t
        WHERE t.company_id = c.id AND t.client_id IS NULL AND t.created_by_id IS NULL AND t.name = $2
          AND t.revoked_at IS NULL AND t.expires_at IS NULL
        ORDER BY t.created_at, t.id LIMIT 1
     ) k
     CROSS JOIN LATERAL (
       SELECT s.id, ARRAY(
                SELECT u.id FROM unnest($4::text[]) WITH ORDINALITY w (email, n)
                  JOIN customers u ON u.company_id = c.id AND u.case_id = s.id AND u.email = w.email
                 ORDER BY w.n
              ) AS customer_ids
         FROM cases s WHERE s.company_id = c.id AND s.reference = $3
        ORDER BY s.created_at, s.id LIMIT 1
     ) s
    WHERE c.name = $1 AND cardinality(s.customer_ids) = cardinality($4::text[])
      AND (SELECT count(DISTINCT a.email) FROM advisers a WHERE a.company_id = c.id AND a.email = ANY ($5::text[]))
          = cardinality($5::text[])`,
);
