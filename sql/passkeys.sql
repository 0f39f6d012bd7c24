-- passkeys.challenge_key (reads; pool: short)
SELECT key FROM challenge_keys;

-- passkeys.count (reads; pool: short)
SELECT count(*)::int AS count FROM (SELECT 1 FROM passkeys p WHERE p.company_id = $1::uuid AND p.user_id = $2::uuid LIMIT 20) counted;

-- passkeys.find (reads; pool: short)
SELECT p.company_id, p.user_id, p.id, p.public_key, p.counter::float8 AS counter, p.transports
  FROM passkeys p JOIN users u ON u.company_id = p.company_id AND u.id = p.user_id
 WHERE p.credential_id = $1::bytea AND u.state = 'active';

-- passkeys.insert (writes; pool: short)
WITH old AS (
  SELECT u.* FROM users u WHERE u.company_id = $1::uuid AND u.id = $2::uuid FOR NO KEY UPDATE
), p AS (
  INSERT INTO passkeys (company_id, id, user_id, name, credential_id, public_key, counter, transports, backed_up,
                        created_at)
  VALUES ($1::uuid, $3::uuid, $2::uuid, $6::text, $7::bytea,
          $8::bytea, $9::bigint, $10::text[], $11::boolean, $4::timestamptz)
  ON CONFLICT (credential_id) DO NOTHING
  RETURNING id
), u AS (
  UPDATE users u SET updated_at = $4::timestamptz FROM old
   WHERE u.company_id = old.company_id AND u.id = old.id AND EXISTS (SELECT 1 FROM p)
  RETURNING u.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT u.company_id, '00000000-0000-0000-0000-000000000000'::uuid, u.id, 'user.passkey_added', $4::timestamptz::timestamptz, $5::json::json, (SELECT json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END) FROM old u)
     FROM u
)
SELECT id FROM p;

-- passkeys.list_credential_ids (reads; pool: short)
SELECT p.credential_id FROM passkeys p WHERE p.company_id = $1::uuid AND p.user_id = $2::uuid;

-- passkeys.remember_challenge (writes; pool: short)
WITH old_challenges AS MATERIALIZED (
  SELECT challenge_sha256 FROM used_challenges WHERE expires_at < $3::timestamptz LIMIT 20
     FOR UPDATE SKIP LOCKED
), pruned AS (
  DELETE FROM used_challenges c USING old_challenges o WHERE c.challenge_sha256 = o.challenge_sha256
), used AS (
  INSERT INTO used_challenges (challenge_sha256, expires_at) VALUES ($1::bytea, $2::timestamptz)
  ON CONFLICT DO NOTHING RETURNING 1
) SELECT 1 FROM used;

-- passkeys.remove (writes; pool: short)
WITH old AS (
  SELECT u.* FROM users u WHERE u.company_id = $1::uuid AND u.id = $2::uuid FOR NO KEY UPDATE
), p AS (
  DELETE FROM passkeys p USING old WHERE p.company_id = $1::uuid AND p.user_id = $2::uuid AND p.user_id = old.id AND p.id = $3::uuid
  RETURNING p.id
), u AS (
  UPDATE users u SET updated_at = $4::timestamptz FROM old
   WHERE u.company_id = old.company_id AND u.id = old.id AND EXISTS (SELECT 1 FROM p)
  RETURNING u.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT u.company_id, '00000000-0000-0000-0000-000000000000'::uuid, u.id, 'user.passkey_removed', $4::timestamptz::timestamptz, $5::json::json, (SELECT json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END) FROM old u)
     FROM u
)
SELECT id FROM p;

-- passkeys.use (writes; pool: short)
WITH old_challenges AS MATERIALIZED (
  SELECT challenge_sha256 FROM used_challenges WHERE expires_at < $3::timestamptz LIMIT 20
     FOR UPDATE SKIP LOCKED
), pruned AS (
  DELETE FROM used_challenges c USING old_challenges o WHERE c.challenge_sha256 = o.challenge_sha256
), used AS (
  INSERT INTO used_challenges (challenge_sha256, expires_at) VALUES ($1::bytea, $2::timestamptz)
  ON CONFLICT DO NOTHING RETURNING 1
)
UPDATE passkeys p SET counter = $6::bigint, backed_up = $7::boolean, last_used_at = $3::timestamptz
  FROM used
 WHERE p.company_id = $4::uuid AND p.id = $5::uuid
   AND ($6::bigint > p.counter OR ($6::bigint = 0 AND p.counter = 0))
RETURNING p.id;

