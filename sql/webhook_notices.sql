-- webhook_notices.claim (writes; pool: short)
WITH due AS (
  SELECT c.id AS company_id, coalesce(b.running, 0) AS running
    FROM companies c
    LEFT JOIN unnest($5::uuid[], $6::int[]) AS b (company_id, running)
      ON b.company_id = c.id
   CROSS JOIN LATERAL (SELECT claim_at FROM webhook_notices WHERE company_id = c.id AND state = 'waiting' AND claim_at <= $1::timestamptz ORDER BY claim_at LIMIT 1) oldest
   WHERE coalesce(b.running, 0) < $7::int
   ORDER BY coalesce(b.running, 0), oldest.claim_at LIMIT $4::int
), unlocked AS (
  SELECT t.*, due.running + row_number() OVER (PARTITION BY t.company_id ORDER BY t.claim_at) AS turn
    FROM due CROSS JOIN LATERAL (
      SELECT company_id, endpoint_id, id, claim_at FROM webhook_notices
       WHERE company_id = due.company_id AND state = 'waiting' AND claim_at <= $1::timestamptz
       ORDER BY claim_at LIMIT least($7::int - due.running, $4::int)
         FOR UPDATE SKIP LOCKED) t
), chosen AS (
  SELECT * FROM (SELECT *, row_number() OVER (ORDER BY turn, claim_at) AS place FROM unlocked) u
   WHERE place <= CASE turn WHEN 1 THEN $4::int ELSE $4::int - $8::int END
)
UPDATE webhook_notices w SET lease_by = $2::uuid, lease_until = $3::timestamptz
  FROM chosen t WHERE w.company_id = t.company_id AND w.endpoint_id = t.endpoint_id AND w.id = t.id
RETURNING w.company_id, w.endpoint_id, w.id;

-- webhook_notices.drop_held (writes; pool: short)
WITH batch AS MATERIALIZED (
  SELECT j.* FROM companies c CROSS JOIN LATERAL (
    SELECT j.company_id, j.endpoint_id, j.id FROM webhook_notices j
     WHERE j.company_id = c.id AND j.state = 'waiting' AND j.lease_until >= '9999-01-01 00:00:00+00'::timestamptz LIMIT $2::int FOR NO KEY UPDATE) j
   WHERE c.removal_started_at IS NULL AND ($1::uuid IS NULL OR c.id = $1::uuid) LIMIT $2::int
), dropped AS (
  UPDATE webhook_notices j
     SET state = 'untold', ended_at = $4::timestamptz, lease_until = NULL, last_error = $3::text
    FROM batch b WHERE j.company_id = b.company_id AND j.endpoint_id = b.endpoint_id AND j.id = b.id RETURNING 1
)
SELECT count(*)::int AS count FROM dropped;

