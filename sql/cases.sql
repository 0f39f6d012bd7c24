-- cases.exists (reads; pool: short)
SELECT 1 FROM cases WHERE company_id = $1::uuid AND id = $2::uuid;

-- cases.explain_rejection (reads; pool: short)
SELECT d.state, (CASE WHEN d.state = 'open' THEN d.closed_at IS NULL ELSE coalesce(d.closed_at, $6::timestamptz) >= d.opened_at END) IS NOT FALSE AS times_possible,
       $3::uuid IS NULL OR c.kind_id IS NOT DISTINCT FROM $3::uuid
         OR EXISTS (SELECT 1 FROM case_kinds k WHERE k.company_id = $1::uuid AND k.id = $3::uuid AND k.removed_at IS NULL) AS kind_known,
       $4::uuid IS NULL
         OR c.responsible_adviser_id IS NOT DISTINCT FROM $4::uuid
         OR EXISTS (SELECT 1 FROM advisers a WHERE a.company_id = $1::uuid AND a.id = $4::uuid AND a.removed_at IS NULL) AS adviser_known
  FROM (VALUES (1)) one LEFT JOIN cases c ON c.company_id = $1::uuid AND c.id = $2::uuid
 CROSS JOIN LATERAL json_populate_record(c, $5::json) d
 WHERE $2::uuid IS NULL OR c.id IS NOT NULL;

-- cases.find_by_external_id (reads; pool: short)
SELECT c.id, NULL AS case_id FROM cases c WHERE c.company_id = $1::uuid AND c.external_id = $2::text
AND true;

-- cases.insert (writes; pool: short)
  WITH c AS (
    INSERT INTO cases (company_id, id, external_id, reference, kind_id, state, opened_at, closed_at, responsible_adviser_id, created_at, updated_at)
    SELECT $1::uuid, $2::uuid, $3::text, d.reference, d.kind_id, d.state, d.opened_at, CASE WHEN d.state <> 'open' THEN coalesce(d.closed_at, $6::timestamptz) END, d.responsible_adviser_id, $6::timestamptz, $6::timestamptz
      FROM json_populate_record(NULL::cases, $4::json) d
     WHERE
(d.kind_id IS NULL OR d.kind_id = NULL OR EXISTS (SELECT 1 FROM case_kinds k WHERE k.company_id = $1::uuid AND k.id = d.kind_id AND k.removed_at IS NULL))
AND (d.responsible_adviser_id IS NULL OR d.responsible_adviser_id = NULL
     OR EXISTS (SELECT 1 FROM advisers a WHERE a.company_id = $1::uuid AND a.id = d.responsible_adviser_id AND a.removed_at IS NULL))
AND CASE WHEN d.state = 'open' THEN d.closed_at IS NULL ELSE coalesce(d.closed_at, $6::timestamptz) >= d.opened_at END
    ON CONFLICT (company_id, external_id) WHERE external_id IS NOT NULL DO NOTHING
    RETURNING *
  ), u AS (
    INSERT INTO customers AS u (company_id, case_id, id, external_id, title, first_names, last_name, email, phone, phone_e164, created_at, updated_at)
 SELECT c.company_id, c.id, d.id, d.external_id, d.title, d.first_names, d.last_name, d.email, d.phone, d.phone_e164, $6::timestamptz, $6::timestamptz
   FROM c c, json_populate_recordset(NULL::customers, $5::json) d
 ON CONFLICT (company_id, external_id) WHERE external_id IS NOT NULL AND removed_at IS NULL DO NOTHING RETURNING *
  ), case_event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin)
     SELECT c.company_id, c.id, c.id, 'case.created', $6::timestamptz::timestamptz, $7::json::json
       FROM c RETURNING 1
  ), customer_events AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin)
     SELECT u.company_id, u.case_id, u.id, 'customer.created', $6::timestamptz::timestamptz, $7::json::json
       FROM u JOIN case_event ON true
  )
  SELECT json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'kind', (SELECT k.name FROM case_kinds k WHERE k.company_id = c.company_id AND k.id = c.kind_id), 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM u), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM c;

-- cases.is_present (reads; pool: short)
SELECT 1 FROM cases c WHERE c.company_id = $1::uuid AND c.id = $3::uuid
   AND c.id = $2::uuid AND true;

-- cases.list (reads; pool: search)
WITH listed AS NOT MATERIALIZED (SELECT c.* FROM cases c WHERE c.company_id = $1::uuid)
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'kind', (SELECT k.name FROM case_kinds k WHERE k.company_id = c.company_id AND k.id = c.kind_id), 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY c.created_at DESC, c.id DESC), '[]')::text
          FROM (SELECT * FROM listed c ORDER BY c.created_at DESC, c.id DESC
                 LIMIT $2::int OFFSET $3::int) c) AS json;

-- cases.lock_by_external_id (writes; pool: short)
SELECT 1 FROM cases c WHERE c.company_id = $1::uuid AND c.external_id = $2::text
AND true FOR NO KEY UPDATE;

-- cases.lock_row (writes; pool: short)
SELECT 1 FROM cases WHERE company_id = $1::uuid AND id = $2::uuid
   FOR NO KEY UPDATE;

