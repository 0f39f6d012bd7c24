-- case_customers.list (reads; pool: search)
WITH listed AS NOT MATERIALIZED (SELECT u.* FROM customers u WHERE u.company_id = $1::uuid AND u.case_id = $2::uuid AND u.removed_at IS NULL)
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]')::text
          FROM (SELECT * FROM listed u ORDER BY u.created_at, u.id
                 LIMIT $3::int OFFSET $4::int) u) AS json
FROM cases c WHERE c.company_id = $1::uuid AND c.id = $2::uuid;

-- case_customers.search (reads; pool: search)
WITH listed AS MATERIALIZED (SELECT u.* FROM customers u WHERE u.company_id = $1::uuid AND u.case_id = $2::uuid AND u.removed_at IS NULL AND (u.search LIKE lower($5::text) OR u.phone_e164 = $6::text))
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]')::text
          FROM (SELECT * FROM listed u ORDER BY u.created_at, u.id
                 LIMIT $3::int OFFSET $4::int) u) AS json
FROM cases c WHERE c.company_id = $1::uuid AND c.id = $2::uuid;

