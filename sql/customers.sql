-- customers.explain_rejection (reads; pool: short)
SELECT ($3::uuid IS NULL
        OR EXISTS (SELECT 1 FROM customers u WHERE u.company_id = $1::uuid AND u.case_id = $2::uuid AND u.removed_at IS NULL AND u.id = $3::uuid)) AS found
  FROM cases c WHERE c.company_id = $1::uuid AND c.id = $2::uuid;

-- customers.find (reads; pool: short)
SELECT removed_at IS NOT NULL AS removed FROM customers
 WHERE company_id = $1::uuid AND case_id = $2::uuid AND id = $3::uuid;

-- customers.insert (writes; pool: short)
 WITH parent AS (
   SELECT company_id, id FROM cases WHERE company_id = $1::uuid AND id = $2::uuid
 ), u AS (
   INSERT INTO customers AS u (company_id, case_id, id, title, first_names, last_name, email, phone, phone_e164, created_at, updated_at)
SELECT c.company_id, c.id, d.id, d.title, d.first_names, d.last_name, d.email, d.phone, d.phone_e164, $4::timestamptz, $4::timestamptz
  FROM parent c, json_populate_recordset(NULL::customers, $3::json) d RETURNING *
 ), event AS (
   INSERT INTO events (company_id, case_id, record_id, type, at, origin)
    SELECT u.company_id, u.case_id, u.id, 'customer.created', $4::timestamptz::timestamptz, $5::json::json
      FROM u
 )
 SELECT json_build_object('id', u.id, 'case_id', u.case_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM u;

-- customers.list (reads; pool: search)
WITH listed AS NOT MATERIALIZED (SELECT u.* FROM customers u WHERE u.company_id = $1::uuid AND u.removed_at IS NULL)
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY lower(u.last_name), lower(u.first_names), u.id), '[]')::text
          FROM (SELECT * FROM listed u ORDER BY lower(u.last_name), lower(u.first_names), u.id
                 LIMIT $2::int OFFSET $3::int) u) AS json;

-- customers.lock_row (writes; pool: short)
SELECT 1 FROM customers WHERE company_id = $1::uuid AND case_id = $2::uuid AND id = $3::uuid
   FOR NO KEY UPDATE;

-- customers.remove (writes; pool: short)
WITH old AS (SELECT u.* FROM customers u WHERE u.company_id = $1::uuid AND u.case_id = $2::uuid AND u.removed_at IS NULL AND u.id = $3::uuid FOR NO KEY UPDATE), u AS (
  UPDATE customers u SET removed_at = $4::timestamptz, updated_at = $4::timestamptz FROM old WHERE u.company_id = old.company_id AND u.case_id = old.case_id AND u.id = old.id
  RETURNING u.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT u.company_id, u.case_id, u.id, 'customer.removed', $4::timestamptz::timestamptz, $5::json::json, (SELECT json_build_object('id', u.id, 'case_id', u.case_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'removed_at', to_char(u.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old u)
     FROM u
)
SELECT json_build_object('id', u.id, 'removed_at', to_char(u.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM u;

-- customers.restore (writes; pool: short)
WITH old AS (SELECT u.* FROM customers u WHERE u.company_id = $1::uuid AND u.case_id = $2::uuid AND u.removed_at IS NOT NULL AND u.id = $3::uuid FOR NO KEY UPDATE), u AS (
  UPDATE customers u SET removed_at = NULL, updated_at = $4::timestamptz FROM old WHERE u.company_id = old.company_id AND u.case_id = old.case_id AND u.id = old.id
  RETURNING u.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT u.company_id, u.case_id, u.id, 'customer.restored', $4::timestamptz::timestamptz, $5::json::json, (SELECT json_build_object('id', u.id, 'case_id', u.case_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'removed_at', to_char(u.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old u)
     FROM u
)
SELECT json_build_object('id', u.id, 'case_id', u.case_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM u;

-- customers.search (reads; pool: search)
WITH listed AS MATERIALIZED (SELECT u.* FROM customers u WHERE u.company_id = $1::uuid AND u.removed_at IS NULL AND (u.search LIKE lower($4::text) OR u.phone_e164 = $5::text))
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY lower(u.last_name), lower(u.first_names), u.id), '[]')::text
          FROM (SELECT * FROM listed u ORDER BY lower(u.last_name), lower(u.first_names), u.id
                 LIMIT $2::int OFFSET $3::int) u) AS json;

-- customers.show (reads; pool: short)
SELECT json_build_object('id', u.id, 'case_id', u.case_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM customers u WHERE u.company_id = $1::uuid AND u.case_id = $2::uuid AND u.removed_at IS NULL AND u.id = $3::uuid;

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
   SELECT u.company_id, u.case_id, u.id, 'customer.updated', $5::timestamptz::timestamptz, $6::json::json, (SELECT json_build_object('id', u.id, 'case_id', u.case_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'removed_at', to_char(u.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old u)
     FROM u
)
SELECT json_build_object('id', u.id, 'case_id', u.case_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM u;