-- cases.of_company_by_adviser_opened_at_asc (reads; pool: search)
WITH scanned AS MATERIALIZED (
  SELECT s.* FROM (
  (SELECT c.*, c.opened_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[1] AND c.responsible_adviser_id = $10::uuid
       AND (c.opened_at, c.id) > ($6::timestamptz, $4::uuid)
       AND c.opened_at < $7::timestamptz
     ORDER BY c.opened_at asc, c.id asc LIMIT $3::int) UNION ALL
  (SELECT c.*, c.opened_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[2] AND c.responsible_adviser_id = $10::uuid
       AND (c.opened_at, c.id) > ($6::timestamptz, $4::uuid)
       AND c.opened_at < $7::timestamptz
     ORDER BY c.opened_at asc, c.id asc LIMIT $3::int) UNION ALL
  (SELECT c.*, c.opened_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[3] AND c.responsible_adviser_id = $10::uuid
       AND (c.opened_at, c.id) > ($6::timestamptz, $4::uuid)
       AND c.opened_at < $7::timestamptz
     ORDER BY c.opened_at asc, c.id asc LIMIT $3::int)) s ORDER BY s.sort_key asc, s.id asc LIMIT $3::int
), found AS MATERIALIZED (
  SELECT c.*, row_number() OVER before AS n, sum(400 * (SELECT count(*) FROM customers u
   WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL)) OVER before AS bytes
    FROM (SELECT DISTINCT ON (c.sort_key, c.id) c.* FROM scanned c WHERE ($11::text IS NULL OR c.external_id = $11::text) AND c.state = ANY ($8::text[]) AND ($9::uuid IS NULL OR c.kind_id = $9::uuid)
 AND ($10::uuid IS NULL OR c.responsible_adviser_id = $10::uuid) ORDER BY c.sort_key asc, c.id asc LIMIT $2::int + 1) c
  WINDOW before AS (ORDER BY c.sort_key asc, c.id asc ROWS UNBOUNDED PRECEDING)
), shown AS MATERIALIZED (
  SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
)
SELECT (SELECT ('[' || coalesce(string_agg(CASE WHEN $5::boolean THEN json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'kind', (SELECT k.name FROM case_kinds k WHERE k.company_id = c.company_id AND k.id = c.kind_id), 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text END, ',' ORDER BY c.n), '') || ']') FROM shown c ) AS json,
       to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
  FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
    (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key desc, e.id desc LIMIT 1)
    UNION ALL
    (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key desc, e.id desc LIMIT 1)
  ) next ON true;

-- cases.of_company_by_adviser_opened_at_desc (reads; pool: search)
WITH scanned AS MATERIALIZED (
  SELECT s.* FROM (
  (SELECT c.*, c.opened_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[1] AND c.responsible_adviser_id = $10::uuid
       AND (c.opened_at, c.id) < ($6::timestamptz, $4::uuid)
       AND c.opened_at >= $7::timestamptz
     ORDER BY c.opened_at desc, c.id desc LIMIT $3::int) UNION ALL
  (SELECT c.*, c.opened_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[2] AND c.responsible_adviser_id = $10::uuid
       AND (c.opened_at, c.id) < ($6::timestamptz, $4::uuid)
       AND c.opened_at >= $7::timestamptz
     ORDER BY c.opened_at desc, c.id desc LIMIT $3::int) UNION ALL
  (SELECT c.*, c.opened_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[3] AND c.responsible_adviser_id = $10::uuid
       AND (c.opened_at, c.id) < ($6::timestamptz, $4::uuid)
       AND c.opened_at >= $7::timestamptz
     ORDER BY c.opened_at desc, c.id desc LIMIT $3::int)) s ORDER BY s.sort_key desc, s.id desc LIMIT $3::int
), found AS MATERIALIZED (
  SELECT c.*, row_number() OVER before AS n, sum(400 * (SELECT count(*) FROM customers u
   WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL)) OVER before AS bytes
    FROM (SELECT DISTINCT ON (c.sort_key, c.id) c.* FROM scanned c WHERE ($11::text IS NULL OR c.external_id = $11::text) AND c.state = ANY ($8::text[]) AND ($9::uuid IS NULL OR c.kind_id = $9::uuid)
 AND ($10::uuid IS NULL OR c.responsible_adviser_id = $10::uuid) ORDER BY c.sort_key desc, c.id desc LIMIT $2::int + 1) c
  WINDOW before AS (ORDER BY c.sort_key desc, c.id desc ROWS UNBOUNDED PRECEDING)
), shown AS MATERIALIZED (
  SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
)
SELECT (SELECT ('[' || coalesce(string_agg(CASE WHEN $5::boolean THEN json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'kind', (SELECT k.name FROM case_kinds k WHERE k.company_id = c.company_id AND k.id = c.kind_id), 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text END, ',' ORDER BY c.n), '') || ']') FROM shown c ) AS json,
       to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
  FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
    (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key asc, e.id asc LIMIT 1)
    UNION ALL
    (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key asc, e.id asc LIMIT 1)
  ) next ON true;

-- cases.of_company_by_adviser_updated_at_asc (reads; pool: search)
WITH scanned AS MATERIALIZED (
  SELECT s.* FROM (
  (SELECT c.*, c.updated_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[1] AND c.responsible_adviser_id = $10::uuid
       AND (c.updated_at, c.id) > ($6::timestamptz, $4::uuid)
       AND c.updated_at < $7::timestamptz
     ORDER BY c.updated_at asc, c.id asc LIMIT $3::int) UNION ALL
  (SELECT c.*, c.updated_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[2] AND c.responsible_adviser_id = $10::uuid
       AND (c.updated_at, c.id) > ($6::timestamptz, $4::uuid)
       AND c.updated_at < $7::timestamptz
     ORDER BY c.updated_at asc, c.id asc LIMIT $3::int) UNION ALL
  (SELECT c.*, c.updated_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[3] AND c.responsible_adviser_id = $10::uuid
       AND (c.updated_at, c.id) > ($6::timestamptz, $4::uuid)
       AND c.updated_at < $7::timestamptz
     ORDER BY c.updated_at asc, c.id asc LIMIT $3::int)) s ORDER BY s.sort_key asc, s.id asc LIMIT $3::int
), found AS MATERIALIZED (
  SELECT c.*, row_number() OVER before AS n, sum(400 * (SELECT count(*) FROM customers u
   WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL)) OVER before AS bytes
    FROM (SELECT DISTINCT ON (c.sort_key, c.id) c.* FROM scanned c WHERE ($11::text IS NULL OR c.external_id = $11::text) AND c.state = ANY ($8::text[]) AND ($9::uuid IS NULL OR c.kind_id = $9::uuid)
 AND ($10::uuid IS NULL OR c.responsible_adviser_id = $10::uuid) ORDER BY c.sort_key asc, c.id asc LIMIT $2::int + 1) c
  WINDOW before AS (ORDER BY c.sort_key asc, c.id asc ROWS UNBOUNDED PRECEDING)
), shown AS MATERIALIZED (
  SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
)
SELECT (SELECT ('[' || coalesce(string_agg(CASE WHEN $5::boolean THEN json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'kind', (SELECT k.name FROM case_kinds k WHERE k.company_id = c.company_id AND k.id = c.kind_id), 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text END, ',' ORDER BY c.n), '') || ']') FROM shown c ) AS json,
       to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
  FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
    (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key desc, e.id desc LIMIT 1)
    UNION ALL
    (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key desc, e.id desc LIMIT 1)
  ) next ON true;

