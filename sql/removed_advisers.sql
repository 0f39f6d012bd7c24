-- removed_advisers.list (reads; pool: search)
WITH listed AS NOT MATERIALIZED (SELECT a.* FROM advisers a WHERE a.company_id = $1::uuid AND a.removed_at IS NOT NULL)
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', a.id, 'email', a.email, 'name', a.name, 'active', a.active, 'video_provider', a.video_provider, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY lower(a.name), a.id), '[]')::text
          FROM (SELECT * FROM listed a ORDER BY lower(a.name), a.id
                 LIMIT $2::int OFFSET $3::int) a) AS json;

-- removed_advisers.search (reads; pool: search)
WITH listed AS MATERIALIZED (SELECT a.* FROM advisers a WHERE a.company_id = $1::uuid AND a.removed_at IS NOT NULL AND (lower(a.name) LIKE lower($4::text) OR lower(a.email) LIKE lower($4::text)))
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', a.id, 'email', a.email, 'name', a.name, 'active', a.active, 'video_provider', a.video_provider, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY lower(a.name), a.id), '[]')::text
          FROM (SELECT * FROM listed a ORDER BY lower(a.name), a.id
                 LIMIT $2::int OFFSET $3::int) a) AS json;

