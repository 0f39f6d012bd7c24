-- removed_case_kinds.list (reads; pool: search)
WITH listed AS NOT MATERIALIZED (SELECT k.* FROM case_kinds k WHERE k.company_id = $1::uuid AND k.removed_at IS NOT NULL)
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', k.id, 'name', k.name, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY lower(k.name), k.id), '[]')::text
          FROM (SELECT * FROM listed k ORDER BY lower(k.name), k.id
                 LIMIT $2::int OFFSET $3::int) k) AS json;

-- removed_case_kinds.search (reads; pool: search)
WITH listed AS MATERIALIZED (SELECT k.* FROM case_kinds k WHERE k.company_id = $1::uuid AND k.removed_at IS NOT NULL AND (lower(k.name) LIKE lower($4::text)))
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', k.id, 'name', k.name, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY lower(k.name), k.id), '[]')::text
          FROM (SELECT * FROM listed k ORDER BY lower(k.name), k.id
                 LIMIT $2::int OFFSET $3::int) k) AS json;

