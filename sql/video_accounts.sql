-- video_accounts.adviser (reads; pool: short)
SELECT 1 FROM advisers d WHERE d.company_id = $1::uuid AND d.id = $2::uuid AND d.removed_at IS NULL;

-- video_accounts.connect (writes; pool: short)
  WITH locked AS (
   SELECT a.* FROM advisers a WHERE a.company_id = $1::uuid AND a.id = $2::uuid AND a.removed_at IS NULL FOR NO KEY UPDATE
 ), old AS (
   SELECT * FROM locked a WHERE a.video_account_id IS NULL OR EXISTS (SELECT 1 FROM video_accounts v WHERE v.company_id = a.company_id AND v.id = a.video_account_id)
 ), kept AS (
    UPDATE video_accounts v
       SET client_id = $6::text, sealed_secret = $8::text, updated_at = $9::timestamptz
      FROM old
     WHERE $3::text = 'zoom' AND v.company_id = old.company_id AND v.id = old.video_account_id
       AND v.account_id = $5::text AND v.host = $7::text
    RETURNING v.*
  ), created AS (
    INSERT INTO video_accounts
      (company_id, adviser_id, id, account_id, client_id, host, sealed_secret, created_at, updated_at)
    SELECT old.company_id, old.id, $4::uuid, $5::text, $6::text, $7::text,
           $8::text, $9::timestamptz, $9::timestamptz
      FROM old
     WHERE $3::text = 'zoom' AND NOT EXISTS (SELECT 1 FROM kept)
    RETURNING *
  ), v AS (
    SELECT * FROM kept UNION ALL SELECT * FROM created
  ), d AS (
    UPDATE advisers a
       SET video_provider = $3::text, video_account_id = (SELECT id FROM v), updated_at = $9::timestamptz
      FROM old WHERE a.company_id = old.company_id AND a.id = old.id
    RETURNING a.*
  ), g AS (
    -- The new credentials may be the correct ones, so pending and failed meetings are tried again.
    UPDATE meetings g SET wanted = g.wanted + 1, state = 'pending', due_at = $9::timestamptz,
attempts = 0, last_error = NULL, updated_at = $9::timestamptz,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM d JOIN appointments a ON a.company_id = d.company_id AND a.adviser_id = d.id AND a.end_at > $9::timestamptz
  WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.last_error IS DISTINCT FROM 'Dropped by an operator after a restore or an import: it may have been done before.'
    AND (g.wished AND CASE
           WHEN g.external_id IS NULL THEN d.video_provider IS NOT NULL OR g.doubtful OR g.state = 'pending'
           ELSE (g.provider, g.account_id) IS DISTINCT FROM (d.video_provider, d.video_account_id) END
         OR g.state IN ('pending', 'failed'))
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
     SELECT a.company_id, '00000000-0000-0000-0000-000000000000'::uuid, a.id, 'adviser.video_account_connected', $9::timestamptz::timestamptz, $10::json::json, (SELECT json_build_object('id', a.id, 'email', a.email, 'name', a.name, 'active', a.active, 'video_provider', a.video_provider, 'video_account', (SELECT json_build_object('account_id', v.account_id, 'user', v.host) FROM video_accounts v WHERE v.company_id = a.company_id AND v.id = a.video_account_id), 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'removed_at', to_char(a.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old a)
       FROM d a
  )
  SELECT json_build_object('adviser_id', d.id, 'provider', d.video_provider, 'account_id', v.account_id, 'client_id', v.client_id, 'user', v.host, 'updated_at', to_char(coalesce(v.updated_at, d.updated_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM d LEFT JOIN v ON true;

-- video_accounts.disconnect (writes; pool: short)
  WITH locked AS (
   SELECT a.* FROM advisers a WHERE a.company_id = $1::uuid AND a.id = $2::uuid AND a.video_provider IS NOT NULL FOR NO KEY UPDATE
 ), old AS (
   SELECT * FROM locked a WHERE a.video_account_id IS NULL OR EXISTS (SELECT 1 FROM video_accounts v WHERE v.company_id = a.company_id AND v.id = a.video_account_id)
 ), d AS (
    UPDATE advisers a SET video_provider = NULL, video_account_id = NULL, updated_at = $3::timestamptz
      FROM old WHERE a.company_id = old.company_id AND a.id = old.id
    RETURNING a.*
  ), g AS (
    UPDATE meetings g SET wanted = g.wanted + 1, state = 'pending', due_at = $3::timestamptz,
attempts = 0, last_error = NULL, updated_at = $3::timestamptz,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM d JOIN appointments a ON a.company_id = d.company_id AND a.adviser_id = d.id AND a.end_at > $3::timestamptz
  WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.last_error IS DISTINCT FROM 'Dropped by an operator after a restore or an import: it may have been done before.'
    AND (g.wished AND CASE
           WHEN g.external_id IS NULL THEN d.video_provider IS NOT NULL OR g.doubtful OR g.state = 'pending'
           ELSE (g.provider, g.account_id) IS DISTINCT FROM (d.video_provider, d.video_account_id) END
         OR false)
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
     SELECT a.company_id, '00000000-0000-0000-0000-000000000000'::uuid, a.id, 'adviser.video_account_disconnected', $3::timestamptz::timestamptz, $4::json::json, (SELECT json_build_object('id', a.id, 'email', a.email, 'name', a.name, 'active', a.active, 'video_provider', a.video_provider, 'video_account', (SELECT json_build_object('account_id', v.account_id, 'user', v.host) FROM video_accounts v WHERE v.company_id = a.company_id AND v.id = a.video_account_id), 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'removed_at', to_char(a.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old a)
       FROM d a
  )
  SELECT json_build_object('adviser_id', d.id, 'disconnected_at', to_char(d.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM d;

-- video_accounts.forget (writes; pool: short)
UPDATE video_accounts v SET sealed_secret = NULL
 WHERE v.company_id = $1::uuid AND v.sealed_secret IS NOT NULL
   AND NOT EXISTS (
     SELECT 1 FROM advisers d
      WHERE d.company_id = v.company_id AND d.id = v.adviser_id AND d.video_account_id = v.id)
   AND NOT EXISTS (
     SELECT 1 FROM meetings g
      WHERE g.company_id = v.company_id AND g.account_id = v.id AND g.state = 'pending');

-- video_accounts.read (reads; pool: short)
SELECT json_build_object('adviser_id', d.id, 'provider', d.video_provider, 'account_id', v.account_id, 'client_id', v.client_id, 'user', v.host, 'updated_at', to_char(coalesce(v.updated_at, d.updated_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text
  FROM advisers d LEFT JOIN video_accounts v ON v.company_id = d.company_id AND v.id = d.video_account_id
 WHERE d.company_id = $1::uuid AND d.id = $2::uuid AND d.video_provider IS NOT NULL;

-- video_accounts.reencrypt (writes; pool: short)
UPDATE video_accounts SET sealed_secret = $4::text
 WHERE company_id = $1::uuid AND id = $2::uuid AND sealed_secret = $3::text
RETURNING 1;

-- video_accounts.sealed (reads; pool: short)
SELECT company_id, id, adviser_id, sealed_secret FROM video_accounts WHERE sealed_secret IS NOT NULL;

