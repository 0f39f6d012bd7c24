-- clients.count (reads; pool: short)
SELECT count(*)::int AS count FROM (SELECT 1 FROM clients WHERE company_id = $1::uuid LIMIT 1000) counted;

-- clients.disable (writes; pool: short)
WITH old AS (SELECT k.* FROM clients k WHERE k.company_id = $1::uuid AND k.id = $2::uuid FOR NO KEY UPDATE), k AS (
  UPDATE clients k SET disabled_at = $3::timestamptz, updated_at = $3::timestamptz
    FROM old WHERE k.company_id = old.company_id AND k.id = old.id AND old.disabled_at IS NULL
  RETURNING k.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT k.company_id, '00000000-0000-0000-0000-000000000000'::uuid, k.id, 'api_client.disabled', $3::timestamptz::timestamptz, $4::json::json, (SELECT json_build_object('id', k.id, 'name', k.name, 'scopes', k.scopes, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'rotated_at', to_char(k.rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'disabled_at', to_char(k.disabled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN k.created_by_id IS NOT NULL THEN json_build_object('type', k.created_by_type, 'id', k.created_by_id, 'name', k.created_by_name) END, 'rotated_by', CASE WHEN k.rotated_by_id IS NOT NULL THEN json_build_object('type', k.rotated_by_type, 'id', k.rotated_by_id, 'name', k.rotated_by_name) END) FROM old k)
     FROM k
)
SELECT json_build_object('id', k.id, 'name', k.name, 'scopes', k.scopes, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'rotated_at', to_char(k.rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'disabled_at', to_char(k.disabled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN k.created_by_id IS NOT NULL THEN json_build_object('type', k.created_by_type, 'id', k.created_by_id, 'name', k.created_by_name) END, 'rotated_by', CASE WHEN k.rotated_by_id IS NOT NULL THEN json_build_object('type', k.rotated_by_type, 'id', k.rotated_by_id, 'name', k.rotated_by_name) END)::text FROM (SELECT * FROM k UNION ALL SELECT * FROM old WHERE old.disabled_at IS NOT NULL) k;

-- clients.enable (writes; pool: short)
WITH old AS (SELECT k.* FROM clients k WHERE k.company_id = $1::uuid AND k.id = $2::uuid FOR NO KEY UPDATE), k AS (
  UPDATE clients k SET disabled_at = NULL, updated_at = $3::timestamptz, generation = k.generation + 1
    FROM old WHERE k.company_id = old.company_id AND k.id = old.id AND old.disabled_at IS NOT NULL
  RETURNING k.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT k.company_id, '00000000-0000-0000-0000-000000000000'::uuid, k.id, 'api_client.enabled', $3::timestamptz::timestamptz, $4::json::json, (SELECT json_build_object('id', k.id, 'name', k.name, 'scopes', k.scopes, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'rotated_at', to_char(k.rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'disabled_at', to_char(k.disabled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN k.created_by_id IS NOT NULL THEN json_build_object('type', k.created_by_type, 'id', k.created_by_id, 'name', k.created_by_name) END, 'rotated_by', CASE WHEN k.rotated_by_id IS NOT NULL THEN json_build_object('type', k.rotated_by_type, 'id', k.rotated_by_id, 'name', k.rotated_by_name) END) FROM old k)
     FROM k
)
SELECT json_build_object('id', k.id, 'name', k.name, 'scopes', k.scopes, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'rotated_at', to_char(k.rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'disabled_at', to_char(k.disabled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN k.created_by_id IS NOT NULL THEN json_build_object('type', k.created_by_type, 'id', k.created_by_id, 'name', k.created_by_name) END, 'rotated_by', CASE WHEN k.rotated_by_id IS NOT NULL THEN json_build_object('type', k.rotated_by_type, 'id', k.rotated_by_id, 'name', k.rotated_by_name) END)::text FROM (SELECT * FROM k UNION ALL SELECT * FROM old WHERE old.disabled_at IS NULL) k;

-- clients.find_scopes (reads; pool: short)
SELECT k.scopes FROM clients k WHERE k.company_id = $1::uuid AND k.id = $2::uuid;

-- clients.insert (writes; pool: short)
WITH k AS (
  INSERT INTO clients (company_id, id, name, scopes, secret_sha256, created_at, updated_at,
                       created_by_type, created_by_id, created_by_name)
  VALUES ($1::uuid, $2::uuid, $3::text, $4::text[], $5::bytea,
          $9::timestamptz, $9::timestamptz,
          $6::text, $7::uuid, $8::text)
  RETURNING *
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT k.company_id, '00000000-0000-0000-0000-000000000000'::uuid, k.id, 'api_client.created', $9::timestamptz::timestamptz, $10::json::json
     FROM k
)
SELECT json_build_object('id', k.id, 'name', k.name, 'scopes', k.scopes, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'rotated_at', to_char(k.rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'disabled_at', to_char(k.disabled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN k.created_by_id IS NOT NULL THEN json_build_object('type', k.created_by_type, 'id', k.created_by_id, 'name', k.created_by_name) END, 'rotated_by', CASE WHEN k.rotated_by_id IS NOT NULL THEN json_build_object('type', k.rotated_by_type, 'id', k.rotated_by_id, 'name', k.rotated_by_name) END)::text FROM k;

-- clients.list (reads; pool: search)
WITH listed AS NOT MATERIALIZED (SELECT k.* FROM clients k WHERE k.company_id = $1::uuid)
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', k.id, 'name', k.name, 'scopes', k.scopes, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'rotated_at', to_char(k.rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'disabled_at', to_char(k.disabled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN k.created_by_id IS NOT NULL THEN json_build_object('type', k.created_by_type, 'id', k.created_by_id, 'name', k.created_by_name) END, 'rotated_by', CASE WHEN k.rotated_by_id IS NOT NULL THEN json_build_object('type', k.rotated_by_type, 'id', k.rotated_by_id, 'name', k.rotated_by_name) END) ORDER BY k.created_at DESC, k.id DESC), '[]')::text
          FROM (SELECT * FROM listed k ORDER BY k.created_at DESC, k.id DESC
                 LIMIT $2::int OFFSET $3::int) k) AS json;

-- clients.lock_row (writes; pool: short)
SELECT 1 FROM clients WHERE company_id = $1::uuid AND id = $2::uuid
   FOR NO KEY UPDATE;

-- clients.rotate (writes; pool: short)
WITH old AS (SELECT k.* FROM clients k WHERE k.company_id = $1::uuid AND k.id = $2::uuid FOR NO KEY UPDATE), k AS (
  UPDATE clients k
     SET secret_sha256 = $3::bytea, rotated_at = $8::timestamptz, updated_at = $8::timestamptz,
         rotated_by_type = $5::text, rotated_by_id = $6::uuid,
         rotated_by_name = $7::text
    FROM old
   WHERE k.company_id = old.company_id AND k.id = old.id AND ($4::text[] IS NULL OR old.scopes <@ $4::text[])
  RETURNING k.*
), rotation AS (
  INSERT INTO client_rotations (company_id, client_id, rotated_by_type, rotated_by_id)
  SELECT k.company_id, k.id, $5::text, $6::uuid
    FROM k WHERE $6::uuid IS NOT NULL
  ON CONFLICT DO NOTHING
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT k.company_id, '00000000-0000-0000-0000-000000000000'::uuid, k.id, 'api_client.rotated', $8::timestamptz::timestamptz, $9::json::json, (SELECT json_build_object('id', k.id, 'name', k.name, 'scopes', k.scopes, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'rotated_at', to_char(k.rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'disabled_at', to_char(k.disabled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN k.created_by_id IS NOT NULL THEN json_build_object('type', k.created_by_type, 'id', k.created_by_id, 'name', k.created_by_name) END, 'rotated_by', CASE WHEN k.rotated_by_id IS NOT NULL THEN json_build_object('type', k.rotated_by_type, 'id', k.rotated_by_id, 'name', k.rotated_by_name) END) FROM old k)
     FROM k
)
SELECT json_build_object('id', k.id, 'name', k.name, 'scopes', k.scopes, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'rotated_at', to_char(k.rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'disabled_at', to_char(k.disabled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN k.created_by_id IS NOT NULL THEN json_build_object('type', k.created_by_type, 'id', k.created_by_id, 'name', k.created_by_name) END, 'rotated_by', CASE WHEN k.rotated_by_id IS NOT NULL THEN json_build_object('type', k.rotated_by_type, 'id', k.rotated_by_id, 'name', k.rotated_by_name) END)::text FROM k;

-- clients.search (reads; pool: search)
WITH listed AS MATERIALIZED (SELECT k.* FROM clients k WHERE k.company_id = $1::uuid AND (lower(k.name) LIKE lower($4::text)))
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', k.id, 'name', k.name, 'scopes', k.scopes, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'rotated_at', to_char(k.rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'disabled_at', to_char(k.disabled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN k.created_by_id IS NOT NULL THEN json_build_object('type', k.created_by_type, 'id', k.created_by_id, 'name', k.created_by_name) END, 'rotated_by', CASE WHEN k.rotated_by_id IS NOT NULL THEN json_build_object('type', k.rotated_by_type, 'id', k.rotated_by_id, 'name', k.rotated_by_name) END) ORDER BY k.created_at DESC, k.id DESC), '[]')::text
          FROM (SELECT * FROM listed k ORDER BY k.created_at DESC, k.id DESC
                 LIMIT $2::int OFFSET $3::int) k) AS json;

-- clients.show (reads; pool: short)
SELECT json_build_object('id', k.id, 'name', k.name, 'scopes', k.scopes, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'rotated_at', to_char(k.rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'disabled_at', to_char(k.disabled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN k.created_by_id IS NOT NULL THEN json_build_object('type', k.created_by_type, 'id', k.created_by_id, 'name', k.created_by_name) END, 'rotated_by', CASE WHEN k.rotated_by_id IS NOT NULL THEN json_build_object('type', k.rotated_by_type, 'id', k.rotated_by_id, 'name', k.rotated_by_name) END)::text FROM clients k WHERE k.company_id = $1::uuid AND k.id = $2::uuid;

-- clients.update (writes; pool: short)
WITH old AS (SELECT k.* FROM clients k WHERE k.company_id = $1::uuid AND k.id = $2::uuid FOR NO KEY UPDATE), k AS (
  UPDATE clients k
     SET name = coalesce($3::text, k.name), scopes = coalesce($4::text[], k.scopes),
         updated_at = $6::timestamptz
    FROM old
   WHERE k.company_id = old.company_id AND k.id = old.id
     AND ($4::text[] IS NULL OR $5::text[] IS NULL
          OR $4::text[] <@ (old.scopes || $5::text[]))
  RETURNING k.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT k.company_id, '00000000-0000-0000-0000-000000000000'::uuid, k.id, 'api_client.updated', $6::timestamptz::timestamptz, $7::json::json, (SELECT json_build_object('id', k.id, 'name', k.name, 'scopes', k.scopes, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'rotated_at', to_char(k.rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'disabled_at', to_char(k.disabled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN k.created_by_id IS NOT NULL THEN json_build_object('type', k.created_by_type, 'id', k.created_by_id, 'name', k.created_by_name) END, 'rotated_by', CASE WHEN k.rotated_by_id IS NOT NULL THEN json_build_object('type', k.rotated_by_type, 'id', k.rotated_by_id, 'name', k.rotated_by_name) END) FROM old k)
     FROM k
)
SELECT json_build_object('id', k.id, 'name', k.name, 'scopes', k.scopes, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'rotated_at', to_char(k.rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'disabled_at', to_char(k.disabled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN k.created_by_id IS NOT NULL THEN json_build_object('type', k.created_by_type, 'id', k.created_by_id, 'name', k.created_by_name) END, 'rotated_by', CASE WHEN k.rotated_by_id IS NOT NULL THEN json_build_object('type', k.rotated_by_type, 'id', k.rotated_by_id, 'name', k.rotated_by_name) END)::text FROM k;