-- cases.of_company_by_adviser_updated_at_desc (reads; pool: search)
WITH scanned AS MATERIALIZED (
  SELECT s.* FROM (
  (SELECT c.*, c.updated_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[1] AND c.responsible_adviser_id = $10::uuid
       AND (c.updated_at, c.id) < ($6::timestamptz, $4::uuid)
       AND c.updated_at >= $7::timestamptz
     ORDER BY c.updated_at desc, c.id desc LIMIT $3::int) UNION ALL
  (SELECT c.*, c.updated_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[2] AND c.responsible_adviser_id = $10::uuid
       AND (c.updated_at, c.id) < ($6::timestamptz, $4::uuid)
       AND c.updated_at >= $7::timestamptz
     ORDER BY c.updated_at desc, c.id desc LIMIT $3::int) UNION ALL
  (SELECT c.*, c.updated_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[3] AND c.responsible_adviser_id = $10::uuid
       AND (c.updated_at, c.id) < ($6::timestamptz, $4::uuid)
       AND c.updated_at >= $7::timestamptz
     ORDER BY c.updated_at desc, c.id desc LIMIT $3::int)) s ORDER BY s.sort_key desc, s.id desc LIMIT $3::int
), found AS MATERIALIZED (
  SELECT c.*, row_number() OVER before AS n, sum(400 * (SELECT count(*) FROM customers u
   WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL)) OVER before AS bytes
    FROM (SELECT DISTINCT ON (c.sort_key, c.id) c.* FROM scanned c WHERE ($11::text IS NULL OR c.external_id = $11::text) AND c.state = ANY ($8::text[]) AND ($9::uuid IS NULL OR c.kind_id = $9::uuid)
 AND ($10::uuid IS NULL OR c.responsible_adviser_id = $10::uuid) ORDER BY c.sort_key desc, c.id desc LIMIT $2::int + 1) c
  WINDOW before AS (ORDER BY c.sort_key desc, c.id desc ROWS UNBOUNDED PRECEDING)
), shown AS MATERIALIZED (
  SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
)
SELECT (SELECT ('[' || coalesce(string_agg(CASE WHEN $5::boolean THEN json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'kind', (SELECT k.name FROM case_kinds k WHERE k.company_id = c.company_id AND k.id = c.kind_id), 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text END, ',' ORDER BY c.n), '') || ']') FROM shown c ) AS json,
       to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
  FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
    (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key asc, e.id asc LIMIT 1)
    UNION ALL
    (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key asc, e.id asc LIMIT 1)
  ) next ON true;

-- cases.of_company_by_external_id_asc (reads; pool: search)
WITH scanned AS MATERIALIZED (
  SELECT s.* FROM (
  (SELECT c.*, c.opened_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.external_id = $11::text
       AND (c.opened_at, c.id) > ($6::timestamptz, $4::uuid)
       AND c.opened_at < $7::timestamptz
     ORDER BY c.opened_at asc, c.id asc LIMIT $3::int)) s ORDER BY s.sort_key asc, s.id asc LIMIT $3::int
), found AS MATERIALIZED (
  SELECT c.*, row_number() OVER before AS n, sum(400 * (SELECT count(*) FROM customers u
   WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL)) OVER before AS bytes
    FROM (SELECT c.* FROM scanned c WHERE ($11::text IS NULL OR c.external_id = $11::text) AND c.state = ANY ($8::text[]) AND ($9::uuid IS NULL OR c.kind_id = $9::uuid)
 AND ($10::uuid IS NULL OR c.responsible_adviser_id = $10::uuid) ORDER BY c.sort_key asc, c.id asc LIMIT $2::int + 1) c
  WINDOW before AS (ORDER BY c.sort_key asc, c.id asc ROWS UNBOUNDED PRECEDING)
), shown AS MATERIALIZED (
  SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
)
SELECT (SELECT ('[' || coalesce(string_agg(CASE WHEN $5::boolean THEN json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'kind', (SELECT k.name FROM case_kinds k WHERE k.company_id = c.company_id AND k.id = c.kind_id), 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text END, ',' ORDER BY c.n), '') || ']') FROM shown c ) AS json,
       to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
  FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
    (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key desc, e.id desc LIMIT 1)
    UNION ALL
    (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key desc, e.id desc LIMIT 1)
  ) next ON true;

