-- messages.drop_held (writes; pool: short)
WITH batch AS MATERIALIZED (
  SELECT j.* FROM companies c CROSS JOIN LATERAL (
    SELECT j.company_id, j.case_id, j.appointment_id, j.id FROM messages j
     WHERE j.company_id = c.id AND j.state IN ('scheduled', 'sending') AND j.lease_until >= '9999-01-01 00:00:00+00'::timestamptz LIMIT $2::int FOR NO KEY UPDATE) j
   WHERE c.removal_started_at IS NULL AND ($1::uuid IS NULL OR c.id = $1::uuid) LIMIT $2::int
), held AS MATERIALIZED (
  SELECT b.*, json_build_object('id', m.id, 'appointment_id', m.appointment_id, 'customer_case_id', m.case_id, 'channel', m.channel, 'kind', m.kind, 'resend_of', m.resend_of, 'state', CASE WHEN m.state IN ('sent', 'failed') THEN m.state END, 'due_at', CASE WHEN m.state IN ('sent', 'failed') THEN to_char(m.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END, 'sent_at', to_char(m.sent_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'sent_to', m.sent_to, 'attempts', CASE WHEN m.state IN ('sent', 'failed') THEN m.attempts END, 'last_error', CASE WHEN m.state IN ('sent', 'failed') THEN m.last_error END, 'created_at', to_char(m.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) AS before FROM batch b JOIN messages m ON m.company_id = b.company_id AND m.case_id = b.case_id AND m.appointment_id = b.appointment_id AND m.id = b.id
     FOR NO KEY UPDATE OF m
), m AS (
  UPDATE messages m
     SET state = 'failed', lease_until = NULL, last_error = $3::text, updated_at = $4::timestamptz
    FROM held WHERE m.company_id = held.company_id AND m.case_id = held.case_id AND m.appointment_id = held.appointment_id AND m.id = held.id
  RETURNING m.*, held.before
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT m.company_id, m.case_id, m.id, 'message.failed', $4::timestamptz::timestamptz, $5::json::json, m.before
     FROM m
)
SELECT count(*)::int AS count FROM m;

-- messages.due (reads; pool: search)
SELECT channel AS label, count(*)::int AS value FROM messages
 WHERE state IN ('scheduled', 'sending') AND due_at <= $1::timestamptz GROUP BY channel;

-- messages.email.claim (writes; pool: short)
WITH due AS (
  SELECT c.id AS company_id, coalesce(b.running, 0) AS running
    FROM companies c
    LEFT JOIN unnest($5::uuid[], $6::int[]) AS b (company_id, running)
      ON b.company_id = c.id
   CROSS JOIN LATERAL (SELECT claim_at FROM messages WHERE company_id = c.id AND state IN ('scheduled', 'sending') AND channel = 'email' AND claim_at <= $1::timestamptz ORDER BY claim_at LIMIT 1) oldest
   WHERE coalesce(b.running, 0) < $7::int
   ORDER BY coalesce(b.running, 0), oldest.claim_at LIMIT $4::int
), unlocked AS (
  SELECT t.*, due.running + row_number() OVER (PARTITION BY t.company_id ORDER BY t.claim_at) AS turn
    FROM due CROSS JOIN LATERAL (
      SELECT company_id, case_id, appointment_id, id, claim_at FROM messages
       WHERE company_id = due.company_id AND state IN ('scheduled', 'sending') AND channel = 'email' AND claim_at <= $1::timestamptz
       ORDER BY claim_at LIMIT least($7::int - due.running, $4::int)
         FOR UPDATE SKIP LOCKED) t
), chosen AS (
  SELECT * FROM (SELECT *, row_number() OVER (ORDER BY turn, claim_at) AS place FROM unlocked) u
   WHERE place <= CASE turn WHEN 1 THEN $4::int ELSE $4::int - $8::int END
)
UPDATE messages w SET lease_by = $2::uuid, lease_until = $3::timestamptz
  FROM chosen t WHERE w.company_id = t.company_id AND w.case_id = t.case_id AND w.appointment_id = t.appointment_id AND w.id = t.id
RETURNING w.company_id, w.case_id, w.appointment_id, w.id;

-- messages.email.next_due (reads; pool: short)
SELECT to_char(min(n.claim_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
  FROM companies c CROSS JOIN LATERAL (SELECT claim_at FROM messages WHERE company_id = c.id AND state IN ('scheduled', 'sending') AND channel = 'email' ORDER BY claim_at LIMIT 1) n
 WHERE c.id <> ALL ($1::uuid[]);

-- messages.email.release_lease (writes; pool: short)
UPDATE messages SET lease_by = NULL, lease_until = NULL
 WHERE company_id = $2::uuid AND case_id = $3::uuid AND appointment_id = $4::uuid AND id = $5::uuid AND lease_by = $1::uuid;

-- messages.email.renew (writes; pool: short)
WITH held AS (
  SELECT w.company_id, w.case_id, w.appointment_id, w.id FROM messages w
    JOIN unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::uuid[])
         AS t (lease, company_id, case_id, appointment_id, id)
      ON w.company_id = t.company_id AND w.case_id = t.case_id AND w.appointment_id = t.appointment_id AND w.id = t.id AND w.lease_by = t.lease
   WHERE state IN ('scheduled', 'sending') AND channel = 'email' FOR UPDATE OF w SKIP LOCKED
)
UPDATE messages w SET lease_until = $1::timestamptz FROM held h WHERE w.company_id = h.company_id AND w.case_id = h.case_id AND w.appointment_id = h.appointment_id AND w.id = h.id;

-- messages.find (reads; pool: short)
SELECT m.state, m.kind, to_char(CASE m.kind WHEN 'reminder' THEN a.start_at ELSE a.end_at END AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS deadline, a.cancelled = 1 AS cancelled
  FROM appointments a JOIN messages m ON m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
 WHERE a.company_id = $1::uuid AND a.case_id = $2::uuid AND a.id = $3::uuid AND a.deleted_at IS NULL AND m.id = $4::uuid;

-- messages.held (reads; pool: search)
SELECT 'messages' AS kind, c.name AS company, to_char(j.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS due_at, j.channel || ' ' || j.kind || ', appointment of ' || to_char(j.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || coalesce(', to ' || (
         SELECT coalesce(j.recipient, CASE j.channel WHEN 'email' THEN a.email_recipient ELSE a.sms_recipient END)
           FROM appointments a
          WHERE a.company_id = j.company_id AND a.case_id = j.case_id AND a.id = j.appointment_id), '') AS job,
       (count(*) OVER ())::int AS total
  FROM messages j JOIN companies c ON c.id = j.company_id
 WHERE j.state IN ('scheduled', 'sending') AND j.lease_until >= '9999-01-01 00:00:00+00'::timestamptz AND ($1::uuid IS NULL OR j.company_id = $1::uuid)
     AND NOT EXISTS (SELECT FROM companies i WHERE i.id = j.company_id AND i.removal_started_at IS NOT NULL) ORDER BY j.due_at LIMIT $2::int;

-- messages.hold (writes; pool: short)
WITH batch AS MATERIALIZED (
  SELECT j.* FROM companies c CROSS JOIN LATERAL (
    SELECT j.company_id, j.case_id, j.appointment_id, j.id FROM messages j
     WHERE j.company_id = c.id AND j.state IN ('scheduled', 'sending') AND j.due_at <= $1::timestamptz AND (j.lease_until IS NULL OR j.lease_until < '9999-01-01 00:00:00+00'::timestamptz) LIMIT $2::int FOR NO KEY UPDATE) j
   WHERE true LIMIT $2::int
), held AS (
  UPDATE messages j SET lease_by = NULL, lease_until = '9999-01-01 00:00:00+00'::timestamptz FROM batch b WHERE j.company_id = b.company_id AND j.case_id = b.case_id AND j.appointment_id = b.appointment_id AND j.id = b.id
  RETURNING 1
)
SELECT count(*)::int AS count FROM held;

-- messages.of_appointment (reads; pool: short)
SELECT coalesce((SELECT json_agg(json_build_object('id', m.id, 'appointment_id', m.appointment_id, 'channel', m.channel, 'kind', m.kind, 'state', CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END, 'due_at', to_char(m.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'sent_at', to_char(m.sent_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'sent_to', m.sent_to, 'attempts', m.attempts, 'last_error', m.last_error) ORDER BY m.due_at, m.id)
                   FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id), '[]')::text
  FROM appointments a WHERE a.company_id = $1::uuid AND a.case_id = $2::uuid AND a.id = $3::uuid AND a.deleted_at IS NULL;

-- messages.of_company (reads; pool: search)
SELECT coalesce((SELECT json_agg(json_build_object('id', m.id, 'appointment_id', m.appointment_id, 'channel', m.channel, 'kind', m.kind, 'state', CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END, 'due_at', to_char(m.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'sent_at', to_char(m.sent_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'sent_to', m.sent_to, 'attempts', m.attempts, 'last_error', m.last_error, 'start', to_char(m.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'case', json_build_object('id', m.case_id, 'reference', (SELECT c.reference FROM cases c
  WHERE $5::boolean AND c.company_id = m.company_id AND c.id = m.case_id))) ORDER BY m.due_at DESC, m.id DESC) FROM (
         SELECT * FROM messages
         WHERE company_id = $1::uuid AND ($2::text[] IS NULL OR state = ANY ($2::text[]))
          ORDER BY due_at DESC, id DESC LIMIT $3::int OFFSET $4::int) m), '[]')::text AS json,
       (SELECT count(*)::int FROM messages
         WHERE company_id = $1::uuid AND ($2::text[] IS NULL OR state = ANY ($2::text[]))) AS total;

-- messages.record_failure (writes; pool: short)
  WITH locked AS MATERIALIZED (
    SELECT json_build_object('id', m.id, 'appointment_id', m.appointment_id, 'customer_case_id', m.case_id, 'channel', m.channel, 'kind', m.kind, 'resend_of', m.resend_of, 'state', CASE WHEN m.state IN ('sent', 'failed') THEN m.state END, 'due_at', CASE WHEN m.state IN ('sent', 'failed') THEN to_char(m.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END, 'sent_at', to_char(m.sent_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'sent_to', m.sent_to, 'attempts', CASE WHEN m.state IN ('sent', 'failed') THEN m.attempts END, 'last_error', CASE WHEN m.state IN ('sent', 'failed') THEN m.last_error END, 'created_at', to_char(m.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) AS before FROM messages m
     WHERE m.company_id = $1::uuid AND m.case_id = $2::uuid
     AND m.appointment_id = $3::uuid AND m.id = $4::uuid AND m.lease_by = $5::uuid AND m.state NOT IN ('sent', 'failed', 'cancelled', 'skipped') FOR NO KEY UPDATE
  ), m AS (
    UPDATE messages m
       SET state = CASE WHEN m.withdrawn OR EXISTS (
SELECT 1 FROM messages o
 WHERE o.company_id = m.company_id AND o.case_id = m.case_id AND o.appointment_id = m.appointment_id
   AND o.channel = m.channel AND o.kind = m.kind
   AND (o.state = 'scheduled' AND o.id <> m.id OR o.state IN ('sending', 'sent') AND o.id > m.id)
   AND (o.kind <> 'cancellation' OR o.state = 'scheduled' AND o.recipient = m.recipient)
   AND (o.kind <> 'reminder' OR o.resend_of IS NOT NULL AND m.resend_of IS NOT NULL)) THEN 'cancelled'
                        WHEN $7::timestamptz IS NULL THEN 'failed' ELSE 'scheduled' END,
           lease_by = NULL, lease_until = $7::timestamptz, last_error = $6::text,
           doubts = m.doubts + $8::int, updated_at = $9::timestamptz
      FROM locked WHERE m.company_id = $1::uuid AND m.case_id = $2::uuid
     AND m.appointment_id = $3::uuid AND m.id = $4::uuid
    RETURNING m.*
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
     SELECT m.company_id, m.case_id, m.id, 'message.failed', $9::timestamptz::timestamptz, $10::json::json, locked.before
       FROM m, locked WHERE m.state = 'failed'
  )
  SELECT state FROM m;

-- messages.record_sent (writes; pool: short)
WITH delivered AS (
  SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS appointment_id,
         $4::uuid AS id, $5::text AS sent_to, $6::text AS provider_id, $7::uuid AS cancellation_id
), a AS (
  SELECT * FROM appointments
   WHERE (company_id, case_id, id) IN (SELECT company_id, case_id, appointment_id FROM delivered)
     FOR SHARE
), sent AS (
  SELECT delivered.*, json_build_object('id', m.id, 'appointment_id', m.appointment_id, 'customer_case_id', m.case_id, 'channel', m.channel, 'kind', m.kind, 'resend_of', m.resend_of, 'state', CASE WHEN m.state IN ('sent', 'failed') THEN m.state END, 'due_at', CASE WHEN m.state IN ('sent', 'failed') THEN to_char(m.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END, 'sent_at', to_char(m.sent_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'sent_to', m.sent_to, 'attempts', CASE WHEN m.state IN ('sent', 'failed') THEN m.attempts END, 'last_error', CASE WHEN m.state IN ('sent', 'failed') THEN m.last_error END, 'created_at', to_char(m.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) AS before
    FROM delivered JOIN a ON delivered.company_id = a.company_id AND delivered.case_id = a.case_id AND delivered.appointment_id = a.id JOIN messages m ON m.company_id = delivered.company_id AND m.case_id = delivered.case_id AND m.appointment_id = delivered.appointment_id AND m.id = delivered.id
   WHERE m.state <> 'sent' FOR NO KEY UPDATE OF m
), m AS (
  UPDATE messages m SET state = 'sent', sent_at = $8::timestamptz, sent_to = sent.sent_to, provider_id = sent.provider_id,
                        updated_at = $8::timestamptz, lease_by = NULL, lease_until = NULL
    FROM sent WHERE m.company_id = sent.company_id AND m.case_id = sent.case_id AND m.appointment_id = sent.appointment_id AND m.id = sent.id RETURNING m.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT m.company_id, m.case_id, m.id, 'message.sent', $8::timestamptz::timestamptz, $9::json::json, sent.before
     FROM m JOIN sent ON m.company_id = sent.company_id AND m.case_id = sent.case_id AND m.appointment_id = sent.appointment_id AND m.id = sent.id
), cancellations AS (
  INSERT INTO messages (company_id, case_id, appointment_id, id, channel, kind, start_at, state, due_at, created_at,
                        updated_at, recipient)
  SELECT a.company_id, a.case_id, a.id, sent.cancellation_id, m.channel, 'cancellation', a.start_at, 'scheduled',
         $8::timestamptz, $8::timestamptz, $8::timestamptz, m.recipient
    FROM m JOIN sent ON m.company_id = sent.company_id AND m.case_id = sent.case_id AND m.appointment_id = sent.appointment_id AND m.id = sent.id JOIN a ON m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
   WHERE m.kind <> 'cancellation' AND (a.deleted_at IS NOT NULL OR a.cancelled = 1) AND a.end_at > $8::timestamptz
  ON CONFLICT (company_id, case_id, appointment_id, channel, recipient)
    WHERE kind = 'cancellation' AND state = 'scheduled'
  DO NOTHING
)
SELECT m.id FROM m;

-- messages.record_sent_many (writes; pool: short)
WITH delivered AS (
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[],
                       $5::text[], $6::text[], $7::uuid[])
       AS t (company_id, case_id, appointment_id, id, sent_to, provider_id, cancellation_id)
), a AS (
  SELECT * FROM appointments
   WHERE (company_id, case_id, id) IN (SELECT company_id, case_id, appointment_id FROM delivered)
     FOR SHARE SKIP LOCKED
), sent AS (
  SELECT delivered.*, json_build_object('id', m.id, 'appointment_id', m.appointment_id, 'customer_case_id', m.case_id, 'channel', m.channel, 'kind', m.kind, 'resend_of', m.resend_of, 'state', CASE WHEN m.state IN ('sent', 'failed') THEN m.state END, 'due_at', CASE WHEN m.state IN ('sent', 'failed') THEN to_char(m.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END, 'sent_at', to_char(m.sent_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'sent_to', m.sent_to, 'attempts', CASE WHEN m.state IN ('sent', 'failed') THEN m.attempts END, 'last_error', CASE WHEN m.state IN ('sent', 'failed') THEN m.last_error END, 'created_at', to_char(m.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) AS before
    FROM delivered JOIN a ON delivered.company_id = a.company_id AND delivered.case_id = a.case_id AND delivered.appointment_id = a.id JOIN messages m ON m.company_id = delivered.company_id AND m.case_id = delivered.case_id AND m.appointment_id = delivered.appointment_id AND m.id = delivered.id
   WHERE m.state <> 'sent' FOR NO KEY UPDATE OF m SKIP LOCKED
), m AS (
  UPDATE messages m SET state = 'sent', sent_at = $8::timestamptz, sent_to = sent.sent_to, provider_id = sent.provider_id,
                        updated_at = $8::timestamptz, lease_by = NULL, lease_until = NULL
    FROM sent WHERE m.company_id = sent.company_id AND m.case_id = sent.case_id AND m.appointment_id = sent.appointment_id AND m.id = sent.id RETURNING m.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT m.company_id, m.case_id, m.id, 'message.sent', $8::timestamptz::timestamptz, $9::json::json, sent.before
     FROM m JOIN sent ON m.company_id = sent.company_id AND m.case_id = sent.case_id AND m.appointment_id = sent.appointment_id AND m.id = sent.id
), cancellations AS (
  INSERT INTO messages (company_id, case_id, appointment_id, id, channel, kind, start_at, state, due_at, created_at,
                        updated_at, recipient)
  SELECT a.company_id, a.case_id, a.id, sent.cancellation_id, m.channel, 'cancellation', a.start_at, 'scheduled',
         $8::timestamptz, $8::timestamptz, $8::timestamptz, m.recipient
    FROM m JOIN sent ON m.company_id = sent.company_id AND m.case_id = sent.case_id AND m.appointment_id = sent.appointment_id AND m.id = sent.id JOIN a ON m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
   WHERE m.kind <> 'cancellation' AND (a.deleted_at IS NOT NULL OR a.cancelled = 1) AND a.end_at > $8::timestamptz
  ON CONFLICT (company_id, case_id, appointment_id, channel, recipient)
    WHERE kind = 'cancellation' AND state = 'scheduled'
  DO NOTHING
)
SELECT m.id FROM m;

-- messages.release_held (writes; pool: short)
WITH batch AS MATERIALIZED (
  SELECT j.* FROM companies c CROSS JOIN LATERAL (
    SELECT j.company_id, j.case_id, j.appointment_id, j.id FROM messages j
     WHERE j.company_id = c.id AND j.state IN ('scheduled', 'sending') AND j.lease_until >= '9999-01-01 00:00:00+00'::timestamptz LIMIT $2::int FOR NO KEY UPDATE) j
   WHERE c.removal_started_at IS NULL AND ($1::uuid IS NULL OR c.id = $1::uuid) LIMIT $2::int
), released AS (
  UPDATE messages j SET lease_until = NULL FROM batch b WHERE j.company_id = b.company_id AND j.case_id = b.case_id AND j.appointment_id = b.appointment_id AND j.id = b.id
  RETURNING 1
)
SELECT count(*)::int AS count FROM released;

-- messages.resend (writes; pool: short)
WITH m AS (
  INSERT INTO messages (company_id, case_id, appointment_id, id, channel, kind, start_at, state, due_at, day_before,
                        created_at, updated_at, resend_of)
  SELECT a.company_id, a.case_id, a.id, $5::uuid, m.channel, m.kind, a.start_at, 'scheduled',
         $6::timestamptz, m.day_before, $6::timestamptz, $6::timestamptz, m.id
    FROM appointments a JOIN messages m ON m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
   WHERE a.company_id = $1::uuid AND a.case_id = $2::uuid AND a.id = $3::uuid AND a.deleted_at IS NULL AND a.cancelled = 0
     AND m.id = $4::uuid AND m.state IN ('sent', 'failed') AND m.kind <> 'cancellation'
  ON CONFLICT DO NOTHING
  RETURNING *
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT m.company_id, m.case_id, m.id, 'message.resent', $6::timestamptz::timestamptz, $7::json::json
     FROM m
)
SELECT json_build_object('id', m.id, 'appointment_id', m.appointment_id, 'channel', m.channel, 'kind', m.kind, 'state', CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END, 'due_at', to_char(m.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'sent_at', to_char(m.sent_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'sent_to', m.sent_to, 'attempts', m.attempts, 'last_error', m.last_error)::text FROM m;

-- messages.sms.claim (writes; pool: short)
WITH due AS (
  SELECT c.id AS company_id, coalesce(b.running, 0) AS running
    FROM companies c
    LEFT JOIN unnest($5::uuid[], $6::int[]) AS b (company_id, running)
      ON b.company_id = c.id
   CROSS JOIN LATERAL (SELECT claim_at FROM messages WHERE company_id = c.id AND state IN ('scheduled', 'sending') AND channel = 'sms' AND claim_at <= $1::timestamptz ORDER BY claim_at LIMIT 1) oldest
   WHERE coalesce(b.running, 0) < $7::int
   ORDER BY coalesce(b.running, 0), oldest.claim_at LIMIT $4::int
), unlocked AS (
  SELECT t.*, due.running + row_number() OVER (PARTITION BY t.company_id ORDER BY t.claim_at) AS turn
    FROM due CROSS JOIN LATERAL (
      SELECT company_id, case_id, appointment_id, id, claim_at FROM messages
       WHERE company_id = due.company_id AND state IN ('scheduled', 'sending') AND channel = 'sms' AND claim_at <= $1::timestamptz
       ORDER BY claim_at LIMIT least($7::int - due.running, $4::int)
         FOR UPDATE SKIP LOCKED) t
), chosen AS (
  SELECT * FROM (SELECT *, row_number() OVER (ORDER BY turn, claim_at) AS place FROM unlocked) u
   WHERE place <= CASE turn WHEN 1 THEN $4::int ELSE $4::int - $8::int END
)
UPDATE messages w SET lease_by = $2::uuid, lease_until = $3::timestamptz
  FROM chosen t WHERE w.company_id = t.company_id AND w.case_id = t.case_id AND w.appointment_id = t.appointment_id AND w.id = t.id
RETURNING w.company_id, w.case_id, w.appointment_id, w.id;

-- messages.sms.next_due (reads; pool: short)
SELECT to_char(min(n.claim_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
  FROM companies c CROSS JOIN LATERAL (SELECT claim_at FROM messages WHERE company_id = c.id AND state IN ('scheduled', 'sending') AND channel = 'sms' ORDER BY claim_at LIMIT 1) n
 WHERE c.id <> ALL ($1::uuid[]);

-- messages.sms.release_lease (writes; pool: short)
UPDATE messages SET lease_by = NULL, lease_until = NULL
 WHERE company_id = $2::uuid AND case_id = $3::uuid AND appointment_id = $4::uuid AND id = $5::uuid AND lease_by = $1::uuid;

-- messages.sms.renew (writes; pool: short)
WITH held AS (
  SELECT w.company_id, w.case_id, w.appointment_id, w.id FROM messages w
    JOIN unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::uuid[])
         AS t (lease, company_id, case_id, appointment_id, id)
      ON w.company_id = t.company_id AND w.case_id = t.case_id AND w.appointment_id = t.appointment_id AND w.id = t.id AND w.lease_by = t.lease
   WHERE state IN ('scheduled', 'sending') AND channel = 'sms' FOR UPDATE OF w SKIP LOCKED
)
UPDATE messages w SET lease_until = $1::timestamptz FROM held h WHERE w.company_id = h.company_id AND w.case_id = h.case_id AND w.appointment_id = h.appointment_id AND w.id = h.id;

-- messages.start (writes; pool: short)
  WITH claimed AS (
    SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS appointment_id,
           $4::uuid AS id, $5::uuid AS lease
  ), a AS (
    SELECT * FROM appointments
     WHERE (company_id, case_id, id) IN (SELECT company_id, case_id, appointment_id FROM claimed)
       FOR SHARE
  ), m AS (
    SELECT m.* FROM claimed JOIN a ON claimed.company_id = a.company_id AND claimed.case_id = a.case_id AND claimed.appointment_id = a.id JOIN messages m ON m.company_id = claimed.company_id AND m.case_id = claimed.case_id AND m.appointment_id = claimed.appointment_id AND m.id = claimed.id
     WHERE m.lease_by = claimed.lease AND m.state NOT IN ('sent', 'failed', 'cancelled', 'skipped') FOR NO KEY UPDATE OF m
  ), decided AS (
    SELECT m.company_id, m.case_id, m.appointment_id, m.id, a.version AS sequence, CASE
WHEN m.withdrawn OR m.state = 'sending' AND EXISTS (
SELECT 1 FROM messages o
 WHERE o.company_id = m.company_id AND o.case_id = m.case_id AND o.appointment_id = m.appointment_id
   AND o.channel = m.channel AND o.kind = m.kind
   AND (o.state = 'scheduled' AND o.id <> m.id OR o.state IN ('sending', 'sent') AND o.id > m.id)
   AND (o.kind <> 'cancellation' OR o.state = 'scheduled' AND o.recipient = m.recipient)
   AND (o.kind <> 'reminder' OR o.resend_of IS NOT NULL AND m.resend_of IS NOT NULL)) THEN 'cancelled'
WHEN m.kind = 'cancellation' THEN CASE
  WHEN a.deleted_at IS NULL AND a.cancelled = 0 THEN 'cancelled'
  WHEN EXISTS (SELECT 1 FROM messages c WHERE c.company_id = a.company_id AND c.case_id = a.case_id AND c.appointment_id = a.id AND c.channel = m.channel
                  AND c.kind <> 'cancellation' AND c.state = 'sending') THEN 'behind'
  WHEN told.id IS NULL THEN 'cancelled'
  WHEN CASE m.kind WHEN 'reminder' THEN a.start_at ELSE a.end_at END <= $7::timestamptz THEN CASE WHEN m.attempts > 0 THEN 'failed' ELSE 'skipped' END
  ELSE 'sending' END
WHEN a.deleted_at IS NOT NULL OR a.cancelled = 1 THEN 'cancelled'
WHEN m.kind = 'reminder' AND m.start_at <> a.start_at THEN 'cancelled'
WHEN m.kind = 'reminder' AND m.resend_of IS NULL
     AND NOT CASE m.channel WHEN 'email' THEN a.email_reminder ELSE a.sms_reminder END THEN 'cancelled'
WHEN CASE m.channel WHEN 'email' THEN a.email_recipient ELSE a.sms_recipient END IS NULL THEN 'skipped'
WHEN CASE m.kind WHEN 'reminder' THEN a.start_at ELSE a.end_at END <= $7::timestamptz THEN CASE WHEN m.attempts > 0 THEN 'failed' ELSE 'skipped' END
WHEN m.kind = 'confirmation' AND a.meeting_pending AND m.due_at + interval '15 minutes' > $7::timestamptz THEN 'wait'
WHEN m.kind = 'confirmation' AND EXISTS (
SELECT 1 FROM messages c WHERE c.company_id = a.company_id AND c.case_id = a.case_id AND c.appointment_id = a.id AND c.channel = m.channel AND c.kind = 'confirmation'
   AND c.state = 'sending' AND c.id < m.id) THEN 'behind'
ELSE 'sending' END AS decision,
           r.recipient, CASE m.kind
WHEN 'confirmation' THEN m.channel = 'email'
WHEN 'cancellation' THEN entry.id IS NOT NULL
ELSE entry.id IS NOT NULL AND CASE
  WHEN entry.told_start_at IS NULL THEN entry.start_at <> a.start_at
  ELSE (entry.told_start_at, entry.told_end_at, entry.told_location, entry.told_join_url)
       IS DISTINCT FROM (a.start_at, a.end_at, a.location, a.join_url) END END AS has_entry,
           CASE m.kind WHEN 'cancellation' THEN coalesce(told.told_start_at, told.start_at) ELSE a.start_at END AS told_start_at,
           CASE m.kind WHEN 'cancellation'
                       THEN coalesce(told.told_end_at, told.start_at + (a.end_at - a.start_at))
                       ELSE a.end_at END AS told_end_at,
           CASE WHEN m.kind = 'cancellation' AND told.told_start_at IS NOT NULL THEN told.told_location
                ELSE a.location END AS told_location,
           CASE WHEN m.kind <> 'cancellation' THEN a.join_url END AS told_join_url,
           coalesce(told.told_start_at, told.start_at) AS earlier_start_at, told.told_end_at AS earlier_end_at,
           CASE WHEN told.told_start_at IS NULL THEN a.location ELSE told.told_location END AS earlier_location
      FROM m JOIN a ON m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
     CROSS JOIN LATERAL (SELECT CASE
WHEN m.kind = 'cancellation' THEN m.recipient
WHEN m.channel = 'email' THEN a.email_recipient ELSE a.sms_recipient END AS recipient) r
     LEFT JOIN LATERAL (
       SELECT * FROM messages c
        WHERE c.company_id = a.company_id AND c.case_id = a.case_id AND c.appointment_id = a.id AND c.id <> m.id AND c.channel = m.channel AND c.state IN ('sending', 'sent')
          AND lower(c.recipient) = lower(r.recipient) AND c.sequence > 0 AND true
        ORDER BY c.sequence DESC, c.kind = 'cancellation' DESC, c.id DESC LIMIT 1
     ) told ON told.kind <> 'cancellation'
     LEFT JOIN LATERAL (
       SELECT * FROM messages c
        WHERE c.company_id = a.company_id AND c.case_id = a.case_id AND c.appointment_id = a.id AND c.id <> m.id AND c.channel = m.channel AND c.state IN ('sending', 'sent')
          AND lower(c.recipient) = lower(r.recipient) AND c.sequence > 0 AND c.channel = 'email' AND (c.kind <> 'reminder' OR c.organizer_name IS NOT NULL)
        ORDER BY c.sequence DESC, c.kind = 'cancellation' DESC, c.id DESC LIMIT 1
     ) entry ON entry.kind <> 'cancellation'
  ), d AS (
    SELECT decided.*,
           CASE WHEN decided.has_entry THEN coalesce(first.name, nullif(o.sender_name, ''), o.name)
                END AS organizer_name,
           CASE WHEN decided.has_entry
                THEN coalesce(CASE WHEN first.name IS NULL THEN nullif(o.sender_address, '') ELSE first.address END,
                              $6::text) END AS organizer_address
      FROM decided JOIN a ON decided.company_id = a.company_id AND decided.case_id = a.case_id AND decided.appointment_id = a.id JOIN companies o ON o.id = a.company_id
     LEFT JOIN LATERAL (
       SELECT c.organizer_name AS name, c.organizer_address AS address FROM messages c
        WHERE c.company_id = a.company_id AND c.case_id = a.case_id AND c.appointment_id = a.id AND c.organizer_name IS NOT NULL
          AND (c.state IN ('sending', 'sent') OR c.doubts > 0)
        ORDER BY c.sequence, c.id LIMIT 1
     ) first ON true
  ), started AS (
    UPDATE messages s
       SET state = CASE WHEN d.decision IN ('wait', 'behind') THEN 'scheduled' ELSE d.decision END,
           attempts = s.attempts + (d.decision = 'sending')::int,
           doubts = s.doubts + (s.state = 'sending')::int,
           sequence = CASE d.decision WHEN 'sending' THEN d.sequence ELSE s.sequence END,
           recipient = CASE d.decision WHEN 'sending' THEN d.recipient ELSE s.recipient END,
           told_start_at = CASE d.decision WHEN 'sending' THEN d.told_start_at ELSE s.told_start_at END,
           told_end_at = CASE d.decision WHEN 'sending' THEN d.told_end_at ELSE s.told_end_at END,
           told_location = CASE d.decision WHEN 'sending' THEN d.told_location ELSE s.told_location END,
           told_join_url = CASE d.decision WHEN 'sending' THEN d.told_join_url ELSE s.told_join_url END,
           organizer_name = CASE d.decision WHEN 'sending' THEN d.organizer_name ELSE s.organizer_name END,
           organizer_address = CASE d.decision WHEN 'sending' THEN d.organizer_address ELSE s.organizer_address END,
           lease_by = CASE d.decision WHEN 'sending' THEN s.lease_by END,
           lease_until = CASE d.decision WHEN 'sending' THEN s.lease_until
                                         WHEN 'behind' THEN $8::timestamptz
                                         WHEN 'wait' THEN s.due_at + interval '15 minutes' END,
           last_error = CASE WHEN d.decision = 'failed' AND s.last_error IS NULL
                             THEN 'The deadline passed while the message was being sent.' ELSE s.last_error END,
           updated_at = $7::timestamptz
      FROM d WHERE s.company_id = d.company_id AND s.case_id = d.case_id AND s.appointment_id = d.appointment_id AND s.id = d.id
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
     SELECT m.company_id, m.case_id, m.id, 'message.failed', $7::timestamptz::timestamptz, $9::json::json, json_build_object('id', m.id, 'appointment_id', m.appointment_id, 'customer_case_id', m.case_id, 'channel', m.channel, 'kind', m.kind, 'resend_of', m.resend_of, 'state', CASE WHEN m.state IN ('sent', 'failed') THEN m.state END, 'due_at', CASE WHEN m.state IN ('sent', 'failed') THEN to_char(m.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END, 'sent_at', to_char(m.sent_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'sent_to', m.sent_to, 'attempts', CASE WHEN m.state IN ('sent', 'failed') THEN m.attempts END, 'last_error', CASE WHEN m.state IN ('sent', 'failed') THEN m.last_error END, 'created_at', to_char(m.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
       FROM decided d JOIN m ON m.company_id = d.company_id AND m.case_id = d.case_id AND m.appointment_id = d.appointment_id AND m.id = d.id WHERE d.decision = 'failed'
  )
  SELECT m.id, d.decision, m.channel, m.kind, m.attempts + 1 AS attempt, m.doubts AS uncertain_attempts,
         to_char(m.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS due, to_char(CASE m.kind WHEN 'reminder' THEN a.start_at ELSE a.end_at END AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS deadline, to_char(d.told_start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS start,
         to_char(d.told_end_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS end, d.told_location AS location, d.told_join_url AS join_url,
         to_char(d.earlier_start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS earlier_start, to_char(d.earlier_end_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS earlier_end,
         d.earlier_location, d.sequence AS version, d.recipient, d.organizer_name, d.organizer_address,
         o.name AS company, o.time_zone, o.phone_region, nullif(o.sender_name, '') AS sender_name,
         nullif(o.sender_address, '') AS sender_address, o.client_contact_email, o.client_contact_phone,
         o.contact_line, o.message_signature, v.name AS adviser, (
SELECT json_build_object('title', u.title, 'first_names', u.first_names, 'last_name', u.last_name)
  FROM customers u
 WHERE u.company_id = a.company_id AND u.case_id = a.case_id AND CASE m.channel
   WHEN 'email' THEN lower(d.recipient) = lower(u.email) OR lower(d.recipient) = ANY (u.former_emails)
   ELSE regexp_replace(d.recipient, '\D', '', 'g') IN (regexp_replace(u.phone, '\D', '', 'g'), regexp_replace(u.phone_e164, '\D', '', 'g')) END
 ORDER BY lower(d.recipient) IS DISTINCT FROM lower(u.email), u.removed_at IS NOT NULL, u.id LIMIT 1) AS customer,
         (
SELECT json_object_agg(t.message, json_build_object('subject', t.subject, 'email_text', t.email_text, 'sms_text', t.sms_text))
  FROM message_templates t
 WHERE t.company_id = m.company_id
   AND (t.message = m.kind OR m.kind = 'confirmation' AND t.message = 'change')) AS own_texts
    FROM d JOIN m ON m.company_id = d.company_id AND m.case_id = d.case_id AND m.appointment_id = d.appointment_id AND m.id = d.id JOIN a ON m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
    JOIN companies o ON o.id = a.company_id
    JOIN advisers v ON v.company_id = a.company_id AND v.id = a.adviser_id;

-- messages.start_many (writes; pool: short)
  WITH claimed AS (
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[],
                         $5::uuid[])
         AS t (company_id, case_id, appointment_id, id, lease)
  ), a AS (
    SELECT * FROM appointments
     WHERE (company_id, case_id, id) IN (SELECT company_id, case_id, appointment_id FROM claimed)
       FOR SHARE SKIP LOCKED
  ), m AS (
    SELECT m.* FROM claimed JOIN a ON claimed.company_id = a.company_id AND claimed.case_id = a.case_id AND claimed.appointment_id = a.id JOIN messages m ON m.company_id = claimed.company_id AND m.case_id = claimed.case_id AND m.appointment_id = claimed.appointment_id AND m.id = claimed.id
     WHERE m.lease_by = claimed.lease AND m.state NOT IN ('sent', 'failed', 'cancelled', 'skipped') FOR NO KEY UPDATE OF m SKIP LOCKED
  ), decided AS (
    SELECT m.company_id, m.case_id, m.appointment_id, m.id, a.version AS sequence, CASE
WHEN m.withdrawn OR m.state = 'sending' AND EXISTS (
SELECT 1 FROM messages o
 WHERE o.company_id = m.company_id AND o.case_id = m.case_id AND o.appointment_id = m.appointment_id
   AND o.channel = m.channel AND o.kind = m.kind
   AND (o.state = 'scheduled' AND o.id <> m.id OR o.state IN ('sending', 'sent') AND o.id > m.id)
   AND (o.kind <> 'cancellation' OR o.state = 'scheduled' AND o.recipient = m.recipient)
   AND (o.kind <> 'reminder' OR o.resend_of IS NOT NULL AND m.resend_of IS NOT NULL)) THEN 'cancelled'
WHEN m.kind = 'cancellation' THEN CASE
  WHEN a.deleted_at IS NULL AND a.cancelled = 0 THEN 'cancelled'
  WHEN EXISTS (SELECT 1 FROM messages c WHERE c.company_id = a.company_id AND c.case_id = a.case_id AND c.appointment_id = a.id AND c.channel = m.channel
                  AND c.kind <> 'cancellation' AND c.state = 'sending') THEN 'behind'
  WHEN told.id IS NULL THEN 'cancelled'
  WHEN CASE m.kind WHEN 'reminder' THEN a.start_at ELSE a.end_at END <= $7::timestamptz THEN CASE WHEN m.attempts > 0 THEN 'failed' ELSE 'skipped' END
  ELSE 'sending' END
WHEN a.deleted_at IS NOT NULL OR a.cancelled = 1 THEN 'cancelled'
WHEN m.kind = 'reminder' AND m.start_at <> a.start_at THEN 'cancelled'
WHEN m.kind = 'reminder' AND m.resend_of IS NULL
     AND NOT CASE m.channel WHEN 'email' THEN a.email_reminder ELSE a.sms_reminder END THEN 'cancelled'
WHEN CASE m.channel WHEN 'email' THEN a.email_recipient ELSE a.sms_recipient END IS NULL THEN 'skipped'
WHEN CASE m.kind WHEN 'reminder' THEN a.start_at ELSE a.end_at END <= $7::timestamptz THEN CASE WHEN m.attempts > 0 THEN 'failed' ELSE 'skipped' END
WHEN m.kind = 'confirmation' AND a.meeting_pending AND m.due_at + interval '15 minutes' > $7::timestamptz THEN 'wait'
WHEN m.kind = 'confirmation' AND EXISTS (
SELECT 1 FROM messages c WHERE c.company_id = a.company_id AND c.case_id = a.case_id AND c.appointment_id = a.id AND c.channel = m.channel AND c.kind = 'confirmation'
   AND c.state = 'sending' AND c.id < m.id) THEN 'behind'
ELSE 'sending' END AS decision,
           r.recipient, CASE m.kind
WHEN 'confirmation' THEN m.channel = 'email'
WHEN 'cancellation' THEN entry.id IS NOT NULL
ELSE entry.id IS NOT NULL AND CASE
  WHEN entry.told_start_at IS NULL THEN entry.start_at <> a.start_at
  ELSE (entry.told_start_at, entry.told_end_at, entry.told_location, entry.told_join_url)
       IS DISTINCT FROM (a.start_at, a.end_at, a.location, a.join_url) END END AS has_entry,
           CASE m.kind WHEN 'cancellation' THEN coalesce(told.told_start_at, told.start_at) ELSE a.start_at END AS told_start_at,
           CASE m.kind WHEN 'cancellation'
                       THEN coalesce(told.told_end_at, told.start_at + (a.end_at - a.start_at))
                       ELSE a.end_at END AS told_end_at,
           CASE WHEN m.kind = 'cancellation' AND told.told_start_at IS NOT NULL THEN told.told_location
                ELSE a.location END AS told_location,
           CASE WHEN m.kind <> 'cancellation' THEN a.join_url END AS told_join_url,
           coalesce(told.told_start_at, told.start_at) AS earlier_start_at, told.told_end_at AS earlier_end_at,
           CASE WHEN told.told_start_at IS NULL THEN a.location ELSE told.told_location END AS earlier_location
      FROM m JOIN a ON m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
     CROSS JOIN LATERAL (SELECT CASE
WHEN m.kind = 'cancellation' THEN m.recipient
WHEN m.channel = 'email' THEN a.email_recipient ELSE a.sms_recipient END AS recipient) r
     LEFT JOIN LATERAL (
       SELECT * FROM messages c
        WHERE c.company_id = a.company_id AND c.case_id = a.case_id AND c.appointment_id = a.id AND c.id <> m.id AND c.channel = m.channel AND c.state IN ('sending', 'sent')
          AND lower(c.recipient) = lower(r.recipient) AND c.sequence > 0 AND true
        ORDER BY c.sequence DESC, c.kind = 'cancellation' DESC, c.id DESC LIMIT 1
     ) told ON told.kind <> 'cancellation'
     LEFT JOIN LATERAL (
       SELECT * FROM messages c
        WHERE c.company_id = a.company_id AND c.case_id = a.case_id AND c.appointment_id = a.id AND c.id <> m.id AND c.channel = m.channel AND c.state IN ('sending', 'sent')
          AND lower(c.recipient) = lower(r.recipient) AND c.sequence > 0 AND c.channel = 'email' AND (c.kind <> 'reminder' OR c.organizer_name IS NOT NULL)
        ORDER BY c.sequence DESC, c.kind = 'cancellation' DESC, c.id DESC LIMIT 1
     ) entry ON entry.kind <> 'cancellation'
  ), d AS (
    SELECT decided.*,
           CASE WHEN decided.has_entry THEN coalesce(first.name, nullif(o.sender_name, ''), o.name)
                END AS organizer_name,
           CASE WHEN decided.has_entry
                THEN coalesce(CASE WHEN first.name IS NULL THEN nullif(o.sender_address, '') ELSE first.address END,
                              $6::text) END AS organizer_address
      FROM decided JOIN a ON decided.company_id = a.company_id AND decided.case_id = a.case_id AND decided.appointment_id = a.id JOIN companies o ON o.id = a.company_id
     LEFT JOIN LATERAL (
       SELECT c.organizer_name AS name, c.organizer_address AS address FROM messages c
        WHERE c.company_id = a.company_id AND c.case_id = a.case_id AND c.appointment_id = a.id AND c.organizer_name IS NOT NULL
          AND (c.state IN ('sending', 'sent') OR c.doubts > 0)
        ORDER BY c.sequence, c.id LIMIT 1
     ) first ON true
  ), started AS (
    UPDATE messages s
       SET state = CASE WHEN d.decision IN ('wait', 'behind') THEN 'scheduled' ELSE d.decision END,
           attempts = s.attempts + (d.decision = 'sending')::int,
           doubts = s.doubts + (s.state = 'sending')::int,
           sequence = CASE d.decision WHEN 'sending' THEN d.sequence ELSE s.sequence END,
           recipient = CASE d.decision WHEN 'sending' THEN d.recipient ELSE s.recipient END,
           told_start_at = CASE d.decision WHEN 'sending' THEN d.told_start_at ELSE s.told_start_at END,
           told_end_at = CASE d.decision WHEN 'sending' THEN d.told_end_at ELSE s.told_end_at END,
           told_location = CASE d.decision WHEN 'sending' THEN d.told_location ELSE s.told_location END,
           told_join_url = CASE d.decision WHEN 'sending' THEN d.told_join_url ELSE s.told_join_url END,
           organizer_name = CASE d.decision WHEN 'sending' THEN d.organizer_name ELSE s.organizer_name END,
           organizer_address = CASE d.decision WHEN 'sending' THEN d.organizer_address ELSE s.organizer_address END,
           lease_by = CASE d.decision WHEN 'sending' THEN s.lease_by END,
           lease_until = CASE d.decision WHEN 'sending' THEN s.lease_until
                                         WHEN 'behind' THEN $8::timestamptz
                                         WHEN 'wait' THEN s.due_at + interval '15 minutes' END,
           last_error = CASE WHEN d.decision = 'failed' AND s.last_error IS NULL
                             THEN 'The deadline passed while the message was being sent.' ELSE s.last_error END,
           updated_at = $7::timestamptz
      FROM d WHERE s.company_id = d.company_id AND s.case_id = d.case_id AND s.appointment_id = d.appointment_id AND s.id = d.id
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
     SELECT m.company_id, m.case_id, m.id, 'message.failed', $7::timestamptz::timestamptz, $9::json::json, json_build_object('id', m.id, 'appointment_id', m.appointment_id, 'customer_case_id', m.case_id, 'channel', m.channel, 'kind', m.kind, 'resend_of', m.resend_of, 'state', CASE WHEN m.state IN ('sent', 'failed') THEN m.state END, 'due_at', CASE WHEN m.state IN ('sent', 'failed') THEN to_char(m.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END, 'sent_at', to_char(m.sent_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'sent_to', m.sent_to, 'attempts', CASE WHEN m.state IN ('sent', 'failed') THEN m.attempts END, 'last_error', CASE WHEN m.state IN ('sent', 'failed') THEN m.last_error END, 'created_at', to_char(m.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
       FROM decided d JOIN m ON m.company_id = d.company_id AND m.case_id = d.case_id AND m.appointment_id = d.appointment_id AND m.id = d.id WHERE d.decision = 'failed'
  )
  SELECT m.id, d.decision, m.channel, m.kind, m.attempts + 1 AS attempt, m.doubts AS uncertain_attempts,
         to_char(m.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS due, to_char(CASE m.kind WHEN 'reminder' THEN a.start_at ELSE a.end_at END AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS deadline, to_char(d.told_start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS start,
         to_char(d.told_end_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS end, d.told_location AS location, d.told_join_url AS join_url,
         to_char(d.earlier_start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS earlier_start, to_char(d.earlier_end_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS earlier_end,
         d.earlier_location, d.sequence AS version, d.recipient, d.organizer_name, d.organizer_address,
         o.name AS company, o.time_zone, o.phone_region, nullif(o.sender_name, '') AS sender_name,
         nullif(o.sender_address, '') AS sender_address, o.client_contact_email, o.client_contact_phone,
         o.contact_line, o.message_signature, v.name AS adviser, (
SELECT json_build_object('title', u.title, 'first_names', u.first_names, 'last_name', u.last_name)
  FROM customers u
 WHERE u.company_id = a.company_id AND u.case_id = a.case_id AND CASE m.channel
   WHEN 'email' THEN lower(d.recipient) = lower(u.email) OR lower(d.recipient) = ANY (u.former_emails)
   ELSE regexp_replace(d.recipient, '\D', '', 'g') IN (regexp_replace(u.phone, '\D', '', 'g'), regexp_replace(u.phone_e164, '\D', '', 'g')) END
 ORDER BY lower(d.recipient) IS DISTINCT FROM lower(u.email), u.removed_at IS NOT NULL, u.id LIMIT 1) AS customer,
         (
SELECT json_object_agg(t.message, json_build_object('subject', t.subject, 'email_text', t.email_text, 'sms_text', t.sms_text))
  FROM message_templates t
 WHERE t.company_id = m.company_id
   AND (t.message = m.kind OR m.kind = 'confirmation' AND t.message = 'change')) AS own_texts
    FROM d JOIN m ON m.company_id = d.company_id AND m.case_id = d.case_id AND m.appointment_id = d.appointment_id AND m.id = d.id JOIN a ON m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
    JOIN companies o ON o.id = a.company_id
    JOIN advisers v ON v.company_id = a.company_id AND v.id = a.adviser_id;

