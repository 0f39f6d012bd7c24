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

-- search.find_documents_by_1 (reads; pool: search)
WITH q AS MATERIALIZED (
  SELECT p.built_to IS NULL AS complete, replace($2::text, '@', p.company_number::text)::tsquery AS identity_exact,
         replace($3::text, '@', p.company_number::text)::tsquery AS identity_begun,
         replace($4::text, '@', p.company_number::text)::tsquery AS own_exact,
         replace($5::text, '@', p.company_number::text)::tsquery AS own_begun,
         replace($6::text, '@', p.company_number::text)::tsquery AS anywhere_prefix,
         replace(($7::text[])[1], '@', p.company_number::text)::tsquery AS identity_words_1,
         replace(($8::text[])[1], '@', p.company_number::text)::tsquery AS identity_words_begun_1,
         replace(($9::text[])[1], '@', p.company_number::text)::tsquery AS words_1,
         replace(($10::text[])[1], '@', p.company_number::text)::tsquery AS words_begun_1,
         replace(($11::text[])[1], '@', p.company_number::text)::tsquery AS words_prefix_1
    FROM search_progress p WHERE p.company_id = $1::uuid
), newest AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM unnest($12::text[]) AS k (kind) CROSS JOIN LATERAL (
      SELECT n.* FROM search_documents n WHERE n.company_id = $1::uuid AND n.kind = k.kind
       ORDER BY n.at DESC, n.id DESC LIMIT 600 / cardinality($12::text[])) d
   WHERE true AND d.words @@ (SELECT anywhere_prefix FROM q)
), known AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM search_documents d WHERE (SELECT count(*) FROM newest WHERE rank >= 4) < 5
     AND d.words @@ (SELECT identity_words_1 FROM q)
     AND d.company_id IS NOT DISTINCT FROM $1::uuid LIMIT 200
), recent AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM unnest($12::text[]) AS k (kind) CROSS JOIN LATERAL (
      SELECT n.* FROM search_documents n WHERE n.company_id = $1::uuid AND n.kind = k.kind
       ORDER BY n.at DESC, n.id DESC LIMIT 6000 / cardinality($12::text[])) d
   WHERE (SELECT count(*) BETWEEN 3 AND $13::int - 1 FROM newest) AND d.words @@ (SELECT anywhere_prefix FROM q)
), first AS MATERIALIZED (
  SELECT * FROM known UNION SELECT * FROM newest UNION SELECT * FROM recent
), whole AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM search_documents d WHERE (SELECT count(*) FROM first) < $13::int
     AND d.words @@ (SELECT words_1 FROM q)
     AND d.company_id IS NOT DISTINCT FROM $1::uuid LIMIT 500
), known_begun AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM search_documents d WHERE (SELECT count(*) FROM first) + (SELECT count(*) FROM whole) < $13::int
     AND d.words @@ (SELECT identity_words_begun_1 FROM q)
     AND d.company_id IS NOT DISTINCT FROM $1::uuid LIMIT 200
), begun AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM search_documents d WHERE (SELECT count(*) FROM first) + (SELECT count(*) FROM whole) + (SELECT count(*) FROM known_begun) < $13::int
     AND d.words @@ (SELECT words_begun_1 FROM q)
     AND d.company_id IS NOT DISTINCT FROM $1::uuid LIMIT 500
), found AS MATERIALIZED (
  SELECT * FROM first UNION SELECT * FROM whole UNION SELECT * FROM known_begun UNION SELECT * FROM begun
), prefixed AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM search_documents d WHERE NOT EXISTS (SELECT FROM found)
     AND d.words @@ (SELECT words_prefix_1 FROM q)
     AND d.company_id IS NOT DISTINCT FROM $1::uuid LIMIT 500
), best AS (
  SELECT * FROM found UNION ALL SELECT * FROM prefixed ORDER BY rank DESC, at DESC, id DESC LIMIT $13::int
)
SELECT q.complete, b.kind, b.case_id, b.id, to_char(b.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
  FROM q LEFT JOIN best b ON true ORDER BY b.rank DESC, b.at DESC, b.id DESC;

-- search.find_documents_by_2 (reads; pool: search)
WITH q AS MATERIALIZED (
  SELECT p.built_to IS NULL AS complete, replace($2::text, '@', p.company_number::text)::tsquery AS identity_exact,
         replace($3::text, '@', p.company_number::text)::tsquery AS identity_begun,
         replace($4::text, '@', p.company_number::text)::tsquery AS own_exact,
         replace($5::text, '@', p.company_number::text)::tsquery AS own_begun,
         replace($6::text, '@', p.company_number::text)::tsquery AS anywhere_prefix,
         replace(($7::text[])[1], '@', p.company_number::text)::tsquery AS identity_words_1,
         replace(($7::text[])[2], '@', p.company_number::text)::tsquery AS identity_words_2,
         replace(($8::text[])[1], '@', p.company_number::text)::tsquery AS identity_words_begun_1,
         replace(($8::text[])[2], '@', p.company_number::text)::tsquery AS identity_words_begun_2,
         replace(($9::text[])[1], '@', p.company_number::text)::tsquery AS words_1,
         replace(($9::text[])[2], '@', p.company_number::text)::tsquery AS words_2,
         replace(($10::text[])[1], '@', p.company_number::text)::tsquery AS words_begun_1,
         replace(($10::text[])[2], '@', p.company_number::text)::tsquery AS words_begun_2,
         replace(($11::text[])[1], '@', p.company_number::text)::tsquery AS words_prefix_1,
         replace(($11::text[])[2], '@', p.company_number::text)::tsquery AS words_prefix_2
    FROM search_progress p WHERE p.company_id = $1::uuid
), newest AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM unnest($12::text[]) AS k (kind) CROSS JOIN LATERAL (
      SELECT n.* FROM search_documents n WHERE n.company_id = $1::uuid AND n.kind = k.kind
       ORDER BY n.at DESC, n.id DESC LIMIT 600 / cardinality($12::text[])) d
   WHERE true AND d.words @@ (SELECT anywhere_prefix FROM q)
), known AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM search_documents d WHERE (SELECT count(*) FROM newest WHERE rank >= 4) < 5
     AND d.words @@ (SELECT identity_words_1 FROM q) AND d.words @@ (SELECT identity_words_2 FROM q)
     AND d.company_id IS NOT DISTINCT FROM $1::uuid LIMIT 200
), recent AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM unnest($12::text[]) AS k (kind) CROSS JOIN LATERAL (
      SELECT n.* FROM search_documents n WHERE n.company_id = $1::uuid AND n.kind = k.kind
       ORDER BY n.at DESC, n.id DESC LIMIT 6000 / cardinality($12::text[])) d
   WHERE (SELECT count(*) BETWEEN 3 AND $13::int - 1 FROM newest) AND d.words @@ (SELECT anywhere_prefix FROM q)
), first AS MATERIALIZED (
  SELECT * FROM known UNION SELECT * FROM newest UNION SELECT * FROM recent
), whole AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM search_documents d WHERE (SELECT count(*) FROM first) < $13::int
     AND d.words @@ (SELECT words_1 FROM q) AND d.words @@ (SELECT words_2 FROM q)
     AND d.company_id IS NOT DISTINCT FROM $1::uuid LIMIT 500
), known_begun AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM search_documents d WHERE (SELECT count(*) FROM first) + (SELECT count(*) FROM whole) < $13::int
     AND d.words @@ (SELECT identity_words_begun_1 FROM q) AND d.words @@ (SELECT identity_words_begun_2 FROM q)
     AND d.company_id IS NOT DISTINCT FROM $1::uuid LIMIT 200
), begun AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM search_documents d WHERE (SELECT count(*) FROM first) + (SELECT count(*) FROM whole) + (SELECT count(*) FROM known_begun) < $13::int
     AND d.words @@ (SELECT words_begun_1 FROM q) AND d.words @@ (SELECT words_begun_2 FROM q)
     AND d.company_id IS NOT DISTINCT FROM $1::uuid LIMIT 500
), found AS MATERIALIZED (
  SELECT * FROM first UNION SELECT * FROM whole UNION SELECT * FROM known_begun UNION SELECT * FROM begun
), prefixed AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM search_documents d WHERE NOT EXISTS (SELECT FROM found)
     AND d.words @@ (SELECT words_prefix_1 FROM q) AND d.words @@ (SELECT words_prefix_2 FROM q)
     AND d.company_id IS NOT DISTINCT FROM $1::uuid LIMIT 500
), best AS (
  SELECT * FROM found UNION ALL SELECT * FROM prefixed ORDER BY rank DESC, at DESC, id DESC LIMIT $13::int
)
SELECT q.complete, b.kind, b.case_id, b.id, to_char(b.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
  FROM q LEFT JOIN best b ON true ORDER BY b.rank DESC, b.at DESC, b.id DESC;

-- search.find_documents_by_3 (reads; pool: search)
WITH q AS MATERIALIZED (
  SELECT p.built_to IS NULL AS complete, replace($2::text, '@', p.company_number::text)::tsquery AS identity_exact,
         replace($3::text, '@', p.company_number::text)::tsquery AS identity_begun,
         replace($4::text, '@', p.company_number::text)::tsquery AS own_exact,
         replace($5::text, '@', p.company_number::text)::tsquery AS own_begun,
         replace($6::text, '@', p.company_number::text)::tsquery AS anywhere_prefix,
         replace(($7::text[])[1], '@', p.company_number::text)::tsquery AS identity_words_1,
         replace(($7::text[])[2], '@', p.company_number::text)::tsquery AS identity_words_2,
         replace(($7::text[])[3], '@', p.company_number::text)::tsquery AS identity_words_3,
         replace(($8::text[])[1], '@', p.company_number::text)::tsquery AS identity_words_begun_1,
         replace(($8::text[])[2], '@', p.company_number::text)::tsquery AS identity_words_begun_2,
         replace(($8::text[])[3], '@', p.company_number::text)::tsquery AS identity_words_begun_3,
         replace(($9::text[])[1], '@', p.company_number::text)::tsquery AS words_1,
         replace(($9::text[])[2], '@', p.company_number::text)::tsquery AS words_2,
         replace(($9::text[])[3], '@', p.company_number::text)::tsquery AS words_3,
         replace(($10::text[])[1], '@', p.company_number::text)::tsquery AS words_begun_1,
         replace(($10::text[])[2], '@', p.company_number::text)::tsquery AS words_begun_2,
         replace(($10::text[])[3], '@', p.company_number::text)::tsquery AS words_begun_3,
         replace(($11::text[])[1], '@', p.company_number::text)::tsquery AS words_prefix_1,
         replace(($11::text[])[2], '@', p.company_number::text)::tsquery AS words_prefix_2,
         replace(($11::text[])[3], '@', p.company_number::text)::tsquery AS words_prefix_3
    FROM search_progress p WHERE p.company_id = $1::uuid
), newest AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM unnest($12::text[]) AS k (kind) CROSS JOIN LATERAL (
      SELECT n.* FROM search_documents n WHERE n.company_id = $1::uuid AND n.kind = k.kind
       ORDER BY n.at DESC, n.id DESC LIMIT 600 / cardinality($12::text[])) d
   WHERE true AND d.words @@ (SELECT anywhere_prefix FROM q)
), known AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM search_documents d WHERE (SELECT count(*) FROM newest WHERE rank >= 4) < 5
     AND d.words @@ (SELECT identity_words_1 FROM q) AND d.words @@ (SELECT identity_words_2 FROM q) AND d.words @@ (SELECT identity_words_3 FROM q)
     AND d.company_id IS NOT DISTINCT FROM $1::uuid LIMIT 200
), recent AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM unnest($12::text[]) AS k (kind) CROSS JOIN LATERAL (
      SELECT n.* FROM search_documents n WHERE n.company_id = $1::uuid AND n.kind = k.kind
       ORDER BY n.at DESC, n.id DESC LIMIT 6000 / cardinality($12::text[])) d
   WHERE (SELECT count(*) BETWEEN 3 AND $13::int - 1 FROM newest) AND d.words @@ (SELECT anywhere_prefix FROM q)
), first AS MATERIALIZED (
  SELECT * FROM known UNION SELECT * FROM newest UNION SELECT * FROM recent
), whole AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM search_documents d WHERE (SELECT count(*) FROM first) < $13::int
     AND d.words @@ (SELECT words_1 FROM q) AND d.words @@ (SELECT words_2 FROM q) AND d.words @@ (SELECT words_3 FROM q)
     AND d.company_id IS NOT DISTINCT FROM $1::uuid LIMIT 500
), known_begun AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM search_documents d WHERE (SELECT count(*) FROM first) + (SELECT count(*) FROM whole) < $13::int
     AND d.words @@ (SELECT identity_words_begun_1 FROM q) AND d.words @@ (SELECT identity_words_begun_2 FROM q) AND d.words @@ (SELECT identity_words_begun_3 FROM q)
     AND d.company_id IS NOT DISTINCT FROM $1::uuid LIMIT 200
), begun AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM search_documents d WHERE (SELECT count(*) FROM first) + (SELECT count(*) FROM whole) + (SELECT count(*) FROM known_begun) < $13::int
     AND d.words @@ (SELECT words_begun_1 FROM q) AND d.words @@ (SELECT words_begun_2 FROM q) AND d.words @@ (SELECT words_begun_3 FROM q)
     AND d.company_id IS NOT DISTINCT FROM $1::uuid LIMIT 500
), found AS MATERIALIZED (
  SELECT * FROM first UNION SELECT * FROM whole UNION SELECT * FROM known_begun UNION SELECT * FROM begun
), prefixed AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM search_documents d WHERE NOT EXISTS (SELECT FROM found)
     AND d.words @@ (SELECT words_prefix_1 FROM q) AND d.words @@ (SELECT words_prefix_2 FROM q) AND d.words @@ (SELECT words_prefix_3 FROM q)
     AND d.company_id IS NOT DISTINCT FROM $1::uuid LIMIT 500
), best AS (
  SELECT * FROM found UNION ALL SELECT * FROM prefixed ORDER BY rank DESC, at DESC, id DESC LIMIT $13::int
)
SELECT q.complete, b.kind, b.case_id, b.id, to_char(b.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
  FROM q LEFT JOIN best b ON true ORDER BY b.rank DESC, b.at DESC, b.id DESC;

-- search.find_documents_by_4 (reads; pool: search)
WITH q AS MATERIALIZED (
  SELECT p.built_to IS NULL AS complete, replace($2::text, '@', p.company_number::text)::tsquery AS identity_exact,
         replace($3::text, '@', p.company_number::text)::tsquery AS identity_begun,
         replace($4::text, '@', p.company_number::text)::tsquery AS own_exact,
         replace($5::text, '@', p.company_number::text)::tsquery AS own_begun,
         replace($6::text, '@', p.company_number::text)::tsquery AS anywhere_prefix,
         replace(($7::text[])[1], '@', p.company_number::text)::tsquery AS identity_words_1,
         replace(($7::text[])[2], '@', p.company_number::text)::tsquery AS identity_words_2,
         replace(($7::text[])[3], '@', p.company_number::text)::tsquery AS identity_words_3,
         replace(($7::text[])[4], '@', p.company_number::text)::tsquery AS identity_words_4,
         replace(($8::text[])[1], '@', p.company_number::text)::tsquery AS identity_words_begun_1,
         replace(($8::text[])[2], '@', p.company_number::text)::tsquery AS identity_words_begun_2,
         replace(($8::text[])[3], '@', p.company_number::text)::tsquery AS identity_words_begun_3,
         replace(($8::text[])[4], '@', p.company_number::text)::tsquery AS identity_words_begun_4,
         replace(($9::text[])[1], '@', p.company_number::text)::tsquery AS words_1,
         replace(($9::text[])[2], '@', p.company_number::text)::tsquery AS words_2,
         replace(($9::text[])[3], '@', p.company_number::text)::tsquery AS words_3,
         replace(($9::text[])[4], '@', p.company_number::text)::tsquery AS words_4,
         replace(($10::text[])[1], '@', p.company_number::text)::tsquery AS words_begun_1,
         replace(($10::text[])[2], '@', p.company_number::text)::tsquery AS words_begun_2,
         replace(($10::text[])[3], '@', p.company_number::text)::tsquery AS words_begun_3,
         replace(($10::text[])[4], '@', p.company_number::text)::tsquery AS words_begun_4,
         replace(($11::text[])[1], '@', p.company_number::text)::tsquery AS words_prefix_1,
         replace(($11::text[])[2], '@', p.company_number::text)::tsquery AS words_prefix_2,
         replace(($11::text[])[3], '@', p.company_number::text)::tsquery AS words_prefix_3,
         replace(($11::text[])[4], '@', p.company_number::text)::tsquery AS words_prefix_4
    FROM search_progress p WHERE p.company_id = $1::uuid
), newest AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM unnest($12::text[]) AS k (kind) CROSS JOIN LATERAL (
      SELECT n.* FROM search_documents n WHERE n.company_id = $1::uuid AND n.kind = k.kind
       ORDER BY n.at DESC, n.id DESC LIMIT 600 / cardinality($12::text[])) d
   WHERE true AND d.words @@ (SELECT anywhere_prefix FROM q)
), known AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM search_documents d WHERE (SELECT count(*) FROM newest WHERE rank >= 4) < 5
     AND d.words @@ (SELECT identity_words_1 FROM q) AND d.words @@ (SELECT identity_words_2 FROM q) AND d.words @@ (SELECT identity_words_3 FROM q) AND d.words @@ (SELECT identity_words_4 FROM q)
     AND d.company_id IS NOT DISTINCT FROM $1::uuid LIMIT 200
), recent AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM unnest($12::text[]) AS k (kind) CROSS JOIN LATERAL (
      SELECT n.* FROM search_documents n WHERE n.company_id = $1::uuid AND n.kind = k.kind
       ORDER BY n.at DESC, n.id DESC LIMIT 6000 / cardinality($12::text[])) d
   WHERE (SELECT count(*) BETWEEN 3 AND $13::int - 1 FROM newest) AND d.words @@ (SELECT anywhere_prefix FROM q)
), first AS MATERIALIZED (
  SELECT * FROM known UNION SELECT * FROM newest UNION SELECT * FROM recent
), whole AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM search_documents d WHERE (SELECT count(*) FROM first) < $13::int
     AND d.words @@ (SELECT words_1 FROM q) AND d.words @@ (SELECT words_2 FROM q) AND d.words @@ (SELECT words_3 FROM q) AND d.words @@ (SELECT words_4 FROM q)
     AND d.company_id IS NOT DISTINCT FROM $1::uuid LIMIT 500
), known_begun AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM search_documents d WHERE (SELECT count(*) FROM first) + (SELECT count(*) FROM whole) < $13::int
     AND d.words @@ (SELECT identity_words_begun_1 FROM q) AND d.words @@ (SELECT identity_words_begun_2 FROM q) AND d.words @@ (SELECT identity_words_begun_3 FROM q) AND d.words @@ (SELECT identity_words_begun_4 FROM q)
     AND d.company_id IS NOT DISTINCT FROM $1::uuid LIMIT 200
), begun AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM search_documents d WHERE (SELECT count(*) FROM first) + (SELECT count(*) FROM whole) + (SELECT count(*) FROM known_begun) < $13::int
     AND d.words @@ (SELECT words_begun_1 FROM q) AND d.words @@ (SELECT words_begun_2 FROM q) AND d.words @@ (SELECT words_begun_3 FROM q) AND d.words @@ (SELECT words_begun_4 FROM q)
     AND d.company_id IS NOT DISTINCT FROM $1::uuid LIMIT 500
), found AS MATERIALIZED (
  SELECT * FROM first UNION SELECT * FROM whole UNION SELECT * FROM known_begun UNION SELECT * FROM begun
), prefixed AS MATERIALIZED (
  SELECT d.kind, d.case_id, d.id, d.at, (d.words @@ (SELECT identity_exact FROM q))::int * 8 + (d.words @@ (SELECT identity_begun FROM q))::int * 4 + (d.words @@ (SELECT own_exact FROM q))::int * 2 + (d.words @@ (SELECT own_begun FROM q))::int * 1 AS rank
    FROM search_documents d WHERE NOT EXISTS (SELECT FROM found)
     AND d.words @@ (SELECT words_prefix_1 FROM q) AND d.words @@ (SELECT words_prefix_2 FROM q) AND d.words @@ (SELECT words_prefix_3 FROM q) AND d.words @@ (SELECT words_prefix_4 FROM q)
     AND d.company_id IS NOT DISTINCT FROM $1::uuid LIMIT 500
), best AS (
  SELECT * FROM found UNION ALL SELECT * FROM prefixed ORDER BY rank DESC, at DESC, id DESC LIMIT $13::int
)
SELECT q.complete, b.kind, b.case_id, b.id, to_char(b.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
  FROM q LEFT JOIN best b ON true ORDER BY b.rank DESC, b.at DESC, b.id DESC;

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

-- search.load_contexts (reads; pool: short)
SELECT c.id AS case_id, c.reference,
       (SELECT string_agg(n.name, E'\n')
          FROM (SELECT concat_ws(' ', nullif(u.title, ''), nullif(u.first_names, ''), nullif(u.last_name, '')) AS name FROM customers u
                 WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL
                 ORDER BY u.created_at, u.id LIMIT 20) n) AS customers
  FROM cases c WHERE c.company_id = $1::uuid AND c.id = ANY ($2::uuid[]);

-- search.load_documents (reads; pool: short)
WITH k AS MATERIALIZED (
  SELECT * FROM unnest($2::text[], $3::uuid[], $4::uuid[]) AS k (kind, case_id, id)
)
SELECT k.kind, k.case_id, k.id, to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, json_build_object('reference', c.reference, 'kind', (SELECT k.name FROM case_kinds k WHERE k.company_id = c.company_id AND k.id = c.kind_id), 'external_id', c.external_id)::text AS fields
  FROM k JOIN cases c ON c.company_id = $1::uuid
    AND c.id = k.case_id AND c.id = k.id AND true
 WHERE k.kind = 'case'
 UNION ALL
SELECT k.kind, k.case_id, k.id, to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, json_build_object('name', concat_ws(' ', nullif(u.title, ''), nullif(u.first_names, ''), nullif(u.last_name, '')), 'email', u.email, 'phone', u.phone, 'external_id', u.external_id)::text AS fields
  FROM k JOIN customers u ON u.company_id = $1::uuid
    AND u.case_id = k.case_id AND u.id = k.id AND u.removed_at IS NULL
 WHERE k.kind = 'customer'
 UNION ALL
SELECT k.kind, k.case_id, k.id, to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, json_build_object('name', concat_ws(' ', nullif(p.title, ''), nullif(p.first_names, ''), nullif(p.middle_names, ''), nullif(p.last_name, '')), 'other_names', concat_ws(' ', nullif(p.known_as, ''), nullif(p.preferred_name, ''), nullif(p.alias, '')), 'email', p.email, 'tel_1', p.tel_1, 'tel_2', p.tel_2, 'address', (SELECT concat_ws(' ', nullif(a.address_1, ''), nullif(a.address_2, ''), nullif(a.address_3, '')) FROM addresses a
    WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id), 'postcode', (SELECT a.postcode FROM addresses a
    WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id), 'occupation', p.occupation, 'external_id', p.external_id, 'tags', array_to_string(p.tags || p.custom_tags, ' '))::text AS fields
  FROM k JOIN people p ON p.company_id = $1::uuid
    AND p.case_id = k.case_id AND p.id = k.id AND p.deleted_at IS NULL
 WHERE k.kind = 'entry'
 UNION ALL
SELECT k.kind, k.case_id, k.id, to_char(i.happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, json_build_object('notes', i.notes, 'sender', i.sender, 'recipient', i.recipient, 'type', i.type, 'external_id', i.external_id)::text AS fields
  FROM k JOIN interactions i ON i.company_id = $1::uuid
    AND i.case_id = k.case_id AND i.id = k.id AND i.deleted_at IS NULL
 WHERE k.kind = 'interaction'
 UNION ALL
SELECT k.kind, k.case_id, k.id, to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, json_build_object('invoice_number', v.invoice_number, 'recipients_name', v.recipients_name, 'items', (SELECT string_agg(t.description, E'\n' ORDER BY t.position)
    FROM (SELECT t.description, t.position FROM invoice_items t
           WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id
             AND t.cancelled_at IS NULL ORDER BY t.position LIMIT 200) t), 'total', v.total::text, 'external_id', v.external_id)::text AS fields
  FROM k JOIN invoices v ON v.company_id = $1::uuid
    AND v.case_id = k.case_id AND v.id = k.id AND true
 WHERE k.kind = 'invoice'
 UNION ALL
SELECT k.kind, k.case_id, k.id, to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, json_build_object('notes', a.notes, 'location', a.location, 'type', a.type, 'email_recipient', a.email_recipient, 'sms_recipient', a.sms_recipient, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS fields
  FROM k JOIN appointments a ON a.company_id = $1::uuid
    AND a.case_id = k.case_id AND a.id = k.id AND a.deleted_at IS NULL
 WHERE k.kind = 'appointment';

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