-- cases.of_company_by_external_id_desc (reads; pool: search)
WITH scanned AS MATERIALIZED (
  SELECT s.* FROM (
  (SELECT c.*, c.opened_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.external_id = $11::text
       AND (c.opened_at, c.id) < ($6::timestamptz, $4::uuid)
       AND c.opened_at >= $7::timestamptz
     ORDER BY c.opened_at desc, c.id desc LIMIT $3::int)) s ORDER BY s.sort_key desc, s.id desc LIMIT $3::int
), found AS MATERIALIZED (
  SELECT c.*, row_number() OVER before AS n, sum(400 * (SELECT count(*) FROM customers u
   WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL)) OVER before AS bytes
    FROM (SELECT c.* FROM scanned c WHERE ($11::text IS NULL OR c.external_id = $11::text) AND c.state = ANY ($8::text[]) AND ($9::uuid IS NULL OR c.kind_id = $9::uuid)
 AND ($10::uuid IS NULL OR c.responsible_adviser_id = $10::uuid) ORDER BY c.sort_key desc, c.id desc LIMIT $2::int + 1) c
  WINDOW before AS (ORDER BY c.sort_key desc, c.id desc ROWS UNBOUNDED PRECEDING)
), shown AS MATERIALIZED (
  SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
)
SELECT (SELECT ('[' || coalesce(string_agg(CASE WHEN $5::boolean THEN json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'kind', (SELECT k.name FROM case_kinds k WHERE k.company_id = c.company_id AND k.id = c.kind_id), 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text END, ',' ORDER BY c.n), '') || ']') FROM shown c ) AS json,
       to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
  FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
    (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key asc, e.id asc LIMIT 1)
    UNION ALL
    (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key asc, e.id asc LIMIT 1)
  ) next ON true;

-- cases.of_company_by_kind_opened_at_asc (reads; pool: search)
WITH scanned AS MATERIALIZED (
  SELECT s.* FROM (
  (SELECT c.*, c.opened_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[1] AND c.kind_id = $9::uuid
       AND (c.opened_at, c.id) > ($6::timestamptz, $4::uuid)
       AND c.opened_at < $7::timestamptz
     ORDER BY c.opened_at asc, c.id asc LIMIT $3::int) UNION ALL
  (SELECT c.*, c.opened_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[2] AND c.kind_id = $9::uuid
       AND (c.opened_at, c.id) > ($6::timestamptz, $4::uuid)
       AND c.opened_at < $7::timestamptz
     ORDER BY c.opened_at asc, c.id asc LIMIT $3::int) UNION ALL
  (SELECT c.*, c.opened_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[3] AND c.kind_id = $9::uuid
       AND (c.opened_at, c.id) > ($6::timestamptz, $4::uuid)
       AND c.opened_at < $7::timestamptz
     ORDER BY c.opened_at asc, c.id asc LIMIT $3::int)) s ORDER BY s.sort_key asc, s.id asc LIMIT $3::int
), found AS MATERIALIZED (
  SELECT c.*, row_number() OVER before AS n, sum(400 * (SELECT count(*) FROM customers u
   WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL)) OVER before AS bytes
    FROM (SELECT DISTINCT ON (c.sort_key, c.id) c.* FROM scanned c WHERE ($11::text IS NULL OR c.external_id = $11::text) AND c.state = ANY ($8::text[]) AND ($9::uuid IS NULL OR c.kind_id = $9::uuid)
 AND ($10::uuid IS NULL OR c.responsible_adviser_id = $10::uuid) ORDER BY c.sort_key asc, c.id asc LIMIT $2::int + 1) c
  WINDOW before AS (ORDER BY c.sort_key asc, c.id asc ROWS UNBOUNDED PRECEDING)
), shown AS MATERIALIZED (
  SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
)
SELECT (SELECT ('[' || coalesce(string_agg(CASE WHEN $5::boolean THEN json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'kind', (SELECT k.name FROM case_kinds k WHERE k.company_id = c.company_id AND k.id = c.kind_id), 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text END, ',' ORDER BY c.n), '') || ']') FROM shown c ) AS json,
       to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
  FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
    (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key desc, e.id desc LIMIT 1)
    UNION ALL
    (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key desc, e.id desc LIMIT 1)
  ) next ON true;

-- cases.of_company_by_kind_opened_at_desc (reads; pool: search)
WITH scanned AS MATERIALIZED (
  SELECT s.* FROM (
  (SELECT c.*, c.opened_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[1] AND c.kind_id = $9::uuid
       AND (c.opened_at, c.id) < ($6::timestamptz, $4::uuid)
       AND c.opened_at >= $7::timestamptz
     ORDER BY c.opened_at desc, c.id desc LIMIT $3::int) UNION ALL
  (SELECT c.*, c.opened_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[2] AND c.kind_id = $9::uuid
       AND (c.opened_at, c.id) < ($6::timestamptz, $4::uuid)
       AND c.opened_at >= $7::timestamptz
     ORDER BY c.opened_at desc, c.id desc LIMIT $3::int) UNION ALL
  (SELECT c.*, c.opened_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[3] AND c.kind_id = $9::uuid
       AND (c.opened_at, c.id) < ($6::timestamptz, $4::uuid)
       AND c.opened_at >= $7::timestamptz
     ORDER BY c.opened_at desc, c.id desc LIMIT $3::int)) s ORDER BY s.sort_key desc, s.id desc LIMIT $3::int
), found AS MATERIALIZED (
  SELECT c.*, row_number() OVER before AS n, sum(400 * (SELECT count(*) FROM customers u
   WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL)) OVER before AS bytes
    FROM (SELECT DISTINCT ON (c.sort_key, c.id) c.* FROM scanned c WHERE ($11::text IS NULL OR c.external_id = $11::text) AND c.state = ANY ($8::text[]) AND ($9::uuid IS NULL OR c.kind_id = $9::uuid)
 AND ($10::uuid IS NULL OR c.responsible_adviser_id = $10::uuid) ORDER BY c.sort_key desc, c.id desc LIMIT $2::int + 1) c
  WINDOW before AS (ORDER BY c.sort_key desc, c.id desc ROWS UNBOUNDED PRECEDING)
), shown AS MATERIALIZED (
  SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
)
SELECT (SELECT ('[' || coalesce(string_agg(CASE WHEN $5::boolean THEN json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'kind', (SELECT k.name FROM case_kinds k WHERE k.company_id = c.company_id AND k.id = c.kind_id), 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text END, ',' ORDER BY c.n), '') || ']') FROM shown c ) AS json,
       to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
  FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
    (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key asc, e.id asc LIMIT 1)
    UNION ALL
    (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key asc, e.id asc LIMIT 1)
  ) next ON true;

