-- search.advance (writes; pool: short)
UPDATE search_progress
   SET position = $2::bigint, built_to = $3::uuid, cases = $4::uuid[],
       done_kind = $5::text, done_id = $6::uuid, retry_at = NULL,
       failures = CASE WHEN $7::boolean THEN 0 ELSE failures END
 WHERE company_id = $1::uuid;

-- search.begin_building (writes; pool: short)
INSERT INTO search_progress AS p (company_id, edition, position, built_to, phone_region)
SELECT c.id, $1::int, $2::bigint, '00000000-0000-0000-0000-000000000000'::uuid, c.phone_region
  FROM companies c LEFT JOIN search_progress p ON p.company_id = c.id
 WHERE c.removal_started_at IS NULL
   AND (p.company_id IS NULL OR p.edition < $1::int OR p.phone_region IS DISTINCT FROM c.phone_region)
    ON CONFLICT (company_id) DO UPDATE
       SET edition = excluded.edition, position = excluded.position, built_to = excluded.built_to,
           phone_region = excluded.phone_region, cases = '{}', done_kind = NULL, done_id = NULL, failures = 0,
           retry_at = NULL
     WHERE p.edition < excluded.edition OR p.phone_region IS DISTINCT FROM excluded.phone_region;

-- search.cases_to_index (reads; pool: search)
SELECT coalesce(sum(cardinality(cases)), 0)::int AS value FROM search_progress;

-- search.changed_records (reads; pool: short)
WITH e AS MATERIALIZED (
  SELECT e.position, e.type, split_part(e.type, '.', 1) AS record, e.case_id, e.record_id, e.before FROM events e
   WHERE e.company_id = $1::uuid AND e.position > $2::bigint AND e.position <= $3::bigint
   ORDER BY e.position LIMIT $4::int
)
SELECT DISTINCT e.record, e.case_id, e.record_id, (SELECT max(position) FROM e)::text AS last_position,
       (SELECT count(*)::int FROM e) AS events,
       EXISTS (SELECT FROM e JOIN case_kinds k ON k.company_id = $1::uuid AND k.id = e.record_id
                WHERE e.type = 'case_kind.updated' AND k.name <> e.before->>'name') AS has_renamed_kind
  FROM e;

-- search.claim_cases (writes; pool: short)
SELECT p.company_id, p.company_number, p.position::text, p.built_to, p.phone_region, p.cases, p.done_kind, p.done_id
  FROM search_progress p JOIN companies c ON c.id = p.company_id
 WHERE p.edition = $1::int
   AND c.removal_started_at IS NULL AND (p.retry_at IS NULL OR p.retry_at <= $2::timestamptz) AND (cardinality(p.cases) > 0 OR p.built_to IS NOT NULL)
 ORDER BY p.built_to IS NOT NULL, CASE WHEN p.built_to IS NULL THEN random() END, p.position
 LIMIT 1 FOR NO KEY UPDATE OF p SKIP LOCKED;

-- search.claim_events (writes; pool: short)
SELECT p.company_id, p.company_number, p.position::text, p.built_to, p.phone_region, p.cases, p.done_kind, p.done_id
  FROM search_progress p JOIN companies c ON c.id = p.company_id
 WHERE p.edition = $1::int
   AND c.removal_started_at IS NULL AND (p.retry_at IS NULL OR p.retry_at <= $2::timestamptz) AND cardinality(p.cases) < $4::int
   AND EXISTS (SELECT FROM events e WHERE e.company_id = p.company_id AND e.position > p.position
                  AND e.position <= $3::bigint)
 ORDER BY p.position LIMIT 1 FOR NO KEY UPDATE OF p SKIP LOCKED;

-- search.companies_to_build (reads; pool: search)
SELECT count(*)::int AS value FROM companies c LEFT JOIN search_progress p ON p.company_id = c.id
 WHERE c.removal_started_at IS NULL AND (p.company_id IS NULL OR p.built_to IS NOT NULL);

-- search.failing_companies (reads; pool: search)
SELECT count(*)::int AS value FROM search_progress WHERE failures > 0;

