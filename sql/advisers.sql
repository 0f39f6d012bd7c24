-- advisers.count (reads; pool: short)
SELECT count(*)::int AS count FROM (SELECT 1 FROM advisers WHERE company_id = $1::uuid LIMIT 10000) counted;

-- advisers.explain_rejection (reads; pool: short)
SELECT ($2::uuid IS NULL
        OR EXISTS (SELECT 1 FROM advisers a WHERE a.company_id = $1::uuid AND a.removed_at IS NULL AND a.id = $2::uuid)) AS found,
       EXISTS (SELECT 1 FROM advisers a WHERE a.company_id = $1::uuid AND a.removed_at IS NULL AND lower(a.email) = lower($3::text)
                  AND a.id IS DISTINCT FROM $2::uuid) AS email_taken,
       EXISTS (SELECT 1 FROM advisers a
                WHERE a.company_id = $1::uuid AND a.removed_at IS NULL AND a.id = $2::uuid AND a.video_provider = 'zoom') AS uses_zoom;

-- advisers.explain_restore_rejection (reads; pool: short)
SELECT r.removed_at IS NOT NULL AS removed,
       EXISTS (SELECT 1 FROM advisers a
                WHERE a.company_id = $1::uuid AND a.removed_at IS NULL AND lower(a.email) = lower(r.email)) AS email_taken
  FROM advisers r WHERE r.company_id = $1::uuid AND r.id = $2::uuid;

-- advisers.insert (writes; pool: short)
WITH a AS (
  INSERT INTO advisers (company_id, id, email, name, active, video_provider, created_at, updated_at)
  SELECT $1::uuid, $2::uuid, d.email, d.name, d.active, d.video_provider,
         $4::timestamptz, $4::timestamptz
    FROM json_populate_record(NULL::advisers, $3::json) d
  ON CONFLICT (company_id, lower(email)) WHERE removed_at IS NULL DO NOTHING
  RETURNING *
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT a.company_id, '00000000-0000-0000-0000-000000000000'::uuid, a.id, 'adviser.created', $4::timestamptz::timestamptz, $5::json::json
     FROM a
)
SELECT json_build_object('id', a.id, 'email', a.email, 'name', a.name, 'active', a.active, 'video_provider', a.video_provider, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM a;

-- advisers.list (reads; pool: search)
WITH listed AS NOT MATERIALIZED (SELECT a.* FROM advisers a WHERE a.company_id = $1::uuid AND a.removed_at IS NULL)
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', a.id, 'email', a.email, 'name', a.name, 'active', a.active, 'video_provider', a.video_provider, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY lower(a.name), a.id), '[]')::text
          FROM (SELECT * FROM listed a ORDER BY lower(a.name), a.id
                 LIMIT $2::int OFFSET $3::int) a) AS json;

-- advisers.lock_row (writes; pool: short)
SELECT 1 FROM advisers WHERE company_id = $1::uuid AND id = $2::uuid
   FOR NO KEY UPDATE;