-- cases.of_company_by_kind_updated_at_asc (reads; pool: search)
WITH scanned AS MATERIALIZED (
  SELECT s.* FROM (
  (SELECT c.*, c.updated_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[1] AND c.kind_id = $9::uuid
       AND (c.updated_at, c.id) > ($6::timestamptz, $4::uuid)
       AND c.updated_at < $7::timestamptz
     ORDER BY c.updated_at asc, c.id asc LIMIT $3::int) UNION ALL
  (SELECT c.*, c.updated_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[2] AND c.kind_id = $9::uuid
       AND (c.updated_at, c.id) > ($6::timestamptz, $4::uuid)
       AND c.updated_at < $7::timestamptz
     ORDER BY c.updated_at asc, c.id asc LIMIT $3::int) UNION ALL
  (SELECT c.*, c.updated_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[3] AND c.kind_id = $9::uuid
       AND (c.updated_at, c.id) > ($6::timestamptz, $4::uuid)
       AND c.updated_at < $7::timestamptz
     ORDER BY c.updated_at asc, c.id asc LIMIT $3::int)) s ORDER BY s.sort_key asc, s.id asc LIMIT $3::int
), found AS MATERIALIZED (
  SELECT c.*, row_number() OVER before AS n, sum(400 * (SELECT count(*) FROM customers u
   WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL)) OVER before AS bytes
    FROM (SELECT DISTINCT ON (c.sort_key, c.id) c.* FROM scanned c WHERE ($11::text IS NULL OR c.external_id = $11::text) AND c.state = ANY ($8::text[]) AND ($9::uuid IS NULL OR c.kind_id = $9::uuid)
 AND ($10::uuid IS NULL OR c.responsible_adviser_id = $10::uuid) ORDER BY c.sort_key asc, c.id asc LIMIT $2::int + 1) c
  WINDOW before AS (ORDER BY c.sort_key asc, c.id asc ROWS UNBOUNDED PRECEDING)
), shown AS MATERIALIZED (
  SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
)
SELECT (SELECT ('[' || coalesce(string_agg(CASE WHEN $5::boolean THEN json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'kind', (SELECT k.name FROM case_kinds k WHERE k.company_id = c.company_id AND k.id = c.kind_id), 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text END, ',' ORDER BY c.n), '') || ']') FROM shown c ) AS json,
       to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
  FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
    (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key desc, e.id desc LIMIT 1)
    UNION ALL
    (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key desc, e.id desc LIMIT 1)
  ) next ON true;

-- cases.of_company_by_kind_updated_at_desc (reads; pool: search)
WITH scanned AS MATERIALIZED (
  SELECT s.* FROM (
  (SELECT c.*, c.updated_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[1] AND c.kind_id = $9::uuid
       AND (c.updated_at, c.id) < ($6::timestamptz, $4::uuid)
       AND c.updated_at >= $7::timestamptz
     ORDER BY c.updated_at desc, c.id desc LIMIT $3::int) UNION ALL
  (SELECT c.*, c.updated_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[2] AND c.kind_id = $9::uuid
       AND (c.updated_at, c.id) < ($6::timestamptz, $4::uuid)
       AND c.updated_at >= $7::timestamptz
     ORDER BY c.updated_at desc, c.id desc LIMIT $3::int) UNION ALL
  (SELECT c.*, c.updated_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[3] AND c.kind_id = $9::uuid
       AND (c.updated_at, c.id) < ($6::timestamptz, $4::uuid)
       AND c.updated_at >= $7::timestamptz
     ORDER BY c.updated_at desc, c.id desc LIMIT $3::int)) s ORDER BY s.sort_key desc, s.id desc LIMIT $3::int
), found AS MATERIALIZED (
  SELECT c.*, row_number() OVER before AS n, sum(400 * (SELECT count(*) FROM customers u
   WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL)) OVER before AS bytes
    FROM (SELECT DISTINCT ON (c.sort_key, c.id) c.* FROM scanned c WHERE ($11::text IS NULL OR c.external_id = $11::text) AND c.state = ANY ($8::text[]) AND ($9::uuid IS NULL OR c.kind_id = $9::uuid)
 AND ($10::uuid IS NULL OR c.responsible_adviser_id = $10::uuid) ORDER BY c.sort_key desc, c.id desc LIMIT $2::int + 1) c
  WINDOW before AS (ORDER BY c.sort_key desc, c.id desc ROWS UNBOUNDED PRECEDING)
), shown AS MATERIALIZED (
  SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
)
SELECT (SELECT ('[' || coalesce(string_agg(CASE WHEN $5::boolean THEN json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'kind', (SELECT k.name FROM case_kinds k WHERE k.company_id = c.company_id AND k.id = c.kind_id), 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text END, ',' ORDER BY c.n), '') || ']') FROM shown c ) AS json,
       to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
  FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
    (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key asc, e.id asc LIMIT 1)
    UNION ALL
    (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key asc, e.id asc LIMIT 1)
  ) next ON true;

