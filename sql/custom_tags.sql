-- custom_tags.count (reads; pool: short)
SELECT count(*)::int AS count FROM (SELECT 1 FROM custom_tags WHERE company_id = $1::uuid LIMIT 1000) counted;

-- custom_tags.insert (writes; pool: short)
WITH t AS (
  INSERT INTO custom_tags (company_id, tag, created_at) VALUES ($1::uuid, $2::text, $3::timestamptz)
  ON CONFLICT (company_id, tag) DO NOTHING
  RETURNING *
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT t.company_id, '00000000-0000-0000-0000-000000000000'::uuid, md5(t.tag)::uuid, 'tag.created', $3::timestamptz::timestamptz, $4::json::json
     FROM t
)
SELECT json_build_object('tag', t.tag, 'created_at', to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM t;

-- custom_tags.list (reads; pool: search)
WITH listed AS NOT MATERIALIZED (SELECT t.* FROM custom_tags t WHERE t.company_id = $1::uuid)
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('tag', t.tag, 'created_at', to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY t.tag), '[]')::text
          FROM (SELECT * FROM listed t ORDER BY t.tag
                 LIMIT $2::int OFFSET $3::int) t) AS json;

-- custom_tags.remove (writes; pool: short)
WITH t AS (
  DELETE FROM custom_tags t WHERE t.company_id = $1::uuid AND t.tag = $2::text RETURNING *
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT t.company_id, '00000000-0000-0000-0000-000000000000'::uuid, md5(t.tag)::uuid, 'tag.removed', $3::timestamptz::timestamptz, $4::json::json, json_build_object('tag', t.tag, 'created_at', to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
     FROM t
)
SELECT json_build_object('tag', t.tag, 'removed_at', to_char($3::timestamptz AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM t;

-- custom_tags.search (reads; pool: search)
WITH listed AS MATERIALIZED (SELECT t.* FROM custom_tags t WHERE t.company_id = $1::uuid AND (t.tag LIKE lower($4::text)))
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('tag', t.tag, 'created_at', to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY t.tag), '[]')::text
          FROM (SELECT * FROM listed t ORDER BY t.tag
                 LIMIT $2::int OFFSET $3::int) t) AS json;

