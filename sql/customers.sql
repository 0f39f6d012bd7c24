-- customers.explain_rejection (reads; pool: short)
SELECT ($3::uuid IS NULL
        OR EXISTS (SELECT 1 FROM customers u WHERE u.company_id = $1::uuid AND u.case_id = $2::uuid AND u.removed_at IS NULL AND u.id = $3::uuid)) AS found
  FROM cases c WHERE c.company_id = $1::uuid AND c.id = $2::uuid;

-- customers.find (reads; pool: short)
SELECT removed_at IS NOT NULL AS removed FROM customers
 WHERE company_id = $1::uuid AND case_id = $2::uuid AND id = $3::uuid;

-- customers.find_by_external_id (reads; pool: short)
SELECT u.id, u.case_id AS case_id FROM customers u WHERE u.company_id = $1::uuid AND u.external_id = $2::text
AND u.removed_at IS NULL;

-- customers.insert (writes; pool: short)
 WITH parent AS (
   SELECT company_id, id FROM cases WHERE company_id = $1::uuid AND id = $2::uuid
 ), u AS (
   INSERT INTO customers AS u (company_id, case_id, id, external_id, title, first_names, last_name, email, phone, phone_e164, created_at, updated_at)
SELECT c.company_id, c.id, d.id, d.external_id, d.title, d.first_names, d.last_name, d.email, d.phone, d.phone_e164, $4::timestamptz, $4::timestamptz
  FROM parent c, json_populate_recordset(NULL::customers, $3::json) d
ON CONFLICT (company_id, external_id) WHERE external_id IS NOT NULL AND removed_at IS NULL DO NOTHING RETURNING *
 ), event AS (
   INSERT INTO events (company_id, case_id, record_id, type, at, origin)
    SELECT u.company_id, u.case_id, u.id, 'customer.created', $4::timestamptz::timestamptz, $5::json::json
      FROM u
 )
 SELECT json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM u;

-- customers.is_present (reads; pool: short)
SELECT 1 FROM customers u WHERE u.company_id = $1::uuid AND u.id = $3::uuid
   AND u.case_id = $2::uuid AND u.removed_at IS NULL;

-- customers.list (reads; pool: search)
WITH listed AS NOT MATERIALIZED (SELECT u.* FROM customers u WHERE u.company_id = $1::uuid AND u.removed_at IS NULL)
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY lower(u.last_name), lower(u.first_names), u.id), '[]')::text
          FROM (SELECT * FROM listed u ORDER BY lower(u.last_name), lower(u.first_names), u.id
                 LIMIT $2::int OFFSET $3::int) u) AS json;

-- customers.lock_by_external_id (writes; pool: short)
SELECT 1 FROM customers u WHERE u.company_id = $1::uuid AND u.external_id = $2::text
AND u.removed_at IS NULL FOR NO KEY UPDATE;

-- customers.lock_row (writes; pool: short)
SELECT 1 FROM customers WHERE company_id = $1::uuid AND case_id = $2::uuid AND id = $3::uuid
   FOR NO KEY UPDATE;