-- search.find_in_index_by_1 (reads; pool: index)
SELECT CASE WHEN s.earlier IS NULL AND s.phase > 0 AND h.words @@ ($12::text[])[1]::tsquery THEN 0 WHEN s.earlier IS NULL AND s.phase > 1 AND h.words @@ ($12::text[])[2]::tsquery THEN 1 WHEN s.earlier IS NULL AND s.phase > 2 AND h.words @@ ($12::text[])[3]::tsquery THEN 2 WHEN s.earlier IS NULL AND s.phase > 3 AND h.words @@ ($12::text[])[4]::tsquery THEN 3
            ELSE s.phase END AS phase, h.kind, h.case_id, h.id, to_char(h.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
  FROM (SELECT phase, first::tsquery, second::tsquery, checks_first, others::tsquery, earlier::tsquery, from_at,
               before_at, before_id
          FROM unnest($3::int[], $4::text[], $5::text[], $6::boolean[], $7::text[],
                      $8::text[], $9::timestamptz[], $10::timestamptz[], $11::uuid[])
            AS s (phase, first, second, checks_first, others, earlier, from_at, before_at, before_id) OFFSET 0) s
 CROSS JOIN LATERAL (
  SELECT d.kind, d.case_id, d.id, d.at, d.words FROM search_documents d
   WHERE words_of_period(d.at, d.words) @@ s.first
     AND d.company_id IS NOT DISTINCT FROM $1::uuid AND d.kind = ANY ($2::text[])
     AND CASE WHEN d.at >= s.from_at THEN (d.at, d.id) < (s.before_at, s.before_id) END
     AND (s.others IS NULL OR d.words @@ s.others) AND (s.earlier IS NULL OR NOT d.words @@ s.earlier)
   ORDER BY d.at DESC, d.id DESC LIMIT $13::int) h
 LIMIT $13::int;

-- search.find_in_index_by_2 (reads; pool: index)
SELECT CASE WHEN s.earlier IS NULL AND s.phase > 0 AND h.words @@ ($12::text[])[1]::tsquery THEN 0 WHEN s.earlier IS NULL AND s.phase > 1 AND h.words @@ ($12::text[])[2]::tsquery THEN 1 WHEN s.earlier IS NULL AND s.phase > 2 AND h.words @@ ($12::text[])[3]::tsquery THEN 2 WHEN s.earlier IS NULL AND s.phase > 3 AND h.words @@ ($12::text[])[4]::tsquery THEN 3
            ELSE s.phase END AS phase, h.kind, h.case_id, h.id, to_char(h.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
  FROM (SELECT phase, first::tsquery, second::tsquery, checks_first, others::tsquery, earlier::tsquery, from_at,
               before_at, before_id
          FROM unnest($3::int[], $4::text[], $5::text[], $6::boolean[], $7::text[],
                      $8::text[], $9::timestamptz[], $10::timestamptz[], $11::uuid[])
            AS s (phase, first, second, checks_first, others, earlier, from_at, before_at, before_id) OFFSET 0) s
 CROSS JOIN LATERAL (
  SELECT d.kind, d.case_id, d.id, d.at, d.words FROM search_documents d
   WHERE words_of_period(d.at, d.words) @@ s.first AND words_of_period(d.at, d.words) @@ s.second
     AND d.company_id IS NOT DISTINCT FROM $1::uuid AND d.kind = ANY ($2::text[])
     AND CASE WHEN d.at >= s.from_at THEN (d.at, d.id) < (s.before_at, s.before_id) END
     AND (NOT s.checks_first OR (SELECT true FROM search_documents e WHERE words_of_period(e.at, e.words) @@ s.first LIMIT 1))
     AND (s.others IS NULL OR d.words @@ s.others) AND (s.earlier IS NULL OR NOT d.words @@ s.earlier)
   ORDER BY d.at DESC, d.id DESC LIMIT $13::int) h
 LIMIT $13::int;

-- search.lag (reads; pool: search)
SELECT greatest(0, coalesce(max(extract(epoch FROM $1::timestamptz - e.at)), 0))::float8 AS value
  FROM search_progress p CROSS JOIN LATERAL (
    SELECT e.at FROM events e WHERE e.company_id = p.company_id AND e.position > p.position
     ORDER BY e.position LIMIT 1) e;

-- search.list_case_documents (reads; pool: short)
SELECT k.kind, k.case_id, k.id FROM (
  (SELECT 'case' AS kind, c.id AS case_id, c.id AS id
    FROM cases c
   WHERE c.company_id = $1::uuid AND c.id = $2::uuid AND true
     AND c.id > CASE WHEN $3::text < 'case' THEN '00000000-0000-0000-0000-000000000000'::uuid
                            WHEN $3::text = 'case' THEN $4::uuid ELSE 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid END
   ORDER BY c.id LIMIT $5::int)
   UNION ALL
  (SELECT 'customer' AS kind, u.case_id AS case_id, u.id AS id
    FROM customers u
   WHERE u.company_id = $1::uuid AND u.case_id = $2::uuid AND u.removed_at IS NULL
     AND u.id > CASE WHEN $3::text < 'customer' THEN '00000000-0000-0000-0000-000000000000'::uuid
                            WHEN $3::text = 'customer' THEN $4::uuid ELSE 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid END
   ORDER BY u.id LIMIT $5::int)
   UNION ALL
  (SELECT 'entry' AS kind, p.case_id AS case_id, p.id AS id
    FROM people p
   WHERE p.company_id = $1::uuid AND p.case_id = $2::uuid AND p.deleted_at IS NULL
     AND p.id > CASE WHEN $3::text < 'entry' THEN '00000000-0000-0000-0000-000000000000'::uuid
                            WHEN $3::text = 'entry' THEN $4::uuid ELSE 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid END
   ORDER BY p.id LIMIT $5::int)
   UNION ALL
  (SELECT 'interaction' AS kind, i.case_id AS case_id, i.id AS id
    FROM interactions i
   WHERE i.company_id = $1::uuid AND i.case_id = $2::uuid AND i.deleted_at IS NULL
     AND i.id > CASE WHEN $3::text < 'interaction' THEN '00000000-0000-0000-0000-000000000000'::uuid
                            WHEN $3::text = 'interaction' THEN $4::uuid ELSE 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid END
   ORDER BY i.id LIMIT $5::int)
   UNION ALL
  (SELECT 'invoice' AS kind, v.case_id AS case_id, v.id AS id
    FROM invoices v
   WHERE v.company_id = $1::uuid AND v.case_id = $2::uuid AND true
     AND v.id > CASE WHEN $3::text < 'invoice' THEN '00000000-0000-0000-0000-000000000000'::uuid
                            WHEN $3::text = 'invoice' THEN $4::uuid ELSE 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid END
   ORDER BY v.id LIMIT $5::int)
   UNION ALL
  (SELECT 'appointment' AS kind, a.case_id AS case_id, a.id AS id
    FROM appointments a
   WHERE a.company_id = $1::uuid AND a.case_id = $2::uuid AND a.deleted_at IS NULL
     AND a.id > CASE WHEN $3::text < 'appointment' THEN '00000000-0000-0000-0000-000000000000'::uuid
                            WHEN $3::text = 'appointment' THEN $4::uuid ELSE 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid END
   ORDER BY a.id LIMIT $5::int)
   UNION
  (SELECT d.kind, d.case_id, d.id FROM search_documents d
    WHERE d.company_id = $1::uuid AND d.case_id = $2::uuid
      AND (d.kind, d.id) > ($3::text, $4::uuid)
    ORDER BY d.kind, d.id LIMIT $5::int)) k
 ORDER BY k.kind, k.id LIMIT $5::int;

-- search.load_documents (reads; pool: short)
WITH k AS MATERIALIZED (
  SELECT * FROM unnest($2::text[], $3::uuid[], $4::uuid[]) AS k (kind, case_id, id)
), contexts AS MATERIALIZED (
  SELECT c.id AS case_id, c.reference,
         (SELECT string_agg(n.name, E'\n')
            FROM (SELECT concat_ws(' ', nullif(u.title, ''), nullif(u.first_names, ''), nullif(u.last_name, '')) AS name FROM customers u
                   WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL
                   ORDER BY u.created_at, u.id LIMIT 20) n) AS customers
    FROM (SELECT DISTINCT case_id FROM k WHERE $5::boolean) k
   CROSS JOIN LATERAL (
     SELECT c.* FROM cases c WHERE c.company_id = $1::uuid AND c.id = k.case_id OFFSET 0) c
)
SELECT d.*, c.reference, c.customers
  FROM (
SELECT k.kind, k.case_id, k.id, to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, to_char(least(c.created_at, c.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS since, json_build_object('reference', c.reference, 'kind', (SELECT k.name FROM case_kinds k WHERE k.company_id = c.company_id AND k.id = c.kind_id), 'external_id', c.external_id)::text AS fields
  FROM k JOIN cases c ON c.company_id = $1::uuid
    AND c.id = k.case_id AND c.id = k.id AND true
 WHERE k.kind = 'case'
 UNION ALL
SELECT k.kind, k.case_id, k.id, to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, to_char(least(u.created_at, u.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS since, json_build_object('name', concat_ws(' ', nullif(u.title, ''), nullif(u.first_names, ''), nullif(u.last_name, '')), 'email', u.email, 'phone', u.phone, 'external_id', u.external_id)::text AS fields
  FROM k JOIN customers u ON u.company_id = $1::uuid
    AND u.case_id = k.case_id AND u.id = k.id AND u.removed_at IS NULL
 WHERE k.kind = 'customer'
 UNION ALL
SELECT k.kind, k.case_id, k.id, to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, to_char(least(p.created_at, p.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS since, json_build_object('name', concat_ws(' ', nullif(p.title, ''), nullif(p.first_names, ''), nullif(p.middle_names, ''), nullif(p.last_name, '')), 'other_names', concat_ws(' ', nullif(p.known_as, ''), nullif(p.preferred_name, ''), nullif(p.alias, '')), 'email', p.email, 'tel_1', p.tel_1, 'tel_2', p.tel_2, 'address', (SELECT concat_ws(' ', nullif(a.address_1, ''), nullif(a.address_2, ''), nullif(a.address_3, '')) FROM addresses a
    WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id), 'postcode', (SELECT a.postcode FROM addresses a
    WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id), 'occupation', p.occupation, 'external_id', p.external_id, 'tags', array_to_string(p.tags || p.custom_tags, ' '))::text AS fields
  FROM k JOIN people p ON p.company_id = $1::uuid
    AND p.case_id = k.case_id AND p.id = k.id AND p.deleted_at IS NULL
 WHERE k.kind = 'entry'
 UNION ALL
SELECT k.kind, k.case_id, k.id, to_char(i.happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, to_char(least(i.happened_at, i.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS since, json_build_object('notes', i.notes, 'sender', i.sender, 'recipient', i.recipient, 'type', i.type, 'external_id', i.external_id)::text AS fields
  FROM k JOIN interactions i ON i.company_id = $1::uuid
    AND i.case_id = k.case_id AND i.id = k.id AND i.deleted_at IS NULL
 WHERE k.kind = 'interaction'
 UNION ALL
SELECT k.kind, k.case_id, k.id, to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, to_char(least(v.date_created, v.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS since, json_build_object('invoice_number', v.invoice_number, 'recipients_name', v.recipients_name, 'items', (SELECT string_agg(t.description, E'\n' ORDER BY t.position)
    FROM (SELECT t.description, t.position FROM invoice_items t
           WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id
             AND t.cancelled_at IS NULL ORDER BY t.position LIMIT 200) t), 'total', v.total::text, 'external_id', v.external_id)::text AS fields
  FROM k JOIN invoices v ON v.company_id = $1::uuid
    AND v.case_id = k.case_id AND v.id = k.id AND true
 WHERE k.kind = 'invoice'
 UNION ALL
SELECT k.kind, k.case_id, k.id, to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, to_char(least(a.start_at, a.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS since, json_build_object('notes', a.notes, 'location', a.location, 'type', a.type, 'email_recipient', a.email_recipient, 'sms_recipient', a.sms_recipient, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS fields
  FROM k JOIN appointments a ON a.company_id = $1::uuid
    AND a.case_id = k.case_id AND a.id = k.id AND a.deleted_at IS NULL
 WHERE k.kind = 'appointment') d
  LEFT JOIN contexts c ON c.case_id = d.case_id;

-- search.look_through_newest (reads; pool: index)
WITH q AS MATERIALIZED (
  SELECT p.company_number, p.built_to IS NULL AS complete,
         replace(($5::text[])[1], '@', p.company_number::text)::tsquery AS phase_0, replace(($5::text[])[2], '@', p.company_number::text)::tsquery AS phase_1, replace(($5::text[])[3], '@', p.company_number::text)::tsquery AS phase_2, replace(($5::text[])[4], '@', p.company_number::text)::tsquery AS phase_3, replace(($5::text[])[5], '@', p.company_number::text)::tsquery AS phase_4
    FROM search_progress p WHERE p.company_id = $1::uuid
), newest AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at,
         CASE WHEN d.kind <> ALL ($4::text[]) OR NOT d.words @@ q.phase_4 THEN NULL
              WHEN d.words @@ q.phase_0 THEN 0 WHEN d.words @@ q.phase_1 THEN 1 WHEN d.words @@ q.phase_2 THEN 2 WHEN d.words @@ q.phase_3 THEN 3 ELSE 4 END AS phase
    FROM q, (
      SELECT d.* FROM search_documents d
       WHERE d.company_id = $1::uuid AND (d.at, d.id) < ($2::timestamptz, $3::uuid)
       ORDER BY d.at DESC, d.id DESC LIMIT 600) d
), hits AS (
  SELECT n.*, row_number() OVER (PARTITION BY phase ORDER BY at DESC, id DESC) AS nth FROM newest n
   WHERE phase IS NOT NULL
), sample AS MATERIALIZED (
  -- Long ones are unpacked once.
  SELECT s.at, s.words || ''::tsvector AS words FROM (
      SELECT d.* FROM search_documents d
       WHERE d.company_id = $1::uuid AND (d.at, d.id) < ($2::timestamptz, $3::uuid)
       ORDER BY d.at DESC, d.id DESC LIMIT 300) s
   WHERE s.kind = ANY ($4::text[]) AND cardinality($6::text[]) > 0
)
SELECT q.company_number, q.complete, n.records, n.newest_at,
       (SELECT to_char(d.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') FROM search_documents d WHERE d.company_id = $1::uuid
         ORDER BY d.at, d.id LIMIT 1) AS oldest_at,
       (SELECT extract(epoch FROM max(at) - min(at))::float8 FROM sample) AS sampled_seconds,
       ARRAY(SELECT (SELECT count(*)::int FROM sample s WHERE s.words @@ c.condition)
               FROM (SELECT replace(t.condition, '@', q.company_number::text)::tsquery AS condition
                       FROM unnest($6::text[]) AS t (condition) OFFSET 0) c) AS frequencies,
       ARRAY(SELECT json_build_object('phase', h.phase, 'kind', h.kind, 'case_id', h.case_id, 'id', h.id,
                      'at', to_char(h.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
               FROM hits h WHERE h.nth <= $7::int ORDER BY h.phase, h.nth) AS hits
  FROM q, (SELECT count(*)::int AS records, to_char(max(at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS newest_at FROM newest) n;

-- search.next_cases (reads; pool: short)
SELECT id FROM cases WHERE company_id = $1::uuid AND id > $2::uuid ORDER BY id LIMIT $3::int;

-- search.postpone (writes; pool: short)
UPDATE search_progress
   SET failures = failures + 1,
       retry_at = $2::timestamptz + least(interval '10 minutes', interval '10 seconds' * 2 ^ least(failures, 10))
 WHERE company_id = $1::uuid;

-- search.rebuild (writes; pool: short)
WITH p AS (
  UPDATE search_progress SET edition = 0
   WHERE $1::uuid IS NULL OR company_id = $1::uuid RETURNING 1
)
SELECT count(*)::int AS companies FROM p;

-- search.store_documents (writes; pool: short)
WITH n AS MATERIALIZED (
  SELECT * FROM unnest($2::text[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::text[])
             AS n (kind, case_id, id, at, words)
), gone AS (
  DELETE FROM search_documents d USING n
   WHERE n.words IS NULL AND d.company_id = $1::uuid AND d.case_id = n.case_id AND d.kind = n.kind
     AND d.id = n.id
)
INSERT INTO search_documents AS d (company_id, case_id, kind, id, at, words)
SELECT $1::uuid, n.case_id, n.kind, n.id, n.at, n.words::tsvector FROM n WHERE n.words IS NOT NULL
    ON CONFLICT (company_id, case_id, kind, id) DO UPDATE SET at = excluded.at, words = excluded.words
 WHERE (d.at, d.words) IS DISTINCT FROM (excluded.at, excluded.words);

