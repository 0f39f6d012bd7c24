-- user_links.claim (writes; pool: short)
WITH due AS (
  SELECT c.id AS company_id, coalesce(b.running, 0) AS running
    FROM companies c
    LEFT JOIN unnest($5::uuid[], $6::int[]) AS b (company_id, running)
      ON b.company_id = c.id
   CROSS JOIN LATERAL (SELECT claim_at FROM user_links WHERE company_id = c.id AND state = 'waiting' AND claim_at <= $1::timestamptz ORDER BY claim_at LIMIT 1) oldest
   WHERE coalesce(b.running, 0) < $7::int
   ORDER BY coalesce(b.running, 0), oldest.claim_at LIMIT $4::int
), unlocked AS (
  SELECT t.*, due.running + row_number() OVER (PARTITION BY t.company_id ORDER BY t.claim_at) AS turn
    FROM due CROSS JOIN LATERAL (
      SELECT company_id, id, claim_at FROM user_links
       WHERE company_id = due.company_id AND state = 'waiting' AND claim_at <= $1::timestamptz
       ORDER BY claim_at LIMIT least($7::int - due.running, $4::int)
         FOR UPDATE SKIP LOCKED) t
), chosen AS (
  SELECT * FROM (SELECT *, row_number() OVER (ORDER BY turn, claim_at) AS place FROM unlocked) u
   WHERE place <= CASE turn WHEN 1 THEN $4::int ELSE $4::int - $8::int END
)
UPDATE user_links w SET lease_by = $2::uuid, lease_until = $3::timestamptz
  FROM chosen t WHERE w.company_id = t.company_id AND w.id = t.id
RETURNING w.company_id, w.id;

-- user_links.count_invitations (reads; pool: short)
SELECT count(*)::int AS of_company, (count(*) FILTER (WHERE user_id = $2::uuid))::int AS of_user
  FROM user_links
 WHERE company_id = $1::uuid AND kind = 'invitation' AND state <> 'given' AND created_at > $3::timestamptz;

-- user_links.end_restored (writes; pool: short)
UPDATE user_links
   SET expires_at = least(expires_at, $1::timestamptz), lease_by = NULL, lease_until = NULL,
       state = CASE state WHEN 'waiting' THEN 'failed' ELSE state END,
       ended_at = coalesce(ended_at, $1::timestamptz)
 WHERE used_at IS NULL;

-- user_links.find (reads; pool: short)
SELECT l.company_id, l.id, l.kind, u.id AS user_id, u.name, u.sealed_secret, u.code_step,
       $2::bytea = ANY (u.recovery_sha256s) AS has_recovery_code
  FROM user_links l JOIN users u ON u.company_id = l.company_id AND u.id = l.user_id
 WHERE l.secret_sha256 = $1::bytea AND l.used_at IS NULL AND l.expires_at > $3::timestamptz
   AND lower(u.email) = lower(l.email)
   AND u.state = CASE l.kind WHEN 'invitation' THEN 'invited' ELSE 'active' END;

-- user_links.insert (writes; pool: short)
WITH ended AS (
  UPDATE user_links l SET expires_at = l.created_at
   WHERE l.company_id = $1::uuid AND l.user_id = $3::uuid AND l.used_at IS NULL
     AND l.kind = $4::text AND l.expires_at > $7::timestamptz
)
INSERT INTO user_links (company_id, id, user_id, kind, email, secret_sha256, expires_at, state, due_at, created_at)
SELECT u.company_id, $2::uuid, u.id, $4::text, u.email, $5::bytea, $6::timestamptz,
       CASE WHEN $5::bytea IS NULL THEN 'waiting' ELSE 'given' END, $7::timestamptz, $7::timestamptz
  FROM users u WHERE u.company_id = $1::uuid AND u.id = $3::uuid AND u.state <> 'disabled'
RETURNING user_links.email;

