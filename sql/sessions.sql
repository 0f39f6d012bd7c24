-- sessions.end (writes; pool: short)
UPDATE sessions s SET ended_at = $3::timestamptz
 WHERE s.company_id = $1::uuid AND s.user_id = $2::uuid AND s.ended_at IS NULL AND ($4::uuid IS NULL OR s.id = $4::uuid)
   AND s.id IS DISTINCT FROM $5::uuid
RETURNING s.id;

-- sessions.end_of_user (writes; pool: short)
WITH u AS (
  SELECT u.* FROM users u WHERE u.company_id = $1::uuid AND u.id = $2::uuid FOR NO KEY UPDATE
), ended AS (
  UPDATE sessions s SET ended_at = $3::timestamptz FROM u
   WHERE s.company_id = u.company_id AND s.user_id = u.id AND s.ended_at IS NULL
  RETURNING s.id
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT u.company_id, '00000000-0000-0000-0000-000000000000'::uuid, u.id, 'user.sessions_ended', $3::timestamptz::timestamptz, $4::json::json, (SELECT json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END) FROM u u)
     FROM u
)
SELECT json_build_object('ended', (SELECT count(*)::int FROM ended))::text FROM u;

-- sessions.end_restored (writes; pool: short)
UPDATE sessions SET ended_at = $1::timestamptz WHERE ended_at IS NULL;

-- sessions.find (reads; pool: short)
  SELECT s.id AS session_id, s.purpose, floor(extract(epoch FROM s.created_at) * 1000)::float8 AS started_ms,
         u.id AS user_id, u.name, u.role, c.id, c.time_zone, c.phone_region, c.terms, c.payment_terms, c.reminder_lead_days,
c.event_key, EXISTS (
SELECT 1 FROM webhook_endpoints w WHERE w.company_id = c.id AND w.state = 'active' AND w.removed_at IS NULL) AS webhooks
    FROM sessions s
    JOIN users u ON u.company_id = s.company_id AND u.id = s.user_id
    JOIN companies c ON c.id = s.company_id
   WHERE s.secret_sha256 = $1::bytea AND s.ended_at IS NULL
     AND CASE s.purpose WHEN 'full' THEN u.state = 'active' ELSE u.state <> 'disabled' END
     AND s.last_seen_at > $2::timestamptz - c.session_idle_minutes * interval '1 minute' - interval '2 minutes'
     AND s.created_at > $2::timestamptz - c.session_hours * interval '1 hour'
     AND (s.purpose = 'full' OR s.created_at > $2::timestamptz - interval '1 hour');

-- sessions.find_browser (reads; pool: short)
SELECT 1 FROM sessions s
 WHERE s.browser_sha256 = $1::bytea AND s.company_id = $2::uuid AND s.user_id = $3::uuid
   AND s.created_at > $4::timestamptz - interval '30 days' LIMIT 1;

-- sessions.insert (writes; pool: short)
WITH u AS (
  SELECT u.* FROM users u JOIN companies c ON c.id = u.company_id
   WHERE u.company_id = $1::uuid AND u.id = $2::uuid AND c.removal_started_at IS NULL
     AND CASE $8::text WHEN 'full' THEN u.state = 'active' ELSE u.state <> 'disabled' END FOR SHARE OF u
), kept AS (
  SELECT s.id, row_number() OVER (ORDER BY s.created_at DESC, s.id DESC) AS place,
         count(*) FILTER (WHERE s.ended_at IS NULL
   AND CASE s.purpose WHEN 'full' THEN u.state = 'active' ELSE u.state <> 'disabled' END
   AND s.last_seen_at > $3::timestamptz - c.session_idle_minutes * interval '1 minute' - interval '2 minutes'
   AND s.created_at > $3::timestamptz - c.session_hours * interval '1 hour'
   AND (s.purpose = 'full' OR s.created_at > $3::timestamptz - interval '1 hour') AND s.secret_sha256 IS DISTINCT FROM $7::bytea)
           OVER (ORDER BY s.created_at DESC, s.id DESC) AS live_place,
         s.created_at < $3::timestamptz - interval '30 days' AS is_old
    FROM sessions s JOIN u ON u.company_id = s.company_id AND u.id = s.user_id JOIN companies c ON c.id = u.company_id
), deleted AS (
  DELETE FROM sessions s USING kept
   WHERE s.company_id = $1::uuid AND s.id = kept.id
     AND (kept.is_old OR kept.place >= 50)
), ended AS (
  UPDATE sessions s SET ended_at = $3::timestamptz FROM kept
   WHERE s.company_id = $1::uuid AND s.id = kept.id AND s.ended_at IS NULL
     AND kept.live_place >= 10 AND kept.place < 50 AND NOT kept.is_old
     AND s.secret_sha256 IS DISTINCT FROM $7::bytea
), replaced AS (
  UPDATE sessions s SET ended_at = $3::timestamptz
   WHERE s.secret_sha256 = $7::bytea AND s.ended_at IS NULL AND EXISTS (SELECT 1 FROM u)
     AND NOT EXISTS (SELECT 1 FROM kept WHERE kept.id = s.id AND (kept.is_old OR kept.place >= 50))
)
INSERT INTO sessions (company_id, id, user_id, secret_sha256, browser_sha256, purpose, method, address, user_agent,
                      created_at, last_seen_at)
