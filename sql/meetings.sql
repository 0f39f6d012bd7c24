-- meetings.claim (writes; pool: short)
WITH due AS (
  SELECT c.id AS company_id, coalesce(b.running, 0) AS running
    FROM companies c
    LEFT JOIN unnest($5::uuid[], $6::int[]) AS b (company_id, running)
      ON b.company_id = c.id
   CROSS JOIN LATERAL (SELECT claim_at FROM meetings WHERE company_id = c.id AND state = 'pending' AND claim_at <= $1::timestamptz ORDER BY claim_at LIMIT 1) oldest
   WHERE coalesce(b.running, 0) < $7::int
   ORDER BY coalesce(b.running, 0), oldest.claim_at LIMIT $4::int
), unlocked AS (
  SELECT t.*, due.running + row_number() OVER (PARTITION BY t.company_id ORDER BY t.claim_at) AS turn
    FROM due CROSS JOIN LATERAL (
      SELECT company_id, case_id, appointment_id, claim_at FROM meetings
       WHERE company_id = due.company_id AND state = 'pending' AND claim_at <= $1::timestamptz
       ORDER BY claim_at LIMIT least($7::int - due.running, $4::int)
         FOR UPDATE SKIP LOCKED) t
), chosen AS (
  SELECT * FROM (SELECT *, row_number() OVER (ORDER BY turn, claim_at) AS place FROM unlocked) u
   WHERE place <= CASE turn WHEN 1 THEN $4::int ELSE $4::int - $8::int END
)
UPDATE meetings w SET lease_by = $2::uuid, lease_until = $3::timestamptz
  FROM chosen t WHERE w.company_id = t.company_id AND w.case_id = t.case_id AND w.appointment_id = t.appointment_id
RETURNING w.company_id, w.case_id, w.appointment_id;

-- meetings.drop_held (writes; pool: short)
WITH batch AS MATERIALIZED (
  SELECT j.* FROM companies c CROSS JOIN LATERAL (
    SELECT j.company_id, j.case_id, j.appointment_id FROM meetings j
     WHERE j.company_id = c.id AND j.state = 'pending' AND j.lease_until >= '9999-01-01 00:00:00+00'::timestamptz LIMIT $2::int FOR NO KEY UPDATE) j
   WHERE c.removal_started_at IS NULL AND ($1::uuid IS NULL OR c.id = $1::uuid) LIMIT $2::int
), dropped AS (
  UPDATE meetings j
     SET (provider, account_id, doubtful) = (
    SELECT CASE WHEN n.is_new THEN d.video_provider ELSE j.provider END,
           CASE WHEN n.is_new THEN d.video_account_id ELSE j.account_id END, j.doubtful OR n.is_new
      FROM appointments a JOIN advisers d ON d.company_id = a.company_id AND d.id = a.adviser_id
     CROSS JOIN LATERAL (
       SELECT j.external_id IS NULL AND NOT j.doubtful AND d.video_provider IS NOT NULL AS is_new) n
     WHERE j.company_id = a.company_id AND j.case_id = a.case_id AND j.appointment_id = a.id), state = 'failed', lease_until = NULL, last_error = $3::text,
         updated_at = $4::timestamptz
    FROM batch b WHERE j.company_id = b.company_id AND j.case_id = b.case_id AND j.appointment_id = b.appointment_id RETURNING 1
)
SELECT count(*)::int AS count FROM dropped;

-- meetings.due (reads; pool: search)
SELECT count(*)::int AS value FROM meetings WHERE state = 'pending' AND due_at <= $1::timestamptz;

