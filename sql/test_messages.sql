-- test_messages.claim (writes; pool: short)
WITH due AS (
  SELECT c.id AS company_id, coalesce(b.running, 0) AS running
    FROM companies c
    LEFT JOIN unnest($5::uuid[], $6::int[]) AS b (company_id, running)
      ON b.company_id = c.id
   CROSS JOIN LATERAL (SELECT claim_at FROM test_messages WHERE company_id = c.id AND state = 'scheduled' AND claim_at <= $1::timestamptz ORDER BY claim_at LIMIT 1) oldest
   WHERE coalesce(b.running, 0) < $7::int
   ORDER BY coalesce(b.running, 0), oldest.claim_at LIMIT $4::int
), unlocked AS (
  SELECT t.*, due.running + row_number() OVER (PARTITION BY t.company_id ORDER BY t.claim_at) AS turn
    FROM due CROSS JOIN LATERAL (
      SELECT company_id, id, claim_at FROM test_messages
       WHERE company_id = due.company_id AND state = 'scheduled' AND claim_at <= $1::timestamptz
       ORDER BY claim_at LIMIT least($7::int - due.running, $4::int)
         FOR UPDATE SKIP LOCKED) t
), chosen AS (
  SELECT * FROM (SELECT *, row_number() OVER (ORDER BY turn, claim_at) AS place FROM unlocked) u
   WHERE place <= CASE turn WHEN 1 THEN $4::int ELSE $4::int - $8::int END
)
UPDATE test_messages w SET lease_by = $2::uuid, lease_until = $3::timestamptz
  FROM chosen t WHERE w.company_id = t.company_id AND w.id = t.id
RETURNING w.company_id, w.id;

-- test_messages.count (reads; pool: short)
SELECT count(*)::int AS count FROM test_messages
 WHERE company_id = $1::uuid AND created_at > $2::timestamptz;

-- test_messages.drop_held (writes; pool: short)
WITH batch AS MATERIALIZED (
  SELECT j.* FROM companies c CROSS JOIN LATERAL (
    SELECT j.company_id, j.id FROM test_messages j
     WHERE j.company_id = c.id AND j.state = 'scheduled' AND j.lease_until >= '9999-01-01 00:00:00+00'::timestamptz LIMIT $2::int FOR NO KEY UPDATE) j
   WHERE c.removal_started_at IS NULL AND ($1::uuid IS NULL OR c.id = $1::uuid) LIMIT $2::int
), dropped AS (
  UPDATE test_messages j SET state = 'failed', lease_until = NULL, last_error = $3::text, ended_at = $4::timestamptz
    FROM batch b WHERE j.company_id = b.company_id AND j.id = b.id RETURNING 1
)
SELECT count(*)::int AS count FROM dropped;

