-- keys.count (reads; pool: short)
SELECT count(*)::int AS count FROM (SELECT 1 FROM tokens t WHERE t.company_id = $1::uuid AND t.client_id IS NULL AND t.revoked_at IS NULL AND (t.expires_at > $2::timestamptz) IS NOT FALSE LIMIT 1000) counted;

-- keys.insert (writes; pool: short)
WITH t AS (
  INSERT INTO tokens (company_id, id, secret_sha256, name, scopes, expires_at, created_at,
                      created_by_type, created_by_id, created_by_name)
  VALUES ($1::uuid, $2::uuid, $3::bytea, $4::text, $5::text[],
          $6::timestamptz, $10::timestamptz,
          $7::text, $8::uuid, $9::text)
  RETURNING *
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT t.company_id, '00000000-0000-0000-0000-000000000000'::uuid, t.id, 'api_key.created', $10::timestamptz::timestamptz, $11::json::json
     FROM t
)
SELECT json_build_object('id', t.id, 'name', t.name, 'scopes', t.scopes, 'created_at', to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'expires_at', to_char(t.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'last_used_at', to_char(t.last_used_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'revoked_at', to_char(t.revoked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN t.created_by_id IS NOT NULL THEN json_build_object('type', t.created_by_type, 'id', t.created_by_id, 'name', t.created_by_name) END)::text FROM t;

-- keys.list (reads; pool: search)
WITH listed AS NOT MATERIALIZED (SELECT t.* FROM tokens t WHERE t.company_id = $1::uuid AND t.client_id IS NULL)
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', t.id, 'name', t.name, 'scopes', t.scopes, 'created_at', to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'expires_at', to_char(t.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'last_used_at', to_char(t.last_used_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'revoked_at', to_char(t.revoked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN t.created_by_id IS NOT NULL THEN json_build_object('type', t.created_by_type, 'id', t.created_by_id, 'name', t.created_by_name) END) ORDER BY t.created_at DESC, t.id DESC), '[]')::text
          FROM (SELECT * FROM listed t ORDER BY t.created_at DESC, t.id DESC
                 LIMIT $2::int OFFSET $3::int) t) AS json;

-- keys.revoke (writes; pool: short)
WITH old AS (
  SELECT t.* FROM tokens t WHERE t.company_id = $1::uuid AND t.client_id IS NULL AND t.id = $2::uuid FOR NO KEY UPDATE
), t AS (
  UPDATE tokens t SET revoked_at = $3::timestamptz
    FROM old WHERE t.company_id = old.company_id AND t.id = old.id AND old.revoked_at IS NULL
  RETURNING t.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT t.company_id, '00000000-0000-0000-0000-000000000000'::uuid, t.id, 'api_key.revoked', $3::timestamptz::timestamptz, $4::json::json, (SELECT json_build_object('id', t.id, 'name', t.name, 'scopes', t.scopes, 'created_at', to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'expires_at', to_char(t.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'revoked_at', to_char(t.revoked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN t.created_by_id IS NOT NULL THEN json_build_object('type', t.created_by_type, 'id', t.created_by_id, 'name', t.created_by_name) END) FROM old t)
     FROM t
)
SELECT json_build_object('id', t.id, 'name', t.name, 'scopes', t.scopes, 'created_at', to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'expires_at', to_char(t.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'last_used_at', to_char(t.last_used_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'revoked_at', to_char(t.revoked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN t.created_by_id IS NOT NULL THEN json_build_object('type', t.created_by_type, 'id', t.created_by_id, 'name', t.created_by_name) END)::text FROM (SELECT * FROM t UNION ALL SELECT * FROM old WHERE old.revoked_at IS NOT NULL) t;

-- keys.search (reads; pool: search)
WITH listed AS MATERIALIZED (SELECT t.* FROM tokens t WHERE t.company_id = $1::uuid AND t.client_id IS NULL AND (lower(t.name) LIKE lower($4::text)))
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', t.id, 'name', t.name, 'scopes', t.scopes, 'created_at', to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'expires_at', to_char(t.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'last_used_at', to_char(t.last_used_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'revoked_at', to_char(t.revoked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN t.created_by_id IS NOT NULL THEN json_build_object('type', t.created_by_type, 'id', t.created_by_id, 'name', t.created_by_name) END) ORDER BY t.created_at DESC, t.id DESC), '[]')::text
          FROM (SELECT * FROM listed t ORDER BY t.created_at DESC, t.id DESC
                 LIMIT $2::int OFFSET $3::int) t) AS json;

-- keys.show (reads; pool: short)
SELECT json_build_object('id', t.id, 'name', t.name, 'scopes', t.scopes, 'created_at', to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'expires_at', to_char(t.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'last_used_at', to_char(t.last_used_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'revoked_at', to_char(t.revoked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN t.created_by_id IS NOT NULL THEN json_build_object('type', t.created_by_type, 'id', t.created_by_id, 'name', t.created_by_name) END)::text FROM tokens t WHERE t.company_id = $1::uuid AND t.client_id IS NULL AND t.id = $2::uuid;

