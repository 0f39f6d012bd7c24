-- account.activate (writes; pool: short)
WITH old AS (
  SELECT u.* FROM users u WHERE u.company_id = $1::uuid AND u.id = $2::uuid AND u.state = 'invited' AND ((u.password_hash IS NOT NULL AND u.sealed_secret IS NOT NULL) OR EXISTS (SELECT 1 FROM passkeys p WHERE p.company_id = u.company_id AND p.user_id = u.id)) FOR NO KEY UPDATE
), u AS (
  UPDATE users u SET state = 'active', activated_at = $3::timestamptz, updated_at = $3::timestamptz
    FROM old WHERE u.company_id = old.company_id AND u.id = old.id
  RETURNING u.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT u.company_id, '00000000-0000-0000-0000-000000000000'::uuid, u.id, 'user.activated', $3::timestamptz::timestamptz, $4::json::json, (SELECT json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END) FROM old u)
     FROM u
)
SELECT u.id FROM u;

-- account.find_factors (reads; pool: short)
SELECT u.email, u.name, u.state, u.password_hash, u.sealed_secret, u.code_step,
       cardinality(u.recovery_sha256s) AS recovery_codes, (u.password_hash IS NOT NULL AND u.sealed_secret IS NOT NULL) AS has_password, c.name AS company,
       (SELECT count(*)::int FROM passkeys p WHERE p.company_id = $1::uuid AND p.user_id = $2::uuid) AS passkeys
  FROM users u JOIN companies c ON c.id = u.company_id WHERE u.company_id = $1::uuid AND u.id = $2::uuid;

-- account.list_code_secrets (reads; pool: search)
SELECT company_id, id, sealed_secret FROM users WHERE sealed_secret IS NOT NULL;

-- account.reencrypt_code_secret (writes; pool: short)
UPDATE users SET sealed_secret = $4::text
 WHERE company_id = $1::uuid AND id = $2::uuid AND sealed_secret = $3::text
RETURNING id;

-- account.remove_password (writes; pool: short)
WITH old AS (
  SELECT u.* FROM users u WHERE u.company_id = $1::uuid AND u.id = $2::uuid AND EXISTS (SELECT 1 FROM passkeys p WHERE p.company_id = u.company_id AND p.user_id = u.id) FOR NO KEY UPDATE
), u AS (
  UPDATE users u SET password_hash = NULL, password_set_at = NULL, sealed_secret = NULL, code_step = NULL, updated_at = $3::timestamptz
    FROM old WHERE u.company_id = old.company_id AND u.id = old.id
  RETURNING u.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT u.company_id, '00000000-0000-0000-0000-000000000000'::uuid, u.id, 'user.password_removed', $3::timestamptz::timestamptz, $4::json::json, (SELECT json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END) FROM old u)
     FROM u
)
SELECT u.id FROM u;

-- account.set_codes (writes; pool: short)
WITH old AS (
  SELECT u.* FROM users u WHERE u.company_id = $1::uuid AND u.id = $2::uuid AND true FOR NO KEY UPDATE
), u AS (
  UPDATE users u SET sealed_secret = $5::text, code_step = $6::bigint, updated_at = $3::timestamptz
    FROM old WHERE u.company_id = old.company_id AND u.id = old.id
  RETURNING u.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT u.company_id, '00000000-0000-0000-0000-000000000000'::uuid, u.id, 'user.codes_set', $3::timestamptz::timestamptz, $4::json::json, (SELECT json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END) FROM old u)
     FROM u
)
SELECT u.id FROM u;

-- account.set_password (writes; pool: short)
WITH old AS (
  SELECT u.* FROM users u WHERE u.company_id = $1::uuid AND u.id = $2::uuid AND true FOR NO KEY UPDATE
), u AS (
  UPDATE users u SET password_hash = $5::text, password_set_at = $3::timestamptz, updated_at = $3::timestamptz
    FROM old WHERE u.company_id = old.company_id AND u.id = old.id
  RETURNING u.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT u.company_id, '00000000-0000-0000-0000-000000000000'::uuid, u.id, 'user.password_set', $3::timestamptz::timestamptz, $4::json::json, (SELECT json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END) FROM old u)
     FROM u
)
SELECT u.id FROM u;

-- account.set_recovery_codes (writes; pool: short)
WITH old AS (
  SELECT u.* FROM users u WHERE u.company_id = $1::uuid AND u.id = $2::uuid AND true FOR NO KEY UPDATE
), u AS (
  UPDATE users u SET recovery_sha256s = $5::bytea[], updated_at = $3::timestamptz
    FROM old WHERE u.company_id = old.company_id AND u.id = old.id
  RETURNING u.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT u.company_id, '00000000-0000-0000-0000-000000000000'::uuid, u.id, 'user.recovery_codes_created', $3::timestamptz::timestamptz, $4::json::json, (SELECT json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END) FROM old u)
     FROM u
)
SELECT u.id FROM u;

-- account.show (reads; pool: short)
SELECT json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'passkeys', coalesce((SELECT json_agg(json_build_object('id', p.id, 'name', p.name, 'backed_up', p.backed_up, 'created_at', to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'last_used_at', to_char(p.last_used_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY p.created_at, p.id) FROM passkeys p
                         WHERE p.company_id = $1::uuid AND p.user_id = $2::uuid), '[]'), 'password_set_at', to_char(u.password_set_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'has_one_time_codes', u.sealed_secret IS NOT NULL, 'recovery_codes_left', cardinality(u.recovery_sha256s))::text
  FROM users u WHERE u.company_id = $1::uuid AND u.id = $2::uuid;

-- account.use_code (writes; pool: short)
UPDATE users u SET code_step = $3::bigint
 WHERE u.company_id = $1::uuid AND u.id = $2::uuid AND u.sealed_secret IS NOT NULL
   AND (u.code_step IS NULL OR u.code_step < $3::bigint)
RETURNING u.id;

-- account.use_recovery_code (writes; pool: short)
WITH old AS (
  SELECT u.* FROM users u WHERE u.company_id = $1::uuid AND u.id = $2::uuid AND $5::bytea = ANY (u.recovery_sha256s) FOR NO KEY UPDATE
), u AS (
  UPDATE users u SET recovery_sha256s = array_remove(u.recovery_sha256s, $5::bytea), updated_at = $3::timestamptz
    FROM old WHERE u.company_id = old.company_id AND u.id = old.id
  RETURNING u.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT u.company_id, '00000000-0000-0000-0000-000000000000'::uuid, u.id, 'user.recovery_code_used', $3::timestamptz::timestamptz, $4::json::json, (SELECT json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END) FROM old u)
     FROM u
)
SELECT u.id FROM u;

