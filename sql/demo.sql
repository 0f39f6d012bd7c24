-- demo.activate_owner (writes; pool: short)
UPDATE users SET state = 'active', activated_at = $3::timestamptz
 WHERE company_id = $1::uuid AND id = $2::uuid;

-- demo.find (reads; pool: short)
SELECT c.id AS company_id, k.id AS key_id, s.id AS case_id, s.customer_ids
  FROM (SELECT id, name FROM companies ORDER BY created_at, id LIMIT 1) c
  CROSS JOIN LATERAL (
    SELECT t.id FROM tokens t
     WHERE t.company_id = c.id AND t.client_id IS NULL AND t.created_by_id IS NULL AND t.name = $2::text
       AND t.revoked_at IS NULL AND t.expires_at IS NULL
     ORDER BY t.created_at, t.id LIMIT 1
  ) k
  CROSS JOIN LATERAL (
    SELECT s.id, ARRAY(
             SELECT u.id FROM unnest($4::text[]) WITH ORDINALITY wanted (email, nth)
               JOIN customers u ON u.company_id = c.id AND u.case_id = s.id AND u.email = wanted.email
              ORDER BY wanted.nth
           ) AS customer_ids
      FROM cases s WHERE s.company_id = c.id AND s.reference = $3::text
     ORDER BY s.created_at, s.id LIMIT 1
  ) s
 WHERE c.name = $1::text AND cardinality(s.customer_ids) = cardinality($4::text[])
   AND (SELECT count(DISTINCT a.email) FROM advisers a
         WHERE a.company_id = c.id AND a.email = ANY ($5::text[]))
       = cardinality($5::text[]);

-- demo.find_owner (reads; pool: short)
SELECT id FROM users WHERE company_id = $1::uuid AND email = $2::text AND state = 'active';

-- demo.token (reads; pool: short)
SELECT company_id, revoked_at IS NULL AS works FROM tokens WHERE secret_sha256 = $1::bytea;

