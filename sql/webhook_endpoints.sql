-- webhook_endpoints.behind (reads; pool: search)
SELECT w.company_id, w.id FROM webhook_endpoints w
 WHERE w.state = 'active' AND w.removed_at IS NULL
   AND EXISTS (SELECT 1 FROM events e WHERE e.company_id = w.company_id AND e.position > w.position);

-- webhook_endpoints.claim (writes; pool: short)
WITH due AS (
  SELECT e.company_id, e.id
    FROM webhook_endpoints e
    LEFT JOIN unnest($5::uuid[], $6::int[]) AS b (company_id, running)
      ON b.company_id = e.company_id
   WHERE (
     e.backlog IS NOT NULL OR e.state = 'active' AND e.removed_at IS NULL
     AND EXISTS (SELECT 1 FROM events v WHERE v.company_id = e.company_id AND v.position > e.position)) AND (e.lease_until IS NULL OR e.lease_until <= $1::timestamptz)
     AND coalesce(b.running, 0) < $7::int
   ORDER BY coalesce(b.running, 0), e.position LIMIT $4::int FOR NO KEY UPDATE OF e SKIP LOCKED
)
UPDATE webhook_endpoints w SET lease_by = $2::uuid, lease_until = $3::timestamptz FROM due
 WHERE w.company_id = due.company_id AND w.id = due.id
RETURNING w.company_id, w.id;

-- webhook_endpoints.count_failing (reads; pool: short)
SELECT count(*)::int AS count FROM webhook_endpoints WHERE state = 'failing' AND removed_at IS NULL;