-- cases.of_company_by_opened_at_asc (reads; pool: search)
WITH scanned AS MATERIALIZED (
  SELECT s.* FROM (
  (SELECT c.*, c.opened_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[1] AND true
       AND (c.opened_at, c.id) > ($6::timestamptz, $4::uuid)
       AND c.opened_at < $7::timestamptz
     ORDER BY c.opened_at asc, c.id asc LIMIT $3::int) UNION ALL
  (SELECT c.*, c.opened_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[2] AND true
       AND (c.opened_at, c.id) > ($6::timestamptz, $4::uuid)
       AND c.opened_at < $7::timestamptz
     ORDER BY c.opened_at asc, c.id asc LIMIT $3::int) UNION ALL
  (SELECT c.*, c.opened_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[3] AND true
       AND (c.opened_at, c.id) > ($6::timestamptz, $4::uuid)
       AND c.opened_at < $7::timestamptz
     ORDER BY c.opened_at asc, c.id asc LIMIT $3::int)) s ORDER BY s.sort_key asc, s.id asc LIMIT $3::int
), found AS MATERIALIZED (
  SELECT c.*, row_number() OVER before AS n, sum(400 * (SELECT count(*) FROM customers u
   WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL)) OVER before AS bytes
    FROM (SELECT DISTINCT ON (c.sort_key, c.id) c.* FROM scanned c WHERE ($11::text IS NULL OR c.external_id = $11::text) AND c.state = ANY ($8::text[]) AND ($9::uuid IS NULL OR c.kind_id = $9::uuid)
 AND ($10::uuid IS NULL OR c.responsible_adviser_id = $10::uuid) ORDER BY c.sort_key asc, c.id asc LIMIT $2::int + 1) c
  WINDOW before AS (ORDER BY c.sort_key asc, c.id asc ROWS UNBOUNDED PRECEDING)
), shown AS MATERIALIZED (
  SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
)
SELECT (SELECT ('[' || coalesce(string_agg(CASE WHEN $5::boolean THEN json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'kind', (SELECT k.name FROM case_kinds k WHERE k.company_id = c.company_id AND k.id = c.kind_id), 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text END, ',' ORDER BY c.n), '') || ']') FROM shown c ) AS json,
       to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
  FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
    (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key desc, e.id desc LIMIT 1)
    UNION ALL
    (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key desc, e.id desc LIMIT 1)
  ) next ON true;

-- cases.of_company_by_opened_at_desc (reads; pool: search)
WITH scanned AS MATERIALIZED (
  SELECT s.* FROM (
  (SELECT c.*, c.opened_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[1] AND true
       AND (c.opened_at, c.id) < ($6::timestamptz, $4::uuid)
       AND c.opened_at >= $7::timestamptz
     ORDER BY c.opened_at desc, c.id desc LIMIT $3::int) UNION ALL
  (SELECT c.*, c.opened_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[2] AND true
       AND (c.opened_at, c.id) < ($6::timestamptz, $4::uuid)
       AND c.opened_at >= $7::timestamptz
     ORDER BY c.opened_at desc, c.id desc LIMIT $3::int) UNION ALL
  (SELECT c.*, c.opened_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[3] AND true
       AND (c.opened_at, c.id) < ($6::timestamptz, $4::uuid)
       AND c.opened_at >= $7::timestamptz
     ORDER BY c.opened_at desc, c.id desc LIMIT $3::int)) s ORDER BY s.sort_key desc, s.id desc LIMIT $3::int
), found AS MATERIALIZED (
  SELECT c.*, row_number() OVER before AS n, sum(400 * (SELECT count(*) FROM customers u
   WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL)) OVER before AS bytes
    FROM (SELECT DISTINCT ON (c.sort_key, c.id) c.* FROM scanned c WHERE ($11::text IS NULL OR c.external_id = $11::text) AND c.state = ANY ($8::text[]) AND ($9::uuid IS NULL OR c.kind_id = $9::uuid)
 AND ($10::uuid IS NULL OR c.responsible_adviser_id = $10::uuid) ORDER BY c.sort_key desc, c.id desc LIMIT $2::int + 1) c
  WINDOW before AS (ORDER BY c.sort_key desc, c.id desc ROWS UNBOUNDED PRECEDING)
), shown AS MATERIALIZED (
  SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
)
SELECT (SELECT ('[' || coalesce(string_agg(CASE WHEN $5::boolean THEN json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'kind', (SELECT k.name FROM case_kinds k WHERE k.company_id = c.company_id AND k.id = c.kind_id), 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text END, ',' ORDER BY c.n), '') || ']') FROM shown c ) AS json,
       to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
  FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
    (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key asc, e.id asc LIMIT 1)
    UNION ALL
    (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key asc, e.id asc LIMIT 1)
  ) next ON true;

-- cases.of_company_by_updated_at_asc (reads; pool: search)
WITH scanned AS MATERIALIZED (
  SELECT s.* FROM (
  (SELECT c.*, c.updated_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[1] AND true
       AND (c.updated_at, c.id) > ($6::timestamptz, $4::uuid)
       AND c.updated_at < $7::timestamptz
     ORDER BY c.updated_at asc, c.id asc LIMIT $3::int) UNION ALL
  (SELECT c.*, c.updated_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[2] AND true
       AND (c.updated_at, c.id) > ($6::timestamptz, $4::uuid)
       AND c.updated_at < $7::timestamptz
     ORDER BY c.updated_at asc, c.id asc LIMIT $3::int) UNION ALL
  (SELECT c.*, c.updated_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[3] AND true
       AND (c.updated_at, c.id) > ($6::timestamptz, $4::uuid)
       AND c.updated_at < $7::timestamptz
     ORDER BY c.updated_at asc, c.id asc LIMIT $3::int)) s ORDER BY s.sort_key asc, s.id asc LIMIT $3::int
), found AS MATERIALIZED (
  SELECT c.*, row_number() OVER before AS n, sum(400 * (SELECT count(*) FROM customers u
   WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL)) OVER before AS bytes
    FROM (SELECT DISTINCT ON (c.sort_key, c.id) c.* FROM scanned c WHERE ($11::text IS NULL OR c.external_id = $11::text) AND c.state = ANY ($8::text[]) AND ($9::uuid IS NULL OR c.kind_id = $9::uuid)
 AND ($10::uuid IS NULL OR c.responsible_adviser_id = $10::uuid) ORDER BY c.sort_key asc, c.id asc LIMIT $2::int + 1) c
  WINDOW before AS (ORDER BY c.sort_key asc, c.id asc ROWS UNBOUNDED PRECEDING)
), shown AS MATERIALIZED (
  SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
)
SELECT (SELECT ('[' || coalesce(string_agg(CASE WHEN $5::boolean THEN json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'kind', (SELECT k.name FROM case_kinds k WHERE k.company_id = c.company_id AND k.id = c.kind_id), 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text END, ',' ORDER BY c.n), '') || ']') FROM shown c ) AS json,
       to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
  FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
    (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key desc, e.id desc LIMIT 1)
    UNION ALL
    (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key desc, e.id desc LIMIT 1)
  ) next ON true;

