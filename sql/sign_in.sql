-- sign_in.find_account (reads; pool: short)
SELECT e.address, u.*
  FROM (SELECT lower($1::text) AS address) e LEFT JOIN LATERAL (
    SELECT u.company_id, u.id AS user_id, u.name, u.password_hash, u.sealed_secret, u.code_step,
           $4::bytea = ANY (u.recovery_sha256s) AS has_recovery_code,
           EXISTS (SELECT 1 FROM sessions s
                    WHERE s.browser_sha256 = $3::bytea AND s.company_id = u.company_id
                      AND s.user_id = u.id
                      AND s.created_at > $5::timestamptz - interval '30 days') AS knows_browser
      FROM users u
     WHERE lower(u.email) = e.address AND u.state = 'active' AND u.password_hash IS NOT NULL
       AND u.sealed_secret IS NOT NULL AND ($2::uuid IS NULL OR u.company_id = $2::uuid)
     ORDER BY greatest(u.activated_at, (SELECT c.imported_at FROM companies c WHERE c.id = u.company_id)), u.id LIMIT 1) u ON true;

-- sign_in.forgive_attempt (writes; pool: short)
UPDATE sign_in_attempts a
   SET failures = CASE a.kind WHEN 'address' THEN greatest(0, a.failures - 1) ELSE 0 END
 WHERE a.key_sha256 = ANY ($1::bytea[]);

-- sign_in.lock_user (writes; pool: short)
SELECT 1 FROM users u
 WHERE u.company_id = $1::uuid AND u.id = $2::uuid
   AND ($3::text IS NULL OR u.password_hash = $3::text)
   AND ($4::text IS NULL OR u.sealed_secret = $4::text)
   FOR NO KEY UPDATE;

-- sign_in.take_attempt (writes; pool: short)
  WITH old AS MATERIALIZED (
    SELECT key_sha256 FROM sign_in_attempts WHERE failed_at < $3::timestamptz - interval '1 hour'
       AND key_sha256 <> ALL ($1::bytea[]) LIMIT 20 FOR UPDATE SKIP LOCKED
  ), pruned AS (
    DELETE FROM sign_in_attempts a USING old WHERE a.key_sha256 = old.key_sha256
  ), wanted AS (
    SELECT * FROM unnest($1::bytea[], $2::text[]) AS w (key_sha256, kind)
  ), taken AS (
    INSERT INTO sign_in_attempts AS a (key_sha256, kind, failures, failed_at)
    SELECT key_sha256, kind, 1, $3::timestamptz FROM wanted
     WHERE NOT EXISTS (SELECT 1 FROM wanted JOIN sign_in_attempts a USING (key_sha256) WHERE a.failed_at + CASE WHEN a.failures < CASE a.kind WHEN 'account' THEN 5 WHEN 'address' THEN 20 WHEN 'browser' THEN 10 WHEN 'code' THEN 5 WHEN 'recovery' THEN 5 WHEN 'password' THEN 5 END THEN interval '0'
ELSE least(CASE a.kind WHEN 'account' THEN 300 WHEN 'address' THEN 300 WHEN 'browser' THEN 60 WHEN 'code' THEN 300 WHEN 'recovery' THEN 900 WHEN 'password' THEN 300 END, 2 ^ least(20, a.failures - CASE a.kind WHEN 'account' THEN 5 WHEN 'address' THEN 20 WHEN 'browser' THEN 10 WHEN 'code' THEN 5 WHEN 'recovery' THEN 5 WHEN 'password' THEN 5 END + 1))
     * interval '1 second' END > $3::timestamptz)
     ORDER BY key_sha256
    ON CONFLICT (key_sha256) DO UPDATE
       SET failures = CASE WHEN a.failed_at < $3::timestamptz - interval '1 hour' THEN 1 ELSE a.failures + 1 END,
           failed_at = $3::timestamptz
     WHERE a.failed_at + CASE WHEN a.failures < CASE a.kind WHEN 'account' THEN 5 WHEN 'address' THEN 20 WHEN 'browser' THEN 10 WHEN 'code' THEN 5 WHEN 'recovery' THEN 5 WHEN 'password' THEN 5 END THEN interval '0'
ELSE least(CASE a.kind WHEN 'account' THEN 300 WHEN 'address' THEN 300 WHEN 'browser' THEN 60 WHEN 'code' THEN 300 WHEN 'recovery' THEN 900 WHEN 'password' THEN 300 END, 2 ^ least(20, a.failures - CASE a.kind WHEN 'account' THEN 5 WHEN 'address' THEN 20 WHEN 'browser' THEN 10 WHEN 'code' THEN 5 WHEN 'recovery' THEN 5 WHEN 'password' THEN 5 END + 1))
     * interval '1 second' END <= $3::timestamptz
    RETURNING a.key_sha256
  )
  SELECT w.kind, t.key_sha256 IS NOT NULL AS allowed,
         greatest(1, ceil(extract(epoch FROM a.failed_at + CASE WHEN a.failures < CASE a.kind WHEN 'account' THEN 5 WHEN 'address' THEN 20 WHEN 'browser' THEN 10 WHEN 'code' THEN 5 WHEN 'recovery' THEN 5 WHEN 'password' THEN 5 END THEN interval '0'
ELSE least(CASE a.kind WHEN 'account' THEN 300 WHEN 'address' THEN 300 WHEN 'browser' THEN 60 WHEN 'code' THEN 300 WHEN 'recovery' THEN 900 WHEN 'password' THEN 300 END, 2 ^ least(20, a.failures - CASE a.kind WHEN 'account' THEN 5 WHEN 'address' THEN 20 WHEN 'browser' THEN 10 WHEN 'code' THEN 5 WHEN 'recovery' THEN 5 WHEN 'password' THEN 5 END + 1))
     * interval '1 second' END - $3::timestamptz)))::int AS wait_seconds
    FROM wanted w LEFT JOIN taken t USING (key_sha256) LEFT JOIN sign_in_attempts a USING (key_sha256);