-- webhook_endpoints.disabled (writes; pool: short)
  WITH seen AS MATERIALIZED (
  SELECT w.version, w.state, json_build_object('id', w.id, 'url', w.url, 'description', w.description, 'types', w.types, 'state', w.state, 'state_reason', w.state_reason, 'failing_since', to_char(w.failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'secret_rotated_at', to_char(w.secret_rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'previous_secret_until', to_char(w.previous_secret_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_at', to_char(w.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(w.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN w.created_by_id IS NOT NULL THEN json_build_object('type', w.created_by_type, 'id', w.created_by_id, 'name', w.created_by_name) END, 'url_set_by', CASE WHEN w.url_set_by_id IS NOT NULL THEN json_build_object('type', w.url_set_by_type, 'id', w.url_set_by_id, 'name', w.url_set_by_name) END, 'removed_at', to_char(w.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) AS before
    FROM webhook_endpoints w WHERE w.company_id = $1::uuid AND w.id = $2::uuid AND w.removed_at IS NULL
), w AS (
    UPDATE webhook_endpoints w
       SET state = 'disabled', state_reason = $5::text, updated_at = $3::timestamptz, version = w.version + 1
      FROM seen WHERE w.company_id = $1::uuid AND w.id = $2::uuid AND w.version = seen.version
    RETURNING w.*
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT w.company_id, '00000000-0000-0000-0000-000000000000'::uuid, w.id, 'webhook_endpoint.disabled', $3::timestamptz::timestamptz, $4::json::json, seen.before
     FROM w, seen
  )
  SELECT 1 FROM w;

-- webhook_endpoints.drop_held (writes; pool: short)
WITH dropped AS (
  UPDATE webhook_endpoints j SET lease_until = NULL, position = greatest(j.position, $2::bigint)
   WHERE j.lease_until >= '9999-01-01 00:00:00+00'::timestamptz AND ($1::uuid IS NULL OR j.company_id = $1::uuid)
     AND NOT EXISTS (SELECT FROM companies i WHERE i.id = j.company_id AND i.removal_started_at IS NOT NULL) RETURNING 1
)
SELECT count(*)::int AS count FROM dropped;

-- webhook_endpoints.failing_now (reads; pool: search)
SELECT count(*)::int AS value FROM webhook_endpoints WHERE state = 'failing' AND removed_at IS NULL;

-- webhook_endpoints.find_backlog (reads; pool: short)
SELECT backlog, epoch FROM webhook_endpoints
 WHERE company_id = $1::uuid AND id = $2::uuid AND backlog IS NOT NULL;

-- webhook_endpoints.has_too_many_type_changes (reads; pool: short)
SELECT 1 FROM webhook_endpoints w
 WHERE w.company_id = $1::uuid AND w.id = $2::uuid AND w.removed_at IS NULL AND ($3::text[] <> w.types AND jsonb_array_length(w.earlier_types) >= $4::int);

-- webhook_endpoints.held (reads; pool: search)
SELECT 'endpoints' AS kind, c.name AS company, to_char(j.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS due_at, j.url AS job,
       (count(*) OVER ())::int AS total
  FROM webhook_endpoints j JOIN companies c ON c.id = j.company_id
 WHERE true AND j.lease_until >= '9999-01-01 00:00:00+00'::timestamptz AND ($1::uuid IS NULL OR j.company_id = $1::uuid)
     AND NOT EXISTS (SELECT FROM companies i WHERE i.id = j.company_id AND i.removal_started_at IS NOT NULL) ORDER BY j.created_at LIMIT $2::int;

-- webhook_endpoints.hold (writes; pool: short)
WITH batch AS MATERIALIZED (
  SELECT j.* FROM companies c CROSS JOIN LATERAL (
    SELECT j.company_id, j.id FROM webhook_endpoints j
     WHERE j.company_id = c.id AND true AND j.created_at <= $1::timestamptz AND (j.lease_until IS NULL OR j.lease_until < '9999-01-01 00:00:00+00'::timestamptz) LIMIT $2::int FOR NO KEY UPDATE) j
   WHERE true LIMIT $2::int
), held AS (
  UPDATE webhook_endpoints j SET lease_by = NULL, lease_until = '9999-01-01 00:00:00+00'::timestamptz FROM batch b WHERE j.company_id = b.company_id AND j.id = b.id
  RETURNING 1
)
SELECT count(*)::int AS count FROM held;

-- webhook_endpoints.insert (writes; pool: short)
WITH w AS (
  INSERT INTO webhook_endpoints (company_id, id, url, description, types, state, sealed_secret, position,
                                 created_at, updated_at, created_by_type, created_by_id, created_by_name,
                                 url_set_by_type, url_set_by_id, url_set_by_name)
  SELECT $1::uuid, $2::uuid, $5::text, $6::text, $7::text[], 'active',
         $8::text, $9::bigint, $3::timestamptz, $3::timestamptz,
         $11::text, $12::uuid, $13::text,
         $11::text, $12::uuid, $13::text
   WHERE (SELECT count(*) FROM webhook_endpoints
           WHERE company_id = $1::uuid AND removed_at IS NULL) < $10::int
  RETURNING *
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT w.company_id, '00000000-0000-0000-0000-000000000000'::uuid, w.id, 'webhook_endpoint.created', $3::timestamptz::timestamptz, $4::json::json
     FROM w
)
SELECT json_build_object('id', w.id, 'url', w.url, 'description', w.description, 'types', w.types, 'state', w.state, 'state_reason', w.state_reason, 'failing_since', to_char(w.failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'secret_rotated_at', to_char(w.secret_rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'previous_secret_until', to_char(w.previous_secret_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_at', to_char(w.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(w.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN w.created_by_id IS NOT NULL THEN json_build_object('type', w.created_by_type, 'id', w.created_by_id, 'name', w.created_by_name) END, 'url_set_by', CASE WHEN w.url_set_by_id IS NOT NULL THEN json_build_object('type', w.url_set_by_type, 'id', w.url_set_by_id, 'name', w.url_set_by_name) END)::text FROM w;

-- webhook_endpoints.list (reads; pool: short)
WITH listed AS (
  SELECT w.* FROM webhook_endpoints w
   WHERE w.company_id = $1::uuid AND w.removed_at IS NULL
     AND ($4::text IS NULL OR lower(w.url) LIKE lower($4::text)
          OR lower(w.description) LIKE lower($4::text))
)
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', w.id, 'url', w.url, 'description', w.description, 'types', w.types, 'state', w.state, 'state_reason', w.state_reason, 'failing_since', to_char(w.failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'secret_rotated_at', to_char(w.secret_rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'previous_secret_until', to_char(w.previous_secret_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_at', to_char(w.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(w.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN w.created_by_id IS NOT NULL THEN json_build_object('type', w.created_by_type, 'id', w.created_by_id, 'name', w.created_by_name) END, 'url_set_by', CASE WHEN w.url_set_by_id IS NOT NULL THEN json_build_object('type', w.url_set_by_type, 'id', w.url_set_by_id, 'name', w.url_set_by_name) END) ORDER BY w.created_at DESC, w.id DESC), '[]')::text
          FROM (SELECT * FROM listed ORDER BY created_at DESC, id DESC
                 LIMIT $2::int OFFSET $3::int) w) AS json;

-- webhook_endpoints.list_secrets (reads; pool: short)
SELECT w.company_id, w.id, s.sealed
  FROM webhook_endpoints w CROSS JOIN LATERAL (
         VALUES (w.sealed_secret),
                (CASE WHEN w.previous_secret_until > $1::timestamptz THEN w.sealed_previous_secret END)) AS s (sealed)
 WHERE s.sealed IS NOT NULL;

-- webhook_endpoints.lock (writes; pool: short)
SELECT 1 FROM webhook_endpoints
 WHERE company_id = $1::uuid AND id = $2::uuid AND removed_at IS NULL
   FOR NO KEY UPDATE;

-- webhook_endpoints.lock_exclusive (writes; pool: short)
SELECT state, epoch, faltering AS unhealthy FROM webhook_endpoints
 WHERE company_id = $1::uuid AND id = $2::uuid AND removed_at IS NULL
   FOR NO KEY UPDATE NOWAIT;

-- webhook_endpoints.lock_position (writes; pool: short)
SELECT position::text FROM webhook_endpoints
 WHERE company_id = $1::uuid AND id = $2::uuid AND lease_by = $3::uuid
   AND state = 'active' AND removed_at IS NULL
   FOR NO KEY UPDATE NOWAIT;

-- webhook_endpoints.lock_restored (writes; pool: short)
SELECT 1 FROM webhook_endpoints WHERE company_id = $1::uuid AND id = $2::uuid FOR NO KEY UPDATE;

-- webhook_endpoints.lock_row (writes; pool: short)
SELECT 1 FROM webhook_endpoints WHERE company_id = $1::uuid AND id = $2::uuid
   FOR NO KEY UPDATE;

-- webhook_endpoints.lock_shared (writes; pool: short)
SELECT state, epoch, faltering AS unhealthy FROM webhook_endpoints
 WHERE company_id = $1::uuid AND id = $2::uuid AND removed_at IS NULL
   FOR SHARE NOWAIT;

-- webhook_endpoints.marked_failing (writes; pool: short)
  WITH seen AS MATERIALIZED (
  SELECT w.version, w.state, json_build_object('id', w.id, 'url', w.url, 'description', w.description, 'types', w.types, 'state', w.state, 'state_reason', w.state_reason, 'failing_since', to_char(w.failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'secret_rotated_at', to_char(w.secret_rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'previous_secret_until', to_char(w.previous_secret_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_at', to_char(w.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(w.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN w.created_by_id IS NOT NULL THEN json_build_object('type', w.created_by_type, 'id', w.created_by_id, 'name', w.created_by_name) END, 'url_set_by', CASE WHEN w.url_set_by_id IS NOT NULL THEN json_build_object('type', w.url_set_by_type, 'id', w.url_set_by_id, 'name', w.url_set_by_name) END, 'removed_at', to_char(w.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) AS before
    FROM webhook_endpoints w WHERE w.company_id = $1::uuid AND w.id = $2::uuid AND w.removed_at IS NULL
), w AS (
    UPDATE webhook_endpoints w
       SET state = 'failing', failing_since = $3::timestamptz, state_reason = $5::text, updated_at = $3::timestamptz, version = w.version + 1
      FROM seen WHERE w.company_id = $1::uuid AND w.id = $2::uuid AND w.version = seen.version
    RETURNING w.*
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT w.company_id, '00000000-0000-0000-0000-000000000000'::uuid, w.id, 'webhook_endpoint.marked_failing', $3::timestamptz::timestamptz, $4::json::json, seen.before
     FROM w, seen
  )
  SELECT 1 FROM w;

-- webhook_endpoints.next_due (reads; pool: short)
SELECT to_char(min(coalesce(e.lease_until, e.created_at)) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
  FROM webhook_endpoints e WHERE (
     e.backlog IS NOT NULL OR e.state = 'active' AND e.removed_at IS NULL
     AND EXISTS (SELECT 1 FROM events v WHERE v.company_id = e.company_id AND v.position > e.position)) AND e.company_id <> ALL ($1::uuid[]);

-- webhook_endpoints.purge (writes; pool: search)
DELETE FROM webhook_endpoints w
 WHERE w.removed_at IS NOT NULL AND w.backlog IS NULL
   AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.company_id = w.company_id AND d.endpoint_id = w.id)
   AND NOT EXISTS (SELECT 1 FROM webhook_notices n WHERE n.company_id = w.company_id AND n.endpoint_id = w.id)
   AND NOT EXISTS (SELECT 1 FROM events e
                    WHERE e.company_id = w.company_id AND e.case_id = '00000000-0000-0000-0000-000000000000' AND e.record_id = w.id);

-- webhook_endpoints.purge_secrets (writes; pool: short)
UPDATE webhook_endpoints SET sealed_previous_secret = NULL
 WHERE sealed_previous_secret IS NOT NULL AND previous_secret_until <= $1::timestamptz;

-- webhook_endpoints.record_health (writes; pool: short)
UPDATE webhook_endpoints
   SET faltering = $3::boolean, paused_until = greatest(paused_until, $4::timestamptz)
 WHERE company_id = $1::uuid AND id = $2::uuid;

-- webhook_endpoints.reencrypt (writes; pool: short)
UPDATE webhook_endpoints
   SET sealed_secret = CASE sealed_secret WHEN $3::text THEN $4::text ELSE sealed_secret END,
       sealed_previous_secret = CASE sealed_previous_secret WHEN $3::text THEN $4::text
                                                            ELSE sealed_previous_secret END
 WHERE company_id = $1::uuid AND id = $2::uuid
   AND $3::text IN (sealed_secret, sealed_previous_secret)
RETURNING 1;

-- webhook_endpoints.release (writes; pool: short)
WITH e AS (
  SELECT e.*, (
     e.backlog IS NOT NULL OR e.state = 'active' AND e.removed_at IS NULL
     AND EXISTS (SELECT 1 FROM events v WHERE v.company_id = e.company_id AND v.position > e.position)) AS has_work FROM webhook_endpoints e
   WHERE e.company_id = $1::uuid AND e.id = $2::uuid AND e.lease_by = $3::uuid
     FOR NO KEY UPDATE NOWAIT
)
UPDATE webhook_endpoints w
   SET lease_by = NULL, lease_until = CASE WHEN e.has_work THEN $4::timestamptz END,
       backlog = CASE WHEN w.backlog = $5::text AND w.epoch = $6::int
                      THEN NULL ELSE w.backlog END
  FROM e WHERE w.company_id = e.company_id AND w.id = e.id;

-- webhook_endpoints.release_held (writes; pool: short)
WITH batch AS MATERIALIZED (
  SELECT j.* FROM companies c CROSS JOIN LATERAL (
    SELECT j.company_id, j.id FROM webhook_endpoints j
     WHERE j.company_id = c.id AND true AND j.lease_until >= '9999-01-01 00:00:00+00'::timestamptz LIMIT $2::int FOR NO KEY UPDATE) j
   WHERE c.removal_started_at IS NULL AND ($1::uuid IS NULL OR c.id = $1::uuid) LIMIT $2::int
), released AS (
  UPDATE webhook_endpoints j SET lease_until = NULL FROM batch b WHERE j.company_id = b.company_id AND j.id = b.id
  RETURNING 1
)
SELECT count(*)::int AS count FROM released;

-- webhook_endpoints.release_lease (writes; pool: short)
UPDATE webhook_endpoints SET lease_by = NULL, lease_until = NULL
 WHERE company_id = $2::uuid AND id = $3::uuid AND lease_by = $1::uuid;

-- webhook_endpoints.remove (writes; pool: short)
WITH seen AS MATERIALIZED (
  SELECT w.version, w.state, json_build_object('id', w.id, 'url', w.url, 'description', w.description, 'types', w.types, 'state', w.state, 'state_reason', w.state_reason, 'failing_since', to_char(w.failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'secret_rotated_at', to_char(w.secret_rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'previous_secret_until', to_char(w.previous_secret_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_at', to_char(w.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(w.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN w.created_by_id IS NOT NULL THEN json_build_object('type', w.created_by_type, 'id', w.created_by_id, 'name', w.created_by_name) END, 'url_set_by', CASE WHEN w.url_set_by_id IS NOT NULL THEN json_build_object('type', w.url_set_by_type, 'id', w.url_set_by_id, 'name', w.url_set_by_name) END, 'removed_at', to_char(w.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) AS before
    FROM webhook_endpoints w WHERE w.company_id = $1::uuid AND w.id = $2::uuid AND w.removed_at IS NULL
), w AS (
  UPDATE webhook_endpoints w
     SET removed_at = $3::timestamptz, backlog = 'drop', sealed_secret = NULL,
         sealed_previous_secret = NULL, updated_at = $3::timestamptz, version = w.version + 1
    FROM seen WHERE w.company_id = $1::uuid AND w.id = $2::uuid AND w.version = seen.version
  RETURNING w.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT w.company_id, '00000000-0000-0000-0000-000000000000'::uuid, w.id, 'webhook_endpoint.removed', $3::timestamptz::timestamptz, $4::json::json, seen.before
     FROM w, seen
)
SELECT json_build_object('id', w.id, 'removed_at', to_char(w.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM w;

-- webhook_endpoints.renew (writes; pool: short)
WITH held AS (
  SELECT w.company_id, w.id FROM webhook_endpoints w
    JOIN unnest($2::uuid[], $3::uuid[], $4::uuid[])
         AS t (lease, company_id, id)
      ON w.company_id = t.company_id AND w.id = t.id AND w.lease_by = t.lease
   WHERE (state = 'active' AND removed_at IS NULL OR backlog IS NOT NULL) FOR UPDATE OF w SKIP LOCKED
)
UPDATE webhook_endpoints w SET lease_until = $1::timestamptz FROM held h WHERE w.company_id = h.company_id AND w.id = h.id;

-- webhook_endpoints.resume (writes; pool: short)
 WITH seen AS MATERIALIZED (
   SELECT w.version, w.state, json_build_object('id', w.id, 'url', w.url, 'description', w.description, 'types', w.types, 'state', w.state, 'state_reason', w.state_reason, 'failing_since', to_char(w.failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'secret_rotated_at', to_char(w.secret_rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'previous_secret_until', to_char(w.previous_secret_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_at', to_char(w.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(w.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN w.created_by_id IS NOT NULL THEN json_build_object('type', w.created_by_type, 'id', w.created_by_id, 'name', w.created_by_name) END, 'url_set_by', CASE WHEN w.url_set_by_id IS NOT NULL THEN json_build_object('type', w.url_set_by_type, 'id', w.url_set_by_id, 'name', w.url_set_by_name) END, 'removed_at', to_char(w.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) AS before
     FROM webhook_endpoints w WHERE w.company_id = $1::uuid AND w.id = $2::uuid AND w.removed_at IS NULL
 ), w AS (
   UPDATE webhook_endpoints w
      SET state = 'active', state_reason = NULL, failing_since = CASE WHEN NOT (true) THEN w.failing_since END,
paused_until = CASE WHEN NOT (true) THEN w.paused_until END,
faltering = w.faltering AND NOT (true), epoch = w.epoch + (true)::int,
backlog = CASE WHEN true THEN 'hasten' ELSE w.backlog END, updated_at = $3::timestamptz,
          version = w.version + 1
     FROM seen WHERE w.company_id = $1::uuid AND w.id = $2::uuid AND w.version = seen.version AND seen.state <> 'active'
   RETURNING w.*
 ), event AS (
   INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
    SELECT w.company_id, '00000000-0000-0000-0000-000000000000'::uuid, w.id, 'webhook_endpoint.resumed', $3::timestamptz::timestamptz, $4::json::json, seen.before
      FROM w, seen
 )
 SELECT json_build_object('id', w.id, 'url', w.url, 'description', w.description, 'types', w.types, 'state', w.state, 'state_reason', w.state_reason, 'failing_since', to_char(w.failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'secret_rotated_at', to_char(w.secret_rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'previous_secret_until', to_char(w.previous_secret_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_at', to_char(w.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(w.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN w.created_by_id IS NOT NULL THEN json_build_object('type', w.created_by_type, 'id', w.created_by_id, 'name', w.created_by_name) END, 'url_set_by', CASE WHEN w.url_set_by_id IS NOT NULL THEN json_build_object('type', w.url_set_by_type, 'id', w.url_set_by_id, 'name', w.url_set_by_name) END)::text FROM w;

-- webhook_endpoints.rotate (writes; pool: short)
WITH seen AS MATERIALIZED (
  SELECT w.version, w.state, json_build_object('id', w.id, 'url', w.url, 'description', w.description, 'types', w.types, 'state', w.state, 'state_reason', w.state_reason, 'failing_since', to_char(w.failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'secret_rotated_at', to_char(w.secret_rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'previous_secret_until', to_char(w.previous_secret_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_at', to_char(w.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(w.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN w.created_by_id IS NOT NULL THEN json_build_object('type', w.created_by_type, 'id', w.created_by_id, 'name', w.created_by_name) END, 'url_set_by', CASE WHEN w.url_set_by_id IS NOT NULL THEN json_build_object('type', w.url_set_by_type, 'id', w.url_set_by_id, 'name', w.url_set_by_name) END, 'removed_at', to_char(w.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) AS before
    FROM webhook_endpoints w WHERE w.company_id = $1::uuid AND w.id = $2::uuid AND w.removed_at IS NULL
), w AS (
  UPDATE webhook_endpoints w
     SET sealed_secret = $5::text,
         sealed_previous_secret = CASE WHEN $6::timestamptz > $3::timestamptz THEN w.sealed_secret END,
         secret_rotated_at = $3::timestamptz, previous_secret_until = $6::timestamptz,
         updated_at = $3::timestamptz, version = w.version + 1
    FROM seen WHERE w.company_id = $1::uuid AND w.id = $2::uuid AND w.version = seen.version
  RETURNING w.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT w.company_id, '00000000-0000-0000-0000-000000000000'::uuid, w.id, 'webhook_endpoint.secret_rotated', $3::timestamptz::timestamptz, $4::json::json, seen.before
     FROM w, seen
)
SELECT json_build_object('id', w.id, 'url', w.url, 'description', w.description, 'types', w.types, 'state', w.state, 'state_reason', w.state_reason, 'failing_since', to_char(w.failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'secret_rotated_at', to_char(w.secret_rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'previous_secret_until', to_char(w.previous_secret_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_at', to_char(w.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(w.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN w.created_by_id IS NOT NULL THEN json_build_object('type', w.created_by_type, 'id', w.created_by_id, 'name', w.created_by_name) END, 'url_set_by', CASE WHEN w.url_set_by_id IS NOT NULL THEN json_build_object('type', w.url_set_by_type, 'id', w.url_set_by_id, 'name', w.url_set_by_name) END)::text FROM w;

-- webhook_endpoints.show (reads; pool: short)
SELECT json_build_object('id', w.id, 'url', w.url, 'description', w.description, 'types', w.types, 'state', w.state, 'state_reason', w.state_reason, 'failing_since', to_char(w.failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'secret_rotated_at', to_char(w.secret_rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'previous_secret_until', to_char(w.previous_secret_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_at', to_char(w.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(w.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN w.created_by_id IS NOT NULL THEN json_build_object('type', w.created_by_type, 'id', w.created_by_id, 'name', w.created_by_name) END, 'url_set_by', CASE WHEN w.url_set_by_id IS NOT NULL THEN json_build_object('type', w.url_set_by_type, 'id', w.url_set_by_id, 'name', w.url_set_by_name) END)::text FROM webhook_endpoints w WHERE w.company_id = $1::uuid AND w.id = $2::uuid AND w.removed_at IS NULL;

-- webhook_endpoints.update (writes; pool: short)
 WITH seen AS MATERIALIZED (
   SELECT w.version, w.state, json_build_object('id', w.id, 'url', w.url, 'description', w.description, 'types', w.types, 'state', w.state, 'state_reason', w.state_reason, 'failing_since', to_char(w.failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'secret_rotated_at', to_char(w.secret_rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'previous_secret_until', to_char(w.previous_secret_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_at', to_char(w.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(w.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN w.created_by_id IS NOT NULL THEN json_build_object('type', w.created_by_type, 'id', w.created_by_id, 'name', w.created_by_name) END, 'url_set_by', CASE WHEN w.url_set_by_id IS NOT NULL THEN json_build_object('type', w.url_set_by_type, 'id', w.url_set_by_id, 'name', w.url_set_by_name) END, 'removed_at', to_char(w.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) AS before
     FROM webhook_endpoints w WHERE w.company_id = $1::uuid AND w.id = $2::uuid AND w.removed_at IS NULL
 ), w AS (
   UPDATE webhook_endpoints w
      SET url_set_by_type = CASE WHEN $5::text <> w.url THEN $11::text ELSE w.url_set_by_type END,
url_set_by_id = CASE WHEN $5::text <> w.url THEN $12::uuid ELSE w.url_set_by_id END,
url_set_by_name = CASE WHEN $5::text <> w.url THEN $13::text ELSE w.url_set_by_name END, url = coalesce($5::text, w.url),
          description = CASE WHEN $7::boolean THEN $6::text ELSE w.description END,
          types = coalesce($8::text[], w.types), state = coalesce($9::text, w.state),
          earlier_types = CASE WHEN $8::text[] <> w.types THEN w.earlier_types || jsonb_build_object(
                                 'until', (SELECT last_value FROM event_positions), 'types', w.types)
                               ELSE w.earlier_types END,
          state_reason = CASE WHEN $9::text IS NULL THEN w.state_reason END,
          failing_since = CASE WHEN NOT (coalesce($9::text, '') = 'active' AND seen.state <> 'active') THEN w.failing_since END,
paused_until = CASE WHEN NOT (coalesce($9::text, '') = 'active' AND seen.state <> 'active') THEN w.paused_until END,
faltering = w.faltering AND NOT (coalesce($9::text, '') = 'active' AND seen.state <> 'active'), epoch = w.epoch + (coalesce($9::text, '') = 'active' AND seen.state <> 'active')::int,
backlog = CASE WHEN coalesce($9::text, '') = 'active' AND seen.state <> 'active' THEN 'hasten' ELSE w.backlog END,
          updated_at = $3::timestamptz, version = w.version + 1
     FROM seen WHERE w.company_id = $1::uuid AND w.id = $2::uuid AND w.version = seen.version
      AND ($8::text[] IS NULL OR NOT ($8::text[] <> w.types AND jsonb_array_length(w.earlier_types) >= $10::int))
   RETURNING w.*
 ), event AS (
   INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
    SELECT w.company_id, '00000000-0000-0000-0000-000000000000'::uuid, w.id, 'webhook_endpoint.updated', $3::timestamptz::timestamptz, $4::json::json, seen.before
      FROM w, seen
 )
 SELECT json_build_object('id', w.id, 'url', w.url, 'description', w.description, 'types', w.types, 'state', w.state, 'state_reason', w.state_reason, 'failing_since', to_char(w.failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'secret_rotated_at', to_char(w.secret_rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'previous_secret_until', to_char(w.previous_secret_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_at', to_char(w.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(w.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN w.created_by_id IS NOT NULL THEN json_build_object('type', w.created_by_type, 'id', w.created_by_id, 'name', w.created_by_name) END, 'url_set_by', CASE WHEN w.url_set_by_id IS NOT NULL THEN json_build_object('type', w.url_set_by_type, 'id', w.url_set_by_id, 'name', w.url_set_by_name) END)::text FROM w;

-- webhook_endpoints.with_held (reads; pool: search)
SELECT w.company_id, w.id FROM webhook_endpoints w
 WHERE ($1::uuid IS NULL OR w.company_id = $1::uuid)
     AND NOT EXISTS (SELECT FROM companies i WHERE i.id = w.company_id AND i.removal_started_at IS NOT NULL) AND EXISTS (
   SELECT 1 FROM webhook_deliveries j
    WHERE j.company_id = w.company_id AND j.endpoint_id = w.id AND j.state = 'waiting' AND j.lease_until >= '9999-01-01 00:00:00+00'::timestamptz);

