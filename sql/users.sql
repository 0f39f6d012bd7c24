-- users.count (reads; pool: short)
SELECT count(*)::int AS count FROM (SELECT 1 FROM users WHERE company_id = $1::uuid LIMIT 10000) counted;

-- users.disable (writes; pool: short)
WITH old AS (
  SELECT u.* FROM users u WHERE u.company_id = $1::uuid AND u.id = $2::uuid FOR NO KEY UPDATE
), u AS (
  UPDATE users u SET state = 'disabled', updated_at = $3::timestamptz
    FROM old WHERE u.company_id = old.company_id AND u.id = old.id AND old.state <> 'disabled'
  RETURNING u.*
), ended AS (
  UPDATE sessions s SET ended_at = $3::timestamptz FROM u
   WHERE s.company_id = u.company_id AND s.user_id = u.id AND s.ended_at IS NULL
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT u.company_id, '00000000-0000-0000-0000-000000000000'::uuid, u.id, 'user.disabled', $3::timestamptz::timestamptz, $4::json::json, (SELECT json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END) FROM old u)
     FROM u
)
SELECT json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END)::text FROM (SELECT * FROM u UNION ALL SELECT * FROM old WHERE old.state = 'disabled') u;

-- users.enable (writes; pool: short)
WITH old AS (
  SELECT u.* FROM users u WHERE u.company_id = $1::uuid AND u.id = $2::uuid FOR NO KEY UPDATE
), u AS (
  UPDATE users u
     SET state = CASE WHEN old.activated_at IS NULL THEN 'invited' ELSE 'active' END, updated_at = $3::timestamptz
    FROM old WHERE u.company_id = old.company_id AND u.id = old.id AND old.state = 'disabled'
  RETURNING u.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT u.company_id, '00000000-0000-0000-0000-000000000000'::uuid, u.id, 'user.enabled', $3::timestamptz::timestamptz, $4::json::json, (SELECT json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END) FROM old u)
     FROM u
)
SELECT json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END)::text FROM (SELECT * FROM u UNION ALL SELECT * FROM old WHERE old.state <> 'disabled') u;

-- users.explain (reads; pool: short)
SELECT u.role, u.state,
       EXISTS (SELECT 1 FROM users o
                WHERE o.company_id = $1::uuid AND o.id IS DISTINCT FROM $2::uuid AND o.role = 'owner'
                  AND (o.state = 'active' OR (u.state = 'invited' AND o.state = 'invited'))) AS has_other_owner,
       EXISTS (SELECT 1 FROM users o
                WHERE o.company_id = $1::uuid AND lower(o.email) = lower($3::text)) AS email_taken,
       ($4::uuid IS NULL OR EXISTS (SELECT 1 FROM advisers a WHERE a.company_id = $1::uuid AND a.id = $4::uuid AND a.removed_at IS NULL)) AS adviser_found
  FROM (SELECT 1) one LEFT JOIN users u ON u.company_id = $1::uuid AND u.id = $2::uuid;

-- users.insert (writes; pool: short)
WITH u AS (
  INSERT INTO users (company_id, id, email, name, role, adviser_id, state, created_at, updated_at,
                     created_by_type, created_by_id, created_by_name)
  SELECT $1::uuid, $2::uuid, $5::text, $6::text, $7::text, $8::uuid,
         'invited', $3::timestamptz, $3::timestamptz,
         $9::text, $10::uuid, $11::text
   WHERE $8::uuid IS NULL OR EXISTS (SELECT 1 FROM advisers a WHERE a.company_id = $1::uuid AND a.id = $8::uuid AND a.removed_at IS NULL)
  ON CONFLICT (company_id, lower(email)) DO NOTHING
  RETURNING *
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT u.company_id, '00000000-0000-0000-0000-000000000000'::uuid, u.id, 'user.created', $3::timestamptz::timestamptz, $4::json::json
     FROM u
)
SELECT json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END)::text FROM u;

-- users.list (reads; pool: search)
WITH listed AS NOT MATERIALIZED (SELECT u.* FROM users u WHERE u.company_id = $1::uuid)
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END) ORDER BY lower(u.name), u.id), '[]')::text
          FROM (SELECT * FROM listed u ORDER BY lower(u.name), u.id
                 LIMIT $2::int OFFSET $3::int) u) AS json;

-- users.lock_row (writes; pool: short)
SELECT 1 FROM users WHERE company_id = $1::uuid AND id = $2::uuid
   FOR NO KEY UPDATE;

-- users.reset_factors (writes; pool: short)
WITH old AS (
  SELECT u.* FROM users u
   WHERE u.company_id = $1::uuid AND u.id = $2::uuid AND u.state <> 'disabled' FOR NO KEY UPDATE
), passkeys_removed AS (
  DELETE FROM passkeys p USING old WHERE p.company_id = old.company_id AND p.user_id = old.id
), links_ended AS (
  UPDATE user_links l SET expires_at = l.created_at FROM old
   WHERE l.company_id = old.company_id AND l.user_id = old.id AND l.expires_at > $3::timestamptz
), u AS (
  UPDATE users u
     SET state = 'invited', activated_at = NULL, password_hash = NULL, password_set_at = NULL, sealed_secret = NULL,
         code_step = NULL, recovery_sha256s = '{}', updated_at = $3::timestamptz
    FROM old WHERE u.company_id = old.company_id AND u.id = old.id
  RETURNING u.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT u.company_id, '00000000-0000-0000-0000-000000000000'::uuid, u.id, 'user.factors_reset', $3::timestamptz::timestamptz, $4::json::json, (SELECT json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END) FROM old u)
     FROM u
)
SELECT 1 FROM u;

-- users.search (reads; pool: search)
WITH listed AS MATERIALIZED (SELECT u.* FROM users u WHERE u.company_id = $1::uuid AND (lower(u.name) LIKE lower($4::text) OR lower(u.email) LIKE lower($4::text)))
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END) ORDER BY lower(u.name), u.id), '[]')::text
          FROM (SELECT * FROM listed u ORDER BY lower(u.name), u.id
                 LIMIT $2::int OFFSET $3::int) u) AS json;

-- users.show (reads; pool: short)
SELECT json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END)::text FROM users u WHERE u.company_id = $1::uuid AND u.id = $2::uuid;

-- users.update (writes; pool: short)
WITH old AS (
  SELECT u.* FROM users u WHERE u.company_id = $1::uuid AND u.id = $2::uuid FOR NO KEY UPDATE
), u AS (
  UPDATE users u
     SET name = coalesce($5::text, u.name), role = coalesce($6::text, u.role),
         adviser_id = CASE WHEN $7::boolean THEN $8::uuid ELSE u.adviser_id END,
         updated_at = $3::timestamptz
    FROM old WHERE u.company_id = old.company_id AND u.id = old.id
  RETURNING u.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT u.company_id, '00000000-0000-0000-0000-000000000000'::uuid, u.id, 'user.updated', $3::timestamptz::timestamptz, $4::json::json, (SELECT json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END) FROM old u)
     FROM u
)
SELECT json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END)::text FROM u;