SELECT u.company_id, $4::uuid, u.id, $5::bytea, $6::bytea, $8::text,
       $9::text, $10::text, $11::text, $3::timestamptz, $3::timestamptz
  FROM u
RETURNING 1;

-- sessions.list (reads; pool: short)
  SELECT coalesce(json_agg(json_build_object('id', s.id, 'method', s.method, 'purpose', s.purpose, 'address', s.address, 'user_agent', s.user_agent, 'created_at', to_char(s.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'last_seen_at', to_char(s.last_seen_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'expires_at', to_char(least(
s.last_seen_at + c.session_idle_minutes * interval '1 minute',
s.created_at + CASE s.purpose WHEN 'full' THEN c.session_hours * interval '1 hour' ELSE interval '1 hour' END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'current', s.id = $4::uuid) ORDER BY s.created_at DESC, s.id DESC), '[]')::text
    FROM sessions s
    JOIN users u ON u.company_id = s.company_id AND u.id = s.user_id
    JOIN companies c ON c.id = s.company_id WHERE s.company_id = $1::uuid AND s.user_id = $2::uuid AND s.ended_at IS NULL
     AND CASE s.purpose WHEN 'full' THEN u.state = 'active' ELSE u.state <> 'disabled' END
     AND s.last_seen_at > $3::timestamptz - c.session_idle_minutes * interval '1 minute' - interval '2 minutes'
     AND s.created_at > $3::timestamptz - c.session_hours * interval '1 hour'
     AND (s.purpose = 'full' OR s.created_at > $3::timestamptz - interval '1 hour');

-- sessions.purge (writes; pool: short)
DELETE FROM sessions WHERE created_at < $1::timestamptz - interval '30 days';

-- sessions.record_last_seen (writes; pool: short)
WITH used AS (
  SELECT s.company_id, s.id, u.last_used_at
    FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) AS u (company_id, id, last_used_at)
    JOIN sessions s ON s.company_id = u.company_id AND s.id = u.id
   WHERE s.last_seen_at < u.last_used_at
     FOR NO KEY UPDATE OF s SKIP LOCKED
)
UPDATE sessions s SET last_seen_at = used.last_used_at
  FROM used WHERE s.company_id = used.company_id AND s.id = used.id;

-- sessions.show_current (reads; pool: short)
  SELECT json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state)::text AS user, json_build_object('id', c.id, 'name', c.name, 'time_zone', c.time_zone, 'currency', c.currency)::text AS company, u.role, s.purpose,
         json_build_object('id', s.id, 'method', s.method, 'purpose', s.purpose, 'address', s.address, 'user_agent', s.user_agent, 'created_at', to_char(s.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'last_seen_at', to_char(s.last_seen_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'expires_at', to_char(least(
s.last_seen_at + c.session_idle_minutes * interval '1 minute',
s.created_at + CASE s.purpose WHEN 'full' THEN c.session_hours * interval '1 hour' ELSE interval '1 hour' END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'current', s.id = s.id)::text AS session
    FROM sessions s
    JOIN users u ON u.company_id = s.company_id AND u.id = s.user_id
    JOIN companies c ON c.id = s.company_id WHERE s.company_id = $1::uuid AND s.user_id = $2::uuid AND s.id = $4::uuid AND s.ended_at IS NULL
     AND CASE s.purpose WHEN 'full' THEN u.state = 'active' ELSE u.state <> 'disabled' END
     AND s.last_seen_at > $3::timestamptz - c.session_idle_minutes * interval '1 minute' - interval '2 minutes'
     AND s.created_at > $3::timestamptz - c.session_hours * interval '1 hour'
     AND (s.purpose = 'full' OR s.created_at > $3::timestamptz - interval '1 hour');