-- test_messages.held (reads; pool: search)
SELECT 'test-messages' AS kind, c.name AS company, to_char(j.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS due_at, j.channel || ' ' || j.message || ', to ' || j.recipient AS job,
       (count(*) OVER ())::int AS total
  FROM test_messages j JOIN companies c ON c.id = j.company_id
 WHERE j.state = 'scheduled' AND j.lease_until >= '9999-01-01 00:00:00+00'::timestamptz AND ($1::uuid IS NULL OR j.company_id = $1::uuid)
     AND NOT EXISTS (SELECT FROM companies i WHERE i.id = j.company_id AND i.removal_started_at IS NOT NULL) ORDER BY j.due_at LIMIT $2::int;

-- test_messages.hold (writes; pool: short)
WITH batch AS MATERIALIZED (
  SELECT j.* FROM companies c CROSS JOIN LATERAL (
    SELECT j.company_id, j.id FROM test_messages j
     WHERE j.company_id = c.id AND j.state = 'scheduled' AND j.due_at <= $1::timestamptz AND (j.lease_until IS NULL OR j.lease_until < '9999-01-01 00:00:00+00'::timestamptz) LIMIT $2::int FOR NO KEY UPDATE) j
   WHERE true LIMIT $2::int
), held AS (
  UPDATE test_messages j SET lease_by = NULL, lease_until = '9999-01-01 00:00:00+00'::timestamptz FROM batch b WHERE j.company_id = b.company_id AND j.id = b.id
  RETURNING 1
)
SELECT count(*)::int AS count FROM held;

-- test_messages.insert (writes; pool: short)
INSERT INTO test_messages AS m
  (company_id, id, message, channel, recipient, subject, content, state, due_at, created_at)
VALUES ($1::uuid, $2::uuid, $3::text, $4::text, $5::text, $6::text,
        $7::text, 'scheduled', $8::timestamptz, $8::timestamptz)
RETURNING json_build_object('id', m.id, 'message', m.message, 'channel', m.channel, 'recipient', m.recipient, 'state', m.state, 'attempts', m.attempts, 'last_error', m.last_error, 'created_at', to_char(m.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'sent_at', CASE m.state WHEN 'sent' THEN to_char(m.ended_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END)::text;

-- test_messages.list (reads; pool: short)
SELECT coalesce((SELECT json_agg(json_build_object('id', m.id, 'message', m.message, 'channel', m.channel, 'recipient', m.recipient, 'state', m.state, 'attempts', m.attempts, 'last_error', m.last_error, 'created_at', to_char(m.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'sent_at', CASE m.state WHEN 'sent' THEN to_char(m.ended_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END) ORDER BY m.created_at DESC, m.id DESC) FROM (
         SELECT * FROM test_messages WHERE company_id = $1::uuid
          ORDER BY created_at DESC, id DESC LIMIT $2::int OFFSET $3::int) m), '[]')::text AS json,
       (SELECT count(*)::int FROM test_messages WHERE company_id = $1::uuid) AS total;

-- test_messages.next_due (reads; pool: short)
SELECT to_char(min(n.claim_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
  FROM companies c CROSS JOIN LATERAL (SELECT claim_at FROM test_messages WHERE company_id = c.id AND state = 'scheduled' ORDER BY claim_at LIMIT 1) n
 WHERE c.id <> ALL ($1::uuid[]);

-- test_messages.purge (writes; pool: short)
DELETE FROM test_messages WHERE ended_at < $1::timestamptz;

-- test_messages.record_result (writes; pool: short)
UPDATE test_messages m
   SET state = $4::text, last_error = $5::text, lease_by = NULL, lease_until = $6::timestamptz,
       ended_at = CASE WHEN $4::text <> 'scheduled' THEN $7::timestamptz END
 WHERE m.company_id = $1::uuid AND m.id = $2::uuid AND m.lease_by = $3::uuid AND m.state = 'scheduled';

-- test_messages.release_held (writes; pool: short)
WITH batch AS MATERIALIZED (
  SELECT j.* FROM companies c CROSS JOIN LATERAL (
    SELECT j.company_id, j.id FROM test_messages j
     WHERE j.company_id = c.id AND j.state = 'scheduled' AND j.lease_until >= '9999-01-01 00:00:00+00'::timestamptz LIMIT $2::int FOR NO KEY UPDATE) j
   WHERE c.removal_started_at IS NULL AND ($1::uuid IS NULL OR c.id = $1::uuid) LIMIT $2::int
), released AS (
  UPDATE test_messages j SET lease_until = NULL FROM batch b WHERE j.company_id = b.company_id AND j.id = b.id
  RETURNING 1
)
SELECT count(*)::int AS count FROM released;

-- test_messages.release_lease (writes; pool: short)
UPDATE test_messages SET lease_by = NULL, lease_until = NULL
 WHERE company_id = $2::uuid AND id = $3::uuid AND lease_by = $1::uuid;

-- test_messages.renew (writes; pool: short)
WITH held AS (
  SELECT w.company_id, w.id FROM test_messages w
    JOIN unnest($2::uuid[], $3::uuid[], $4::uuid[])
         AS t (lease, company_id, id)
      ON w.company_id = t.company_id AND w.id = t.id AND w.lease_by = t.lease
   WHERE state = 'scheduled' FOR UPDATE OF w SKIP LOCKED
)
UPDATE test_messages w SET lease_until = $1::timestamptz FROM held h WHERE w.company_id = h.company_id AND w.id = h.id;

-- test_messages.start (writes; pool: short)
WITH m AS (
  UPDATE test_messages m SET attempts = m.attempts + 1
   WHERE m.company_id = $1::uuid AND m.id = $2::uuid AND m.lease_by = $3::uuid AND m.state = 'scheduled'
  RETURNING m.*
)
SELECT m.id, m.channel, m.recipient, m.subject, m.content, m.attempts AS attempt,
       to_char(m.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS due, coalesce(nullif(c.sender_name, ''), c.name) AS sender_name,
       nullif(c.sender_address, '') AS sender_address, c.client_contact_email AS reply_to
  FROM m JOIN companies c ON c.id = m.company_id;