-- customers.remove (writes; pool: short)
WITH old AS (SELECT u.* FROM customers u WHERE u.company_id = $1::uuid AND u.case_id = $2::uuid AND u.removed_at IS NULL AND u.id = $3::uuid FOR NO KEY UPDATE), u AS (
  UPDATE customers u SET removed_at = $4::timestamptz, updated_at = $4::timestamptz FROM old WHERE u.company_id = old.company_id AND u.case_id = old.case_id AND u.id = old.id
  RETURNING u.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT u.company_id, u.case_id, u.id, 'customer.removed', $4::timestamptz::timestamptz, $5::json::json, (SELECT json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'removed_at', to_char(u.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old u)
     FROM u
)
SELECT json_build_object('id', u.id, 'removed_at', to_char(u.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM u;

-- customers.restore (writes; pool: short)
WITH old AS (SELECT u.* FROM customers u WHERE u.company_id = $1::uuid AND u.case_id = $2::uuid AND u.removed_at IS NOT NULL AND u.id = $3::uuid FOR NO KEY UPDATE), u AS (
  UPDATE customers u SET removed_at = NULL, updated_at = $4::timestamptz FROM old WHERE u.company_id = old.company_id AND u.case_id = old.case_id AND u.id = old.id
  RETURNING u.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT u.company_id, u.case_id, u.id, 'customer.restored', $4::timestamptz::timestamptz, $5::json::json, (SELECT json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'removed_at', to_char(u.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old u)
     FROM u
)
SELECT json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM u;

-- customers.search (reads; pool: search)
WITH listed AS MATERIALIZED (SELECT u.* FROM customers u WHERE u.company_id = $1::uuid AND u.removed_at IS NULL AND (u.search LIKE lower($4::text) OR u.phone_e164 = $5::text))
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY lower(u.last_name), lower(u.first_names), u.id), '[]')::text
          FROM (SELECT * FROM listed u ORDER BY lower(u.last_name), lower(u.first_names), u.id
                 LIMIT $2::int OFFSET $3::int) u) AS json;

-- customers.set_external_id (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS external_id, $5::timestamptz AS now, $6::json AS origin, 1 AS nth), old AS (
  SELECT u.*, input.nth FROM customers u JOIN input ON u.company_id = input.company_id AND u.case_id = input.case_id AND u.removed_at IS NULL AND u.id = input.id
     FOR NO KEY UPDATE OF u
), u AS (
  UPDATE customers u SET external_id = input.external_id, updated_at = input.now FROM old JOIN input USING (nth) WHERE u.company_id = old.company_id AND u.case_id = old.case_id AND u.id = old.id
  RETURNING u.*, input.nth
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT u.company_id, u.case_id, u.id, 'customer.updated', input.now::timestamptz, input.origin::json, (SELECT json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'removed_at', to_char(u.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old u)
     FROM u JOIN input USING (nth)
)
SELECT nth, NULL AS version, json_build_object('id', u.id, 'external_id', u.external_id)::text AS json FROM u;

-- customers.set_external_id keyed (writes; pool: short)
WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS external_id, $5::timestamptz AS now, $6::json AS origin, $7::uuid AS credential_id, $8::bytea AS key_sha256, $9::bytea AS request_sha256, $10::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL),
input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS external_id, $5::timestamptz AS now, $6::json AS origin, $7::uuid AS credential_id, $8::bytea AS key_sha256, $9::bytea AS request_sha256, $10::text AS etag_suffix, 1 AS nth FROM guard), old AS (
  SELECT u.*, input.nth FROM customers u JOIN input ON u.company_id = input.company_id AND u.case_id = input.case_id AND u.removed_at IS NULL AND u.id = input.id
     FOR NO KEY UPDATE OF u
), u AS (
  UPDATE customers u SET external_id = input.external_id, updated_at = input.now FROM old JOIN input USING (nth) WHERE u.company_id = old.company_id AND u.case_id = old.case_id AND u.id = old.id
  RETURNING u.*, input.nth
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT u.company_id, u.case_id, u.id, 'customer.updated', input.now::timestamptz, input.origin::json, (SELECT json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'removed_at', to_char(u.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old u)
     FROM u JOIN input USING (nth)
), answer AS (
  SELECT nth, NULL AS version, json_build_object('id', u.id, 'external_id', u.external_id)::text AS json FROM u
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- customers.show (reads; pool: short)
SELECT json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM customers u WHERE u.company_id = $1::uuid AND u.case_id = $2::uuid AND u.removed_at IS NULL AND u.id = $3::uuid;

-- customers.update (writes; pool: short)
WITH old AS (SELECT u.* FROM customers u WHERE u.company_id = $1::uuid AND u.case_id = $2::uuid AND u.removed_at IS NULL AND u.id = $3::uuid FOR NO KEY UPDATE), u AS (
  UPDATE customers u
     SET (title, first_names, last_name, email, phone, phone_e164, former_emails) = (
           SELECT d.title, d.first_names, d.last_name, d.email, d.phone, d.phone_e164, CASE WHEN lower(d.email) IS NOT DISTINCT FROM lower(u.email) OR coalesce(u.email, '') = ''
                THEN u.former_emails
                ELSE (lower(u.email) || u.former_emails)[1:10] END
             FROM json_populate_record(u, $4::json) d),
         updated_at = $5::timestamptz
    FROM old WHERE u.company_id = old.company_id AND u.case_id = old.case_id AND u.id = old.id
  RETURNING u.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT u.company_id, u.case_id, u.id, 'customer.updated', $5::timestamptz::timestamptz, $6::json::json, (SELECT json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'removed_at', to_char(u.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old u)
     FROM u
)
SELECT json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM u;