-- user_links.insert_recovery (writes; pool: short)
INSERT INTO user_links (company_id, id, user_id, kind, email, expires_at, state, due_at, created_at)
SELECT u.company_id, $1::uuid, u.id, 'recovery', u.email, $4::timestamptz, 'waiting', $5::timestamptz,
       $5::timestamptz
  FROM (SELECT * FROM users u
         WHERE lower(u.email) = lower($2::text) AND u.state = 'active'
           AND ($3::uuid IS NULL OR u.company_id = $3::uuid)
         ORDER BY greatest(u.activated_at, (SELECT c.imported_at FROM companies c WHERE c.id = u.company_id)), u.id LIMIT 1) u
 WHERE (SELECT count(*) FILTER (WHERE l.used_at IS NULL AND l.expires_at > $5::timestamptz AND l.state <> 'failed')
               < CASE WHEN count(*) < 12 THEN 3 ELSE 1 END
          FROM user_links l
         WHERE l.company_id = u.company_id AND l.user_id = u.id AND l.kind = 'recovery'
           AND l.created_at > $5::timestamptz - interval '24 hours')
RETURNING 1;

-- user_links.next_due (reads; pool: short)
SELECT to_char(min(n.claim_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
  FROM companies c CROSS JOIN LATERAL (SELECT claim_at FROM user_links WHERE company_id = c.id AND state = 'waiting' ORDER BY claim_at LIMIT 1) n
 WHERE c.id <> ALL ($1::uuid[]);

-- user_links.purge (writes; pool: short)
DELETE FROM user_links WHERE expires_at < $1::timestamptz AND state <> 'waiting';

-- user_links.record_result (writes; pool: short)
UPDATE user_links l
   SET state = $4::text, last_error = $5::text, lease_by = NULL, lease_until = $6::timestamptz,
       ended_at = CASE WHEN $4::text <> 'waiting' THEN $7::timestamptz END
 WHERE l.company_id = $1::uuid AND l.id = $2::uuid AND l.lease_by = $3::uuid AND l.state = 'waiting';

-- user_links.release_lease (writes; pool: short)
UPDATE user_links SET lease_by = NULL, lease_until = NULL
 WHERE company_id = $2::uuid AND id = $3::uuid AND lease_by = $1::uuid;

-- user_links.renew (writes; pool: short)
WITH held AS (
  SELECT w.company_id, w.id FROM user_links w
    JOIN unnest($2::uuid[], $3::uuid[], $4::uuid[])
         AS t (lease, company_id, id)
      ON w.company_id = t.company_id AND w.id = t.id AND w.lease_by = t.lease
   WHERE state = 'waiting' FOR UPDATE OF w SKIP LOCKED
)
UPDATE user_links w SET lease_until = $1::timestamptz FROM held h WHERE w.company_id = h.company_id AND w.id = h.id;

-- user_links.start (writes; pool: short)
WITH l AS (
  UPDATE user_links l SET attempts = l.attempts + 1, secret_sha256 = $4::bytea
   WHERE l.company_id = $1::uuid AND l.id = $2::uuid AND l.lease_by = $3::uuid AND l.state = 'waiting'
  RETURNING l.*
)
SELECT l.id, l.kind, l.email, l.attempts AS attempt, to_char(l.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS due,
       to_char(l.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS expires, l.expires_at <= $5::timestamptz AS expired, u.name,
       u.company_id, c.name AS company
  FROM l JOIN users u ON u.company_id = l.company_id AND u.id = l.user_id
  JOIN companies c ON c.id = l.company_id;

-- user_links.use (writes; pool: short)
WITH used AS (
  UPDATE user_links l SET used_at = $3::timestamptz
   WHERE l.company_id = $1::uuid AND l.id = $2::uuid AND l.used_at IS NULL AND l.expires_at > $3::timestamptz
  RETURNING l.company_id, l.user_id, l.kind, l.id
), others AS (
  UPDATE user_links l SET expires_at = l.created_at FROM used
   WHERE l.company_id = used.company_id AND l.user_id = used.user_id AND l.kind = used.kind AND l.id <> used.id
     AND l.used_at IS NULL AND l.expires_at > $3::timestamptz
)
SELECT 1 FROM used;

