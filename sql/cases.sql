-- cases.exists (reads; pool: short)
SELECT 1 FROM cases WHERE company_id = $1::uuid AND id = $2::uuid;

-- cases.insert (writes; pool: short)
 WITH c AS (
   INSERT INTO cases (company_id, id, reference, created_at, updated_at)
   VALUES ($1::uuid, $2::uuid, $3::text, $5::timestamptz, $5::timestamptz)
   RETURNING *
 ), u AS (
   INSERT INTO customers AS u (company_id, case_id, id, title, first_names, last_name, email, phone, phone_e164, created_at, updated_at)
SELECT c.company_id, c.id, d.id, d.title, d.first_names, d.last_name, d.email, d.phone, d.phone_e164, $5::timestamptz, $5::timestamptz
  FROM c c, json_populate_recordset(NULL::customers, $4::json) d RETURNING *
 ), case_event AS (
   INSERT INTO events (company_id, case_id, record_id, type, at, origin)
    SELECT c.company_id, c.id, c.id, 'case.created', $5::timestamptz::timestamptz, $6::json::json
      FROM c RETURNING 1
 ), customer_events AS (
   INSERT INTO events (company_id, case_id, record_id, type, at, origin)
    SELECT u.company_id, u.case_id, u.id, 'customer.created', $5::timestamptz::timestamptz, $6::json::json
      FROM u JOIN case_event ON true
 )
 SELECT json_build_object('id', c.id, 'reference', c.reference, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM u), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM c;

-- cases.list (reads; pool: search)
WITH listed AS NOT MATERIALIZED (SELECT c.* FROM cases c WHERE c.company_id = $1::uuid)
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', c.id, 'reference', c.reference, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY c.created_at DESC, c.id DESC), '[]')::text
          FROM (SELECT * FROM listed c ORDER BY c.created_at DESC, c.id DESC
                 LIMIT $2::int OFFSET $3::int) c) AS json;

-- cases.lock_row (writes; pool: short)
SELECT 1 FROM cases WHERE company_id = $1::uuid AND id = $2::uuid
   FOR NO KEY UPDATE;

-- cases.overview (reads; pool: list)
  SELECT json_build_object('id', c.id, 'reference', c.reference, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'counts', json_build_object('entries', CASE WHEN $4::boolean THEN (SELECT count(*) FROM people x WHERE x.company_id = c.company_id AND x.case_id = c.id AND x.deleted_at IS NULL) END, 'interactions', CASE WHEN $5::boolean THEN (SELECT count(*) FROM interactions x WHERE x.company_id = c.company_id AND x.case_id = c.id AND x.deleted_at IS NULL) END, 'invoices', CASE WHEN $6::boolean THEN (SELECT count(*) FROM invoices x WHERE x.company_id = c.company_id AND x.case_id = c.id AND true) END, 'appointments', CASE WHEN $7::boolean THEN (SELECT count(*) FROM appointments x WHERE x.company_id = c.company_id AND x.case_id = c.id AND x.deleted_at IS NULL) END), 'next_appointment', CASE WHEN $7::boolean THEN (
SELECT json_build_object('id', a.id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', to_char(a.end_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'adviser_email', a.adviser_email, 'location', a.location)
  FROM appointments a
 WHERE a.company_id = c.company_id AND a.case_id = c.id AND a.deleted_at IS NULL AND a.cancelled = 0 AND a.start_at >= $3::timestamptz
 ORDER BY a.start_at, a.id LIMIT 1) END, 'balance', CASE WHEN $6::boolean THEN (
SELECT json_build_object('outstanding', coalesce(sum(o.amount), 0.00), 'overdue', coalesce(sum(o.amount) FILTER (WHERE o.date_due < $3::timestamptz), 0.00))
  FROM (SELECT CASE WHEN v.cancelled_at IS NULL THEN greatest(v.total - v.paid, 0.00) ELSE 0.00 END AS amount, v.date_due FROM invoices v WHERE v.company_id = c.company_id AND v.case_id = c.id) o) END)::text AS json
    FROM cases c WHERE c.company_id = $1::uuid AND c.id = $2::uuid;

-- cases.search (reads; pool: search)
WITH listed AS MATERIALIZED (SELECT c.* FROM cases c WHERE c.company_id = $1::uuid AND (c.search LIKE lower($4::text) OR c.id IN (
SELECT u.case_id FROM customers u
 WHERE u.company_id = $1::uuid AND u.removed_at IS NULL AND (u.search LIKE lower($4::text) OR u.phone_e164 = $5::text))))
 SELECT (SELECT count(*)::int FROM listed) AS total,
        (SELECT coalesce(json_agg(json_build_object('id', c.id, 'reference', c.reference, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY c.created_at DESC, c.id DESC), '[]')::text
           FROM (SELECT * FROM listed c ORDER BY c.created_at DESC, c.id DESC
                  LIMIT $2::int OFFSET $3::int) c) AS json;

-- cases.show (reads; pool: short)
SELECT json_build_object('id', c.id, 'reference', c.reference, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM cases c WHERE c.company_id = $1::uuid AND c.id = $2::uuid;

-- cases.update (writes; pool: short)
WITH old AS (
  SELECT c.* FROM cases c WHERE c.company_id = $1::uuid AND c.id = $2::uuid FOR NO KEY UPDATE
), c AS (
  UPDATE cases c SET reference = coalesce($3::text, c.reference), updated_at = $4::timestamptz
    FROM old WHERE c.company_id = old.company_id AND c.id = old.id
  RETURNING c.*
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT c.company_id, c.id, c.id, 'case.updated', $4::timestamptz::timestamptz, $5::json::json, (SELECT json_build_object('id', c.id, 'reference', c.reference, 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old c)
     FROM c
)
SELECT json_build_object('id', c.id, 'reference', c.reference, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM c;