-- cases.of_company_by_updated_at_desc (reads; pool: search)
WITH scanned AS MATERIALIZED (
  SELECT s.* FROM (
  (SELECT c.*, c.updated_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[1] AND true
       AND (c.updated_at, c.id) < ($6::timestamptz, $4::uuid)
       AND c.updated_at >= $7::timestamptz
     ORDER BY c.updated_at desc, c.id desc LIMIT $3::int) UNION ALL
  (SELECT c.*, c.updated_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[2] AND true
       AND (c.updated_at, c.id) < ($6::timestamptz, $4::uuid)
       AND c.updated_at >= $7::timestamptz
     ORDER BY c.updated_at desc, c.id desc LIMIT $3::int) UNION ALL
  (SELECT c.*, c.updated_at AS sort_key FROM cases c
     WHERE c.company_id = $1::uuid AND true AND c.state = ($8::text[])[3] AND true
       AND (c.updated_at, c.id) < ($6::timestamptz, $4::uuid)
       AND c.updated_at >= $7::timestamptz
     ORDER BY c.updated_at desc, c.id desc LIMIT $3::int)) s ORDER BY s.sort_key desc, s.id desc LIMIT $3::int
), found AS MATERIALIZED (
  SELECT c.*, row_number() OVER before AS n, sum(400 * (SELECT count(*) FROM customers u
   WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL)) OVER before AS bytes
    FROM (SELECT DISTINCT ON (c.sort_key, c.id) c.* FROM scanned c WHERE ($11::text IS NULL OR c.external_id = $11::text) AND c.state = ANY ($8::text[]) AND ($9::uuid IS NULL OR c.kind_id = $9::uuid)
 AND ($10::uuid IS NULL OR c.responsible_adviser_id = $10::uuid) ORDER BY c.sort_key desc, c.id desc LIMIT $2::int + 1) c
  WINDOW before AS (ORDER BY c.sort_key desc, c.id desc ROWS UNBOUNDED PRECEDING)
), shown AS MATERIALIZED (
  SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
)
SELECT (SELECT ('[' || coalesce(string_agg(CASE WHEN $5::boolean THEN json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'kind', (SELECT k.name FROM case_kinds k WHERE k.company_id = c.company_id AND k.id = c.kind_id), 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text END, ',' ORDER BY c.n), '') || ']') FROM shown c ) AS json,
       to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
  FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
    (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key asc, e.id asc LIMIT 1)
    UNION ALL
    (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key asc, e.id asc LIMIT 1)
  ) next ON true;

-- cases.overview (reads; pool: list)
  SELECT json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'kind', (SELECT k.name FROM case_kinds k WHERE k.company_id = c.company_id AND k.id = c.kind_id), 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'counts', json_build_object('entries', CASE WHEN $5::boolean THEN (SELECT count(*) FROM people x WHERE x.company_id = c.company_id AND x.case_id = c.id AND x.deleted_at IS NULL) END, 'interactions', CASE WHEN $6::boolean THEN (SELECT count(*) FROM interactions x WHERE x.company_id = c.company_id AND x.case_id = c.id AND x.deleted_at IS NULL) END, 'invoices', CASE WHEN $7::boolean THEN (SELECT count(*) FROM invoices x WHERE x.company_id = c.company_id AND x.case_id = c.id AND true) END, 'appointments', CASE WHEN $8::boolean THEN (SELECT count(*) FROM appointments x WHERE x.company_id = c.company_id AND x.case_id = c.id AND x.deleted_at IS NULL) END), 'next_appointment', CASE WHEN $8::boolean THEN (
SELECT json_build_object('id', a.id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', to_char(a.end_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'adviser_email', a.adviser_email, 'location', a.location)
  FROM appointments a
 WHERE a.company_id = c.company_id AND a.case_id = c.id AND a.deleted_at IS NULL AND a.cancelled = 0 AND a.start_at >= $3::timestamptz
 ORDER BY a.start_at, a.id LIMIT 1) END, 'balance', CASE WHEN $7::boolean THEN (
SELECT json_build_object('outstanding', coalesce(sum(o.amount), 0.00), 'overdue', coalesce(sum(o.amount) FILTER (WHERE o.date_due < $4::timestamptz), 0.00))
  FROM (SELECT CASE WHEN v.cancelled_at IS NULL THEN greatest(v.total - v.paid, 0.00) ELSE 0.00 END AS amount, v.date_due FROM invoices v WHERE v.company_id = c.company_id AND v.case_id = c.id) o) END)::text AS json
    FROM cases c WHERE c.company_id = $1::uuid AND c.id = $2::uuid;

