-- case_kinds.explain_rejection (reads; pool: short)
SELECT r.removed_at IS NOT NULL AS removed,
       EXISTS (SELECT 1 FROM case_kinds k
                WHERE k.company_id = $1::uuid AND k.removed_at IS NULL AND lower(k.name) = lower(coalesce($3::text, r.name))
                  AND k.id <> r.id) AS name_taken
  FROM case_kinds r WHERE r.company_id = $1::uuid AND r.id = $2::uuid;

-- case_kinds.insert (writes; pool: short)
WITH k AS (
  INSERT INTO case_kinds (company_id, id, name, created_at, updated_at)
  VALUES ($1::uuid, $2::uuid, $3::text, $4::timestamptz, $4::timestamptz)
  ON CONFLICT (company_id, lower(name)) WHERE removed_at IS NULL DO NOTHING
  RETURNING *
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT k.company_id, '00000000-0000-0000-0000-000000000000'::uuid, k.id, 'case_kind.created', $4::timestamptz::timestamptz, $5::json::json
     FROM k
)
SELECT json_build_object('id', k.id, 'name', k.name, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM k;

-- case_kinds.list (reads; pool: search)
WITH listed AS NOT MATERIALIZED (SELECT k.* FROM case_kinds k WHERE k.company_id = $1::uuid AND k.removed_at IS NULL)
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', k.id, 'name', k.name, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY lower(k.name), k.id), '[]')::text
          FROM (SELECT * FROM listed k ORDER BY lower(k.name), k.id
                 LIMIT $2::int OFFSET $3::int) k) AS json;

-- case_kinds.lock_row (writes; pool: short)
SELECT 1 FROM case_kinds WHERE company_id = $1::uuid AND id = $2::uuid
   FOR NO KEY UPDATE;

-- case_kinds.remove (writes; pool: short)
WITH old AS (
  SELECT k.* FROM case_kinds k WHERE k.company_id = $1::uuid AND k.removed_at IS NULL AND k.id = $2::uuid FOR NO KEY UPDATE
), k AS (
  UPDATE case_kinds k SET removed_at = $3::timestamptz, updated_at = $3::timestamptz
    FROM old WHERE k.company_id = old.company_id AND k.id = old.id
  RETURNING k.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT k.company_id, '00000000-0000-0000-0000-000000000000'::uuid, k.id, 'case_kind.removed', $3::timestamptz::timestamptz, $4::json::json, (SELECT json_build_object('id', k.id, 'name', k.name, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'removed_at', to_char(k.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old k)
     FROM k
)
SELECT json_build_object('id', k.id, 'removed_at', to_char(k.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM k;

-- case_kinds.restore (writes; pool: short)
WITH old AS (
  SELECT k.* FROM case_kinds k WHERE k.company_id = $1::uuid AND k.removed_at IS NOT NULL AND k.id = $2::uuid FOR NO KEY UPDATE
), k AS (
  UPDATE case_kinds k SET removed_at = NULL, updated_at = $3::timestamptz
    FROM old WHERE k.company_id = old.company_id AND k.id = old.id
  RETURNING k.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT k.company_id, '00000000-0000-0000-0000-000000000000'::uuid, k.id, 'case_kind.restored', $3::timestamptz::timestamptz, $4::json::json, (SELECT json_build_object('id', k.id, 'name', k.name, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'removed_at', to_char(k.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old k)
     FROM k
)
SELECT json_build_object('id', k.id, 'name', k.name, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM k;

-- case_kinds.search (reads; pool: search)
WITH listed AS MATERIALIZED (SELECT k.* FROM case_kinds k WHERE k.company_id = $1::uuid AND k.removed_at IS NULL AND (lower(k.name) LIKE lower($4::text)))
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', k.id, 'name', k.name, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY lower(k.name), k.id), '[]')::text
          FROM (SELECT * FROM listed k ORDER BY lower(k.name), k.id
                 LIMIT $2::int OFFSET $3::int) k) AS json;

-- case_kinds.show (reads; pool: short)
SELECT json_build_object('id', k.id, 'name', k.name, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM case_kinds k WHERE k.company_id = $1::uuid AND k.removed_at IS NULL AND k.id = $2::uuid;

-- case_kinds.update (writes; pool: short)
WITH old AS (
  SELECT k.* FROM case_kinds k WHERE k.company_id = $1::uuid AND k.removed_at IS NULL AND k.id = $2::uuid FOR NO KEY UPDATE
), k AS (
  UPDATE case_kinds k SET name = coalesce($5::text, k.name), updated_at = $3::timestamptz
    FROM old WHERE k.company_id = old.company_id AND k.id = old.id
  RETURNING k.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT k.company_id, '00000000-0000-0000-0000-000000000000'::uuid, k.id, 'case_kind.updated', $3::timestamptz::timestamptz, $4::json::json, (SELECT json_build_object('id', k.id, 'name', k.name, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'removed_at', to_char(k.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old k)
     FROM k
)
SELECT json_build_object('id', k.id, 'name', k.name, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM k;