-- meetings.held (reads; pool: search)
SELECT 'meetings' AS kind, c.name AS company, to_char(j.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS due_at, CASE WHEN j.wished THEN 'meeting' ELSE 'removal of the meeting' END || ', appointment of '
         || to_char(j.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS job,
       (count(*) OVER ())::int AS total
  FROM meetings j JOIN companies c ON c.id = j.company_id
 WHERE j.state = 'pending' AND j.lease_until >= '9999-01-01 00:00:00+00'::timestamptz AND ($1::uuid IS NULL OR j.company_id = $1::uuid)
     AND NOT EXISTS (SELECT FROM companies i WHERE i.id = j.company_id AND i.removal_started_at IS NOT NULL) ORDER BY j.due_at LIMIT $2::int;

-- meetings.hold (writes; pool: short)
WITH batch AS MATERIALIZED (
  SELECT j.* FROM companies c CROSS JOIN LATERAL (
    SELECT j.company_id, j.case_id, j.appointment_id FROM meetings j
     WHERE j.company_id = c.id AND j.state = 'pending' AND j.due_at <= $1::timestamptz AND (j.lease_until IS NULL OR j.lease_until < '9999-01-01 00:00:00+00'::timestamptz) LIMIT $2::int FOR NO KEY UPDATE) j
   WHERE true LIMIT $2::int
), held AS (
  UPDATE meetings j SET lease_by = NULL, lease_until = '9999-01-01 00:00:00+00'::timestamptz FROM batch b WHERE j.company_id = b.company_id AND j.case_id = b.case_id AND j.appointment_id = b.appointment_id
  RETURNING 1
)
SELECT count(*)::int AS count FROM held;

-- meetings.list (reads; pool: search)
SELECT coalesce((SELECT json_agg(json_build_object('appointment_id', a.id, 'customer_case_id', a.case_id, 'provider', CASE WHEN g.state <> 'none' THEN g.provider END, 'state', coalesce(g.state, 'none'), 'video_id', a.video_id, 'join_url', a.join_url, 'attempts', coalesce(g.attempts, 0), 'last_error', g.last_error) ORDER BY g.updated_at DESC, g.appointment_id DESC)
         FROM (SELECT * FROM meetings g
         WHERE g.company_id = $1::uuid AND ($2::text IS NULL OR g.state = $2::text)
                ORDER BY g.updated_at DESC, g.appointment_id DESC LIMIT $3::int OFFSET $4::int) g
         JOIN appointments a ON g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id), '[]')::text AS json,
       (SELECT count(*)::int FROM meetings g
         WHERE g.company_id = $1::uuid AND ($2::text IS NULL OR g.state = $2::text)) AS total;

-- meetings.mark_uncertain (writes; pool: short)
UPDATE meetings g
   SET doubtful = true, state = 'pending', wanted = g.wanted + 1, due_at = $5::timestamptz, updated_at = $5::timestamptz,
       lease_by = NULL, lease_until = NULL
 WHERE g.company_id = $1::uuid AND g.case_id = $2::uuid
   AND g.appointment_id = $3::uuid AND g.account_id IS NOT DISTINCT FROM $4::uuid
RETURNING 1;

-- meetings.next_due (reads; pool: short)
SELECT to_char(min(n.claim_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
  FROM companies c CROSS JOIN LATERAL (SELECT claim_at FROM meetings WHERE company_id = c.id AND state = 'pending' ORDER BY claim_at LIMIT 1) n
 WHERE c.id <> ALL ($1::uuid[]);

-- meetings.read (reads; pool: short)
SELECT json_build_object('appointment_id', a.id, 'customer_case_id', a.case_id, 'provider', CASE WHEN g.state <> 'none' THEN g.provider END, 'state', coalesce(g.state, 'none'), 'video_id', a.video_id, 'join_url', a.join_url, 'attempts', coalesce(g.attempts, 0), 'last_error', g.last_error)::text
  FROM appointments a LEFT JOIN meetings g ON g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
 WHERE a.company_id = $1::uuid AND a.case_id = $2::uuid AND a.id = $3::uuid AND a.deleted_at IS NULL;

-- meetings.record_result (writes; pool: short)
WITH a AS (
  SELECT * FROM appointments a WHERE a.company_id = $1::uuid AND a.case_id = $2::uuid AND a.id = $3::uuid FOR NO KEY UPDATE
), g AS (
  UPDATE meetings g
     SET state = CASE WHEN g.wanted > $5::int THEN 'pending' ELSE $6::text END,
         external_id = $7::text, join_url = $8::text, doubtful = $9::boolean,
         last_error = $10::text, updated_at = $12::timestamptz, lease_by = NULL,
         lease_until = CASE WHEN g.wanted > $5::int THEN NULL ELSE $11::timestamptz END
    FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.lease_by = $4::uuid
  RETURNING g.*
), p AS (
  UPDATE appointments p
     SET video_id = g.external_id, join_url = g.join_url, version = p.version + 1,
         meeting_pending = CASE g.state WHEN 'failed' THEN p.meeting_pending
                                        ELSE g.state = 'pending' AND g.wished END
    FROM g WHERE p.company_id = g.company_id AND p.case_id = g.case_id AND p.id = g.appointment_id
  RETURNING p.video_id, p.join_url
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.meeting_changed', $12::timestamptz::timestamptz, $13::json::json, json_build_object('appointments', a)
     FROM a, p WHERE (a.video_id, a.join_url) IS DISTINCT FROM (p.video_id, p.join_url)
)
SELECT g.state FROM g;

-- meetings.rejection_reasons (reads; pool: short)
SELECT a.cancelled = 1 AS cancelled, a.end_at <= $4::timestamptz AS over, d.video_provider IS NOT NULL AS connected,
       a.video_meeting AS requested
  FROM appointments a JOIN advisers d ON d.company_id = a.company_id AND d.id = a.adviser_id
 WHERE a.company_id = $1::uuid AND a.case_id = $2::uuid AND a.id = $3::uuid AND a.deleted_at IS NULL;

-- meetings.release (writes; pool: short)
UPDATE messages m SET lease_until = NULL
 WHERE m.company_id = $1::uuid AND m.case_id = $2::uuid
   AND m.appointment_id = $3::uuid AND m.kind = 'confirmation' AND m.state = 'scheduled'
   AND m.lease_by IS NULL AND (m.lease_until IS NULL OR m.lease_until < '9999-01-01 00:00:00+00'::timestamptz);

-- meetings.release_held (writes; pool: short)
WITH batch AS MATERIALIZED (
  SELECT j.* FROM companies c CROSS JOIN LATERAL (
    SELECT j.company_id, j.case_id, j.appointment_id FROM meetings j
     WHERE j.company_id = c.id AND j.state = 'pending' AND j.lease_until >= '9999-01-01 00:00:00+00'::timestamptz LIMIT $2::int FOR NO KEY UPDATE) j
   WHERE c.removal_started_at IS NULL AND ($1::uuid IS NULL OR c.id = $1::uuid) LIMIT $2::int
), released AS (
  UPDATE meetings j SET (provider, account_id, doubtful) = (
    SELECT CASE WHEN n.is_new THEN d.video_provider ELSE j.provider END,
           CASE WHEN n.is_new THEN d.video_account_id ELSE j.account_id END, j.doubtful OR n.is_new
      FROM appointments a JOIN advisers d ON d.company_id = a.company_id AND d.id = a.adviser_id
     CROSS JOIN LATERAL (
       SELECT j.external_id IS NULL AND NOT j.doubtful AND d.video_provider IS NOT NULL AS is_new) n
     WHERE j.company_id = a.company_id AND j.case_id = a.case_id AND j.appointment_id = a.id), lease_until = NULL FROM batch b WHERE j.company_id = b.company_id AND j.case_id = b.case_id AND j.appointment_id = b.appointment_id
  RETURNING 1
)
SELECT count(*)::int AS count FROM released;

-- meetings.release_lease (writes; pool: short)
UPDATE meetings SET lease_by = NULL, lease_until = NULL
 WHERE company_id = $2::uuid AND case_id = $3::uuid AND appointment_id = $4::uuid AND lease_by = $1::uuid;

-- meetings.renew (writes; pool: short)
WITH held AS (
  SELECT w.company_id, w.case_id, w.appointment_id FROM meetings w
    JOIN unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[])
         AS t (lease, company_id, case_id, appointment_id)
      ON w.company_id = t.company_id AND w.case_id = t.case_id AND w.appointment_id = t.appointment_id AND w.lease_by = t.lease
   WHERE state = 'pending' FOR UPDATE OF w SKIP LOCKED
)
UPDATE meetings w SET lease_until = $1::timestamptz FROM held h WHERE w.company_id = h.company_id AND w.case_id = h.case_id AND w.appointment_id = h.appointment_id;

-- meetings.request (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::timestamptz AS now, $5::json AS origin, 1 AS nth), a AS (
      UPDATE appointments a SET video_meeting = true, meeting_pending = true, updated_at = input.now, version = a.version + 1
        FROM input, appointments seen
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND a.version = seen.version AND a.deleted_at IS NULL AND a.cancelled = 0 AND a.end_at > input.now AND EXISTS (
         SELECT 1 FROM advisers d
          WHERE d.company_id = a.company_id AND d.id = a.adviser_id AND d.video_provider IS NOT NULL)
      RETURNING a.*, input.nth, input.now, input.origin, json_build_object('appointments', seen) AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.meeting_wished', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), g AS (
    INSERT INTO meetings AS g
      (company_id, case_id, appointment_id, start_at, end_at, wished, state, due_at, created_at, updated_at)
    SELECT a.company_id, a.case_id, a.id, a.start_at, a.end_at, true, 'pending', a.now, a.now, a.now FROM a
    ON CONFLICT (company_id, case_id, appointment_id)
    DO UPDATE SET wished = true, wanted = g.wanted + 1, state = 'pending', due_at = excluded.updated_at,
attempts = 0, last_error = NULL, updated_at = excluded.updated_at,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
    RETURNING *
  )
  SELECT json_build_object('appointment_id', a.id, 'customer_case_id', a.case_id, 'provider', CASE WHEN g.state <> 'none' THEN g.provider END, 'state', coalesce(g.state, 'none'), 'video_id', a.video_id, 'join_url', a.join_url, 'attempts', coalesce(g.attempts, 0), 'last_error', g.last_error)::text FROM a, g;

-- meetings.start (writes; pool: short)
  WITH a AS (
    SELECT * FROM appointments a WHERE a.company_id = $1::uuid AND a.case_id = $2::uuid AND a.id = $3::uuid FOR SHARE
  ), d AS (
    SELECT d.* FROM a JOIN advisers d ON d.company_id = a.company_id AND d.id = a.adviser_id FOR SHARE OF d
  ), g AS (
    SELECT g.*, d.video_provider, d.video_account_id, CASE
WHEN g.doubtful AND (g.account_id IS NULL OR EXISTS (
SELECT 1 FROM video_accounts v
 WHERE v.company_id = g.company_id AND v.id = g.account_id AND v.sealed_secret IS NOT NULL)) THEN 'lookup'
WHEN g.external_id IS NOT NULL AND (NOT g.wished OR (g.provider, g.account_id) IS DISTINCT FROM (d.video_provider, d.video_account_id)) AND (g.account_id IS NULL OR EXISTS (
SELECT 1 FROM video_accounts v
 WHERE v.company_id = g.company_id AND v.id = g.account_id AND v.sealed_secret IS NOT NULL)) THEN 'remove'
WHEN NOT g.wished OR d.video_provider IS NULL THEN 'none'
WHEN g.end_at <= $5::timestamptz THEN CASE WHEN g.external_id IS NOT NULL THEN 'keep'
                                  WHEN g.due_at < g.end_at THEN 'expired' ELSE 'none' END
WHEN g.external_id IS NULL OR (g.provider, g.account_id) IS DISTINCT FROM (d.video_provider, d.video_account_id) THEN 'create'
ELSE 'update' END AS step,
           g.wished AND d.video_provider IS NOT NULL AND (g.provider, g.account_id) IS DISTINCT FROM (d.video_provider, d.video_account_id) AS changing_account
      FROM a CROSS JOIN d JOIN meetings g ON g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
     WHERE g.lease_by = $4::uuid FOR UPDATE OF g
  ), j AS (
    SELECT g.*, CASE g.step WHEN 'create' THEN g.video_provider ELSE g.provider END AS step_provider,
           CASE g.step WHEN 'create' THEN g.video_account_id ELSE g.account_id END AS step_account
      FROM g
  ), started AS (
    UPDATE meetings s
       SET provider = j.step_provider, account_id = j.step_account, doubtful = s.doubtful OR j.step = 'create',
           attempts = s.attempts + (j.step IN ('lookup', 'create', 'update', 'remove'))::int,
           updated_at = $5::timestamptz
      FROM j WHERE s.company_id = $1::uuid AND s.case_id = $2::uuid
     AND s.appointment_id = $3::uuid
  )
  SELECT j.step, j.changing_account, j.wanted AS generation, j.attempts + 1 AS attempt, j.reference,
         j.step_provider AS provider, j.external_id, j.join_url, j.doubtful AS uncertain, j.last_error,
         to_char(j.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS start, to_char(j.end_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS end, to_char(CASE WHEN j.step IN ('lookup', 'remove') THEN greatest(j.end_at, j.due_at) + interval '1 day'
                     ELSE j.end_at END AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS deadline,
         o.name AS company, o.time_zone, j.step_account AS video_account_id, v.adviser_id, v.account_id, v.client_id,
         v.host, v.sealed_secret
    FROM j JOIN companies o ON o.id = j.company_id
    LEFT JOIN video_accounts v ON v.company_id = j.company_id AND v.id = j.step_account;

-- meetings.withdraw (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::timestamptz AS now, $5::json AS origin, 1 AS nth), a AS (
      UPDATE appointments a SET video_meeting = false, updated_at = input.now, version = a.version + 1
        FROM input, appointments seen
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND a.version = seen.version AND a.deleted_at IS NULL AND a.video_meeting
      RETURNING a.*, input.nth, input.now, input.origin, json_build_object('appointments', seen) AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.meeting_withdrawn', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), g AS (
    UPDATE meetings g SET wished = false, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
      FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    RETURNING g.*
  )
  SELECT json_build_object('appointment_id', a.id, 'customer_case_id', a.case_id, 'provider', CASE WHEN g.state <> 'none' THEN g.provider END, 'state', coalesce(g.state, 'none'), 'video_id', a.video_id, 'join_url', a.join_url, 'attempts', coalesce(g.attempts, 0), 'last_error', g.last_error)::text FROM a, g;

