-- credentials.disable_clients (writes; pool: short)
WITH old AS (
  SELECT k.company_id, k.id, json_build_object('id', k.id, 'name', k.name, 'scopes', k.scopes, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'rotated_at', to_char(k.rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'disabled_at', to_char(k.disabled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN k.created_by_id IS NOT NULL THEN json_build_object('type', k.created_by_type, 'id', k.created_by_id, 'name', k.created_by_name) END, 'rotated_by', CASE WHEN k.rotated_by_id IS NOT NULL THEN json_build_object('type', k.rotated_by_type, 'id', k.rotated_by_id, 'name', k.rotated_by_name) END) AS before FROM clients k
   WHERE k.company_id = $1::uuid AND k.id = ANY ($2::uuid[]) AND k.disabled_at IS NULL FOR NO KEY UPDATE
), k AS (
  UPDATE clients k SET disabled_at = $3::timestamptz, updated_at = $3::timestamptz
    FROM old WHERE k.company_id = old.company_id AND k.id = old.id
  RETURNING k.*, old.before
)
INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT k.company_id, '00000000-0000-0000-0000-000000000000'::uuid, k.id, 'api_client.disabled', $3::timestamptz::timestamptz, $4::json::json, k.before
     FROM k;

-- credentials.disable_endpoints (writes; pool: short)
WITH old AS (
  SELECT w.company_id, w.id, json_build_object('id', w.id, 'url', w.url, 'description', w.description, 'types', w.types, 'state', w.state, 'state_reason', w.state_reason, 'failing_since', to_char(w.failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'secret_rotated_at', to_char(w.secret_rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'previous_secret_until', to_char(w.previous_secret_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_at', to_char(w.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(w.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN w.created_by_id IS NOT NULL THEN json_build_object('type', w.created_by_type, 'id', w.created_by_id, 'name', w.created_by_name) END, 'url_set_by', CASE WHEN w.url_set_by_id IS NOT NULL THEN json_build_object('type', w.url_set_by_type, 'id', w.url_set_by_id, 'name', w.url_set_by_name) END, 'removed_at', to_char(w.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) AS before FROM webhook_endpoints w
   WHERE w.company_id = $1::uuid AND w.id = ANY ($2::uuid[]) AND w.removed_at IS NULL AND w.state <> 'disabled' FOR NO KEY UPDATE
), w AS (
  UPDATE webhook_endpoints w
     SET state = 'disabled', state_reason = $3::text, updated_at = $4::timestamptz,
         version = w.version + 1
    FROM old WHERE w.company_id = old.company_id AND w.id = old.id
  RETURNING w.*, old.before
)
INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT w.company_id, '00000000-0000-0000-0000-000000000000'::uuid, w.id, 'webhook_endpoint.disabled', $4::timestamptz::timestamptz, $5::json::json, w.before
     FROM w;

-- credentials.disable_users (writes; pool: short)
WITH old AS (
  SELECT u.company_id, u.id, json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END) AS before FROM users u
   WHERE u.company_id = $1::uuid AND u.id = ANY ($2::uuid[]) AND u.state <> 'disabled' FOR NO KEY UPDATE
), u AS (
  UPDATE users u SET state = 'disabled', updated_at = $3::timestamptz FROM old WHERE u.company_id = old.company_id AND u.id = old.id
  RETURNING u.*, old.before
), ended AS (
  UPDATE sessions s SET ended_at = $3::timestamptz FROM u
   WHERE s.company_id = u.company_id AND s.user_id = u.id AND s.ended_at IS NULL
)
INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT u.company_id, '00000000-0000-0000-0000-000000000000'::uuid, u.id, 'user.disabled', $3::timestamptz::timestamptz, $4::json::json, u.before
     FROM u;

-- credentials.find (reads; pool: search)
SELECT company_id, 'key' AS type, id FROM tokens WHERE id = $1::uuid AND client_id IS NULL
UNION ALL
SELECT company_id, 'client', id FROM clients WHERE id = $1::uuid
UNION ALL
SELECT company_id, 'user', id FROM users WHERE id = $1::uuid;

-- credentials.find_active_session (reads; pool: short)
SELECT u.role
  FROM sessions s JOIN users u ON u.company_id = s.company_id AND u.id = s.user_id
 WHERE s.company_id = $1::uuid AND s.id = $2::uuid AND s.ended_at IS NULL AND u.state <> 'disabled';

-- credentials.find_active_token (reads; pool: short)
SELECT CASE WHEN t.client_id IS NULL THEN t.scopes
            ELSE ARRAY(SELECT s FROM unnest(t.scopes) s WHERE s = ANY (k.scopes)) END AS scopes
  FROM tokens t LEFT JOIN clients k ON k.company_id = t.company_id AND k.id = t.client_id
 WHERE t.company_id = $1::uuid AND t.id = $2::uuid AND t.revoked_at IS NULL
   AND (t.expires_at IS NULL OR t.expires_at > $3::timestamptz)
   AND k.disabled_at IS NULL AND t.client_generation IS NOT DISTINCT FROM k.generation;

-- credentials.find_by_secret (reads; pool: search)
SELECT company_id, CASE WHEN client_id IS NULL THEN 'key' ELSE 'client' END AS type, coalesce(client_id, id) AS id
  FROM tokens WHERE secret_sha256 = $1::bytea
UNION ALL
SELECT company_id, 'client', id FROM clients WHERE secret_sha256 = $1::bytea;

-- credentials.find_companies_with_created_keys (reads; pool: search)
SELECT DISTINCT company_id AS id FROM tokens
 WHERE created_by_type = $1::text AND created_by_id = $2::uuid
   AND client_id IS NULL;

-- credentials.lock (writes; pool: short)
SELECT 1 FROM companies WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE;

-- credentials.revoke_keys (writes; pool: short)
WITH old AS (
  SELECT t.company_id, t.id, json_build_object('id', t.id, 'name', t.name, 'scopes', t.scopes, 'created_at', to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'expires_at', to_char(t.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'revoked_at', to_char(t.revoked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN t.created_by_id IS NOT NULL THEN json_build_object('type', t.created_by_type, 'id', t.created_by_id, 'name', t.created_by_name) END) AS before FROM tokens t
   WHERE t.company_id = $1::uuid AND t.id = ANY ($2::uuid[]) AND t.client_id IS NULL AND t.revoked_at IS NULL FOR NO KEY UPDATE
), t AS (
  UPDATE tokens t SET revoked_at = $3::timestamptz FROM old WHERE t.company_id = old.company_id AND t.id = old.id RETURNING t.*, old.before
)
INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT t.company_id, '00000000-0000-0000-0000-000000000000'::uuid, t.id, 'api_key.revoked', $3::timestamptz::timestamptz, $4::json::json, t.before
     FROM t;

-- credentials.trace_in_company (reads; pool: search)
    WITH RECURSIVE traced AS (
  SELECT $2::text AS type, $3::uuid AS id
  UNION
  SELECT child.type, child.id FROM traced parent CROSS JOIN LATERAL (
    SELECT 'key' AS type, r.id AS id FROM tokens r
        WHERE r.created_by_id = parent.id AND r.created_by_type = parent.type AND r.company_id = $1::uuid AND r.client_id IS NULL UNION ALL SELECT 'client' AS type, r.id AS id FROM clients r
        WHERE r.created_by_id = parent.id AND r.created_by_type = parent.type AND r.company_id = $1::uuid AND true UNION ALL SELECT 'client' AS type, r.client_id AS id FROM client_rotations r
        WHERE r.rotated_by_id = parent.id AND r.rotated_by_type = parent.type AND r.company_id = $1::uuid AND true UNION ALL SELECT 'user' AS type, r.id AS id FROM users r
        WHERE r.created_by_id = parent.id AND r.created_by_type = parent.type AND r.company_id = $1::uuid AND true UNION ALL SELECT 'webhook_endpoint' AS type, r.id AS id FROM webhook_endpoints r
        WHERE r.created_by_id = parent.id AND r.created_by_type = parent.type AND r.company_id = $1::uuid AND true UNION ALL SELECT 'webhook_endpoint' AS type, r.id AS id FROM webhook_endpoints r
        WHERE r.url_set_by_id = parent.id AND r.url_set_by_type = parent.type AND r.company_id = $1::uuid AND true) child
), entries AS (
      SELECT 'key' AS type, t.id, t.name, t.created_at, t.last_used_at, CASE WHEN t.created_by_id IS NOT NULL THEN json_build_object('type', t.created_by_type, 'id', t.created_by_id, 'name', t.created_by_name) END AS created_by,
             NULL::json AS changed_by,
             CASE WHEN t.revoked_at IS NOT NULL THEN 'revoked'
                  WHEN t.expires_at <= $4::timestamptz THEN 'expired' ELSE 'active' END AS state
        FROM traced JOIN tokens t ON t.company_id = $1::uuid AND t.id = traced.id
       WHERE traced.type = 'key'
      UNION ALL
      SELECT 'client', k.id, k.name, k.created_at, (SELECT max(t.created_at) FROM tokens t WHERE t.company_id = k.company_id AND t.client_id = k.id), CASE WHEN k.created_by_id IS NOT NULL THEN json_build_object('type', k.created_by_type, 'id', k.created_by_id, 'name', k.created_by_name) END,
             CASE WHEN k.rotated_by_id IS NOT NULL THEN json_build_object('type', k.rotated_by_type, 'id', k.rotated_by_id, 'name', k.rotated_by_name) END, CASE WHEN k.disabled_at IS NOT NULL THEN 'disabled' ELSE 'active' END
        FROM traced JOIN clients k ON k.company_id = $1::uuid AND k.id = traced.id
       WHERE traced.type = 'client'
      UNION ALL
      SELECT 'user', u.id, u.name, u.created_at, (SELECT max(s.last_seen_at) FROM sessions s WHERE s.company_id = u.company_id AND s.user_id = u.id), CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END, NULL::json, u.state
        FROM traced JOIN users u ON u.company_id = $1::uuid AND u.id = traced.id
       WHERE traced.type = 'user'
      UNION ALL
      SELECT 'webhook_endpoint', w.id, substring(w.url FROM '^[a-z]+://[^/?#]+'), w.created_at, (SELECT max(d.ended_at) FROM webhook_deliveries d
  WHERE d.company_id = w.company_id AND d.endpoint_id = w.id AND d.ended_at IS NOT NULL), CASE WHEN w.created_by_id IS NOT NULL THEN json_build_object('type', w.created_by_type, 'id', w.created_by_id, 'name', w.created_by_name) END,
             CASE WHEN w.url_set_by_id IS NOT NULL THEN json_build_object('type', w.url_set_by_type, 'id', w.url_set_by_id, 'name', w.url_set_by_name) END, CASE WHEN w.removed_at IS NOT NULL THEN 'removed' ELSE w.state END
        FROM traced JOIN webhook_endpoints w ON w.company_id = $1::uuid AND w.id = traced.id
       WHERE traced.type = 'webhook_endpoint'
    ), listed AS (
      SELECT e.*, e.type = $2::text AND e.id = $3::uuid AS root,
             e.state IN ('invited', 'active', 'failing') AS working
        FROM entries e
    )
    SELECT l.type, l.id, l.root, l.working,
           json_build_object('type', l.type, 'id', l.id, 'name', l.name, 'state', l.state, 'created_at', to_char(l.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'last_used_at', to_char(l.last_used_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', l.created_by, 'changed_by', l.changed_by)::text AS json
      FROM listed l WHERE l.working OR NOT $5::boolean ORDER BY l.root DESC, l.created_at, l.id;