-- webhook_notices.held (reads; pool: search)
SELECT 'alerts' AS kind, c.name AS company, to_char(j.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS due_at, j.kind || ', endpoint ' || (SELECT w.url FROM webhook_endpoints w WHERE w.company_id = j.company_id AND w.id = j.endpoint_id) AS job,
       (count(*) OVER ())::int AS total
  FROM webhook_notices j JOIN companies c ON c.id = j.company_id
 WHERE j.state = 'waiting' AND j.lease_until >= '9999-01-01 00:00:00+00'::timestamptz AND ($1::uuid IS NULL OR j.company_id = $1::uuid)
     AND NOT EXISTS (SELECT FROM companies i WHERE i.id = j.company_id AND i.removal_started_at IS NOT NULL) ORDER BY j.due_at LIMIT $2::int;

-- webhook_notices.hold (writes; pool: short)
WITH batch AS MATERIALIZED (
  SELECT j.* FROM companies c CROSS JOIN LATERAL (
    SELECT j.company_id, j.endpoint_id, j.id FROM webhook_notices j
     WHERE j.company_id = c.id AND j.state = 'waiting' AND j.due_at <= $1::timestamptz AND (j.lease_until IS NULL OR j.lease_until < '9999-01-01 00:00:00+00'::timestamptz) LIMIT $2::int FOR NO KEY UPDATE) j
   WHERE true LIMIT $2::int
), held AS (
  UPDATE webhook_notices j SET lease_by = NULL, lease_until = '9999-01-01 00:00:00+00'::timestamptz FROM batch b WHERE j.company_id = b.company_id AND j.endpoint_id = b.endpoint_id AND j.id = b.id
  RETURNING 1
)
SELECT count(*)::int AS count FROM held;

-- webhook_notices.insert (writes; pool: short)
INSERT INTO webhook_notices (company_id, endpoint_id, id, kind, state, due_at)
SELECT $1::uuid, $2::uuid, $3::uuid, $4::text, 'waiting', $5::timestamptz
 WHERE $4::text <> 'delivery_failed' OR NOT EXISTS (
         SELECT 1 FROM webhook_notices n
          WHERE n.company_id = $1::uuid AND n.endpoint_id = $2::uuid
            AND n.due_at > $5::timestamptz - interval '1 day');

-- webhook_notices.next_due (reads; pool: short)
SELECT to_char(min(n.claim_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
  FROM companies c CROSS JOIN LATERAL (SELECT claim_at FROM webhook_notices WHERE company_id = c.id AND state = 'waiting' ORDER BY claim_at LIMIT 1) n
 WHERE c.id <> ALL ($1::uuid[]);

-- webhook_notices.purge (writes; pool: short)
DELETE FROM webhook_notices WHERE ended_at < $1::timestamptz;

-- webhook_notices.record_result (writes; pool: short)
UPDATE webhook_notices n
   SET state = $6::text, told_to = $7::text, last_error = $8::text, lease_by = NULL,
       lease_until = $9::timestamptz, ended_at = CASE WHEN $6::text <> 'waiting' THEN $5::timestamptz END
 WHERE n.company_id = $1::uuid AND n.endpoint_id = $2::uuid AND n.id = $3::uuid AND n.lease_by = $4::uuid AND n.state = 'waiting';

-- webhook_notices.release_held (writes; pool: short)
WITH batch AS MATERIALIZED (
  SELECT j.* FROM companies c CROSS JOIN LATERAL (
    SELECT j.company_id, j.endpoint_id, j.id FROM webhook_notices j
     WHERE j.company_id = c.id AND j.state = 'waiting' AND j.lease_until >= '9999-01-01 00:00:00+00'::timestamptz LIMIT $2::int FOR NO KEY UPDATE) j
   WHERE c.removal_started_at IS NULL AND ($1::uuid IS NULL OR c.id = $1::uuid) LIMIT $2::int
), released AS (
  UPDATE webhook_notices j SET lease_until = NULL FROM batch b WHERE j.company_id = b.company_id AND j.endpoint_id = b.endpoint_id AND j.id = b.id
  RETURNING 1
)
SELECT count(*)::int AS count FROM released;

-- webhook_notices.release_lease (writes; pool: short)
UPDATE webhook_notices SET lease_by = NULL, lease_until = NULL
 WHERE company_id = $2::uuid AND endpoint_id = $3::uuid AND id = $4::uuid AND lease_by = $1::uuid;

-- webhook_notices.renew (writes; pool: short)
WITH held AS (
  SELECT w.company_id, w.endpoint_id, w.id FROM webhook_notices w
    JOIN unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[])
         AS t (lease, company_id, endpoint_id, id)
      ON w.company_id = t.company_id AND w.endpoint_id = t.endpoint_id AND w.id = t.id AND w.lease_by = t.lease
   WHERE state = 'waiting' FOR UPDATE OF w SKIP LOCKED
)
UPDATE webhook_notices w SET lease_until = $1::timestamptz FROM held h WHERE w.company_id = h.company_id AND w.endpoint_id = h.endpoint_id AND w.id = h.id;

-- webhook_notices.start (writes; pool: short)
WITH n AS (
  UPDATE webhook_notices n SET attempts = n.attempts + 1
   WHERE n.company_id = $1::uuid AND n.endpoint_id = $2::uuid AND n.id = $3::uuid AND n.lease_by = $4::uuid AND n.state = 'waiting'
  RETURNING n.*
)
SELECT n.id, n.kind, n.attempts AS attempt_number, to_char(n.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS due_at, w.url, c.name AS company,
       coalesce(nullif(c.contact_email, ''), nullif(c.sender_address, '')) AS recipient
  FROM n JOIN webhook_endpoints w ON w.company_id = n.company_id AND w.id = n.endpoint_id
  JOIN companies c ON c.id = n.company_id;