-- advisers.remove (writes; pool: short)
 WITH locked AS (
  SELECT a.* FROM advisers a WHERE a.company_id = $1::uuid AND a.removed_at IS NULL AND a.id = $2::uuid FOR NO KEY UPDATE
), old AS (
  SELECT * FROM locked a WHERE a.video_account_id IS NULL OR EXISTS (SELECT 1 FROM video_accounts v WHERE v.company_id = a.company_id AND v.id = a.video_account_id)
), a AS (
   UPDATE advisers a SET removed_at = $3::timestamptz, updated_at = $3::timestamptz FROM old WHERE a.company_id = old.company_id AND a.id = old.id
   RETURNING a.*
 ), event AS (
   INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
    SELECT a.company_id, '00000000-0000-0000-0000-000000000000'::uuid, a.id, 'adviser.removed', $3::timestamptz::timestamptz, $4::json::json, (SELECT json_build_object('id', a.id, 'email', a.email, 'name', a.name, 'active', a.active, 'video_provider', a.video_provider, 'video_account', (SELECT json_build_object('account_id', v.account_id, 'user', v.host) FROM video_accounts v WHERE v.company_id = a.company_id AND v.id = a.video_account_id), 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'removed_at', to_char(a.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old a)
      FROM a
 )
 SELECT json_build_object('id', a.id, 'removed_at', to_char(a.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM a;

-- advisers.restore (writes; pool: short)
 WITH locked AS (
  SELECT a.* FROM advisers a WHERE a.company_id = $1::uuid AND a.removed_at IS NOT NULL AND a.id = $2::uuid FOR NO KEY UPDATE
), old AS (
  SELECT * FROM locked a WHERE a.video_account_id IS NULL OR EXISTS (SELECT 1 FROM video_accounts v WHERE v.company_id = a.company_id AND v.id = a.video_account_id)
), a AS (
   UPDATE advisers a SET removed_at = NULL, updated_at = $3::timestamptz FROM old WHERE a.company_id = old.company_id AND a.id = old.id
   RETURNING a.*
 ), event AS (
   INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
    SELECT a.company_id, '00000000-0000-0000-0000-000000000000'::uuid, a.id, 'adviser.restored', $3::timestamptz::timestamptz, $4::json::json, (SELECT json_build_object('id', a.id, 'email', a.email, 'name', a.name, 'active', a.active, 'video_provider', a.video_provider, 'video_account', (SELECT json_build_object('account_id', v.account_id, 'user', v.host) FROM video_accounts v WHERE v.company_id = a.company_id AND v.id = a.video_account_id), 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'removed_at', to_char(a.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old a)
      FROM a
 )
 SELECT json_build_object('id', a.id, 'email', a.email, 'name', a.name, 'active', a.active, 'video_provider', a.video_provider, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM a;

-- advisers.search (reads; pool: search)
WITH listed AS MATERIALIZED (SELECT a.* FROM advisers a WHERE a.company_id = $1::uuid AND a.removed_at IS NULL AND (lower(a.name) LIKE lower($4::text) OR lower(a.email) LIKE lower($4::text)))
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', a.id, 'email', a.email, 'name', a.name, 'active', a.active, 'video_provider', a.video_provider, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY lower(a.name), a.id), '[]')::text
          FROM (SELECT * FROM listed a ORDER BY lower(a.name), a.id
                 LIMIT $2::int OFFSET $3::int) a) AS json;

-- advisers.show (reads; pool: short)
SELECT json_build_object('id', a.id, 'email', a.email, 'name', a.name, 'active', a.active, 'video_provider', a.video_provider, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM advisers a WHERE a.company_id = $1::uuid AND a.removed_at IS NULL AND a.id = $2::uuid;

-- advisers.update (writes; pool: short)
  WITH locked AS (
   SELECT a.* FROM advisers a WHERE a.company_id = $1::uuid AND a.removed_at IS NULL AND a.id = $2::uuid FOR NO KEY UPDATE
 ), old AS (
   SELECT * FROM locked a WHERE a.video_account_id IS NULL OR EXISTS (SELECT 1 FROM video_accounts v WHERE v.company_id = a.company_id AND v.id = a.video_account_id)
 ), d AS (
    UPDATE advisers a
       SET (email, name, active, video_provider) = (SELECT email, name, active, video_provider FROM json_populate_record(a, $3::json)),
           updated_at = $4::timestamptz
      FROM old WHERE a.company_id = old.company_id AND a.id = old.id
       AND (SELECT (n.video_provider IS NOT DISTINCT FROM 'zoom') = (a.video_provider IS NOT DISTINCT FROM 'zoom')
              FROM json_populate_record(a, $3::json) n)
    RETURNING a.*
  ), meetings_scheduled AS (
    UPDATE meetings g SET wanted = g.wanted + 1, state = 'pending', due_at = $4::timestamptz,
attempts = 0, last_error = NULL, updated_at = $4::timestamptz,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM d JOIN appointments a ON a.company_id = d.company_id AND a.adviser_id = d.id AND a.end_at > $4::timestamptz
  WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.last_error IS DISTINCT FROM 'Dropped by an operator after a restore or an import: it may have been done before.'
    AND (g.wished AND CASE
           WHEN g.external_id IS NULL THEN d.video_provider IS NOT NULL OR g.doubtful OR g.state = 'pending'
           ELSE (g.provider, g.account_id) IS DISTINCT FROM (d.video_provider, d.video_account_id) END
         OR false)
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
     SELECT a.company_id, '00000000-0000-0000-0000-000000000000'::uuid, a.id, 'adviser.updated', $4::timestamptz::timestamptz, $5::json::json, (SELECT json_build_object('id', a.id, 'email', a.email, 'name', a.name, 'active', a.active, 'video_provider', a.video_provider, 'video_account', (SELECT json_build_object('account_id', v.account_id, 'user', v.host) FROM video_accounts v WHERE v.company_id = a.company_id AND v.id = a.video_account_id), 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'removed_at', to_char(a.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old a)
       FROM d a
  )
  SELECT json_build_object('id', a.id, 'email', a.email, 'name', a.name, 'active', a.active, 'video_provider', a.video_provider, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM d a;

