-- people.find_by_external_id (reads; pool: short)
SELECT p.id, p.case_id AS case_id FROM people p WHERE p.company_id = $1::uuid AND p.external_id = $2::text
AND p.deleted_at IS NULL;

-- people.is_present (reads; pool: short)
SELECT 1 FROM people p WHERE p.company_id = $1::uuid AND p.id = $3::uuid
   AND p.case_id = $2::uuid AND p.deleted_at IS NULL;

-- people.lock_by_external_id (writes; pool: short)
SELECT 1 FROM people p WHERE p.company_id = $1::uuid AND p.external_id = $2::text
AND p.deleted_at IS NULL FOR NO KEY UPDATE;

-- people.lock_row (writes; pool: short)
SELECT 1 FROM people WHERE company_id = $1::uuid AND case_id = $2::uuid AND id = $3::uuid
   FOR NO KEY UPDATE;

-- people.set_external_id (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS external_id, $5::timestamptz AS now, $6::json AS origin, 1 AS nth), p AS (
    UPDATE people p SET external_id = input.external_id, updated_at = input.now, version = p.version + 1
      FROM input, people seen
     WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL
    RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT p.company_id, p.case_id, p.id, 'address_book_entry.updated', p.now::timestamptz, p.origin::json, p.was
     FROM p
  )
SELECT nth, NULL AS version, json_build_object('id', p.id, 'external_id', p.external_id)::text AS json FROM p;

-- people.set_external_id keyed (writes; pool: short)
WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS external_id, $5::timestamptz AS now, $6::json AS origin, $7::uuid AS credential_id, $8::bytea AS key_sha256, $9::bytea AS request_sha256, $10::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL),
input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS external_id, $5::timestamptz AS now, $6::json AS origin, $7::uuid AS credential_id, $8::bytea AS key_sha256, $9::bytea AS request_sha256, $10::text AS etag_suffix, 1 AS nth FROM guard), p AS (
    UPDATE people p SET external_id = input.external_id, updated_at = input.now, version = p.version + 1
      FROM input, people seen
     WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL
    RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT p.company_id, p.case_id, p.id, 'address_book_entry.updated', p.now::timestamptz, p.origin::json, p.was
     FROM p
  ), answer AS (
  SELECT nth, NULL AS version, json_build_object('id', p.id, 'external_id', p.external_id)::text AS json FROM p
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