-- cases.search (reads; pool: search)
WITH listed AS MATERIALIZED (SELECT c.* FROM cases c WHERE c.company_id = $1::uuid AND (c.search LIKE lower($4::text) OR c.id IN (
SELECT u.case_id FROM customers u
 WHERE u.company_id = $1::uuid AND u.removed_at IS NULL AND (u.search LIKE lower($4::text) OR u.phone_e164 = $5::text))))
 SELECT (SELECT count(*)::int FROM listed) AS total,
        (SELECT coalesce(json_agg(json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'kind', (SELECT k.name FROM case_kinds k WHERE k.company_id = c.company_id AND k.id = c.kind_id), 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY c.created_at DESC, c.id DESC), '[]')::text
           FROM (SELECT * FROM listed c ORDER BY c.created_at DESC, c.id DESC
                  LIMIT $2::int OFFSET $3::int) c) AS json;

-- cases.set_external_id (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS external_id, $5::timestamptz AS now, $6::json AS origin, 1 AS nth), old AS (
  SELECT c.*, input.nth FROM cases c JOIN input ON c.company_id = input.company_id AND c.id = input.id
     FOR NO KEY UPDATE OF c
), c AS (
  UPDATE cases c SET external_id = input.external_id, updated_at = input.now
    FROM old JOIN input USING (nth) WHERE c.company_id = old.company_id AND c.id = old.id
  RETURNING c.*, input.nth
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT c.company_id, c.id, c.id, 'case.updated', input.now::timestamptz, input.origin::json, (SELECT json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old c)
     FROM c JOIN input USING (nth)
)
SELECT nth, NULL AS version, json_build_object('id', c.id, 'external_id', c.external_id)::text AS json FROM c;

-- cases.set_external_id keyed (writes; pool: short)
WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS external_id, $5::timestamptz AS now, $6::json AS origin, $7::uuid AS credential_id, $8::bytea AS key_sha256, $9::bytea AS request_sha256, $10::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL),
input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS external_id, $5::timestamptz AS now, $6::json AS origin, $7::uuid AS credential_id, $8::bytea AS key_sha256, $9::bytea AS request_sha256, $10::text AS etag_suffix, 1 AS nth FROM guard), old AS (
  SELECT c.*, input.nth FROM cases c JOIN input ON c.company_id = input.company_id AND c.id = input.id
     FOR NO KEY UPDATE OF c
), c AS (
  UPDATE cases c SET external_id = input.external_id, updated_at = input.now
    FROM old JOIN input USING (nth) WHERE c.company_id = old.company_id AND c.id = old.id
  RETURNING c.*, input.nth
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT c.company_id, c.id, c.id, 'case.updated', input.now::timestamptz, input.origin::json, (SELECT json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old c)
     FROM c JOIN input USING (nth)
), answer AS (
  SELECT nth, NULL AS version, json_build_object('id', c.id, 'external_id', c.external_id)::text AS json FROM c
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- cases.show (reads; pool: short)
SELECT json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'kind', (SELECT k.name FROM case_kinds k WHERE k.company_id = c.company_id AND k.id = c.kind_id), 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM cases c WHERE c.company_id = $1::uuid AND c.id = $2::uuid;

-- cases.update (writes; pool: short)
  WITH old AS (
    SELECT c.* FROM cases c WHERE c.company_id = $1::uuid AND c.id = $2::uuid FOR NO KEY UPDATE
  ), c AS (
    UPDATE cases c
       SET (reference, kind_id, state, opened_at, closed_at, responsible_adviser_id) = (
             SELECT d.reference, d.kind_id, d.state, d.opened_at, CASE WHEN d.state <> 'open' THEN coalesce(d.closed_at, $4::timestamptz) END, d.responsible_adviser_id FROM json_populate_record(c, $3::json) d),
           updated_at = $4::timestamptz
      FROM old WHERE c.company_id = old.company_id AND c.id = old.id
       AND (SELECT
(d.kind_id IS NULL OR d.kind_id = c.kind_id OR EXISTS (SELECT 1 FROM case_kinds k WHERE k.company_id = $1::uuid AND k.id = d.kind_id AND k.removed_at IS NULL))
AND (d.responsible_adviser_id IS NULL OR d.responsible_adviser_id = c.responsible_adviser_id
     OR EXISTS (SELECT 1 FROM advisers a WHERE a.company_id = $1::uuid AND a.id = d.responsible_adviser_id AND a.removed_at IS NULL))
AND CASE WHEN d.state = 'open' THEN d.closed_at IS NULL ELSE coalesce(d.closed_at, $4::timestamptz) >= d.opened_at END
              FROM json_populate_record(c, $3::json) d)
    RETURNING c.*
  ), updated AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
     SELECT c.company_id, c.id, c.id, 'case.updated', $4::timestamptz::timestamptz, $5::json::json, (SELECT json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old c)
       FROM c JOIN old ON c.state = old.state
  ), reopened AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
     SELECT c.company_id, c.id, c.id, 'case.reopened', $4::timestamptz::timestamptz, $5::json::json, (SELECT json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old c)
       FROM c JOIN old ON c.state = 'open' AND old.state <> 'open'
  ), closed AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
     SELECT c.company_id, c.id, c.id, 'case.closed', $4::timestamptz::timestamptz, $5::json::json, (SELECT json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old c)
       FROM c JOIN old ON c.state = 'closed' AND old.state <> 'closed'
  ), archived AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
     SELECT c.company_id, c.id, c.id, 'case.archived', $4::timestamptz::timestamptz, $5::json::json, (SELECT json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old c)
       FROM c JOIN old ON c.state = 'archived' AND old.state <> 'archived'
  )
  SELECT json_build_object('id', c.id, 'external_id', c.external_id, 'reference', c.reference, 'kind_id', c.kind_id, 'kind', (SELECT k.name FROM case_kinds k WHERE k.company_id = c.company_id AND k.id = c.kind_id), 'state', c.state, 'opened_at', to_char(c.opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'closed_at', to_char(c.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'responsible_adviser_id', c.responsible_adviser_id, 'customers', (SELECT coalesce(json_agg(json_build_object('id', u.id, 'case_id', u.case_id, 'external_id', u.external_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY u.created_at, u.id), '[]') FROM customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL), 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM c;

