-- address_book.delete (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::timestamptz AS now, $5::json AS origin, 1 AS nth), p AS (
    UPDATE people p SET deleted_at = input.now, updated_at = input.now, version = p.version + 1
      FROM input, people seen
     WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL
    RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT p.company_id, p.case_id, p.id, 'address_book_entry.deleted', p.now::timestamptz, p.origin::json, p.was
     FROM p
  )
SELECT nth, NULL AS version, json_build_object('id', p.id, 'deleted_at', to_char(p.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text AS json FROM p;

-- address_book.delete keyed (writes; pool: short)
WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::timestamptz AS now, $5::json AS origin, $6::uuid AS credential_id, $7::bytea AS key_sha256, $8::bytea AS request_sha256, $9::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL),
input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::timestamptz AS now, $5::json AS origin, $6::uuid AS credential_id, $7::bytea AS key_sha256, $8::bytea AS request_sha256, $9::text AS etag_suffix, 1 AS nth FROM guard), p AS (
    UPDATE people p SET deleted_at = input.now, updated_at = input.now, version = p.version + 1
      FROM input, people seen
     WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL
    RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT p.company_id, p.case_id, p.id, 'address_book_entry.deleted', p.now::timestamptz, p.origin::json, p.was
     FROM p
  ), answer AS (
  SELECT nth, NULL AS version, json_build_object('id', p.id, 'deleted_at', to_char(p.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text AS json FROM p
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- address_book.find (reads; pool: short)
SELECT deleted_at IS NOT NULL AS deleted, coalesce($4::text = ANY (tags), false) AS tags,
       coalesce($4::text = ANY (custom_tags), false) AS custom_tags
  FROM people WHERE company_id = $1::uuid AND case_id = $2::uuid AND id = $3::uuid;

-- address_book.insert (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text[] AS tags, $5::text[] AS custom_tags, $6::uuid[] AS customer_ids, $7::text[] AS relationship_words, $8::json AS relationship, $9::uuid AS address_id, $10::text AS address_1, $11::text AS address_2, $12::text AS address_3, $13::text AS postcode, $14::text AS title, $15::text AS first_names, $16::text AS middle_names, $17::text AS last_name, $18::text AS known_as, $19::text AS tel_1, $20::text AS tel_2, $21::text AS email, $22::text AS gender, $23::date AS dob, $24::text AS marital_status, $25::text AS occupation, $26::text AS preferred_name, $27::text AS alias, $28::text AS them_pronoun, $29::text AS they_pronoun, $30::text AS their_pronoun, $31::timestamptz AS now, $32::json AS origin, 1 AS nth), inserted AS (
    INSERT INTO people
      (company_id, case_id, id, address_id, tags, custom_tags, created_at, updated_at, title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun)
    SELECT c.company_id, c.id, input.id, input.address_id, input.tags, input.custom_tags, input.now,
           input.now, input.title, input.first_names, input.middle_names, input.last_name, input.known_as, input.tel_1, input.tel_2, input.email, input.gender, input.dob, input.marital_status, input.occupation, input.preferred_name, input.alias, input.them_pronoun, input.they_pronoun, input.their_pronoun
      FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
     WHERE input.tags <@ ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (input.tags))
       AND input.custom_tags <@ ARRAY(SELECT tag FROM custom_tags WHERE company_id = input.company_id AND tag = ANY (input.custom_tags))
       AND input.customer_ids <@ ARRAY(
SELECT u.id FROM customers u
 WHERE u.company_id = input.company_id AND u.case_id = input.case_id AND u.removed_at IS NULL)
    RETURNING *
  ), p AS (
    SELECT inserted.*, input.nth, input.now, input.origin, input.customer_ids, input.relationship_words, input.relationship, input.address_1, input.address_2, input.address_3, input.postcode
      FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
  ), a AS (
    INSERT INTO addresses (company_id, case_id, id, created_at, updated_at, address_1, address_2, address_3, postcode)
    SELECT p.company_id, p.case_id, p.address_id, p.now, p.now,
           p.address_1, p.address_2, p.address_3, p.postcode
      FROM p
  ), r AS (
    INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
    SELECT p.company_id, p.case_id, p.id, r.*
      FROM p, unnest(p.customer_ids, p.relationship_words) WITH ORDINALITY AS r (customer_id, word, position)
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin)
     SELECT p.company_id, p.case_id, p.id, 'address_book_entry.created', p.now::timestamptz, p.origin::json
       FROM p
  )
  SELECT nth, p.version::text AS version, ('{"entity_id" : "person", "data" : {"title" : ' || coalesce(to_json(p.title)::text, 'null') || ', "last_name" : ' || coalesce(to_json(p.last_name)::text, 'null') || ', "first_names" : ' || coalesce(to_json(p.first_names)::text, 'null') || ', "relationship" : ' || (p.relationship)::text || ', "address" : "' || (p.address_id) || '", "their_pronoun" : ' || coalesce(to_json(p.their_pronoun)::text, 'null') || ', "them_pronoun" : ' || coalesce(to_json(p.them_pronoun)::text, 'null') || ', "they_pronoun" : ' || coalesce(to_json(p.they_pronoun)::text, 'null') || '}, "customer_case_id" : "' || (p.case_id) || '", "id" : "' || (p.id) || '", "updated_at" : "' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "created_at" : "' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM p;

-- address_book.insert* (batch form)
  WITH input AS (SELECT company_id, case_id, id, tags::text[], custom_tags::text[], customer_ids::uuid[], relationship_words::text[], relationship, address_id, address_1, address_2, address_3, postcode, title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, now, origin, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::json[], $9::uuid[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::date[], $24::text[], $25::text[], $26::text[], $27::text[], $28::text[], $29::text[], $30::text[], $31::timestamptz[], $32::json[]) WITH ORDINALITY AS batch (company_id, case_id, id, tags, custom_tags, customer_ids, relationship_words, relationship, address_id, address_1, address_2, address_3, postcode, title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, now, origin, nth)), inserted AS (
    INSERT INTO people
      (company_id, case_id, id, address_id, tags, custom_tags, created_at, updated_at, title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun)
    SELECT c.company_id, c.id, input.id, input.address_id, input.tags, input.custom_tags, input.now,
           input.now, input.title, input.first_names, input.middle_names, input.last_name, input.known_as, input.tel_1, input.tel_2, input.email, input.gender, input.dob, input.marital_status, input.occupation, input.preferred_name, input.alias, input.them_pronoun, input.they_pronoun, input.their_pronoun
      FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
     WHERE input.tags <@ ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (input.tags))
       AND input.custom_tags <@ ARRAY(SELECT tag FROM custom_tags WHERE company_id = input.company_id AND tag = ANY (input.custom_tags))
       AND input.customer_ids <@ ARRAY(
SELECT u.id FROM customers u
 WHERE u.company_id = input.company_id AND u.case_id = input.case_id AND u.removed_at IS NULL)
    RETURNING *
  ), p AS (
    SELECT inserted.*, input.nth, input.now, input.origin, input.customer_ids, input.relationship_words, input.relationship, input.address_1, input.address_2, input.address_3, input.postcode
      FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
  ), a AS (
    INSERT INTO addresses (company_id, case_id, id, created_at, updated_at, address_1, address_2, address_3, postcode)
    SELECT p.company_id, p.case_id, p.address_id, p.now, p.now,
           p.address_1, p.address_2, p.address_3, p.postcode
      FROM p
  ), r AS (
    INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
    SELECT p.company_id, p.case_id, p.id, r.*
      FROM p, unnest(p.customer_ids, p.relationship_words) WITH ORDINALITY AS r (customer_id, word, position)
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin)
     SELECT p.company_id, p.case_id, p.id, 'address_book_entry.created', p.now::timestamptz, p.origin::json
       FROM p
  )
  SELECT nth, p.version::text AS version, ('{"entity_id" : "person", "data" : {"title" : ' || coalesce(to_json(p.title)::text, 'null') || ', "last_name" : ' || coalesce(to_json(p.last_name)::text, 'null') || ', "first_names" : ' || coalesce(to_json(p.first_names)::text, 'null') || ', "relationship" : ' || (p.relationship)::text || ', "address" : "' || (p.address_id) || '", "their_pronoun" : ' || coalesce(to_json(p.their_pronoun)::text, 'null') || ', "them_pronoun" : ' || coalesce(to_json(p.them_pronoun)::text, 'null') || ', "they_pronoun" : ' || coalesce(to_json(p.they_pronoun)::text, 'null') || '}, "customer_case_id" : "' || (p.case_id) || '", "id" : "' || (p.id) || '", "updated_at" : "' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "created_at" : "' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM p;

-- address_book.insert keyed (writes; pool: short)
  WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text[] AS tags, $5::text[] AS custom_tags, $6::uuid[] AS customer_ids, $7::text[] AS relationship_words, $8::json AS relationship, $9::uuid AS address_id, $10::text AS address_1, $11::text AS address_2, $12::text AS address_3, $13::text AS postcode, $14::text AS title, $15::text AS first_names, $16::text AS middle_names, $17::text AS last_name, $18::text AS known_as, $19::text AS tel_1, $20::text AS tel_2, $21::text AS email, $22::text AS gender, $23::date AS dob, $24::text AS marital_status, $25::text AS occupation, $26::text AS preferred_name, $27::text AS alias, $28::text AS them_pronoun, $29::text AS they_pronoun, $30::text AS their_pronoun, $31::timestamptz AS now, $32::json AS origin, $33::uuid AS credential_id, $34::bytea AS key_sha256, $35::bytea AS request_sha256, $36::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
      SELECT k.created_at FROM idempotency_keys k
       WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
         AND k.key_sha256 = input.key_sha256) IS NULL),
  input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text[] AS tags, $5::text[] AS custom_tags, $6::uuid[] AS customer_ids, $7::text[] AS relationship_words, $8::json AS relationship, $9::uuid AS address_id, $10::text AS address_1, $11::text AS address_2, $12::text AS address_3, $13::text AS postcode, $14::text AS title, $15::text AS first_names, $16::text AS middle_names, $17::text AS last_name, $18::text AS known_as, $19::text AS tel_1, $20::text AS tel_2, $21::text AS email, $22::text AS gender, $23::date AS dob, $24::text AS marital_status, $25::text AS occupation, $26::text AS preferred_name, $27::text AS alias, $28::text AS them_pronoun, $29::text AS they_pronoun, $30::text AS their_pronoun, $31::timestamptz AS now, $32::json AS origin, $33::uuid AS credential_id, $34::bytea AS key_sha256, $35::bytea AS request_sha256, $36::text AS etag_suffix, 1 AS nth FROM guard), inserted AS (
    INSERT INTO people
      (company_id, case_id, id, address_id, tags, custom_tags, created_at, updated_at, title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun)
    SELECT c.company_id, c.id, input.id, input.address_id, input.tags, input.custom_tags, input.now,
           input.now, input.title, input.first_names, input.middle_names, input.last_name, input.known_as, input.tel_1, input.tel_2, input.email, input.gender, input.dob, input.marital_status, input.occupation, input.preferred_name, input.alias, input.them_pronoun, input.they_pronoun, input.their_pronoun
      FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
     WHERE input.tags <@ ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (input.tags))
       AND input.custom_tags <@ ARRAY(SELECT tag FROM custom_tags WHERE company_id = input.company_id AND tag = ANY (input.custom_tags))
       AND input.customer_ids <@ ARRAY(
SELECT u.id FROM customers u
 WHERE u.company_id = input.company_id AND u.case_id = input.case_id AND u.removed_at IS NULL)
    RETURNING *
  ), p AS (
    SELECT inserted.*, input.nth, input.now, input.origin, input.customer_ids, input.relationship_words, input.relationship, input.address_1, input.address_2, input.address_3, input.postcode
      FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
  ), a AS (
    INSERT INTO addresses (company_id, case_id, id, created_at, updated_at, address_1, address_2, address_3, postcode)
    SELECT p.company_id, p.case_id, p.address_id, p.now, p.now,
           p.address_1, p.address_2, p.address_3, p.postcode
      FROM p
  ), r AS (
    INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
    SELECT p.company_id, p.case_id, p.id, r.*
      FROM p, unnest(p.customer_ids, p.relationship_words) WITH ORDINALITY AS r (customer_id, word, position)
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin)
     SELECT p.company_id, p.case_id, p.id, 'address_book_entry.created', p.now::timestamptz, p.origin::json
       FROM p
  ), answer AS (
    SELECT nth, p.version::text AS version, ('{"entity_id" : "person", "data" : {"title" : ' || coalesce(to_json(p.title)::text, 'null') || ', "last_name" : ' || coalesce(to_json(p.last_name)::text, 'null') || ', "first_names" : ' || coalesce(to_json(p.first_names)::text, 'null') || ', "relationship" : ' || (p.relationship)::text || ', "address" : "' || (p.address_id) || '", "their_pronoun" : ' || coalesce(to_json(p.their_pronoun)::text, 'null') || ', "them_pronoun" : ' || coalesce(to_json(p.them_pronoun)::text, 'null') || ', "they_pronoun" : ' || coalesce(to_json(p.they_pronoun)::text, 'null') || '}, "customer_case_id" : "' || (p.case_id) || '", "id" : "' || (p.id) || '", "updated_at" : "' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "created_at" : "' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM p
  ), stored AS (
    INSERT INTO idempotency_keys
      (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
    SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
           '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
           answer.json, input.now
      FROM answer JOIN input USING (nth))
  SELECT nth, version, json FROM answer;

-- address_book.insert keyed* (batch form)
  WITH input AS MATERIALIZED (
    WITH input AS (SELECT company_id, case_id, id, tags::text[], custom_tags::text[], customer_ids::uuid[], relationship_words::text[], relationship, address_id, address_1, address_2, address_3, postcode, title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, now, origin, credential_id, key_sha256, request_sha256, etag_suffix, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::json[], $9::uuid[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::date[], $24::text[], $25::text[], $26::text[], $27::text[], $28::text[], $29::text[], $30::text[], $31::timestamptz[], $32::json[], $33::uuid[], $34::bytea[], $35::bytea[], $36::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, tags, custom_tags, customer_ids, relationship_words, relationship, address_id, address_1, address_2, address_3, postcode, title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, now, origin, credential_id, key_sha256, request_sha256, etag_suffix, nth))
    SELECT * FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
      SELECT k.created_at FROM idempotency_keys k
       WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
         AND k.key_sha256 = input.key_sha256) IS NULL), inserted AS (
    INSERT INTO people
      (company_id, case_id, id, address_id, tags, custom_tags, created_at, updated_at, title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun)
    SELECT c.company_id, c.id, input.id, input.address_id, input.tags, input.custom_tags, input.now,
           input.now, input.title, input.first_names, input.middle_names, input.last_name, input.known_as, input.tel_1, input.tel_2, input.email, input.gender, input.dob, input.marital_status, input.occupation, input.preferred_name, input.alias, input.them_pronoun, input.they_pronoun, input.their_pronoun
      FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
     WHERE input.tags <@ ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (input.tags))
       AND input.custom_tags <@ ARRAY(SELECT tag FROM custom_tags WHERE company_id = input.company_id AND tag = ANY (input.custom_tags))
       AND input.customer_ids <@ ARRAY(
SELECT u.id FROM customers u
 WHERE u.company_id = input.company_id AND u.case_id = input.case_id AND u.removed_at IS NULL)
    RETURNING *
  ), p AS (
    SELECT inserted.*, input.nth, input.now, input.origin, input.customer_ids, input.relationship_words, input.relationship, input.address_1, input.address_2, input.address_3, input.postcode
      FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
  ), a AS (
    INSERT INTO addresses (company_id, case_id, id, created_at, updated_at, address_1, address_2, address_3, postcode)
    SELECT p.company_id, p.case_id, p.address_id, p.now, p.now,
           p.address_1, p.address_2, p.address_3, p.postcode
      FROM p
  ), r AS (
    INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
    SELECT p.company_id, p.case_id, p.id, r.*
      FROM p, unnest(p.customer_ids, p.relationship_words) WITH ORDINALITY AS r (customer_id, word, position)
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin)
     SELECT p.company_id, p.case_id, p.id, 'address_book_entry.created', p.now::timestamptz, p.origin::json
       FROM p
  ), answer AS (
    SELECT nth, p.version::text AS version, ('{"entity_id" : "person", "data" : {"title" : ' || coalesce(to_json(p.title)::text, 'null') || ', "last_name" : ' || coalesce(to_json(p.last_name)::text, 'null') || ', "first_names" : ' || coalesce(to_json(p.first_names)::text, 'null') || ', "relationship" : ' || (p.relationship)::text || ', "address" : "' || (p.address_id) || '", "their_pronoun" : ' || coalesce(to_json(p.their_pronoun)::text, 'null') || ', "them_pronoun" : ' || coalesce(to_json(p.them_pronoun)::text, 'null') || ', "they_pronoun" : ' || coalesce(to_json(p.they_pronoun)::text, 'null') || '}, "customer_case_id" : "' || (p.case_id) || '", "id" : "' || (p.id) || '", "updated_at" : "' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "created_at" : "' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM p
  ), stored AS (
    INSERT INTO idempotency_keys
      (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
    SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
           '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
           answer.json, input.now
      FROM answer JOIN input USING (nth))
  SELECT nth, version, json FROM answer;

-- address_book.insert+external_id (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text[] AS tags, $5::text[] AS custom_tags, $6::uuid[] AS customer_ids, $7::text[] AS relationship_words, $8::json AS relationship, $9::uuid AS address_id, $10::text AS address_1, $11::text AS address_2, $12::text AS address_3, $13::text AS postcode, $14::text AS title, $15::text AS first_names, $16::text AS middle_names, $17::text AS last_name, $18::text AS known_as, $19::text AS tel_1, $20::text AS tel_2, $21::text AS email, $22::text AS gender, $23::date AS dob, $24::text AS marital_status, $25::text AS occupation, $26::text AS preferred_name, $27::text AS alias, $28::text AS them_pronoun, $29::text AS they_pronoun, $30::text AS their_pronoun, $31::timestamptz AS now, $32::json AS origin, $33::text AS external_id, 1 AS nth), inserted AS (
    INSERT INTO people
      (company_id, case_id, id, address_id, tags, custom_tags, created_at, updated_at, title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, external_id)
    SELECT c.company_id, c.id, input.id, input.address_id, input.tags, input.custom_tags, input.now,
           input.now, input.title, input.first_names, input.middle_names, input.last_name, input.known_as, input.tel_1, input.tel_2, input.email, input.gender, input.dob, input.marital_status, input.occupation, input.preferred_name, input.alias, input.them_pronoun, input.they_pronoun, input.their_pronoun, input.external_id
      FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
     WHERE input.tags <@ ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (input.tags))
       AND input.custom_tags <@ ARRAY(SELECT tag FROM custom_tags WHERE company_id = input.company_id AND tag = ANY (input.custom_tags))
       AND input.customer_ids <@ ARRAY(
SELECT u.id FROM customers u
 WHERE u.company_id = input.company_id AND u.case_id = input.case_id AND u.removed_at IS NULL)
    ON CONFLICT DO NOTHING
    RETURNING *
  ), p AS (
    SELECT inserted.*, input.nth, input.now, input.origin, input.customer_ids, input.relationship_words, input.relationship, input.address_1, input.address_2, input.address_3, input.postcode
      FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
  ), a AS (
    INSERT INTO addresses (company_id, case_id, id, created_at, updated_at, address_1, address_2, address_3, postcode)
    SELECT p.company_id, p.case_id, p.address_id, p.now, p.now,
           p.address_1, p.address_2, p.address_3, p.postcode
      FROM p
  ), r AS (
    INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
    SELECT p.company_id, p.case_id, p.id, r.*
      FROM p, unnest(p.customer_ids, p.relationship_words) WITH ORDINALITY AS r (customer_id, word, position)
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin)
     SELECT p.company_id, p.case_id, p.id, 'address_book_entry.created', p.now::timestamptz, p.origin::json
       FROM p
  )
  SELECT nth, p.version::text AS version, ('{"entity_id" : "person", "data" : {"title" : ' || coalesce(to_json(p.title)::text, 'null') || ', "last_name" : ' || coalesce(to_json(p.last_name)::text, 'null') || ', "first_names" : ' || coalesce(to_json(p.first_names)::text, 'null') || ', "relationship" : ' || (p.relationship)::text || ', "address" : "' || (p.address_id) || '", "their_pronoun" : ' || coalesce(to_json(p.their_pronoun)::text, 'null') || ', "them_pronoun" : ' || coalesce(to_json(p.them_pronoun)::text, 'null') || ', "they_pronoun" : ' || coalesce(to_json(p.they_pronoun)::text, 'null') || '}, "customer_case_id" : "' || (p.case_id) || '", "id" : "' || (p.id) || '", "updated_at" : "' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "created_at" : "' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM p;

-- address_book.insert+external_id* (batch form)
  WITH input AS (SELECT company_id, case_id, id, tags::text[], custom_tags::text[], customer_ids::uuid[], relationship_words::text[], relationship, address_id, address_1, address_2, address_3, postcode, title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, now, origin, external_id, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::json[], $9::uuid[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::date[], $24::text[], $25::text[], $26::text[], $27::text[], $28::text[], $29::text[], $30::text[], $31::timestamptz[], $32::json[], $33::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, tags, custom_tags, customer_ids, relationship_words, relationship, address_id, address_1, address_2, address_3, postcode, title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, now, origin, external_id, nth)), inserted AS (
    INSERT INTO people
      (company_id, case_id, id, address_id, tags, custom_tags, created_at, updated_at, title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, external_id)
    SELECT c.company_id, c.id, input.id, input.address_id, input.tags, input.custom_tags, input.now,
           input.now, input.title, input.first_names, input.middle_names, input.last_name, input.known_as, input.tel_1, input.tel_2, input.email, input.gender, input.dob, input.marital_status, input.occupation, input.preferred_name, input.alias, input.them_pronoun, input.they_pronoun, input.their_pronoun, input.external_id
      FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
     WHERE input.tags <@ ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (input.tags))
       AND input.custom_tags <@ ARRAY(SELECT tag FROM custom_tags WHERE company_id = input.company_id AND tag = ANY (input.custom_tags))
       AND input.customer_ids <@ ARRAY(
SELECT u.id FROM customers u
 WHERE u.company_id = input.company_id AND u.case_id = input.case_id AND u.removed_at IS NULL)
    ON CONFLICT DO NOTHING
    RETURNING *
  ), p AS (
    SELECT inserted.*, input.nth, input.now, input.origin, input.customer_ids, input.relationship_words, input.relationship, input.address_1, input.address_2, input.address_3, input.postcode
      FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
  ), a AS (
    INSERT INTO addresses (company_id, case_id, id, created_at, updated_at, address_1, address_2, address_3, postcode)
    SELECT p.company_id, p.case_id, p.address_id, p.now, p.now,
           p.address_1, p.address_2, p.address_3, p.postcode
      FROM p
  ), r AS (
    INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
    SELECT p.company_id, p.case_id, p.id, r.*
      FROM p, unnest(p.customer_ids, p.relationship_words) WITH ORDINALITY AS r (customer_id, word, position)
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin)
     SELECT p.company_id, p.case_id, p.id, 'address_book_entry.created', p.now::timestamptz, p.origin::json
       FROM p
  )
  SELECT nth, p.version::text AS version, ('{"entity_id" : "person", "data" : {"title" : ' || coalesce(to_json(p.title)::text, 'null') || ', "last_name" : ' || coalesce(to_json(p.last_name)::text, 'null') || ', "first_names" : ' || coalesce(to_json(p.first_names)::text, 'null') || ', "relationship" : ' || (p.relationship)::text || ', "address" : "' || (p.address_id) || '", "their_pronoun" : ' || coalesce(to_json(p.their_pronoun)::text, 'null') || ', "them_pronoun" : ' || coalesce(to_json(p.them_pronoun)::text, 'null') || ', "they_pronoun" : ' || coalesce(to_json(p.they_pronoun)::text, 'null') || '}, "customer_case_id" : "' || (p.case_id) || '", "id" : "' || (p.id) || '", "updated_at" : "' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "created_at" : "' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM p;

-- address_book.list (reads; pool: list)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, 1 AS nth) SELECT input.nth, l.json FROM input CROSS JOIN LATERAL (SELECT json FROM (SELECT CASE WHEN f.n <= 1000 AND coalesce(octet_length(f.elements), 0) <= 4000000
               THEN '[' || coalesce(f.elements, '') || ']' END AS json, f.n
     FROM (SELECT string_agg(('{"id":"' || (p.id) || '","entity_id":"person","data":{"title":' || coalesce(to_json(p.title)::text, 'null') || ',"last_name":' || coalesce(to_json(p.last_name)::text, 'null') || ',"first_names":' || coalesce(to_json(p.first_names)::text, 'null') || ',"gender":' || to_json(coalesce(p.gender, ''))::text || ',"marital_status":' || to_json(coalesce(p.marital_status, ''))::text || ',"middle_names":' || coalesce(to_json(p.middle_names)::text, 'null') || ',"known_as":' || coalesce(to_json(p.known_as)::text, 'null') || ',"tel_1":' || coalesce(to_json(p.tel_1)::text, 'null') || ',"tel_2":' || coalesce(to_json(p.tel_2)::text, 'null') || ',"email":' || coalesce(to_json(p.email)::text, 'null') || ',"occupation":' || coalesce(to_json(p.occupation)::text, 'null') || ',"preferred_name":' || coalesce(to_json(p.preferred_name)::text, 'null') || ',"alias":' || coalesce(to_json(p.alias)::text, 'null') || ',"dob":' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ',"their_pronoun":' || coalesce(to_json(p.their_pronoun)::text, 'null') || ',"them_pronoun":' || coalesce(to_json(p.them_pronoun)::text, 'null') || ',"they_pronoun":' || coalesce(to_json(p.they_pronoun)::text, 'null') || ',"relationship":' || (SELECT '{' || coalesce(string_agg('"' || r.customer_id || '":' || to_json(r.word)::text, ','
ORDER BY r.position), '') || '}' FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id) || ',"address":"' || (p.address_id) || '","tags":' || to_json(p.tags)::text || ',"custom_tags":' || to_json(p.custom_tags)::text || '}}') || ',' || ('{"id":"' || (a.id) || '","entity_id":"address","data":{"postcode":' || to_json(a.postcode)::text || ',"address_1":' || to_json(a.address_1)::text || ',"address_2":' || to_json(a.address_2)::text || ',"address_3":' || to_json(a.address_3)::text || '}}'), ',' ORDER BY p.created_at, p.id) AS elements, count(*) AS n FROM (SELECT * FROM people p WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.deleted_at IS NULL LIMIT 1001) p CROSS JOIN LATERAL (
SELECT a.* FROM addresses a
 WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = p.address_id LIMIT 1) a) f) l WHERE l.n > 0 OR (SELECT true FROM cases c WHERE c.company_id = input.company_id AND c.id = input.case_id)) l;

-- address_book.list* (batch form)
WITH input AS (SELECT company_id, case_id, nth FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS batch (company_id, case_id, nth)) SELECT input.nth, l.json FROM input CROSS JOIN LATERAL (SELECT json FROM (SELECT CASE WHEN f.n <= 1000 AND coalesce(octet_length(f.elements), 0) <= 4000000
               THEN '[' || coalesce(f.elements, '') || ']' END AS json, f.n
     FROM (SELECT string_agg(('{"id":"' || (p.id) || '","entity_id":"person","data":{"title":' || coalesce(to_json(p.title)::text, 'null') || ',"last_name":' || coalesce(to_json(p.last_name)::text, 'null') || ',"first_names":' || coalesce(to_json(p.first_names)::text, 'null') || ',"gender":' || to_json(coalesce(p.gender, ''))::text || ',"marital_status":' || to_json(coalesce(p.marital_status, ''))::text || ',"middle_names":' || coalesce(to_json(p.middle_names)::text, 'null') || ',"known_as":' || coalesce(to_json(p.known_as)::text, 'null') || ',"tel_1":' || coalesce(to_json(p.tel_1)::text, 'null') || ',"tel_2":' || coalesce(to_json(p.tel_2)::text, 'null') || ',"email":' || coalesce(to_json(p.email)::text, 'null') || ',"occupation":' || coalesce(to_json(p.occupation)::text, 'null') || ',"preferred_name":' || coalesce(to_json(p.preferred_name)::text, 'null') || ',"alias":' || coalesce(to_json(p.alias)::text, 'null') || ',"dob":' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ',"their_pronoun":' || coalesce(to_json(p.their_pronoun)::text, 'null') || ',"them_pronoun":' || coalesce(to_json(p.them_pronoun)::text, 'null') || ',"they_pronoun":' || coalesce(to_json(p.they_pronoun)::text, 'null') || ',"relationship":' || (SELECT '{' || coalesce(string_agg('"' || r.customer_id || '":' || to_json(r.word)::text, ','
ORDER BY r.position), '') || '}' FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id) || ',"address":"' || (p.address_id) || '","tags":' || to_json(p.tags)::text || ',"custom_tags":' || to_json(p.custom_tags)::text || '}}') || ',' || ('{"id":"' || (a.id) || '","entity_id":"address","data":{"postcode":' || to_json(a.postcode)::text || ',"address_1":' || to_json(a.address_1)::text || ',"address_2":' || to_json(a.address_2)::text || ',"address_3":' || to_json(a.address_3)::text || '}}'), ',' ORDER BY p.created_at, p.id) AS elements, count(*) AS n FROM (SELECT * FROM people p WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.deleted_at IS NULL LIMIT 1001) p CROSS JOIN LATERAL (
SELECT a.* FROM addresses a
 WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = p.address_id LIMIT 1) a) f) l WHERE l.n > 0 OR (SELECT true FROM cases c WHERE c.company_id = input.company_id AND c.id = input.case_id)) l;

-- address_book.list_matching (reads; pool: search)
SELECT json FROM (SELECT CASE WHEN f.n <= 1000 AND coalesce(octet_length(f.elements), 0) <= 4000000
               THEN '[' || coalesce(f.elements, '') || ']' END AS json, f.n
     FROM (SELECT string_agg(l.element, ',' ORDER BY l.n) AS elements, count(*) AS n FROM (SELECT i.item AS element,
          row_number() OVER (ORDER BY p.created_at, p.id, i.rank) AS n FROM people p CROSS JOIN LATERAL (
SELECT a.* FROM addresses a
 WHERE a.company_id = $1::uuid AND a.case_id = $2::uuid AND a.id = p.address_id LIMIT 1) a
      CROSS JOIN LATERAL (VALUES (1, ('{"id":"' || (p.id) || '","entity_id":"person","data":{"title":' || coalesce(to_json(p.title)::text, 'null') || ',"last_name":' || coalesce(to_json(p.last_name)::text, 'null') || ',"first_names":' || coalesce(to_json(p.first_names)::text, 'null') || ',"gender":' || to_json(coalesce(p.gender, ''))::text || ',"marital_status":' || to_json(coalesce(p.marital_status, ''))::text || ',"middle_names":' || coalesce(to_json(p.middle_names)::text, 'null') || ',"known_as":' || coalesce(to_json(p.known_as)::text, 'null') || ',"tel_1":' || coalesce(to_json(p.tel_1)::text, 'null') || ',"tel_2":' || coalesce(to_json(p.tel_2)::text, 'null') || ',"email":' || coalesce(to_json(p.email)::text, 'null') || ',"occupation":' || coalesce(to_json(p.occupation)::text, 'null') || ',"preferred_name":' || coalesce(to_json(p.preferred_name)::text, 'null') || ',"alias":' || coalesce(to_json(p.alias)::text, 'null') || ',"dob":' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ',"their_pronoun":' || coalesce(to_json(p.their_pronoun)::text, 'null') || ',"them_pronoun":' || coalesce(to_json(p.them_pronoun)::text, 'null') || ',"they_pronoun":' || coalesce(to_json(p.they_pronoun)::text, 'null') || ',"relationship":' || (SELECT '{' || coalesce(string_agg('"' || r.customer_id || '":' || to_json(r.word)::text, ','
ORDER BY r.position), '') || '}' FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id) || ',"address":"' || (p.address_id) || '","tags":' || to_json(p.tags)::text || ',"custom_tags":' || to_json(p.custom_tags)::text || '}}')), (2, ('{"id":"' || (a.id) || '","entity_id":"address","data":{"postcode":' || to_json(a.postcode)::text || ',"address_1":' || to_json(a.address_1)::text || ',"address_2":' || to_json(a.address_2)::text || ',"address_3":' || to_json(a.address_3)::text || '}}'))) AS i (rank, item)
      WHERE p.company_id = $1::uuid AND p.case_id = $2::uuid AND ($3::text IS NULL OR lower(concat_ws(' ', p.title, p.first_names, p.middle_names, p.last_name,
    p.known_as, p.preferred_name, p.alias)) LIKE lower($3::text))
  AND ($4::text IS NULL OR $4::text = ANY (p.tags || p.custom_tags))
  AND (p.deleted_at IS NOT NULL) = coalesce($5::boolean, false) LIMIT 1001) l) f) l WHERE l.n > 0 OR (SELECT true FROM cases c WHERE c.company_id = $1::uuid AND c.id = $2::uuid);

-- address_book.list_page (reads; pool: search)
SELECT (SELECT count(*)::int FROM people p CROSS JOIN LATERAL (
SELECT a.* FROM addresses a
 WHERE a.company_id = $1::uuid AND a.case_id = $2::uuid AND a.id = p.address_id LIMIT 1) a
      CROSS JOIN LATERAL (VALUES (1, ('{"id":"' || (p.id) || '","entity_id":"person","data":{"title":' || coalesce(to_json(p.title)::text, 'null') || ',"last_name":' || coalesce(to_json(p.last_name)::text, 'null') || ',"first_names":' || coalesce(to_json(p.first_names)::text, 'null') || ',"gender":' || to_json(coalesce(p.gender, ''))::text || ',"marital_status":' || to_json(coalesce(p.marital_status, ''))::text || ',"middle_names":' || coalesce(to_json(p.middle_names)::text, 'null') || ',"known_as":' || coalesce(to_json(p.known_as)::text, 'null') || ',"tel_1":' || coalesce(to_json(p.tel_1)::text, 'null') || ',"tel_2":' || coalesce(to_json(p.tel_2)::text, 'null') || ',"email":' || coalesce(to_json(p.email)::text, 'null') || ',"occupation":' || coalesce(to_json(p.occupation)::text, 'null') || ',"preferred_name":' || coalesce(to_json(p.preferred_name)::text, 'null') || ',"alias":' || coalesce(to_json(p.alias)::text, 'null') || ',"dob":' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ',"their_pronoun":' || coalesce(to_json(p.their_pronoun)::text, 'null') || ',"them_pronoun":' || coalesce(to_json(p.them_pronoun)::text, 'null') || ',"they_pronoun":' || coalesce(to_json(p.they_pronoun)::text, 'null') || ',"relationship":' || (SELECT '{' || coalesce(string_agg('"' || r.customer_id || '":' || to_json(r.word)::text, ','
ORDER BY r.position), '') || '}' FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id) || ',"address":"' || (p.address_id) || '","tags":' || to_json(p.tags)::text || ',"custom_tags":' || to_json(p.custom_tags)::text || '}}')), (2, ('{"id":"' || (a.id) || '","entity_id":"address","data":{"postcode":' || to_json(a.postcode)::text || ',"address_1":' || to_json(a.address_1)::text || ',"address_2":' || to_json(a.address_2)::text || ',"address_3":' || to_json(a.address_3)::text || '}}'))) AS i (rank, item)
      WHERE p.company_id = $1::uuid AND p.case_id = $2::uuid AND ($3::text IS NULL OR lower(concat_ws(' ', p.title, p.first_names, p.middle_names, p.last_name,
    p.known_as, p.preferred_name, p.alias)) LIKE lower($3::text))
  AND ($4::text IS NULL OR $4::text = ANY (p.tags || p.custom_tags))
  AND (p.deleted_at IS NOT NULL) = coalesce($5::boolean, false)) AS total, (SELECT ('[' || coalesce(string_agg(l.element, ',' ORDER BY l.n), '') || ']') FROM (SELECT i.item AS element,
          row_number() OVER (ORDER BY p.created_at, p.id, i.rank) AS n FROM people p CROSS JOIN LATERAL (
SELECT a.* FROM addresses a
 WHERE a.company_id = $1::uuid AND a.case_id = $2::uuid AND a.id = p.address_id LIMIT 1) a
      CROSS JOIN LATERAL (VALUES (1, ('{"id":"' || (p.id) || '","entity_id":"person","data":{"title":' || coalesce(to_json(p.title)::text, 'null') || ',"last_name":' || coalesce(to_json(p.last_name)::text, 'null') || ',"first_names":' || coalesce(to_json(p.first_names)::text, 'null') || ',"gender":' || to_json(coalesce(p.gender, ''))::text || ',"marital_status":' || to_json(coalesce(p.marital_status, ''))::text || ',"middle_names":' || coalesce(to_json(p.middle_names)::text, 'null') || ',"known_as":' || coalesce(to_json(p.known_as)::text, 'null') || ',"tel_1":' || coalesce(to_json(p.tel_1)::text, 'null') || ',"tel_2":' || coalesce(to_json(p.tel_2)::text, 'null') || ',"email":' || coalesce(to_json(p.email)::text, 'null') || ',"occupation":' || coalesce(to_json(p.occupation)::text, 'null') || ',"preferred_name":' || coalesce(to_json(p.preferred_name)::text, 'null') || ',"alias":' || coalesce(to_json(p.alias)::text, 'null') || ',"dob":' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ',"their_pronoun":' || coalesce(to_json(p.their_pronoun)::text, 'null') || ',"them_pronoun":' || coalesce(to_json(p.them_pronoun)::text, 'null') || ',"they_pronoun":' || coalesce(to_json(p.they_pronoun)::text, 'null') || ',"relationship":' || (SELECT '{' || coalesce(string_agg('"' || r.customer_id || '":' || to_json(r.word)::text, ','
ORDER BY r.position), '') || '}' FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id) || ',"address":"' || (p.address_id) || '","tags":' || to_json(p.tags)::text || ',"custom_tags":' || to_json(p.custom_tags)::text || '}}')), (2, ('{"id":"' || (a.id) || '","entity_id":"address","data":{"postcode":' || to_json(a.postcode)::text || ',"address_1":' || to_json(a.address_1)::text || ',"address_2":' || to_json(a.address_2)::text || ',"address_3":' || to_json(a.address_3)::text || '}}'))) AS i (rank, item)
      WHERE p.company_id = $1::uuid AND p.case_id = $2::uuid AND ($3::text IS NULL OR lower(concat_ws(' ', p.title, p.first_names, p.middle_names, p.last_name,
    p.known_as, p.preferred_name, p.alias)) LIKE lower($3::text))
  AND ($4::text IS NULL OR $4::text = ANY (p.tags || p.custom_tags))
  AND (p.deleted_at IS NOT NULL) = coalesce($5::boolean, false) ORDER BY n LIMIT $6::int OFFSET $7::int) l) AS json FROM cases c WHERE c.company_id = $1::uuid AND c.id = $2::uuid;

-- address_book.list_page_pieces (reads; pool: short)
SELECT string_agg(l.element, ',' ORDER BY l.n) FROM (SELECT i.item AS element,
          row_number() OVER (ORDER BY p.created_at, p.id, i.rank) AS n FROM people p CROSS JOIN LATERAL (
SELECT a.* FROM addresses a
 WHERE a.company_id = $1::uuid AND a.case_id = $2::uuid AND a.id = p.address_id LIMIT 1) a
      CROSS JOIN LATERAL (VALUES (1, ('{"id":"' || (p.id) || '","entity_id":"person","data":{"title":' || coalesce(to_json(p.title)::text, 'null') || ',"last_name":' || coalesce(to_json(p.last_name)::text, 'null') || ',"first_names":' || coalesce(to_json(p.first_names)::text, 'null') || ',"gender":' || to_json(coalesce(p.gender, ''))::text || ',"marital_status":' || to_json(coalesce(p.marital_status, ''))::text || ',"middle_names":' || coalesce(to_json(p.middle_names)::text, 'null') || ',"known_as":' || coalesce(to_json(p.known_as)::text, 'null') || ',"tel_1":' || coalesce(to_json(p.tel_1)::text, 'null') || ',"tel_2":' || coalesce(to_json(p.tel_2)::text, 'null') || ',"email":' || coalesce(to_json(p.email)::text, 'null') || ',"occupation":' || coalesce(to_json(p.occupation)::text, 'null') || ',"preferred_name":' || coalesce(to_json(p.preferred_name)::text, 'null') || ',"alias":' || coalesce(to_json(p.alias)::text, 'null') || ',"dob":' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ',"their_pronoun":' || coalesce(to_json(p.their_pronoun)::text, 'null') || ',"them_pronoun":' || coalesce(to_json(p.them_pronoun)::text, 'null') || ',"they_pronoun":' || coalesce(to_json(p.they_pronoun)::text, 'null') || ',"relationship":' || (SELECT '{' || coalesce(string_agg('"' || r.customer_id || '":' || to_json(r.word)::text, ','
ORDER BY r.position), '') || '}' FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id) || ',"address":"' || (p.address_id) || '","tags":' || to_json(p.tags)::text || ',"custom_tags":' || to_json(p.custom_tags)::text || '}}')), (2, ('{"id":"' || (a.id) || '","entity_id":"address","data":{"postcode":' || to_json(a.postcode)::text || ',"address_1":' || to_json(a.address_1)::text || ',"address_2":' || to_json(a.address_2)::text || ',"address_3":' || to_json(a.address_3)::text || '}}'))) AS i (rank, item)
      WHERE p.company_id = $1::uuid AND p.case_id = $2::uuid AND ($3::text IS NULL OR lower(concat_ws(' ', p.title, p.first_names, p.middle_names, p.last_name,
    p.known_as, p.preferred_name, p.alias)) LIKE lower($3::text))
  AND ($4::text IS NULL OR $4::text = ANY (p.tags || p.custom_tags))
  AND (p.deleted_at IS NOT NULL) = coalesce($5::boolean, false) ORDER BY n LIMIT $6::int OFFSET $7::int) l
      GROUP BY (l.n - 1) / 100 ORDER BY (l.n - 1) / 100;

-- address_book.list_pieces (reads; pool: short)
SELECT string_agg(l.element, ',' ORDER BY l.n) FROM (SELECT i.item AS element,
          row_number() OVER (ORDER BY p.created_at, p.id, i.rank) AS n FROM people p CROSS JOIN LATERAL (
SELECT a.* FROM addresses a
 WHERE a.company_id = $1::uuid AND a.case_id = $2::uuid AND a.id = p.address_id LIMIT 1) a
      CROSS JOIN LATERAL (VALUES (1, ('{"id":"' || (p.id) || '","entity_id":"person","data":{"title":' || coalesce(to_json(p.title)::text, 'null') || ',"last_name":' || coalesce(to_json(p.last_name)::text, 'null') || ',"first_names":' || coalesce(to_json(p.first_names)::text, 'null') || ',"gender":' || to_json(coalesce(p.gender, ''))::text || ',"marital_status":' || to_json(coalesce(p.marital_status, ''))::text || ',"middle_names":' || coalesce(to_json(p.middle_names)::text, 'null') || ',"known_as":' || coalesce(to_json(p.known_as)::text, 'null') || ',"tel_1":' || coalesce(to_json(p.tel_1)::text, 'null') || ',"tel_2":' || coalesce(to_json(p.tel_2)::text, 'null') || ',"email":' || coalesce(to_json(p.email)::text, 'null') || ',"occupation":' || coalesce(to_json(p.occupation)::text, 'null') || ',"preferred_name":' || coalesce(to_json(p.preferred_name)::text, 'null') || ',"alias":' || coalesce(to_json(p.alias)::text, 'null') || ',"dob":' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ',"their_pronoun":' || coalesce(to_json(p.their_pronoun)::text, 'null') || ',"them_pronoun":' || coalesce(to_json(p.them_pronoun)::text, 'null') || ',"they_pronoun":' || coalesce(to_json(p.they_pronoun)::text, 'null') || ',"relationship":' || (SELECT '{' || coalesce(string_agg('"' || r.customer_id || '":' || to_json(r.word)::text, ','
ORDER BY r.position), '') || '}' FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id) || ',"address":"' || (p.address_id) || '","tags":' || to_json(p.tags)::text || ',"custom_tags":' || to_json(p.custom_tags)::text || '}}')), (2, ('{"id":"' || (a.id) || '","entity_id":"address","data":{"postcode":' || to_json(a.postcode)::text || ',"address_1":' || to_json(a.address_1)::text || ',"address_2":' || to_json(a.address_2)::text || ',"address_3":' || to_json(a.address_3)::text || '}}'))) AS i (rank, item)
      WHERE p.company_id = $1::uuid AND p.case_id = $2::uuid AND ($3::text IS NULL OR lower(concat_ws(' ', p.title, p.first_names, p.middle_names, p.last_name,
    p.known_as, p.preferred_name, p.alias)) LIKE lower($3::text))
  AND ($4::text IS NULL OR $4::text = ANY (p.tags || p.custom_tags))
  AND (p.deleted_at IS NOT NULL) = coalesce($5::boolean, false) ORDER BY n ) l
      GROUP BY (l.n - 1) / 100 ORDER BY (l.n - 1) / 100;

-- address_book.of_company_by_email_asc (reads; pool: search)
  WITH scanned AS MATERIALIZED (
    SELECT s.* FROM (
    (SELECT p.*, (left(fold_text(left(coalesce(p.email, ''), 254)), 254) COLLATE "C") AS sort_key FROM people p
       WHERE p.company_id = $1::uuid AND p.deleted_at IS NULL AND true
         AND ((left(fold_text(left(coalesce(p.email, ''), 254)), 254) COLLATE "C"), p.id) > (fold_text($6::text), $4::uuid)
         AND (left(fold_text(left(coalesce(p.email, ''), 254)), 254) COLLATE "C") < fold_text($7::text)
       ORDER BY (left(fold_text(left(coalesce(p.email, ''), 254)), 254) COLLATE "C") asc, p.id asc LIMIT $3::int)) s ORDER BY s.sort_key asc, s.id asc LIMIT $3::int
  ), found AS MATERIALIZED (
    SELECT p.*, row_number() OVER before AS n, sum(1500 + octet_length(array_to_string(p.tags || p.custom_tags, '   '))
+ (SELECT coalesce(sum(octet_length(r.word) + 45), 0) FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id)) OVER before AS bytes
      FROM (SELECT p.* FROM scanned p WHERE ($12::text IS NULL OR p.external_id = $12::text) AND ($8::text IS NULL OR starts_with((left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C"), fold_text($8::text))) AND ($9::text IS NULL OR starts_with((left(fold_text(left(coalesce(p.email, ''), 254)), 254) COLLATE "C"), fold_text($9::text)))
  AND ($10::text IS NULL OR right(regexp_replace(left($10::text, 100), '[^0-9]', '', 'g'), 9) IN (right(regexp_replace(left(p.tel_1, 100), '[^0-9]', '', 'g'), 9), right(regexp_replace(left(p.tel_2, 100), '[^0-9]', '', 'g'), 9)))
  AND ($11::text IS NULL OR $11::text = ANY (p.tags || p.custom_tags)) ORDER BY p.sort_key asc, p.id asc LIMIT $2::int + 1) p
    WINDOW before AS (ORDER BY p.sort_key asc, p.id asc ROWS UNBOUNDED PRECEDING)
  ), shown AS MATERIALIZED (
    SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
  )
  SELECT (SELECT ('[' || coalesce(string_agg(('{"id":"' || (p.id) || '","entity_id":"person","data":{"title":' || coalesce(to_json(p.title)::text, 'null') || ',"last_name":' || coalesce(to_json(p.last_name)::text, 'null') || ',"first_names":' || coalesce(to_json(p.first_names)::text, 'null') || ',"gender":' || to_json(coalesce(p.gender, ''))::text || ',"marital_status":' || to_json(coalesce(p.marital_status, ''))::text || ',"middle_names":' || coalesce(to_json(p.middle_names)::text, 'null') || ',"known_as":' || coalesce(to_json(p.known_as)::text, 'null') || ',"tel_1":' || coalesce(to_json(p.tel_1)::text, 'null') || ',"tel_2":' || coalesce(to_json(p.tel_2)::text, 'null') || ',"email":' || coalesce(to_json(p.email)::text, 'null') || ',"occupation":' || coalesce(to_json(p.occupation)::text, 'null') || ',"preferred_name":' || coalesce(to_json(p.preferred_name)::text, 'null') || ',"alias":' || coalesce(to_json(p.alias)::text, 'null') || ',"dob":' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ',"their_pronoun":' || coalesce(to_json(p.their_pronoun)::text, 'null') || ',"them_pronoun":' || coalesce(to_json(p.them_pronoun)::text, 'null') || ',"they_pronoun":' || coalesce(to_json(p.they_pronoun)::text, 'null') || ',"relationship":' || (SELECT '{' || coalesce(string_agg('"' || r.customer_id || '":' || to_json(r.word)::text, ','
ORDER BY r.position), '') || '}' FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id) || ',"address":"' || (p.address_id) || '","tags":' || to_json(p.tags)::text || ',"custom_tags":' || to_json(p.custom_tags)::text || '},"address":{"postcode":' || to_json(a.postcode)::text || ',"address_1":' || to_json(a.address_1)::text || ',"address_2":' || to_json(a.address_2)::text || ',"address_3":' || to_json(a.address_3)::text || '},"external_id":' || coalesce(to_json(p.external_id)::text, 'null') || ',"created_at":"' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","updated_at":"' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","case":{"id":"' || (p.case_id) || '","reference":' || coalesce(to_json((SELECT c.reference FROM cases c
         WHERE $5::boolean AND c.company_id = p.company_id AND c.id = p.case_id))::text, 'null') || '}}'), ',' ORDER BY p.n), '') || ']') FROM shown p CROSS JOIN LATERAL (SELECT a.* FROM addresses a WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id LIMIT 1) a) AS json,
         next.sort_key AS key, next.id
    FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
      (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key desc, e.id desc LIMIT 1)
      UNION ALL
      (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key desc, e.id desc LIMIT 1)
    ) next ON true;

-- address_book.of_company_by_email_desc (reads; pool: search)
  WITH scanned AS MATERIALIZED (
    SELECT s.* FROM (
    (SELECT p.*, (left(fold_text(left(coalesce(p.email, ''), 254)), 254) COLLATE "C") AS sort_key FROM people p
       WHERE p.company_id = $1::uuid AND p.deleted_at IS NULL AND true
         AND ((left(fold_text(left(coalesce(p.email, ''), 254)), 254) COLLATE "C"), p.id) < (fold_text($6::text), $4::uuid)
         AND (left(fold_text(left(coalesce(p.email, ''), 254)), 254) COLLATE "C") >= fold_text($7::text)
       ORDER BY (left(fold_text(left(coalesce(p.email, ''), 254)), 254) COLLATE "C") desc, p.id desc LIMIT $3::int)) s ORDER BY s.sort_key desc, s.id desc LIMIT $3::int
  ), found AS MATERIALIZED (
    SELECT p.*, row_number() OVER before AS n, sum(1500 + octet_length(array_to_string(p.tags || p.custom_tags, '   '))
+ (SELECT coalesce(sum(octet_length(r.word) + 45), 0) FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id)) OVER before AS bytes
      FROM (SELECT p.* FROM scanned p WHERE ($12::text IS NULL OR p.external_id = $12::text) AND ($8::text IS NULL OR starts_with((left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C"), fold_text($8::text))) AND ($9::text IS NULL OR starts_with((left(fold_text(left(coalesce(p.email, ''), 254)), 254) COLLATE "C"), fold_text($9::text)))
  AND ($10::text IS NULL OR right(regexp_replace(left($10::text, 100), '[^0-9]', '', 'g'), 9) IN (right(regexp_replace(left(p.tel_1, 100), '[^0-9]', '', 'g'), 9), right(regexp_replace(left(p.tel_2, 100), '[^0-9]', '', 'g'), 9)))
  AND ($11::text IS NULL OR $11::text = ANY (p.tags || p.custom_tags)) ORDER BY p.sort_key desc, p.id desc LIMIT $2::int + 1) p
    WINDOW before AS (ORDER BY p.sort_key desc, p.id desc ROWS UNBOUNDED PRECEDING)
  ), shown AS MATERIALIZED (
    SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
  )
  SELECT (SELECT ('[' || coalesce(string_agg(('{"id":"' || (p.id) || '","entity_id":"person","data":{"title":' || coalesce(to_json(p.title)::text, 'null') || ',"last_name":' || coalesce(to_json(p.last_name)::text, 'null') || ',"first_names":' || coalesce(to_json(p.first_names)::text, 'null') || ',"gender":' || to_json(coalesce(p.gender, ''))::text || ',"marital_status":' || to_json(coalesce(p.marital_status, ''))::text || ',"middle_names":' || coalesce(to_json(p.middle_names)::text, 'null') || ',"known_as":' || coalesce(to_json(p.known_as)::text, 'null') || ',"tel_1":' || coalesce(to_json(p.tel_1)::text, 'null') || ',"tel_2":' || coalesce(to_json(p.tel_2)::text, 'null') || ',"email":' || coalesce(to_json(p.email)::text, 'null') || ',"occupation":' || coalesce(to_json(p.occupation)::text, 'null') || ',"preferred_name":' || coalesce(to_json(p.preferred_name)::text, 'null') || ',"alias":' || coalesce(to_json(p.alias)::text, 'null') || ',"dob":' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ',"their_pronoun":' || coalesce(to_json(p.their_pronoun)::text, 'null') || ',"them_pronoun":' || coalesce(to_json(p.them_pronoun)::text, 'null') || ',"they_pronoun":' || coalesce(to_json(p.they_pronoun)::text, 'null') || ',"relationship":' || (SELECT '{' || coalesce(string_agg('"' || r.customer_id || '":' || to_json(r.word)::text, ','
ORDER BY r.position), '') || '}' FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id) || ',"address":"' || (p.address_id) || '","tags":' || to_json(p.tags)::text || ',"custom_tags":' || to_json(p.custom_tags)::text || '},"address":{"postcode":' || to_json(a.postcode)::text || ',"address_1":' || to_json(a.address_1)::text || ',"address_2":' || to_json(a.address_2)::text || ',"address_3":' || to_json(a.address_3)::text || '},"external_id":' || coalesce(to_json(p.external_id)::text, 'null') || ',"created_at":"' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","updated_at":"' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","case":{"id":"' || (p.case_id) || '","reference":' || coalesce(to_json((SELECT c.reference FROM cases c
         WHERE $5::boolean AND c.company_id = p.company_id AND c.id = p.case_id))::text, 'null') || '}}'), ',' ORDER BY p.n), '') || ']') FROM shown p CROSS JOIN LATERAL (SELECT a.* FROM addresses a WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id LIMIT 1) a) AS json,
         next.sort_key AS key, next.id
    FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
      (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key asc, e.id asc LIMIT 1)
      UNION ALL
      (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key asc, e.id asc LIMIT 1)
    ) next ON true;

-- address_book.of_company_by_external_id_asc (reads; pool: search)
  WITH scanned AS MATERIALIZED (
    SELECT s.* FROM (
    (SELECT p.*, (left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C") AS sort_key FROM people p
       WHERE p.company_id = $1::uuid AND p.deleted_at IS NULL AND p.external_id = $12::text
         AND ((left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C"), p.id) > (fold_text($6::text), $4::uuid)
         AND (left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C") < fold_text($7::text)
       ORDER BY (left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C") asc, p.id asc LIMIT $3::int)) s ORDER BY s.sort_key asc, s.id asc LIMIT $3::int
  ), found AS MATERIALIZED (
    SELECT p.*, row_number() OVER before AS n, sum(1500 + octet_length(array_to_string(p.tags || p.custom_tags, '   '))
+ (SELECT coalesce(sum(octet_length(r.word) + 45), 0) FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id)) OVER before AS bytes
      FROM (SELECT p.* FROM scanned p WHERE ($12::text IS NULL OR p.external_id = $12::text) AND ($8::text IS NULL OR starts_with((left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C"), fold_text($8::text))) AND ($9::text IS NULL OR starts_with((left(fold_text(left(coalesce(p.email, ''), 254)), 254) COLLATE "C"), fold_text($9::text)))
  AND ($10::text IS NULL OR right(regexp_replace(left($10::text, 100), '[^0-9]', '', 'g'), 9) IN (right(regexp_replace(left(p.tel_1, 100), '[^0-9]', '', 'g'), 9), right(regexp_replace(left(p.tel_2, 100), '[^0-9]', '', 'g'), 9)))
  AND ($11::text IS NULL OR $11::text = ANY (p.tags || p.custom_tags)) ORDER BY p.sort_key asc, p.id asc LIMIT $2::int + 1) p
    WINDOW before AS (ORDER BY p.sort_key asc, p.id asc ROWS UNBOUNDED PRECEDING)
  ), shown AS MATERIALIZED (
    SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
  )
  SELECT (SELECT ('[' || coalesce(string_agg(('{"id":"' || (p.id) || '","entity_id":"person","data":{"title":' || coalesce(to_json(p.title)::text, 'null') || ',"last_name":' || coalesce(to_json(p.last_name)::text, 'null') || ',"first_names":' || coalesce(to_json(p.first_names)::text, 'null') || ',"gender":' || to_json(coalesce(p.gender, ''))::text || ',"marital_status":' || to_json(coalesce(p.marital_status, ''))::text || ',"middle_names":' || coalesce(to_json(p.middle_names)::text, 'null') || ',"known_as":' || coalesce(to_json(p.known_as)::text, 'null') || ',"tel_1":' || coalesce(to_json(p.tel_1)::text, 'null') || ',"tel_2":' || coalesce(to_json(p.tel_2)::text, 'null') || ',"email":' || coalesce(to_json(p.email)::text, 'null') || ',"occupation":' || coalesce(to_json(p.occupation)::text, 'null') || ',"preferred_name":' || coalesce(to_json(p.preferred_name)::text, 'null') || ',"alias":' || coalesce(to_json(p.alias)::text, 'null') || ',"dob":' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ',"their_pronoun":' || coalesce(to_json(p.their_pronoun)::text, 'null') || ',"them_pronoun":' || coalesce(to_json(p.them_pronoun)::text, 'null') || ',"they_pronoun":' || coalesce(to_json(p.they_pronoun)::text, 'null') || ',"relationship":' || (SELECT '{' || coalesce(string_agg('"' || r.customer_id || '":' || to_json(r.word)::text, ','
ORDER BY r.position), '') || '}' FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id) || ',"address":"' || (p.address_id) || '","tags":' || to_json(p.tags)::text || ',"custom_tags":' || to_json(p.custom_tags)::text || '},"address":{"postcode":' || to_json(a.postcode)::text || ',"address_1":' || to_json(a.address_1)::text || ',"address_2":' || to_json(a.address_2)::text || ',"address_3":' || to_json(a.address_3)::text || '},"external_id":' || coalesce(to_json(p.external_id)::text, 'null') || ',"created_at":"' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","updated_at":"' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","case":{"id":"' || (p.case_id) || '","reference":' || coalesce(to_json((SELECT c.reference FROM cases c
         WHERE $5::boolean AND c.company_id = p.company_id AND c.id = p.case_id))::text, 'null') || '}}'), ',' ORDER BY p.n), '') || ']') FROM shown p CROSS JOIN LATERAL (SELECT a.* FROM addresses a WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id LIMIT 1) a) AS json,
         next.sort_key AS key, next.id
    FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
      (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key desc, e.id desc LIMIT 1)
      UNION ALL
      (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key desc, e.id desc LIMIT 1)
    ) next ON true;

-- address_book.of_company_by_external_id_desc (reads; pool: search)
  WITH scanned AS MATERIALIZED (
    SELECT s.* FROM (
    (SELECT p.*, (left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C") AS sort_key FROM people p
       WHERE p.company_id = $1::uuid AND p.deleted_at IS NULL AND p.external_id = $12::text
         AND ((left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C"), p.id) < (fold_text($6::text), $4::uuid)
         AND (left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C") >= fold_text($7::text)
       ORDER BY (left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C") desc, p.id desc LIMIT $3::int)) s ORDER BY s.sort_key desc, s.id desc LIMIT $3::int
  ), found AS MATERIALIZED (
    SELECT p.*, row_number() OVER before AS n, sum(1500 + octet_length(array_to_string(p.tags || p.custom_tags, '   '))
+ (SELECT coalesce(sum(octet_length(r.word) + 45), 0) FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id)) OVER before AS bytes
      FROM (SELECT p.* FROM scanned p WHERE ($12::text IS NULL OR p.external_id = $12::text) AND ($8::text IS NULL OR starts_with((left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C"), fold_text($8::text))) AND ($9::text IS NULL OR starts_with((left(fold_text(left(coalesce(p.email, ''), 254)), 254) COLLATE "C"), fold_text($9::text)))
  AND ($10::text IS NULL OR right(regexp_replace(left($10::text, 100), '[^0-9]', '', 'g'), 9) IN (right(regexp_replace(left(p.tel_1, 100), '[^0-9]', '', 'g'), 9), right(regexp_replace(left(p.tel_2, 100), '[^0-9]', '', 'g'), 9)))
  AND ($11::text IS NULL OR $11::text = ANY (p.tags || p.custom_tags)) ORDER BY p.sort_key desc, p.id desc LIMIT $2::int + 1) p
    WINDOW before AS (ORDER BY p.sort_key desc, p.id desc ROWS UNBOUNDED PRECEDING)
  ), shown AS MATERIALIZED (
    SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
  )
  SELECT (SELECT ('[' || coalesce(string_agg(('{"id":"' || (p.id) || '","entity_id":"person","data":{"title":' || coalesce(to_json(p.title)::text, 'null') || ',"last_name":' || coalesce(to_json(p.last_name)::text, 'null') || ',"first_names":' || coalesce(to_json(p.first_names)::text, 'null') || ',"gender":' || to_json(coalesce(p.gender, ''))::text || ',"marital_status":' || to_json(coalesce(p.marital_status, ''))::text || ',"middle_names":' || coalesce(to_json(p.middle_names)::text, 'null') || ',"known_as":' || coalesce(to_json(p.known_as)::text, 'null') || ',"tel_1":' || coalesce(to_json(p.tel_1)::text, 'null') || ',"tel_2":' || coalesce(to_json(p.tel_2)::text, 'null') || ',"email":' || coalesce(to_json(p.email)::text, 'null') || ',"occupation":' || coalesce(to_json(p.occupation)::text, 'null') || ',"preferred_name":' || coalesce(to_json(p.preferred_name)::text, 'null') || ',"alias":' || coalesce(to_json(p.alias)::text, 'null') || ',"dob":' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ',"their_pronoun":' || coalesce(to_json(p.their_pronoun)::text, 'null') || ',"them_pronoun":' || coalesce(to_json(p.them_pronoun)::text, 'null') || ',"they_pronoun":' || coalesce(to_json(p.they_pronoun)::text, 'null') || ',"relationship":' || (SELECT '{' || coalesce(string_agg('"' || r.customer_id || '":' || to_json(r.word)::text, ','
ORDER BY r.position), '') || '}' FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id) || ',"address":"' || (p.address_id) || '","tags":' || to_json(p.tags)::text || ',"custom_tags":' || to_json(p.custom_tags)::text || '},"address":{"postcode":' || to_json(a.postcode)::text || ',"address_1":' || to_json(a.address_1)::text || ',"address_2":' || to_json(a.address_2)::text || ',"address_3":' || to_json(a.address_3)::text || '},"external_id":' || coalesce(to_json(p.external_id)::text, 'null') || ',"created_at":"' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","updated_at":"' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","case":{"id":"' || (p.case_id) || '","reference":' || coalesce(to_json((SELECT c.reference FROM cases c
         WHERE $5::boolean AND c.company_id = p.company_id AND c.id = p.case_id))::text, 'null') || '}}'), ',' ORDER BY p.n), '') || ']') FROM shown p CROSS JOIN LATERAL (SELECT a.* FROM addresses a WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id LIMIT 1) a) AS json,
         next.sort_key AS key, next.id
    FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
      (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key asc, e.id asc LIMIT 1)
      UNION ALL
      (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key asc, e.id asc LIMIT 1)
    ) next ON true;

-- address_book.of_company_by_name_asc (reads; pool: search)
  WITH scanned AS MATERIALIZED (
    SELECT s.* FROM (
    (SELECT p.*, (left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C") AS sort_key FROM people p
       WHERE p.company_id = $1::uuid AND p.deleted_at IS NULL AND true
         AND ((left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C"), p.id) > (fold_text($6::text), $4::uuid)
         AND (left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C") < fold_text($7::text)
       ORDER BY (left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C") asc, p.id asc LIMIT $3::int)) s ORDER BY s.sort_key asc, s.id asc LIMIT $3::int
  ), found AS MATERIALIZED (
    SELECT p.*, row_number() OVER before AS n, sum(1500 + octet_length(array_to_string(p.tags || p.custom_tags, '   '))
+ (SELECT coalesce(sum(octet_length(r.word) + 45), 0) FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id)) OVER before AS bytes
      FROM (SELECT p.* FROM scanned p WHERE ($12::text IS NULL OR p.external_id = $12::text) AND ($8::text IS NULL OR starts_with((left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C"), fold_text($8::text))) AND ($9::text IS NULL OR starts_with((left(fold_text(left(coalesce(p.email, ''), 254)), 254) COLLATE "C"), fold_text($9::text)))
  AND ($10::text IS NULL OR right(regexp_replace(left($10::text, 100), '[^0-9]', '', 'g'), 9) IN (right(regexp_replace(left(p.tel_1, 100), '[^0-9]', '', 'g'), 9), right(regexp_replace(left(p.tel_2, 100), '[^0-9]', '', 'g'), 9)))
  AND ($11::text IS NULL OR $11::text = ANY (p.tags || p.custom_tags)) ORDER BY p.sort_key asc, p.id asc LIMIT $2::int + 1) p
    WINDOW before AS (ORDER BY p.sort_key asc, p.id asc ROWS UNBOUNDED PRECEDING)
  ), shown AS MATERIALIZED (
    SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
  )
  SELECT (SELECT ('[' || coalesce(string_agg(('{"id":"' || (p.id) || '","entity_id":"person","data":{"title":' || coalesce(to_json(p.title)::text, 'null') || ',"last_name":' || coalesce(to_json(p.last_name)::text, 'null') || ',"first_names":' || coalesce(to_json(p.first_names)::text, 'null') || ',"gender":' || to_json(coalesce(p.gender, ''))::text || ',"marital_status":' || to_json(coalesce(p.marital_status, ''))::text || ',"middle_names":' || coalesce(to_json(p.middle_names)::text, 'null') || ',"known_as":' || coalesce(to_json(p.known_as)::text, 'null') || ',"tel_1":' || coalesce(to_json(p.tel_1)::text, 'null') || ',"tel_2":' || coalesce(to_json(p.tel_2)::text, 'null') || ',"email":' || coalesce(to_json(p.email)::text, 'null') || ',"occupation":' || coalesce(to_json(p.occupation)::text, 'null') || ',"preferred_name":' || coalesce(to_json(p.preferred_name)::text, 'null') || ',"alias":' || coalesce(to_json(p.alias)::text, 'null') || ',"dob":' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ',"their_pronoun":' || coalesce(to_json(p.their_pronoun)::text, 'null') || ',"them_pronoun":' || coalesce(to_json(p.them_pronoun)::text, 'null') || ',"they_pronoun":' || coalesce(to_json(p.they_pronoun)::text, 'null') || ',"relationship":' || (SELECT '{' || coalesce(string_agg('"' || r.customer_id || '":' || to_json(r.word)::text, ','
ORDER BY r.position), '') || '}' FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id) || ',"address":"' || (p.address_id) || '","tags":' || to_json(p.tags)::text || ',"custom_tags":' || to_json(p.custom_tags)::text || '},"address":{"postcode":' || to_json(a.postcode)::text || ',"address_1":' || to_json(a.address_1)::text || ',"address_2":' || to_json(a.address_2)::text || ',"address_3":' || to_json(a.address_3)::text || '},"external_id":' || coalesce(to_json(p.external_id)::text, 'null') || ',"created_at":"' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","updated_at":"' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","case":{"id":"' || (p.case_id) || '","reference":' || coalesce(to_json((SELECT c.reference FROM cases c
         WHERE $5::boolean AND c.company_id = p.company_id AND c.id = p.case_id))::text, 'null') || '}}'), ',' ORDER BY p.n), '') || ']') FROM shown p CROSS JOIN LATERAL (SELECT a.* FROM addresses a WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id LIMIT 1) a) AS json,
         next.sort_key AS key, next.id
    FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
      (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key desc, e.id desc LIMIT 1)
      UNION ALL
      (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key desc, e.id desc LIMIT 1)
    ) next ON true;

-- address_book.of_company_by_name_desc (reads; pool: search)
  WITH scanned AS MATERIALIZED (
    SELECT s.* FROM (
    (SELECT p.*, (left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C") AS sort_key FROM people p
       WHERE p.company_id = $1::uuid AND p.deleted_at IS NULL AND true
         AND ((left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C"), p.id) < (fold_text($6::text), $4::uuid)
         AND (left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C") >= fold_text($7::text)
       ORDER BY (left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C") desc, p.id desc LIMIT $3::int)) s ORDER BY s.sort_key desc, s.id desc LIMIT $3::int
  ), found AS MATERIALIZED (
    SELECT p.*, row_number() OVER before AS n, sum(1500 + octet_length(array_to_string(p.tags || p.custom_tags, '   '))
+ (SELECT coalesce(sum(octet_length(r.word) + 45), 0) FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id)) OVER before AS bytes
      FROM (SELECT p.* FROM scanned p WHERE ($12::text IS NULL OR p.external_id = $12::text) AND ($8::text IS NULL OR starts_with((left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C"), fold_text($8::text))) AND ($9::text IS NULL OR starts_with((left(fold_text(left(coalesce(p.email, ''), 254)), 254) COLLATE "C"), fold_text($9::text)))
  AND ($10::text IS NULL OR right(regexp_replace(left($10::text, 100), '[^0-9]', '', 'g'), 9) IN (right(regexp_replace(left(p.tel_1, 100), '[^0-9]', '', 'g'), 9), right(regexp_replace(left(p.tel_2, 100), '[^0-9]', '', 'g'), 9)))
  AND ($11::text IS NULL OR $11::text = ANY (p.tags || p.custom_tags)) ORDER BY p.sort_key desc, p.id desc LIMIT $2::int + 1) p
    WINDOW before AS (ORDER BY p.sort_key desc, p.id desc ROWS UNBOUNDED PRECEDING)
  ), shown AS MATERIALIZED (
    SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
  )
  SELECT (SELECT ('[' || coalesce(string_agg(('{"id":"' || (p.id) || '","entity_id":"person","data":{"title":' || coalesce(to_json(p.title)::text, 'null') || ',"last_name":' || coalesce(to_json(p.last_name)::text, 'null') || ',"first_names":' || coalesce(to_json(p.first_names)::text, 'null') || ',"gender":' || to_json(coalesce(p.gender, ''))::text || ',"marital_status":' || to_json(coalesce(p.marital_status, ''))::text || ',"middle_names":' || coalesce(to_json(p.middle_names)::text, 'null') || ',"known_as":' || coalesce(to_json(p.known_as)::text, 'null') || ',"tel_1":' || coalesce(to_json(p.tel_1)::text, 'null') || ',"tel_2":' || coalesce(to_json(p.tel_2)::text, 'null') || ',"email":' || coalesce(to_json(p.email)::text, 'null') || ',"occupation":' || coalesce(to_json(p.occupation)::text, 'null') || ',"preferred_name":' || coalesce(to_json(p.preferred_name)::text, 'null') || ',"alias":' || coalesce(to_json(p.alias)::text, 'null') || ',"dob":' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ',"their_pronoun":' || coalesce(to_json(p.their_pronoun)::text, 'null') || ',"them_pronoun":' || coalesce(to_json(p.them_pronoun)::text, 'null') || ',"they_pronoun":' || coalesce(to_json(p.they_pronoun)::text, 'null') || ',"relationship":' || (SELECT '{' || coalesce(string_agg('"' || r.customer_id || '":' || to_json(r.word)::text, ','
ORDER BY r.position), '') || '}' FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id) || ',"address":"' || (p.address_id) || '","tags":' || to_json(p.tags)::text || ',"custom_tags":' || to_json(p.custom_tags)::text || '},"address":{"postcode":' || to_json(a.postcode)::text || ',"address_1":' || to_json(a.address_1)::text || ',"address_2":' || to_json(a.address_2)::text || ',"address_3":' || to_json(a.address_3)::text || '},"external_id":' || coalesce(to_json(p.external_id)::text, 'null') || ',"created_at":"' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","updated_at":"' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","case":{"id":"' || (p.case_id) || '","reference":' || coalesce(to_json((SELECT c.reference FROM cases c
         WHERE $5::boolean AND c.company_id = p.company_id AND c.id = p.case_id))::text, 'null') || '}}'), ',' ORDER BY p.n), '') || ']') FROM shown p CROSS JOIN LATERAL (SELECT a.* FROM addresses a WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id LIMIT 1) a) AS json,
         next.sort_key AS key, next.id
    FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
      (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key asc, e.id asc LIMIT 1)
      UNION ALL
      (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key asc, e.id asc LIMIT 1)
    ) next ON true;

-- address_book.of_company_by_phone_asc (reads; pool: search)
  WITH scanned AS MATERIALIZED (
    SELECT s.* FROM (
    (SELECT p.*, (left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C") AS sort_key FROM people p
       WHERE p.company_id = $1::uuid AND p.deleted_at IS NULL AND p.tel_1 IS NOT NULL AND right(regexp_replace(left(p.tel_1, 100), '[^0-9]', '', 'g'), 9) = right(regexp_replace(left($10::text, 100), '[^0-9]', '', 'g'), 9)
         AND ((left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C"), p.id) > (fold_text($6::text), $4::uuid)
         AND (left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C") < fold_text($7::text)
       ORDER BY (left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C") asc, p.id asc LIMIT $3::int) UNION ALL
    (SELECT p.*, (left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C") AS sort_key FROM people p
       WHERE p.company_id = $1::uuid AND p.deleted_at IS NULL AND p.tel_2 IS NOT NULL AND right(regexp_replace(left(p.tel_2, 100), '[^0-9]', '', 'g'), 9) = right(regexp_replace(left($10::text, 100), '[^0-9]', '', 'g'), 9)
         AND ((left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C"), p.id) > (fold_text($6::text), $4::uuid)
         AND (left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C") < fold_text($7::text)
       ORDER BY (left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C") asc, p.id asc LIMIT $3::int)) s ORDER BY s.sort_key asc, s.id asc LIMIT $3::int
  ), found AS MATERIALIZED (
    SELECT p.*, row_number() OVER before AS n, sum(1500 + octet_length(array_to_string(p.tags || p.custom_tags, '   '))
+ (SELECT coalesce(sum(octet_length(r.word) + 45), 0) FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id)) OVER before AS bytes
      FROM (SELECT DISTINCT ON (p.sort_key, p.id) p.* FROM scanned p WHERE ($12::text IS NULL OR p.external_id = $12::text) AND ($8::text IS NULL OR starts_with((left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C"), fold_text($8::text))) AND ($9::text IS NULL OR starts_with((left(fold_text(left(coalesce(p.email, ''), 254)), 254) COLLATE "C"), fold_text($9::text)))
  AND ($10::text IS NULL OR right(regexp_replace(left($10::text, 100), '[^0-9]', '', 'g'), 9) IN (right(regexp_replace(left(p.tel_1, 100), '[^0-9]', '', 'g'), 9), right(regexp_replace(left(p.tel_2, 100), '[^0-9]', '', 'g'), 9)))
  AND ($11::text IS NULL OR $11::text = ANY (p.tags || p.custom_tags)) ORDER BY p.sort_key asc, p.id asc LIMIT $2::int + 1) p
    WINDOW before AS (ORDER BY p.sort_key asc, p.id asc ROWS UNBOUNDED PRECEDING)
  ), shown AS MATERIALIZED (
    SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
  )
  SELECT (SELECT ('[' || coalesce(string_agg(('{"id":"' || (p.id) || '","entity_id":"person","data":{"title":' || coalesce(to_json(p.title)::text, 'null') || ',"last_name":' || coalesce(to_json(p.last_name)::text, 'null') || ',"first_names":' || coalesce(to_json(p.first_names)::text, 'null') || ',"gender":' || to_json(coalesce(p.gender, ''))::text || ',"marital_status":' || to_json(coalesce(p.marital_status, ''))::text || ',"middle_names":' || coalesce(to_json(p.middle_names)::text, 'null') || ',"known_as":' || coalesce(to_json(p.known_as)::text, 'null') || ',"tel_1":' || coalesce(to_json(p.tel_1)::text, 'null') || ',"tel_2":' || coalesce(to_json(p.tel_2)::text, 'null') || ',"email":' || coalesce(to_json(p.email)::text, 'null') || ',"occupation":' || coalesce(to_json(p.occupation)::text, 'null') || ',"preferred_name":' || coalesce(to_json(p.preferred_name)::text, 'null') || ',"alias":' || coalesce(to_json(p.alias)::text, 'null') || ',"dob":' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ',"their_pronoun":' || coalesce(to_json(p.their_pronoun)::text, 'null') || ',"them_pronoun":' || coalesce(to_json(p.them_pronoun)::text, 'null') || ',"they_pronoun":' || coalesce(to_json(p.they_pronoun)::text, 'null') || ',"relationship":' || (SELECT '{' || coalesce(string_agg('"' || r.customer_id || '":' || to_json(r.word)::text, ','
ORDER BY r.position), '') || '}' FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id) || ',"address":"' || (p.address_id) || '","tags":' || to_json(p.tags)::text || ',"custom_tags":' || to_json(p.custom_tags)::text || '},"address":{"postcode":' || to_json(a.postcode)::text || ',"address_1":' || to_json(a.address_1)::text || ',"address_2":' || to_json(a.address_2)::text || ',"address_3":' || to_json(a.address_3)::text || '},"external_id":' || coalesce(to_json(p.external_id)::text, 'null') || ',"created_at":"' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","updated_at":"' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","case":{"id":"' || (p.case_id) || '","reference":' || coalesce(to_json((SELECT c.reference FROM cases c
         WHERE $5::boolean AND c.company_id = p.company_id AND c.id = p.case_id))::text, 'null') || '}}'), ',' ORDER BY p.n), '') || ']') FROM shown p CROSS JOIN LATERAL (SELECT a.* FROM addresses a WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id LIMIT 1) a) AS json,
         next.sort_key AS key, next.id
    FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
      (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key desc, e.id desc LIMIT 1)
      UNION ALL
      (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key desc, e.id desc LIMIT 1)
    ) next ON true;

-- address_book.of_company_by_phone_desc (reads; pool: search)
  WITH scanned AS MATERIALIZED (
    SELECT s.* FROM (
    (SELECT p.*, (left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C") AS sort_key FROM people p
       WHERE p.company_id = $1::uuid AND p.deleted_at IS NULL AND p.tel_1 IS NOT NULL AND right(regexp_replace(left(p.tel_1, 100), '[^0-9]', '', 'g'), 9) = right(regexp_replace(left($10::text, 100), '[^0-9]', '', 'g'), 9)
         AND ((left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C"), p.id) < (fold_text($6::text), $4::uuid)
         AND (left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C") >= fold_text($7::text)
       ORDER BY (left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C") desc, p.id desc LIMIT $3::int) UNION ALL
    (SELECT p.*, (left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C") AS sort_key FROM people p
       WHERE p.company_id = $1::uuid AND p.deleted_at IS NULL AND p.tel_2 IS NOT NULL AND right(regexp_replace(left(p.tel_2, 100), '[^0-9]', '', 'g'), 9) = right(regexp_replace(left($10::text, 100), '[^0-9]', '', 'g'), 9)
         AND ((left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C"), p.id) < (fold_text($6::text), $4::uuid)
         AND (left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C") >= fold_text($7::text)
       ORDER BY (left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C") desc, p.id desc LIMIT $3::int)) s ORDER BY s.sort_key desc, s.id desc LIMIT $3::int
  ), found AS MATERIALIZED (
    SELECT p.*, row_number() OVER before AS n, sum(1500 + octet_length(array_to_string(p.tags || p.custom_tags, '   '))
+ (SELECT coalesce(sum(octet_length(r.word) + 45), 0) FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id)) OVER before AS bytes
      FROM (SELECT DISTINCT ON (p.sort_key, p.id) p.* FROM scanned p WHERE ($12::text IS NULL OR p.external_id = $12::text) AND ($8::text IS NULL OR starts_with((left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C"), fold_text($8::text))) AND ($9::text IS NULL OR starts_with((left(fold_text(left(coalesce(p.email, ''), 254)), 254) COLLATE "C"), fold_text($9::text)))
  AND ($10::text IS NULL OR right(regexp_replace(left($10::text, 100), '[^0-9]', '', 'g'), 9) IN (right(regexp_replace(left(p.tel_1, 100), '[^0-9]', '', 'g'), 9), right(regexp_replace(left(p.tel_2, 100), '[^0-9]', '', 'g'), 9)))
  AND ($11::text IS NULL OR $11::text = ANY (p.tags || p.custom_tags)) ORDER BY p.sort_key desc, p.id desc LIMIT $2::int + 1) p
    WINDOW before AS (ORDER BY p.sort_key desc, p.id desc ROWS UNBOUNDED PRECEDING)
  ), shown AS MATERIALIZED (
    SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
  )
  SELECT (SELECT ('[' || coalesce(string_agg(('{"id":"' || (p.id) || '","entity_id":"person","data":{"title":' || coalesce(to_json(p.title)::text, 'null') || ',"last_name":' || coalesce(to_json(p.last_name)::text, 'null') || ',"first_names":' || coalesce(to_json(p.first_names)::text, 'null') || ',"gender":' || to_json(coalesce(p.gender, ''))::text || ',"marital_status":' || to_json(coalesce(p.marital_status, ''))::text || ',"middle_names":' || coalesce(to_json(p.middle_names)::text, 'null') || ',"known_as":' || coalesce(to_json(p.known_as)::text, 'null') || ',"tel_1":' || coalesce(to_json(p.tel_1)::text, 'null') || ',"tel_2":' || coalesce(to_json(p.tel_2)::text, 'null') || ',"email":' || coalesce(to_json(p.email)::text, 'null') || ',"occupation":' || coalesce(to_json(p.occupation)::text, 'null') || ',"preferred_name":' || coalesce(to_json(p.preferred_name)::text, 'null') || ',"alias":' || coalesce(to_json(p.alias)::text, 'null') || ',"dob":' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ',"their_pronoun":' || coalesce(to_json(p.their_pronoun)::text, 'null') || ',"them_pronoun":' || coalesce(to_json(p.them_pronoun)::text, 'null') || ',"they_pronoun":' || coalesce(to_json(p.they_pronoun)::text, 'null') || ',"relationship":' || (SELECT '{' || coalesce(string_agg('"' || r.customer_id || '":' || to_json(r.word)::text, ','
ORDER BY r.position), '') || '}' FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id) || ',"address":"' || (p.address_id) || '","tags":' || to_json(p.tags)::text || ',"custom_tags":' || to_json(p.custom_tags)::text || '},"address":{"postcode":' || to_json(a.postcode)::text || ',"address_1":' || to_json(a.address_1)::text || ',"address_2":' || to_json(a.address_2)::text || ',"address_3":' || to_json(a.address_3)::text || '},"external_id":' || coalesce(to_json(p.external_id)::text, 'null') || ',"created_at":"' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","updated_at":"' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","case":{"id":"' || (p.case_id) || '","reference":' || coalesce(to_json((SELECT c.reference FROM cases c
         WHERE $5::boolean AND c.company_id = p.company_id AND c.id = p.case_id))::text, 'null') || '}}'), ',' ORDER BY p.n), '') || ']') FROM shown p CROSS JOIN LATERAL (SELECT a.* FROM addresses a WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id LIMIT 1) a) AS json,
         next.sort_key AS key, next.id
    FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
      (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key asc, e.id asc LIMIT 1)
      UNION ALL
      (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key asc, e.id asc LIMIT 1)
    ) next ON true;

-- address_book.read (reads; pool: short)
SELECT p.version::text, json_build_object('id', p.id, 'entity_id', 'person', 'data', json_build_object('title', p.title, 'last_name', p.last_name, 'first_names', p.first_names, 'gender', coalesce(p.gender, ''), 'marital_status', coalesce(p.marital_status, ''), 'middle_names', p.middle_names, 'known_as', p.known_as, 'tel_1', p.tel_1, 'tel_2', p.tel_2, 'email', p.email, 'occupation', p.occupation, 'preferred_name', p.preferred_name, 'alias', p.alias, 'dob', to_char(p.dob, 'DD/MM/YYYY'), 'their_pronoun', p.their_pronoun, 'them_pronoun', p.them_pronoun, 'they_pronoun', p.they_pronoun, 'relationship', (SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id), 'address', p.address_id, 'tags', p.tags, 'custom_tags', p.custom_tags), 'external_id', p.external_id, 'created_at', to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM people p
 WHERE p.company_id = $1::uuid AND p.case_id = $2::uuid AND p.id = $3::uuid
   AND p.deleted_at IS NULL;

-- address_book.rejection_reasons (reads; pool: short)
  SELECT ($3::uuid IS NULL OR EXISTS (
            SELECT 1 FROM people p
             WHERE p.company_id = $1::uuid AND p.case_id = $2::uuid AND p.id = $3::uuid
               AND p.deleted_at IS NULL)) AS found,
         ARRAY(SELECT sent FROM unnest($4::text[]) AS sent WHERE sent <> ALL (ARRAY(SELECT tag FROM default_tags WHERE tag = ANY ($4::text[])) || (
    SELECT p.tags FROM people p
     WHERE p.company_id = $1::uuid AND p.case_id = $2::uuid AND p.id = $3::uuid))) AS tags,
         ARRAY(SELECT sent FROM unnest($5::text[]) AS sent WHERE sent <> ALL (ARRAY(SELECT tag FROM custom_tags WHERE company_id = $1::uuid AND tag = ANY ($5::text[])) || (
    SELECT p.custom_tags FROM people p
     WHERE p.company_id = $1::uuid AND p.case_id = $2::uuid AND p.id = $3::uuid))) AS custom_tags,
         ARRAY(SELECT sent FROM unnest($6::uuid[]) AS sent WHERE sent <> ALL (ARRAY(
SELECT u.id FROM customers u
 WHERE u.company_id = $1::uuid AND u.case_id = $2::uuid AND u.removed_at IS NULL) || ARRAY(
SELECT r.customer_id FROM relationships r
 WHERE r.company_id = $1::uuid AND r.case_id = $2::uuid AND r.person_id = $3::uuid))) AS customers
    FROM cases c WHERE c.company_id = $1::uuid AND c.id = $2::uuid;

-- address_book.remove_custom_tag (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS tag, $5::timestamptz AS now, $6::json AS origin, 1 AS nth), p AS (
    UPDATE people p SET custom_tags = array_remove(p.custom_tags, input.tag), updated_at = input.now, version = p.version + 1
      FROM input, people seen
     WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL AND input.tag = ANY (p.custom_tags)
    RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT p.company_id, p.case_id, p.id, 'address_book_entry.custom_tag_removed', p.now::timestamptz, p.origin::json, p.was
     FROM p
  )
SELECT nth, p.version::text AS version, json_build_object('id', p.id, 'entity_id', 'person', 'data', json_build_object('title', p.title, 'last_name', p.last_name, 'first_names', p.first_names, 'gender', coalesce(p.gender, ''), 'marital_status', coalesce(p.marital_status, ''), 'middle_names', p.middle_names, 'known_as', p.known_as, 'tel_1', p.tel_1, 'tel_2', p.tel_2, 'email', p.email, 'occupation', p.occupation, 'preferred_name', p.preferred_name, 'alias', p.alias, 'dob', to_char(p.dob, 'DD/MM/YYYY'), 'their_pronoun', p.their_pronoun, 'them_pronoun', p.them_pronoun, 'they_pronoun', p.they_pronoun, 'relationship', (SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id), 'address', p.address_id, 'tags', p.tags, 'custom_tags', p.custom_tags), 'external_id', p.external_id, 'created_at', to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text AS json FROM p;

-- address_book.remove_custom_tag keyed (writes; pool: short)
  WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS tag, $5::timestamptz AS now, $6::json AS origin, $7::uuid AS credential_id, $8::bytea AS key_sha256, $9::bytea AS request_sha256, $10::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL),
input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS tag, $5::timestamptz AS now, $6::json AS origin, $7::uuid AS credential_id, $8::bytea AS key_sha256, $9::bytea AS request_sha256, $10::text AS etag_suffix, 1 AS nth FROM guard), p AS (
    UPDATE people p SET custom_tags = array_remove(p.custom_tags, input.tag), updated_at = input.now, version = p.version + 1
      FROM input, people seen
     WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL AND input.tag = ANY (p.custom_tags)
    RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT p.company_id, p.case_id, p.id, 'address_book_entry.custom_tag_removed', p.now::timestamptz, p.origin::json, p.was
     FROM p
  ), answer AS (
  SELECT nth, p.version::text AS version, json_build_object('id', p.id, 'entity_id', 'person', 'data', json_build_object('title', p.title, 'last_name', p.last_name, 'first_names', p.first_names, 'gender', coalesce(p.gender, ''), 'marital_status', coalesce(p.marital_status, ''), 'middle_names', p.middle_names, 'known_as', p.known_as, 'tel_1', p.tel_1, 'tel_2', p.tel_2, 'email', p.email, 'occupation', p.occupation, 'preferred_name', p.preferred_name, 'alias', p.alias, 'dob', to_char(p.dob, 'DD/MM/YYYY'), 'their_pronoun', p.their_pronoun, 'them_pronoun', p.them_pronoun, 'they_pronoun', p.they_pronoun, 'relationship', (SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id), 'address', p.address_id, 'tags', p.tags, 'custom_tags', p.custom_tags), 'external_id', p.external_id, 'created_at', to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text AS json FROM p
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- address_book.remove_tag (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS tag, $5::timestamptz AS now, $6::json AS origin, 1 AS nth), p AS (
    UPDATE people p SET tags = array_remove(p.tags, input.tag), updated_at = input.now, version = p.version + 1
      FROM input, people seen
     WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL AND input.tag = ANY (p.tags)
    RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT p.company_id, p.case_id, p.id, 'address_book_entry.tag_removed', p.now::timestamptz, p.origin::json, p.was
     FROM p
  )
SELECT nth, p.version::text AS version, json_build_object('id', p.id, 'entity_id', 'person', 'data', json_build_object('title', p.title, 'last_name', p.last_name, 'first_names', p.first_names, 'gender', coalesce(p.gender, ''), 'marital_status', coalesce(p.marital_status, ''), 'middle_names', p.middle_names, 'known_as', p.known_as, 'tel_1', p.tel_1, 'tel_2', p.tel_2, 'email', p.email, 'occupation', p.occupation, 'preferred_name', p.preferred_name, 'alias', p.alias, 'dob', to_char(p.dob, 'DD/MM/YYYY'), 'their_pronoun', p.their_pronoun, 'them_pronoun', p.them_pronoun, 'they_pronoun', p.they_pronoun, 'relationship', (SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id), 'address', p.address_id, 'tags', p.tags, 'custom_tags', p.custom_tags), 'external_id', p.external_id, 'created_at', to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text AS json FROM p;

-- address_book.remove_tag keyed (writes; pool: short)
  WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS tag, $5::timestamptz AS now, $6::json AS origin, $7::uuid AS credential_id, $8::bytea AS key_sha256, $9::bytea AS request_sha256, $10::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL),
input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS tag, $5::timestamptz AS now, $6::json AS origin, $7::uuid AS credential_id, $8::bytea AS key_sha256, $9::bytea AS request_sha256, $10::text AS etag_suffix, 1 AS nth FROM guard), p AS (
    UPDATE people p SET tags = array_remove(p.tags, input.tag), updated_at = input.now, version = p.version + 1
      FROM input, people seen
     WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL AND input.tag = ANY (p.tags)
    RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT p.company_id, p.case_id, p.id, 'address_book_entry.tag_removed', p.now::timestamptz, p.origin::json, p.was
     FROM p
  ), answer AS (
  SELECT nth, p.version::text AS version, json_build_object('id', p.id, 'entity_id', 'person', 'data', json_build_object('title', p.title, 'last_name', p.last_name, 'first_names', p.first_names, 'gender', coalesce(p.gender, ''), 'marital_status', coalesce(p.marital_status, ''), 'middle_names', p.middle_names, 'known_as', p.known_as, 'tel_1', p.tel_1, 'tel_2', p.tel_2, 'email', p.email, 'occupation', p.occupation, 'preferred_name', p.preferred_name, 'alias', p.alias, 'dob', to_char(p.dob, 'DD/MM/YYYY'), 'their_pronoun', p.their_pronoun, 'them_pronoun', p.them_pronoun, 'they_pronoun', p.they_pronoun, 'relationship', (SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id), 'address', p.address_id, 'tags', p.tags, 'custom_tags', p.custom_tags), 'external_id', p.external_id, 'created_at', to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text AS json FROM p
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- address_book.restore (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::timestamptz AS now, $5::json AS origin, 1 AS nth), p AS (
    UPDATE people p SET deleted_at = NULL, updated_at = input.now, version = p.version + 1
      FROM input, people seen
     WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NOT NULL
    RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT p.company_id, p.case_id, p.id, 'address_book_entry.restored', p.now::timestamptz, p.origin::json, p.was
     FROM p
  )
SELECT nth, p.version::text AS version, json_build_object('id', p.id, 'entity_id', 'person', 'data', json_build_object('title', p.title, 'last_name', p.last_name, 'first_names', p.first_names, 'gender', coalesce(p.gender, ''), 'marital_status', coalesce(p.marital_status, ''), 'middle_names', p.middle_names, 'known_as', p.known_as, 'tel_1', p.tel_1, 'tel_2', p.tel_2, 'email', p.email, 'occupation', p.occupation, 'preferred_name', p.preferred_name, 'alias', p.alias, 'dob', to_char(p.dob, 'DD/MM/YYYY'), 'their_pronoun', p.their_pronoun, 'them_pronoun', p.them_pronoun, 'they_pronoun', p.they_pronoun, 'relationship', (SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id), 'address', p.address_id, 'tags', p.tags, 'custom_tags', p.custom_tags), 'external_id', p.external_id, 'created_at', to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text AS json FROM p;

-- address_book.restore keyed (writes; pool: short)
WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::timestamptz AS now, $5::json AS origin, $6::uuid AS credential_id, $7::bytea AS key_sha256, $8::bytea AS request_sha256, $9::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL),
input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::timestamptz AS now, $5::json AS origin, $6::uuid AS credential_id, $7::bytea AS key_sha256, $8::bytea AS request_sha256, $9::text AS etag_suffix, 1 AS nth FROM guard), p AS (
    UPDATE people p SET deleted_at = NULL, updated_at = input.now, version = p.version + 1
      FROM input, people seen
     WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NOT NULL
    RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT p.company_id, p.case_id, p.id, 'address_book_entry.restored', p.now::timestamptz, p.origin::json, p.was
     FROM p
  ), answer AS (
  SELECT nth, p.version::text AS version, json_build_object('id', p.id, 'entity_id', 'person', 'data', json_build_object('title', p.title, 'last_name', p.last_name, 'first_names', p.first_names, 'gender', coalesce(p.gender, ''), 'marital_status', coalesce(p.marital_status, ''), 'middle_names', p.middle_names, 'known_as', p.known_as, 'tel_1', p.tel_1, 'tel_2', p.tel_2, 'email', p.email, 'occupation', p.occupation, 'preferred_name', p.preferred_name, 'alias', p.alias, 'dob', to_char(p.dob, 'DD/MM/YYYY'), 'their_pronoun', p.their_pronoun, 'them_pronoun', p.them_pronoun, 'they_pronoun', p.they_pronoun, 'relationship', (SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id), 'address', p.address_id, 'tags', p.tags, 'custom_tags', p.custom_tags), 'external_id', p.external_id, 'created_at', to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text AS json FROM p
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- address_book.update (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text[] AS tags, $5::text[] AS custom_tags, $6::text AS title, $7::text AS first_names, $8::text AS middle_names, $9::text AS last_name, $10::text AS known_as, $11::text AS tel_1, $12::text AS tel_2, $13::text AS email, $14::text AS gender, $15::date AS dob, $16::text AS marital_status, $17::text AS occupation, $18::text AS preferred_name, $19::text AS alias, $20::text AS them_pronoun, $21::text AS they_pronoun, $22::text AS their_pronoun, $23::timestamptz AS now, $24::json AS origin, 1 AS nth), p AS (
    UPDATE people p SET title = coalesce(input.title, p.title), first_names = coalesce(input.first_names, p.first_names), middle_names = coalesce(input.middle_names, p.middle_names), last_name = coalesce(input.last_name, p.last_name), known_as = coalesce(input.known_as, p.known_as), tel_1 = coalesce(input.tel_1, p.tel_1), tel_2 = coalesce(input.tel_2, p.tel_2), email = coalesce(input.email, p.email), gender = coalesce(input.gender, p.gender), dob = coalesce(input.dob, p.dob), marital_status = coalesce(input.marital_status, p.marital_status), occupation = coalesce(input.occupation, p.occupation), preferred_name = coalesce(input.preferred_name, p.preferred_name), alias = coalesce(input.alias, p.alias), them_pronoun = coalesce(input.them_pronoun, p.them_pronoun), they_pronoun = coalesce(input.they_pronoun, p.they_pronoun), their_pronoun = coalesce(input.their_pronoun, p.their_pronoun), tags = CASE WHEN input.tags <@ p.tags THEN p.tags ELSE p.tags || ARRAY(
 SELECT tag FROM unnest(input.tags) WITH ORDINALITY AS sent (tag, position)
  WHERE tag <> ALL (p.tags) ORDER BY position) END,
        custom_tags = CASE WHEN input.custom_tags <@ p.custom_tags THEN p.custom_tags ELSE p.custom_tags || ARRAY(
 SELECT tag FROM unnest(input.custom_tags) WITH ORDINALITY AS sent (tag, position)
  WHERE tag <> ALL (p.custom_tags) ORDER BY position) END, updated_at = input.now, version = p.version + 1
      FROM input, people seen
     WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL AND (input.tags <@ p.tags OR input.tags <@ (ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (input.tags)) || p.tags))
  AND (input.custom_tags <@ p.custom_tags OR input.custom_tags <@ (ARRAY(SELECT tag FROM custom_tags WHERE company_id = input.company_id AND tag = ANY (input.custom_tags)) || p.custom_tags))
    RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT p.company_id, p.case_id, p.id, 'address_book_entry.updated', p.now::timestamptz, p.origin::json, p.was
     FROM p
  )
SELECT nth, p.version::text AS version, ('{"id" : "' || (p.id) || '", "customer_case_id" : "' || (p.case_id) || '", "entity_id" : "person", "data" : {"title" : ' || coalesce(to_json(p.title)::text, 'null') || ', "last_name" : ' || coalesce(to_json(p.last_name)::text, 'null') || ', "first_names" : ' || coalesce(to_json(p.first_names)::text, 'null') || ', "relationship" : ' || ((SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id))::text || ', "middle_names" : ' || coalesce(to_json(p.middle_names)::text, 'null') || ', "known_as" : ' || coalesce(to_json(p.known_as)::text, 'null') || ', "tel_1" : ' || coalesce(to_json(p.tel_1)::text, 'null') || ', "tel_2" : ' || coalesce(to_json(p.tel_2)::text, 'null') || ', "email" : ' || coalesce(to_json(p.email)::text, 'null') || ', "occupation" : ' || coalesce(to_json(p.occupation)::text, 'null') || ', "preferred_name" : ' || coalesce(to_json(p.preferred_name)::text, 'null') || ', "alias" : ' || coalesce(to_json(p.alias)::text, 'null') || ', "dob" : ' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ', "gender" : ' || coalesce(to_json(p.gender)::text, 'null') || ', "marital_status" : ' || coalesce(to_json(p.marital_status)::text, 'null') || ', "their_pronoun" : ' || coalesce(to_json(p.their_pronoun)::text, 'null') || ', "them_pronoun" : ' || coalesce(to_json(p.them_pronoun)::text, 'null') || ', "they_pronoun" : ' || coalesce(to_json(p.they_pronoun)::text, 'null') || '}, "created_at" : "' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "customer_person_id" : null, "is_company_global" : null, "user_id" : null, "company_id" : "' || (p.company_id) || '", "deleted_at" : ' || coalesce('"' || (to_char(p.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "notes" : null, "copied_from_id" : null, "transferred_from_user_id" : null, "transferred_at" : null, "is_user_global" : null, "partner_record_id" : null, "partner_card_id" : null, "partner_person_id" : null}') AS json FROM p;

-- address_book.update* (batch form)
WITH input AS (SELECT company_id, case_id, id, tags::text[], custom_tags::text[], title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, now, origin, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::date[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::timestamptz[], $24::json[]) WITH ORDINALITY AS batch (company_id, case_id, id, tags, custom_tags, title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, now, origin, nth)), p AS (
    UPDATE people p SET title = coalesce(input.title, p.title), first_names = coalesce(input.first_names, p.first_names), middle_names = coalesce(input.middle_names, p.middle_names), last_name = coalesce(input.last_name, p.last_name), known_as = coalesce(input.known_as, p.known_as), tel_1 = coalesce(input.tel_1, p.tel_1), tel_2 = coalesce(input.tel_2, p.tel_2), email = coalesce(input.email, p.email), gender = coalesce(input.gender, p.gender), dob = coalesce(input.dob, p.dob), marital_status = coalesce(input.marital_status, p.marital_status), occupation = coalesce(input.occupation, p.occupation), preferred_name = coalesce(input.preferred_name, p.preferred_name), alias = coalesce(input.alias, p.alias), them_pronoun = coalesce(input.them_pronoun, p.them_pronoun), they_pronoun = coalesce(input.they_pronoun, p.they_pronoun), their_pronoun = coalesce(input.their_pronoun, p.their_pronoun), tags = CASE WHEN input.tags <@ p.tags THEN p.tags ELSE p.tags || ARRAY(
 SELECT tag FROM unnest(input.tags) WITH ORDINALITY AS sent (tag, position)
  WHERE tag <> ALL (p.tags) ORDER BY position) END,
        custom_tags = CASE WHEN input.custom_tags <@ p.custom_tags THEN p.custom_tags ELSE p.custom_tags || ARRAY(
 SELECT tag FROM unnest(input.custom_tags) WITH ORDINALITY AS sent (tag, position)
  WHERE tag <> ALL (p.custom_tags) ORDER BY position) END, updated_at = input.now, version = p.version + 1
      FROM input, people seen
     WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL AND (input.tags <@ p.tags OR input.tags <@ (ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (input.tags)) || p.tags))
  AND (input.custom_tags <@ p.custom_tags OR input.custom_tags <@ (ARRAY(SELECT tag FROM custom_tags WHERE company_id = input.company_id AND tag = ANY (input.custom_tags)) || p.custom_tags))
    RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT p.company_id, p.case_id, p.id, 'address_book_entry.updated', p.now::timestamptz, p.origin::json, p.was
     FROM p
  )
SELECT nth, p.version::text AS version, ('{"id" : "' || (p.id) || '", "customer_case_id" : "' || (p.case_id) || '", "entity_id" : "person", "data" : {"title" : ' || coalesce(to_json(p.title)::text, 'null') || ', "last_name" : ' || coalesce(to_json(p.last_name)::text, 'null') || ', "first_names" : ' || coalesce(to_json(p.first_names)::text, 'null') || ', "relationship" : ' || ((SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id))::text || ', "middle_names" : ' || coalesce(to_json(p.middle_names)::text, 'null') || ', "known_as" : ' || coalesce(to_json(p.known_as)::text, 'null') || ', "tel_1" : ' || coalesce(to_json(p.tel_1)::text, 'null') || ', "tel_2" : ' || coalesce(to_json(p.tel_2)::text, 'null') || ', "email" : ' || coalesce(to_json(p.email)::text, 'null') || ', "occupation" : ' || coalesce(to_json(p.occupation)::text, 'null') || ', "preferred_name" : ' || coalesce(to_json(p.preferred_name)::text, 'null') || ', "alias" : ' || coalesce(to_json(p.alias)::text, 'null') || ', "dob" : ' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ', "gender" : ' || coalesce(to_json(p.gender)::text, 'null') || ', "marital_status" : ' || coalesce(to_json(p.marital_status)::text, 'null') || ', "their_pronoun" : ' || coalesce(to_json(p.their_pronoun)::text, 'null') || ', "them_pronoun" : ' || coalesce(to_json(p.them_pronoun)::text, 'null') || ', "they_pronoun" : ' || coalesce(to_json(p.they_pronoun)::text, 'null') || '}, "created_at" : "' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "customer_person_id" : null, "is_company_global" : null, "user_id" : null, "company_id" : "' || (p.company_id) || '", "deleted_at" : ' || coalesce('"' || (to_char(p.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "notes" : null, "copied_from_id" : null, "transferred_from_user_id" : null, "transferred_at" : null, "is_user_global" : null, "partner_record_id" : null, "partner_card_id" : null, "partner_person_id" : null}') AS json FROM p;

-- address_book.update keyed (writes; pool: short)
WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text[] AS tags, $5::text[] AS custom_tags, $6::text AS title, $7::text AS first_names, $8::text AS middle_names, $9::text AS last_name, $10::text AS known_as, $11::text AS tel_1, $12::text AS tel_2, $13::text AS email, $14::text AS gender, $15::date AS dob, $16::text AS marital_status, $17::text AS occupation, $18::text AS preferred_name, $19::text AS alias, $20::text AS them_pronoun, $21::text AS they_pronoun, $22::text AS their_pronoun, $23::timestamptz AS now, $24::json AS origin, $25::uuid AS credential_id, $26::bytea AS key_sha256, $27::bytea AS request_sha256, $28::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL),
input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text[] AS tags, $5::text[] AS custom_tags, $6::text AS title, $7::text AS first_names, $8::text AS middle_names, $9::text AS last_name, $10::text AS known_as, $11::text AS tel_1, $12::text AS tel_2, $13::text AS email, $14::text AS gender, $15::date AS dob, $16::text AS marital_status, $17::text AS occupation, $18::text AS preferred_name, $19::text AS alias, $20::text AS them_pronoun, $21::text AS they_pronoun, $22::text AS their_pronoun, $23::timestamptz AS now, $24::json AS origin, $25::uuid AS credential_id, $26::bytea AS key_sha256, $27::bytea AS request_sha256, $28::text AS etag_suffix, 1 AS nth FROM guard), p AS (
    UPDATE people p SET title = coalesce(input.title, p.title), first_names = coalesce(input.first_names, p.first_names), middle_names = coalesce(input.middle_names, p.middle_names), last_name = coalesce(input.last_name, p.last_name), known_as = coalesce(input.known_as, p.known_as), tel_1 = coalesce(input.tel_1, p.tel_1), tel_2 = coalesce(input.tel_2, p.tel_2), email = coalesce(input.email, p.email), gender = coalesce(input.gender, p.gender), dob = coalesce(input.dob, p.dob), marital_status = coalesce(input.marital_status, p.marital_status), occupation = coalesce(input.occupation, p.occupation), preferred_name = coalesce(input.preferred_name, p.preferred_name), alias = coalesce(input.alias, p.alias), them_pronoun = coalesce(input.them_pronoun, p.them_pronoun), they_pronoun = coalesce(input.they_pronoun, p.they_pronoun), their_pronoun = coalesce(input.their_pronoun, p.their_pronoun), tags = CASE WHEN input.tags <@ p.tags THEN p.tags ELSE p.tags || ARRAY(
 SELECT tag FROM unnest(input.tags) WITH ORDINALITY AS sent (tag, position)
  WHERE tag <> ALL (p.tags) ORDER BY position) END,
        custom_tags = CASE WHEN input.custom_tags <@ p.custom_tags THEN p.custom_tags ELSE p.custom_tags || ARRAY(
 SELECT tag FROM unnest(input.custom_tags) WITH ORDINALITY AS sent (tag, position)
  WHERE tag <> ALL (p.custom_tags) ORDER BY position) END, updated_at = input.now, version = p.version + 1
      FROM input, people seen
     WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL AND (input.tags <@ p.tags OR input.tags <@ (ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (input.tags)) || p.tags))
  AND (input.custom_tags <@ p.custom_tags OR input.custom_tags <@ (ARRAY(SELECT tag FROM custom_tags WHERE company_id = input.company_id AND tag = ANY (input.custom_tags)) || p.custom_tags))
    RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT p.company_id, p.case_id, p.id, 'address_book_entry.updated', p.now::timestamptz, p.origin::json, p.was
     FROM p
  ), answer AS (
  SELECT nth, p.version::text AS version, ('{"id" : "' || (p.id) || '", "customer_case_id" : "' || (p.case_id) || '", "entity_id" : "person", "data" : {"title" : ' || coalesce(to_json(p.title)::text, 'null') || ', "last_name" : ' || coalesce(to_json(p.last_name)::text, 'null') || ', "first_names" : ' || coalesce(to_json(p.first_names)::text, 'null') || ', "relationship" : ' || ((SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id))::text || ', "middle_names" : ' || coalesce(to_json(p.middle_names)::text, 'null') || ', "known_as" : ' || coalesce(to_json(p.known_as)::text, 'null') || ', "tel_1" : ' || coalesce(to_json(p.tel_1)::text, 'null') || ', "tel_2" : ' || coalesce(to_json(p.tel_2)::text, 'null') || ', "email" : ' || coalesce(to_json(p.email)::text, 'null') || ', "occupation" : ' || coalesce(to_json(p.occupation)::text, 'null') || ', "preferred_name" : ' || coalesce(to_json(p.preferred_name)::text, 'null') || ', "alias" : ' || coalesce(to_json(p.alias)::text, 'null') || ', "dob" : ' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ', "gender" : ' || coalesce(to_json(p.gender)::text, 'null') || ', "marital_status" : ' || coalesce(to_json(p.marital_status)::text, 'null') || ', "their_pronoun" : ' || coalesce(to_json(p.their_pronoun)::text, 'null') || ', "them_pronoun" : ' || coalesce(to_json(p.them_pronoun)::text, 'null') || ', "they_pronoun" : ' || coalesce(to_json(p.they_pronoun)::text, 'null') || '}, "created_at" : "' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "customer_person_id" : null, "is_company_global" : null, "user_id" : null, "company_id" : "' || (p.company_id) || '", "deleted_at" : ' || coalesce('"' || (to_char(p.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "notes" : null, "copied_from_id" : null, "transferred_from_user_id" : null, "transferred_at" : null, "is_user_global" : null, "partner_record_id" : null, "partner_card_id" : null, "partner_person_id" : null}') AS json FROM p
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- address_book.update keyed* (batch form)
WITH input AS MATERIALIZED (
  WITH input AS (SELECT company_id, case_id, id, tags::text[], custom_tags::text[], title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, now, origin, credential_id, key_sha256, request_sha256, etag_suffix, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::date[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::timestamptz[], $24::json[], $25::uuid[], $26::bytea[], $27::bytea[], $28::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, tags, custom_tags, title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, now, origin, credential_id, key_sha256, request_sha256, etag_suffix, nth))
  SELECT * FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL), p AS (
    UPDATE people p SET title = coalesce(input.title, p.title), first_names = coalesce(input.first_names, p.first_names), middle_names = coalesce(input.middle_names, p.middle_names), last_name = coalesce(input.last_name, p.last_name), known_as = coalesce(input.known_as, p.known_as), tel_1 = coalesce(input.tel_1, p.tel_1), tel_2 = coalesce(input.tel_2, p.tel_2), email = coalesce(input.email, p.email), gender = coalesce(input.gender, p.gender), dob = coalesce(input.dob, p.dob), marital_status = coalesce(input.marital_status, p.marital_status), occupation = coalesce(input.occupation, p.occupation), preferred_name = coalesce(input.preferred_name, p.preferred_name), alias = coalesce(input.alias, p.alias), them_pronoun = coalesce(input.them_pronoun, p.them_pronoun), they_pronoun = coalesce(input.they_pronoun, p.they_pronoun), their_pronoun = coalesce(input.their_pronoun, p.their_pronoun), tags = CASE WHEN input.tags <@ p.tags THEN p.tags ELSE p.tags || ARRAY(
 SELECT tag FROM unnest(input.tags) WITH ORDINALITY AS sent (tag, position)
  WHERE tag <> ALL (p.tags) ORDER BY position) END,
        custom_tags = CASE WHEN input.custom_tags <@ p.custom_tags THEN p.custom_tags ELSE p.custom_tags || ARRAY(
 SELECT tag FROM unnest(input.custom_tags) WITH ORDINALITY AS sent (tag, position)
  WHERE tag <> ALL (p.custom_tags) ORDER BY position) END, updated_at = input.now, version = p.version + 1
      FROM input, people seen
     WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL AND (input.tags <@ p.tags OR input.tags <@ (ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (input.tags)) || p.tags))
  AND (input.custom_tags <@ p.custom_tags OR input.custom_tags <@ (ARRAY(SELECT tag FROM custom_tags WHERE company_id = input.company_id AND tag = ANY (input.custom_tags)) || p.custom_tags))
    RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT p.company_id, p.case_id, p.id, 'address_book_entry.updated', p.now::timestamptz, p.origin::json, p.was
     FROM p
  ), answer AS (
  SELECT nth, p.version::text AS version, ('{"id" : "' || (p.id) || '", "customer_case_id" : "' || (p.case_id) || '", "entity_id" : "person", "data" : {"title" : ' || coalesce(to_json(p.title)::text, 'null') || ', "last_name" : ' || coalesce(to_json(p.last_name)::text, 'null') || ', "first_names" : ' || coalesce(to_json(p.first_names)::text, 'null') || ', "relationship" : ' || ((SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id))::text || ', "middle_names" : ' || coalesce(to_json(p.middle_names)::text, 'null') || ', "known_as" : ' || coalesce(to_json(p.known_as)::text, 'null') || ', "tel_1" : ' || coalesce(to_json(p.tel_1)::text, 'null') || ', "tel_2" : ' || coalesce(to_json(p.tel_2)::text, 'null') || ', "email" : ' || coalesce(to_json(p.email)::text, 'null') || ', "occupation" : ' || coalesce(to_json(p.occupation)::text, 'null') || ', "preferred_name" : ' || coalesce(to_json(p.preferred_name)::text, 'null') || ', "alias" : ' || coalesce(to_json(p.alias)::text, 'null') || ', "dob" : ' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ', "gender" : ' || coalesce(to_json(p.gender)::text, 'null') || ', "marital_status" : ' || coalesce(to_json(p.marital_status)::text, 'null') || ', "their_pronoun" : ' || coalesce(to_json(p.their_pronoun)::text, 'null') || ', "them_pronoun" : ' || coalesce(to_json(p.them_pronoun)::text, 'null') || ', "they_pronoun" : ' || coalesce(to_json(p.they_pronoun)::text, 'null') || '}, "created_at" : "' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "customer_person_id" : null, "is_company_global" : null, "user_id" : null, "company_id" : "' || (p.company_id) || '", "deleted_at" : ' || coalesce('"' || (to_char(p.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "notes" : null, "copied_from_id" : null, "transferred_from_user_id" : null, "transferred_at" : null, "is_user_global" : null, "partner_record_id" : null, "partner_card_id" : null, "partner_person_id" : null}') AS json FROM p
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- address_book.update+address (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text[] AS tags, $5::text[] AS custom_tags, $6::text AS title, $7::text AS first_names, $8::text AS middle_names, $9::text AS last_name, $10::text AS known_as, $11::text AS tel_1, $12::text AS tel_2, $13::text AS email, $14::text AS gender, $15::date AS dob, $16::text AS marital_status, $17::text AS occupation, $18::text AS preferred_name, $19::text AS alias, $20::text AS them_pronoun, $21::text AS they_pronoun, $22::text AS their_pronoun, $23::timestamptz AS now, $24::json AS origin, $25::text AS address_1, $26::text AS address_2, $27::text AS address_3, $28::text AS postcode, 1 AS nth), p AS (
    UPDATE people p SET title = coalesce(input.title, p.title), first_names = coalesce(input.first_names, p.first_names), middle_names = coalesce(input.middle_names, p.middle_names), last_name = coalesce(input.last_name, p.last_name), known_as = coalesce(input.known_as, p.known_as), tel_1 = coalesce(input.tel_1, p.tel_1), tel_2 = coalesce(input.tel_2, p.tel_2), email = coalesce(input.email, p.email), gender = coalesce(input.gender, p.gender), dob = coalesce(input.dob, p.dob), marital_status = coalesce(input.marital_status, p.marital_status), occupation = coalesce(input.occupation, p.occupation), preferred_name = coalesce(input.preferred_name, p.preferred_name), alias = coalesce(input.alias, p.alias), them_pronoun = coalesce(input.them_pronoun, p.them_pronoun), they_pronoun = coalesce(input.they_pronoun, p.they_pronoun), their_pronoun = coalesce(input.their_pronoun, p.their_pronoun), tags = CASE WHEN input.tags <@ p.tags THEN p.tags ELSE p.tags || ARRAY(
 SELECT tag FROM unnest(input.tags) WITH ORDINALITY AS sent (tag, position)
  WHERE tag <> ALL (p.tags) ORDER BY position) END,
        custom_tags = CASE WHEN input.custom_tags <@ p.custom_tags THEN p.custom_tags ELSE p.custom_tags || ARRAY(
 SELECT tag FROM unnest(input.custom_tags) WITH ORDINALITY AS sent (tag, position)
  WHERE tag <> ALL (p.custom_tags) ORDER BY position) END, updated_at = input.now, version = p.version + 1
      FROM input, people seen
     WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL AND (input.tags <@ p.tags OR input.tags <@ (ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (input.tags)) || p.tags))
  AND (input.custom_tags <@ p.custom_tags OR input.custom_tags <@ (ARRAY(SELECT tag FROM custom_tags WHERE company_id = input.company_id AND tag = ANY (input.custom_tags)) || p.custom_tags))
    RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT p.company_id, p.case_id, p.id, 'address_book_entry.updated', p.now::timestamptz, p.origin::json, p.was
     FROM p
  ), a AS (
  UPDATE addresses a
     SET address_1 = coalesce(input.address_1, a.address_1), address_2 = coalesce(input.address_2, a.address_2), address_3 = coalesce(input.address_3, a.address_3), postcode = coalesce(input.postcode, a.postcode),
         updated_at = p.now
    FROM p JOIN input USING (nth)
   WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id)
SELECT nth, p.version::text AS version, ('{"id" : "' || (p.id) || '", "customer_case_id" : "' || (p.case_id) || '", "entity_id" : "person", "data" : {"title" : ' || coalesce(to_json(p.title)::text, 'null') || ', "last_name" : ' || coalesce(to_json(p.last_name)::text, 'null') || ', "first_names" : ' || coalesce(to_json(p.first_names)::text, 'null') || ', "relationship" : ' || ((SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id))::text || ', "middle_names" : ' || coalesce(to_json(p.middle_names)::text, 'null') || ', "known_as" : ' || coalesce(to_json(p.known_as)::text, 'null') || ', "tel_1" : ' || coalesce(to_json(p.tel_1)::text, 'null') || ', "tel_2" : ' || coalesce(to_json(p.tel_2)::text, 'null') || ', "email" : ' || coalesce(to_json(p.email)::text, 'null') || ', "occupation" : ' || coalesce(to_json(p.occupation)::text, 'null') || ', "preferred_name" : ' || coalesce(to_json(p.preferred_name)::text, 'null') || ', "alias" : ' || coalesce(to_json(p.alias)::text, 'null') || ', "dob" : ' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ', "gender" : ' || coalesce(to_json(p.gender)::text, 'null') || ', "marital_status" : ' || coalesce(to_json(p.marital_status)::text, 'null') || ', "their_pronoun" : ' || coalesce(to_json(p.their_pronoun)::text, 'null') || ', "them_pronoun" : ' || coalesce(to_json(p.them_pronoun)::text, 'null') || ', "they_pronoun" : ' || coalesce(to_json(p.they_pronoun)::text, 'null') || '}, "created_at" : "' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "customer_person_id" : null, "is_company_global" : null, "user_id" : null, "company_id" : "' || (p.company_id) || '", "deleted_at" : ' || coalesce('"' || (to_char(p.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "notes" : null, "copied_from_id" : null, "transferred_from_user_id" : null, "transferred_at" : null, "is_user_global" : null, "partner_record_id" : null, "partner_card_id" : null, "partner_person_id" : null}') AS json FROM p;

-- address_book.update+address* (batch form)
WITH input AS (SELECT company_id, case_id, id, tags::text[], custom_tags::text[], title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, now, origin, address_1, address_2, address_3, postcode, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::date[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::timestamptz[], $24::json[], $25::text[], $26::text[], $27::text[], $28::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, tags, custom_tags, title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, now, origin, address_1, address_2, address_3, postcode, nth)), p AS (
    UPDATE people p SET title = coalesce(input.title, p.title), first_names = coalesce(input.first_names, p.first_names), middle_names = coalesce(input.middle_names, p.middle_names), last_name = coalesce(input.last_name, p.last_name), known_as = coalesce(input.known_as, p.known_as), tel_1 = coalesce(input.tel_1, p.tel_1), tel_2 = coalesce(input.tel_2, p.tel_2), email = coalesce(input.email, p.email), gender = coalesce(input.gender, p.gender), dob = coalesce(input.dob, p.dob), marital_status = coalesce(input.marital_status, p.marital_status), occupation = coalesce(input.occupation, p.occupation), preferred_name = coalesce(input.preferred_name, p.preferred_name), alias = coalesce(input.alias, p.alias), them_pronoun = coalesce(input.them_pronoun, p.them_pronoun), they_pronoun = coalesce(input.they_pronoun, p.they_pronoun), their_pronoun = coalesce(input.their_pronoun, p.their_pronoun), tags = CASE WHEN input.tags <@ p.tags THEN p.tags ELSE p.tags || ARRAY(
 SELECT tag FROM unnest(input.tags) WITH ORDINALITY AS sent (tag, position)
  WHERE tag <> ALL (p.tags) ORDER BY position) END,
        custom_tags = CASE WHEN input.custom_tags <@ p.custom_tags THEN p.custom_tags ELSE p.custom_tags || ARRAY(
 SELECT tag FROM unnest(input.custom_tags) WITH ORDINALITY AS sent (tag, position)
  WHERE tag <> ALL (p.custom_tags) ORDER BY position) END, updated_at = input.now, version = p.version + 1
      FROM input, people seen
     WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL AND (input.tags <@ p.tags OR input.tags <@ (ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (input.tags)) || p.tags))
  AND (input.custom_tags <@ p.custom_tags OR input.custom_tags <@ (ARRAY(SELECT tag FROM custom_tags WHERE company_id = input.company_id AND tag = ANY (input.custom_tags)) || p.custom_tags))
    RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT p.company_id, p.case_id, p.id, 'address_book_entry.updated', p.now::timestamptz, p.origin::json, p.was
     FROM p
  ), a AS (
  UPDATE addresses a
     SET address_1 = coalesce(input.address_1, a.address_1), address_2 = coalesce(input.address_2, a.address_2), address_3 = coalesce(input.address_3, a.address_3), postcode = coalesce(input.postcode, a.postcode),
         updated_at = p.now
    FROM p JOIN input USING (nth)
   WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id)
SELECT nth, p.version::text AS version, ('{"id" : "' || (p.id) || '", "customer_case_id" : "' || (p.case_id) || '", "entity_id" : "person", "data" : {"title" : ' || coalesce(to_json(p.title)::text, 'null') || ', "last_name" : ' || coalesce(to_json(p.last_name)::text, 'null') || ', "first_names" : ' || coalesce(to_json(p.first_names)::text, 'null') || ', "relationship" : ' || ((SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id))::text || ', "middle_names" : ' || coalesce(to_json(p.middle_names)::text, 'null') || ', "known_as" : ' || coalesce(to_json(p.known_as)::text, 'null') || ', "tel_1" : ' || coalesce(to_json(p.tel_1)::text, 'null') || ', "tel_2" : ' || coalesce(to_json(p.tel_2)::text, 'null') || ', "email" : ' || coalesce(to_json(p.email)::text, 'null') || ', "occupation" : ' || coalesce(to_json(p.occupation)::text, 'null') || ', "preferred_name" : ' || coalesce(to_json(p.preferred_name)::text, 'null') || ', "alias" : ' || coalesce(to_json(p.alias)::text, 'null') || ', "dob" : ' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ', "gender" : ' || coalesce(to_json(p.gender)::text, 'null') || ', "marital_status" : ' || coalesce(to_json(p.marital_status)::text, 'null') || ', "their_pronoun" : ' || coalesce(to_json(p.their_pronoun)::text, 'null') || ', "them_pronoun" : ' || coalesce(to_json(p.them_pronoun)::text, 'null') || ', "they_pronoun" : ' || coalesce(to_json(p.they_pronoun)::text, 'null') || '}, "created_at" : "' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "customer_person_id" : null, "is_company_global" : null, "user_id" : null, "company_id" : "' || (p.company_id) || '", "deleted_at" : ' || coalesce('"' || (to_char(p.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "notes" : null, "copied_from_id" : null, "transferred_from_user_id" : null, "transferred_at" : null, "is_user_global" : null, "partner_record_id" : null, "partner_card_id" : null, "partner_person_id" : null}') AS json FROM p;

-- address_book.update+cleared (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text[] AS tags, $5::text[] AS custom_tags, $6::text AS title, $7::text AS first_names, $8::text AS middle_names, $9::text AS last_name, $10::text AS known_as, $11::text AS tel_1, $12::text AS tel_2, $13::text AS email, $14::text AS gender, $15::date AS dob, $16::text AS marital_status, $17::text AS occupation, $18::text AS preferred_name, $19::text AS alias, $20::text AS them_pronoun, $21::text AS they_pronoun, $22::text AS their_pronoun, $23::timestamptz AS now, $24::json AS origin, $25::text[] AS cleared_fields, 1 AS nth), p AS (
    UPDATE people p SET title = CASE WHEN 'title' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.title, p.title) END, first_names = CASE WHEN 'first_names' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.first_names, p.first_names) END, middle_names = CASE WHEN 'middle_names' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.middle_names, p.middle_names) END, last_name = CASE WHEN 'last_name' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.last_name, p.last_name) END, known_as = CASE WHEN 'known_as' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.known_as, p.known_as) END, tel_1 = CASE WHEN 'tel_1' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.tel_1, p.tel_1) END, tel_2 = CASE WHEN 'tel_2' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.tel_2, p.tel_2) END, email = CASE WHEN 'email' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.email, p.email) END, gender = CASE WHEN 'gender' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.gender, p.gender) END, dob = CASE WHEN 'dob' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.dob, p.dob) END, marital_status = CASE WHEN 'marital_status' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.marital_status, p.marital_status) END, occupation = CASE WHEN 'occupation' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.occupation, p.occupation) END, preferred_name = CASE WHEN 'preferred_name' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.preferred_name, p.preferred_name) END, alias = CASE WHEN 'alias' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.alias, p.alias) END, them_pronoun = CASE WHEN 'them_pronoun' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.them_pronoun, p.them_pronoun) END, they_pronoun = CASE WHEN 'they_pronoun' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.they_pronoun, p.they_pronoun) END, their_pronoun = CASE WHEN 'their_pronoun' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.their_pronoun, p.their_pronoun) END, tags = CASE WHEN input.tags <@ p.tags THEN p.tags ELSE p.tags || ARRAY(
 SELECT tag FROM unnest(input.tags) WITH ORDINALITY AS sent (tag, position)
  WHERE tag <> ALL (p.tags) ORDER BY position) END,
        custom_tags = CASE WHEN input.custom_tags <@ p.custom_tags THEN p.custom_tags ELSE p.custom_tags || ARRAY(
 SELECT tag FROM unnest(input.custom_tags) WITH ORDINALITY AS sent (tag, position)
  WHERE tag <> ALL (p.custom_tags) ORDER BY position) END, updated_at = input.now, version = p.version + 1
      FROM input, people seen
     WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL AND (input.tags <@ p.tags OR input.tags <@ (ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (input.tags)) || p.tags))
  AND (input.custom_tags <@ p.custom_tags OR input.custom_tags <@ (ARRAY(SELECT tag FROM custom_tags WHERE company_id = input.company_id AND tag = ANY (input.custom_tags)) || p.custom_tags))
    RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT p.company_id, p.case_id, p.id, 'address_book_entry.updated', p.now::timestamptz, p.origin::json, p.was
     FROM p
  )
SELECT nth, p.version::text AS version, ('{"id" : "' || (p.id) || '", "customer_case_id" : "' || (p.case_id) || '", "entity_id" : "person", "data" : {"title" : ' || coalesce(to_json(p.title)::text, 'null') || ', "last_name" : ' || coalesce(to_json(p.last_name)::text, 'null') || ', "first_names" : ' || coalesce(to_json(p.first_names)::text, 'null') || ', "relationship" : ' || ((SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id))::text || ', "middle_names" : ' || coalesce(to_json(p.middle_names)::text, 'null') || ', "known_as" : ' || coalesce(to_json(p.known_as)::text, 'null') || ', "tel_1" : ' || coalesce(to_json(p.tel_1)::text, 'null') || ', "tel_2" : ' || coalesce(to_json(p.tel_2)::text, 'null') || ', "email" : ' || coalesce(to_json(p.email)::text, 'null') || ', "occupation" : ' || coalesce(to_json(p.occupation)::text, 'null') || ', "preferred_name" : ' || coalesce(to_json(p.preferred_name)::text, 'null') || ', "alias" : ' || coalesce(to_json(p.alias)::text, 'null') || ', "dob" : ' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ', "gender" : ' || coalesce(to_json(p.gender)::text, 'null') || ', "marital_status" : ' || coalesce(to_json(p.marital_status)::text, 'null') || ', "their_pronoun" : ' || coalesce(to_json(p.their_pronoun)::text, 'null') || ', "them_pronoun" : ' || coalesce(to_json(p.them_pronoun)::text, 'null') || ', "they_pronoun" : ' || coalesce(to_json(p.they_pronoun)::text, 'null') || '}, "created_at" : "' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "customer_person_id" : null, "is_company_global" : null, "user_id" : null, "company_id" : "' || (p.company_id) || '", "deleted_at" : ' || coalesce('"' || (to_char(p.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "notes" : null, "copied_from_id" : null, "transferred_from_user_id" : null, "transferred_at" : null, "is_user_global" : null, "partner_record_id" : null, "partner_card_id" : null, "partner_person_id" : null}') AS json FROM p;

-- address_book.update+cleared* (batch form)
WITH input AS (SELECT company_id, case_id, id, tags::text[], custom_tags::text[], title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, now, origin, cleared_fields::text[], nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::date[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::timestamptz[], $24::json[], $25::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, tags, custom_tags, title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, now, origin, cleared_fields, nth)), p AS (
    UPDATE people p SET title = CASE WHEN 'title' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.title, p.title) END, first_names = CASE WHEN 'first_names' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.first_names, p.first_names) END, middle_names = CASE WHEN 'middle_names' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.middle_names, p.middle_names) END, last_name = CASE WHEN 'last_name' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.last_name, p.last_name) END, known_as = CASE WHEN 'known_as' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.known_as, p.known_as) END, tel_1 = CASE WHEN 'tel_1' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.tel_1, p.tel_1) END, tel_2 = CASE WHEN 'tel_2' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.tel_2, p.tel_2) END, email = CASE WHEN 'email' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.email, p.email) END, gender = CASE WHEN 'gender' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.gender, p.gender) END, dob = CASE WHEN 'dob' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.dob, p.dob) END, marital_status = CASE WHEN 'marital_status' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.marital_status, p.marital_status) END, occupation = CASE WHEN 'occupation' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.occupation, p.occupation) END, preferred_name = CASE WHEN 'preferred_name' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.preferred_name, p.preferred_name) END, alias = CASE WHEN 'alias' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.alias, p.alias) END, them_pronoun = CASE WHEN 'them_pronoun' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.them_pronoun, p.them_pronoun) END, they_pronoun = CASE WHEN 'they_pronoun' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.they_pronoun, p.they_pronoun) END, their_pronoun = CASE WHEN 'their_pronoun' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.their_pronoun, p.their_pronoun) END, tags = CASE WHEN input.tags <@ p.tags THEN p.tags ELSE p.tags || ARRAY(
 SELECT tag FROM unnest(input.tags) WITH ORDINALITY AS sent (tag, position)
  WHERE tag <> ALL (p.tags) ORDER BY position) END,
        custom_tags = CASE WHEN input.custom_tags <@ p.custom_tags THEN p.custom_tags ELSE p.custom_tags || ARRAY(
 SELECT tag FROM unnest(input.custom_tags) WITH ORDINALITY AS sent (tag, position)
  WHERE tag <> ALL (p.custom_tags) ORDER BY position) END, updated_at = input.now, version = p.version + 1
      FROM input, people seen
     WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL AND (input.tags <@ p.tags OR input.tags <@ (ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (input.tags)) || p.tags))
  AND (input.custom_tags <@ p.custom_tags OR input.custom_tags <@ (ARRAY(SELECT tag FROM custom_tags WHERE company_id = input.company_id AND tag = ANY (input.custom_tags)) || p.custom_tags))
    RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT p.company_id, p.case_id, p.id, 'address_book_entry.updated', p.now::timestamptz, p.origin::json, p.was
     FROM p
  )
SELECT nth, p.version::text AS version, ('{"id" : "' || (p.id) || '", "customer_case_id" : "' || (p.case_id) || '", "entity_id" : "person", "data" : {"title" : ' || coalesce(to_json(p.title)::text, 'null') || ', "last_name" : ' || coalesce(to_json(p.last_name)::text, 'null') || ', "first_names" : ' || coalesce(to_json(p.first_names)::text, 'null') || ', "relationship" : ' || ((SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id))::text || ', "middle_names" : ' || coalesce(to_json(p.middle_names)::text, 'null') || ', "known_as" : ' || coalesce(to_json(p.known_as)::text, 'null') || ', "tel_1" : ' || coalesce(to_json(p.tel_1)::text, 'null') || ', "tel_2" : ' || coalesce(to_json(p.tel_2)::text, 'null') || ', "email" : ' || coalesce(to_json(p.email)::text, 'null') || ', "occupation" : ' || coalesce(to_json(p.occupation)::text, 'null') || ', "preferred_name" : ' || coalesce(to_json(p.preferred_name)::text, 'null') || ', "alias" : ' || coalesce(to_json(p.alias)::text, 'null') || ', "dob" : ' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ', "gender" : ' || coalesce(to_json(p.gender)::text, 'null') || ', "marital_status" : ' || coalesce(to_json(p.marital_status)::text, 'null') || ', "their_pronoun" : ' || coalesce(to_json(p.their_pronoun)::text, 'null') || ', "them_pronoun" : ' || coalesce(to_json(p.them_pronoun)::text, 'null') || ', "they_pronoun" : ' || coalesce(to_json(p.they_pronoun)::text, 'null') || '}, "created_at" : "' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "customer_person_id" : null, "is_company_global" : null, "user_id" : null, "company_id" : "' || (p.company_id) || '", "deleted_at" : ' || coalesce('"' || (to_char(p.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "notes" : null, "copied_from_id" : null, "transferred_from_user_id" : null, "transferred_at" : null, "is_user_global" : null, "partner_record_id" : null, "partner_card_id" : null, "partner_person_id" : null}') AS json FROM p;

-- address_book.update+cleared+address (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text[] AS tags, $5::text[] AS custom_tags, $6::text AS title, $7::text AS first_names, $8::text AS middle_names, $9::text AS last_name, $10::text AS known_as, $11::text AS tel_1, $12::text AS tel_2, $13::text AS email, $14::text AS gender, $15::date AS dob, $16::text AS marital_status, $17::text AS occupation, $18::text AS preferred_name, $19::text AS alias, $20::text AS them_pronoun, $21::text AS they_pronoun, $22::text AS their_pronoun, $23::timestamptz AS now, $24::json AS origin, $25::text[] AS cleared_fields, $26::text AS address_1, $27::text AS address_2, $28::text AS address_3, $29::text AS postcode, 1 AS nth), p AS (
    UPDATE people p SET title = CASE WHEN 'title' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.title, p.title) END, first_names = CASE WHEN 'first_names' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.first_names, p.first_names) END, middle_names = CASE WHEN 'middle_names' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.middle_names, p.middle_names) END, last_name = CASE WHEN 'last_name' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.last_name, p.last_name) END, known_as = CASE WHEN 'known_as' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.known_as, p.known_as) END, tel_1 = CASE WHEN 'tel_1' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.tel_1, p.tel_1) END, tel_2 = CASE WHEN 'tel_2' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.tel_2, p.tel_2) END, email = CASE WHEN 'email' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.email, p.email) END, gender = CASE WHEN 'gender' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.gender, p.gender) END, dob = CASE WHEN 'dob' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.dob, p.dob) END, marital_status = CASE WHEN 'marital_status' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.marital_status, p.marital_status) END, occupation = CASE WHEN 'occupation' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.occupation, p.occupation) END, preferred_name = CASE WHEN 'preferred_name' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.preferred_name, p.preferred_name) END, alias = CASE WHEN 'alias' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.alias, p.alias) END, them_pronoun = CASE WHEN 'them_pronoun' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.them_pronoun, p.them_pronoun) END, they_pronoun = CASE WHEN 'they_pronoun' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.they_pronoun, p.they_pronoun) END, their_pronoun = CASE WHEN 'their_pronoun' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.their_pronoun, p.their_pronoun) END, tags = CASE WHEN input.tags <@ p.tags THEN p.tags ELSE p.tags || ARRAY(
 SELECT tag FROM unnest(input.tags) WITH ORDINALITY AS sent (tag, position)
  WHERE tag <> ALL (p.tags) ORDER BY position) END,
        custom_tags = CASE WHEN input.custom_tags <@ p.custom_tags THEN p.custom_tags ELSE p.custom_tags || ARRAY(
 SELECT tag FROM unnest(input.custom_tags) WITH ORDINALITY AS sent (tag, position)
  WHERE tag <> ALL (p.custom_tags) ORDER BY position) END, updated_at = input.now, version = p.version + 1
      FROM input, people seen
     WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL AND (input.tags <@ p.tags OR input.tags <@ (ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (input.tags)) || p.tags))
  AND (input.custom_tags <@ p.custom_tags OR input.custom_tags <@ (ARRAY(SELECT tag FROM custom_tags WHERE company_id = input.company_id AND tag = ANY (input.custom_tags)) || p.custom_tags))
    RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT p.company_id, p.case_id, p.id, 'address_book_entry.updated', p.now::timestamptz, p.origin::json, p.was
     FROM p
  ), a AS (
  UPDATE addresses a
     SET address_1 = coalesce(input.address_1, a.address_1), address_2 = coalesce(input.address_2, a.address_2), address_3 = coalesce(input.address_3, a.address_3), postcode = coalesce(input.postcode, a.postcode),
         updated_at = p.now
    FROM p JOIN input USING (nth)
   WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id)
SELECT nth, p.version::text AS version, ('{"id" : "' || (p.id) || '", "customer_case_id" : "' || (p.case_id) || '", "entity_id" : "person", "data" : {"title" : ' || coalesce(to_json(p.title)::text, 'null') || ', "last_name" : ' || coalesce(to_json(p.last_name)::text, 'null') || ', "first_names" : ' || coalesce(to_json(p.first_names)::text, 'null') || ', "relationship" : ' || ((SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id))::text || ', "middle_names" : ' || coalesce(to_json(p.middle_names)::text, 'null') || ', "known_as" : ' || coalesce(to_json(p.known_as)::text, 'null') || ', "tel_1" : ' || coalesce(to_json(p.tel_1)::text, 'null') || ', "tel_2" : ' || coalesce(to_json(p.tel_2)::text, 'null') || ', "email" : ' || coalesce(to_json(p.email)::text, 'null') || ', "occupation" : ' || coalesce(to_json(p.occupation)::text, 'null') || ', "preferred_name" : ' || coalesce(to_json(p.preferred_name)::text, 'null') || ', "alias" : ' || coalesce(to_json(p.alias)::text, 'null') || ', "dob" : ' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ', "gender" : ' || coalesce(to_json(p.gender)::text, 'null') || ', "marital_status" : ' || coalesce(to_json(p.marital_status)::text, 'null') || ', "their_pronoun" : ' || coalesce(to_json(p.their_pronoun)::text, 'null') || ', "them_pronoun" : ' || coalesce(to_json(p.them_pronoun)::text, 'null') || ', "they_pronoun" : ' || coalesce(to_json(p.they_pronoun)::text, 'null') || '}, "created_at" : "' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "customer_person_id" : null, "is_company_global" : null, "user_id" : null, "company_id" : "' || (p.company_id) || '", "deleted_at" : ' || coalesce('"' || (to_char(p.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "notes" : null, "copied_from_id" : null, "transferred_from_user_id" : null, "transferred_at" : null, "is_user_global" : null, "partner_record_id" : null, "partner_card_id" : null, "partner_person_id" : null}') AS json FROM p;

-- address_book.update+cleared+address* (batch form)
WITH input AS (SELECT company_id, case_id, id, tags::text[], custom_tags::text[], title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, now, origin, cleared_fields::text[], address_1, address_2, address_3, postcode, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::date[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::timestamptz[], $24::json[], $25::text[], $26::text[], $27::text[], $28::text[], $29::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, tags, custom_tags, title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, now, origin, cleared_fields, address_1, address_2, address_3, postcode, nth)), p AS (
    UPDATE people p SET title = CASE WHEN 'title' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.title, p.title) END, first_names = CASE WHEN 'first_names' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.first_names, p.first_names) END, middle_names = CASE WHEN 'middle_names' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.middle_names, p.middle_names) END, last_name = CASE WHEN 'last_name' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.last_name, p.last_name) END, known_as = CASE WHEN 'known_as' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.known_as, p.known_as) END, tel_1 = CASE WHEN 'tel_1' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.tel_1, p.tel_1) END, tel_2 = CASE WHEN 'tel_2' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.tel_2, p.tel_2) END, email = CASE WHEN 'email' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.email, p.email) END, gender = CASE WHEN 'gender' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.gender, p.gender) END, dob = CASE WHEN 'dob' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.dob, p.dob) END, marital_status = CASE WHEN 'marital_status' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.marital_status, p.marital_status) END, occupation = CASE WHEN 'occupation' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.occupation, p.occupation) END, preferred_name = CASE WHEN 'preferred_name' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.preferred_name, p.preferred_name) END, alias = CASE WHEN 'alias' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.alias, p.alias) END, them_pronoun = CASE WHEN 'them_pronoun' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.them_pronoun, p.them_pronoun) END, they_pronoun = CASE WHEN 'they_pronoun' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.they_pronoun, p.they_pronoun) END, their_pronoun = CASE WHEN 'their_pronoun' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.their_pronoun, p.their_pronoun) END, tags = CASE WHEN input.tags <@ p.tags THEN p.tags ELSE p.tags || ARRAY(
 SELECT tag FROM unnest(input.tags) WITH ORDINALITY AS sent (tag, position)
  WHERE tag <> ALL (p.tags) ORDER BY position) END,
        custom_tags = CASE WHEN input.custom_tags <@ p.custom_tags THEN p.custom_tags ELSE p.custom_tags || ARRAY(
 SELECT tag FROM unnest(input.custom_tags) WITH ORDINALITY AS sent (tag, position)
  WHERE tag <> ALL (p.custom_tags) ORDER BY position) END, updated_at = input.now, version = p.version + 1
      FROM input, people seen
     WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL AND (input.tags <@ p.tags OR input.tags <@ (ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (input.tags)) || p.tags))
  AND (input.custom_tags <@ p.custom_tags OR input.custom_tags <@ (ARRAY(SELECT tag FROM custom_tags WHERE company_id = input.company_id AND tag = ANY (input.custom_tags)) || p.custom_tags))
    RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT p.company_id, p.case_id, p.id, 'address_book_entry.updated', p.now::timestamptz, p.origin::json, p.was
     FROM p
  ), a AS (
  UPDATE addresses a
     SET address_1 = coalesce(input.address_1, a.address_1), address_2 = coalesce(input.address_2, a.address_2), address_3 = coalesce(input.address_3, a.address_3), postcode = coalesce(input.postcode, a.postcode),
         updated_at = p.now
    FROM p JOIN input USING (nth)
   WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id)
SELECT nth, p.version::text AS version, ('{"id" : "' || (p.id) || '", "customer_case_id" : "' || (p.case_id) || '", "entity_id" : "person", "data" : {"title" : ' || coalesce(to_json(p.title)::text, 'null') || ', "last_name" : ' || coalesce(to_json(p.last_name)::text, 'null') || ', "first_names" : ' || coalesce(to_json(p.first_names)::text, 'null') || ', "relationship" : ' || ((SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id))::text || ', "middle_names" : ' || coalesce(to_json(p.middle_names)::text, 'null') || ', "known_as" : ' || coalesce(to_json(p.known_as)::text, 'null') || ', "tel_1" : ' || coalesce(to_json(p.tel_1)::text, 'null') || ', "tel_2" : ' || coalesce(to_json(p.tel_2)::text, 'null') || ', "email" : ' || coalesce(to_json(p.email)::text, 'null') || ', "occupation" : ' || coalesce(to_json(p.occupation)::text, 'null') || ', "preferred_name" : ' || coalesce(to_json(p.preferred_name)::text, 'null') || ', "alias" : ' || coalesce(to_json(p.alias)::text, 'null') || ', "dob" : ' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ', "gender" : ' || coalesce(to_json(p.gender)::text, 'null') || ', "marital_status" : ' || coalesce(to_json(p.marital_status)::text, 'null') || ', "their_pronoun" : ' || coalesce(to_json(p.their_pronoun)::text, 'null') || ', "them_pronoun" : ' || coalesce(to_json(p.them_pronoun)::text, 'null') || ', "they_pronoun" : ' || coalesce(to_json(p.they_pronoun)::text, 'null') || '}, "created_at" : "' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "customer_person_id" : null, "is_company_global" : null, "user_id" : null, "company_id" : "' || (p.company_id) || '", "deleted_at" : ' || coalesce('"' || (to_char(p.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "notes" : null, "copied_from_id" : null, "transferred_from_user_id" : null, "transferred_at" : null, "is_user_global" : null, "partner_record_id" : null, "partner_card_id" : null, "partner_person_id" : null}') AS json FROM p;

-- address_book.update+cleared+relationship (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text[] AS tags, $5::text[] AS custom_tags, $6::text AS title, $7::text AS first_names, $8::text AS middle_names, $9::text AS last_name, $10::text AS known_as, $11::text AS tel_1, $12::text AS tel_2, $13::text AS email, $14::text AS gender, $15::date AS dob, $16::text AS marital_status, $17::text AS occupation, $18::text AS preferred_name, $19::text AS alias, $20::text AS them_pronoun, $21::text AS they_pronoun, $22::text AS their_pronoun, $23::timestamptz AS now, $24::json AS origin, $25::text[] AS cleared_fields, $26::uuid[] AS customer_ids, $27::text[] AS relationship_words, $28::json AS relationship, 1 AS nth), p AS (
      UPDATE people p SET title = CASE WHEN 'title' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.title, p.title) END, first_names = CASE WHEN 'first_names' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.first_names, p.first_names) END, middle_names = CASE WHEN 'middle_names' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.middle_names, p.middle_names) END, last_name = CASE WHEN 'last_name' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.last_name, p.last_name) END, known_as = CASE WHEN 'known_as' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.known_as, p.known_as) END, tel_1 = CASE WHEN 'tel_1' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.tel_1, p.tel_1) END, tel_2 = CASE WHEN 'tel_2' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.tel_2, p.tel_2) END, email = CASE WHEN 'email' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.email, p.email) END, gender = CASE WHEN 'gender' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.gender, p.gender) END, dob = CASE WHEN 'dob' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.dob, p.dob) END, marital_status = CASE WHEN 'marital_status' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.marital_status, p.marital_status) END, occupation = CASE WHEN 'occupation' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.occupation, p.occupation) END, preferred_name = CASE WHEN 'preferred_name' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.preferred_name, p.preferred_name) END, alias = CASE WHEN 'alias' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.alias, p.alias) END, them_pronoun = CASE WHEN 'them_pronoun' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.them_pronoun, p.them_pronoun) END, they_pronoun = CASE WHEN 'they_pronoun' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.they_pronoun, p.they_pronoun) END, their_pronoun = CASE WHEN 'their_pronoun' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.their_pronoun, p.their_pronoun) END, tags = CASE WHEN input.tags <@ p.tags THEN p.tags ELSE p.tags || ARRAY(
   SELECT tag FROM unnest(input.tags) WITH ORDINALITY AS sent (tag, position)
    WHERE tag <> ALL (p.tags) ORDER BY position) END,
          custom_tags = CASE WHEN input.custom_tags <@ p.custom_tags THEN p.custom_tags ELSE p.custom_tags || ARRAY(
   SELECT tag FROM unnest(input.custom_tags) WITH ORDINALITY AS sent (tag, position)
    WHERE tag <> ALL (p.custom_tags) ORDER BY position) END, updated_at = input.now, version = p.version + 1
        FROM input, people seen
       WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL AND (input.tags <@ p.tags OR input.tags <@ (ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (input.tags)) || p.tags))
    AND (input.custom_tags <@ p.custom_tags OR input.custom_tags <@ (ARRAY(SELECT tag FROM custom_tags WHERE company_id = input.company_id AND tag = ANY (input.custom_tags)) || p.custom_tags)) AND (input.customer_ids <@ ARRAY(
SELECT r.customer_id FROM relationships r
 WHERE r.company_id = input.company_id AND r.case_id = input.case_id AND r.person_id = input.id) OR input.customer_ids <@ (ARRAY(
SELECT u.id FROM customers u
 WHERE u.company_id = input.company_id AND u.case_id = input.case_id AND u.removed_at IS NULL) || ARRAY(
SELECT r.customer_id FROM relationships r
 WHERE r.company_id = input.company_id AND r.case_id = input.case_id AND r.person_id = input.id)))
      RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT p.company_id, p.case_id, p.id, 'address_book_entry.updated', p.now::timestamptz, p.origin::json, p.was
       FROM p
    ), removed AS (
    DELETE FROM relationships r USING p JOIN input USING (nth)
     WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id
       AND r.customer_id <> ALL (input.customer_ids)
  ), r AS (
    INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
    SELECT p.company_id, p.case_id, p.id, r.*
      FROM p JOIN input USING (nth), unnest(input.customer_ids, input.relationship_words) WITH ORDINALITY AS r (customer_id, word, position)
    ON CONFLICT (company_id, case_id, person_id, customer_id)
    DO UPDATE SET word = excluded.word, position = excluded.position)
  SELECT nth, p.version::text AS version, ('{"id" : "' || (p.id) || '", "customer_case_id" : "' || (p.case_id) || '", "entity_id" : "person", "data" : {"title" : ' || coalesce(to_json(p.title)::text, 'null') || ', "last_name" : ' || coalesce(to_json(p.last_name)::text, 'null') || ', "first_names" : ' || coalesce(to_json(p.first_names)::text, 'null') || ', "relationship" : ' || (input.relationship)::text || ', "middle_names" : ' || coalesce(to_json(p.middle_names)::text, 'null') || ', "known_as" : ' || coalesce(to_json(p.known_as)::text, 'null') || ', "tel_1" : ' || coalesce(to_json(p.tel_1)::text, 'null') || ', "tel_2" : ' || coalesce(to_json(p.tel_2)::text, 'null') || ', "email" : ' || coalesce(to_json(p.email)::text, 'null') || ', "occupation" : ' || coalesce(to_json(p.occupation)::text, 'null') || ', "preferred_name" : ' || coalesce(to_json(p.preferred_name)::text, 'null') || ', "alias" : ' || coalesce(to_json(p.alias)::text, 'null') || ', "dob" : ' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ', "gender" : ' || coalesce(to_json(p.gender)::text, 'null') || ', "marital_status" : ' || coalesce(to_json(p.marital_status)::text, 'null') || ', "their_pronoun" : ' || coalesce(to_json(p.their_pronoun)::text, 'null') || ', "them_pronoun" : ' || coalesce(to_json(p.them_pronoun)::text, 'null') || ', "they_pronoun" : ' || coalesce(to_json(p.they_pronoun)::text, 'null') || '}, "created_at" : "' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "customer_person_id" : null, "is_company_global" : null, "user_id" : null, "company_id" : "' || (p.company_id) || '", "deleted_at" : ' || coalesce('"' || (to_char(p.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "notes" : null, "copied_from_id" : null, "transferred_from_user_id" : null, "transferred_at" : null, "is_user_global" : null, "partner_record_id" : null, "partner_card_id" : null, "partner_person_id" : null}') AS json FROM p JOIN input USING (nth);

-- address_book.update+cleared+relationship* (batch form)
  WITH input AS (SELECT company_id, case_id, id, tags::text[], custom_tags::text[], title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, now, origin, cleared_fields::text[], customer_ids::uuid[], relationship_words::text[], relationship, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::date[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::timestamptz[], $24::json[], $25::text[], $26::text[], $27::text[], $28::json[]) WITH ORDINALITY AS batch (company_id, case_id, id, tags, custom_tags, title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, now, origin, cleared_fields, customer_ids, relationship_words, relationship, nth)), p AS (
      UPDATE people p SET title = CASE WHEN 'title' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.title, p.title) END, first_names = CASE WHEN 'first_names' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.first_names, p.first_names) END, middle_names = CASE WHEN 'middle_names' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.middle_names, p.middle_names) END, last_name = CASE WHEN 'last_name' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.last_name, p.last_name) END, known_as = CASE WHEN 'known_as' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.known_as, p.known_as) END, tel_1 = CASE WHEN 'tel_1' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.tel_1, p.tel_1) END, tel_2 = CASE WHEN 'tel_2' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.tel_2, p.tel_2) END, email = CASE WHEN 'email' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.email, p.email) END, gender = CASE WHEN 'gender' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.gender, p.gender) END, dob = CASE WHEN 'dob' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.dob, p.dob) END, marital_status = CASE WHEN 'marital_status' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.marital_status, p.marital_status) END, occupation = CASE WHEN 'occupation' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.occupation, p.occupation) END, preferred_name = CASE WHEN 'preferred_name' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.preferred_name, p.preferred_name) END, alias = CASE WHEN 'alias' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.alias, p.alias) END, them_pronoun = CASE WHEN 'them_pronoun' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.them_pronoun, p.them_pronoun) END, they_pronoun = CASE WHEN 'they_pronoun' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.they_pronoun, p.they_pronoun) END, their_pronoun = CASE WHEN 'their_pronoun' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.their_pronoun, p.their_pronoun) END, tags = CASE WHEN input.tags <@ p.tags THEN p.tags ELSE p.tags || ARRAY(
   SELECT tag FROM unnest(input.tags) WITH ORDINALITY AS sent (tag, position)
    WHERE tag <> ALL (p.tags) ORDER BY position) END,
          custom_tags = CASE WHEN input.custom_tags <@ p.custom_tags THEN p.custom_tags ELSE p.custom_tags || ARRAY(
   SELECT tag FROM unnest(input.custom_tags) WITH ORDINALITY AS sent (tag, position)
    WHERE tag <> ALL (p.custom_tags) ORDER BY position) END, updated_at = input.now, version = p.version + 1
        FROM input, people seen
       WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL AND (input.tags <@ p.tags OR input.tags <@ (ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (input.tags)) || p.tags))
    AND (input.custom_tags <@ p.custom_tags OR input.custom_tags <@ (ARRAY(SELECT tag FROM custom_tags WHERE company_id = input.company_id AND tag = ANY (input.custom_tags)) || p.custom_tags)) AND (input.customer_ids <@ ARRAY(
SELECT r.customer_id FROM relationships r
 WHERE r.company_id = input.company_id AND r.case_id = input.case_id AND r.person_id = input.id) OR input.customer_ids <@ (ARRAY(
SELECT u.id FROM customers u
 WHERE u.company_id = input.company_id AND u.case_id = input.case_id AND u.removed_at IS NULL) || ARRAY(
SELECT r.customer_id FROM relationships r
 WHERE r.company_id = input.company_id AND r.case_id = input.case_id AND r.person_id = input.id)))
      RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT p.company_id, p.case_id, p.id, 'address_book_entry.updated', p.now::timestamptz, p.origin::json, p.was
       FROM p
    ), removed AS (
    DELETE FROM relationships r USING p JOIN input USING (nth)
     WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id
       AND r.customer_id <> ALL (input.customer_ids)
  ), r AS (
    INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
    SELECT p.company_id, p.case_id, p.id, r.*
      FROM p JOIN input USING (nth), unnest(input.customer_ids, input.relationship_words) WITH ORDINALITY AS r (customer_id, word, position)
    ON CONFLICT (company_id, case_id, person_id, customer_id)
    DO UPDATE SET word = excluded.word, position = excluded.position)
  SELECT nth, p.version::text AS version, ('{"id" : "' || (p.id) || '", "customer_case_id" : "' || (p.case_id) || '", "entity_id" : "person", "data" : {"title" : ' || coalesce(to_json(p.title)::text, 'null') || ', "last_name" : ' || coalesce(to_json(p.last_name)::text, 'null') || ', "first_names" : ' || coalesce(to_json(p.first_names)::text, 'null') || ', "relationship" : ' || (input.relationship)::text || ', "middle_names" : ' || coalesce(to_json(p.middle_names)::text, 'null') || ', "known_as" : ' || coalesce(to_json(p.known_as)::text, 'null') || ', "tel_1" : ' || coalesce(to_json(p.tel_1)::text, 'null') || ', "tel_2" : ' || coalesce(to_json(p.tel_2)::text, 'null') || ', "email" : ' || coalesce(to_json(p.email)::text, 'null') || ', "occupation" : ' || coalesce(to_json(p.occupation)::text, 'null') || ', "preferred_name" : ' || coalesce(to_json(p.preferred_name)::text, 'null') || ', "alias" : ' || coalesce(to_json(p.alias)::text, 'null') || ', "dob" : ' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ', "gender" : ' || coalesce(to_json(p.gender)::text, 'null') || ', "marital_status" : ' || coalesce(to_json(p.marital_status)::text, 'null') || ', "their_pronoun" : ' || coalesce(to_json(p.their_pronoun)::text, 'null') || ', "them_pronoun" : ' || coalesce(to_json(p.them_pronoun)::text, 'null') || ', "they_pronoun" : ' || coalesce(to_json(p.they_pronoun)::text, 'null') || '}, "created_at" : "' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "customer_person_id" : null, "is_company_global" : null, "user_id" : null, "company_id" : "' || (p.company_id) || '", "deleted_at" : ' || coalesce('"' || (to_char(p.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "notes" : null, "copied_from_id" : null, "transferred_from_user_id" : null, "transferred_at" : null, "is_user_global" : null, "partner_record_id" : null, "partner_card_id" : null, "partner_person_id" : null}') AS json FROM p JOIN input USING (nth);

-- address_book.update+cleared+relationship+address (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text[] AS tags, $5::text[] AS custom_tags, $6::text AS title, $7::text AS first_names, $8::text AS middle_names, $9::text AS last_name, $10::text AS known_as, $11::text AS tel_1, $12::text AS tel_2, $13::text AS email, $14::text AS gender, $15::date AS dob, $16::text AS marital_status, $17::text AS occupation, $18::text AS preferred_name, $19::text AS alias, $20::text AS them_pronoun, $21::text AS they_pronoun, $22::text AS their_pronoun, $23::timestamptz AS now, $24::json AS origin, $25::text[] AS cleared_fields, $26::uuid[] AS customer_ids, $27::text[] AS relationship_words, $28::json AS relationship, $29::text AS address_1, $30::text AS address_2, $31::text AS address_3, $32::text AS postcode, 1 AS nth), p AS (
      UPDATE people p SET title = CASE WHEN 'title' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.title, p.title) END, first_names = CASE WHEN 'first_names' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.first_names, p.first_names) END, middle_names = CASE WHEN 'middle_names' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.middle_names, p.middle_names) END, last_name = CASE WHEN 'last_name' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.last_name, p.last_name) END, known_as = CASE WHEN 'known_as' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.known_as, p.known_as) END, tel_1 = CASE WHEN 'tel_1' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.tel_1, p.tel_1) END, tel_2 = CASE WHEN 'tel_2' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.tel_2, p.tel_2) END, email = CASE WHEN 'email' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.email, p.email) END, gender = CASE WHEN 'gender' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.gender, p.gender) END, dob = CASE WHEN 'dob' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.dob, p.dob) END, marital_status = CASE WHEN 'marital_status' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.marital_status, p.marital_status) END, occupation = CASE WHEN 'occupation' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.occupation, p.occupation) END, preferred_name = CASE WHEN 'preferred_name' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.preferred_name, p.preferred_name) END, alias = CASE WHEN 'alias' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.alias, p.alias) END, them_pronoun = CASE WHEN 'them_pronoun' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.them_pronoun, p.them_pronoun) END, they_pronoun = CASE WHEN 'they_pronoun' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.they_pronoun, p.they_pronoun) END, their_pronoun = CASE WHEN 'their_pronoun' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.their_pronoun, p.their_pronoun) END, tags = CASE WHEN input.tags <@ p.tags THEN p.tags ELSE p.tags || ARRAY(
   SELECT tag FROM unnest(input.tags) WITH ORDINALITY AS sent (tag, position)
    WHERE tag <> ALL (p.tags) ORDER BY position) END,
          custom_tags = CASE WHEN input.custom_tags <@ p.custom_tags THEN p.custom_tags ELSE p.custom_tags || ARRAY(
   SELECT tag FROM unnest(input.custom_tags) WITH ORDINALITY AS sent (tag, position)
    WHERE tag <> ALL (p.custom_tags) ORDER BY position) END, updated_at = input.now, version = p.version + 1
        FROM input, people seen
       WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL AND (input.tags <@ p.tags OR input.tags <@ (ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (input.tags)) || p.tags))
    AND (input.custom_tags <@ p.custom_tags OR input.custom_tags <@ (ARRAY(SELECT tag FROM custom_tags WHERE company_id = input.company_id AND tag = ANY (input.custom_tags)) || p.custom_tags)) AND (input.customer_ids <@ ARRAY(
SELECT r.customer_id FROM relationships r
 WHERE r.company_id = input.company_id AND r.case_id = input.case_id AND r.person_id = input.id) OR input.customer_ids <@ (ARRAY(
SELECT u.id FROM customers u
 WHERE u.company_id = input.company_id AND u.case_id = input.case_id AND u.removed_at IS NULL) || ARRAY(
SELECT r.customer_id FROM relationships r
 WHERE r.company_id = input.company_id AND r.case_id = input.case_id AND r.person_id = input.id)))
      RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT p.company_id, p.case_id, p.id, 'address_book_entry.updated', p.now::timestamptz, p.origin::json, p.was
       FROM p
    ), removed AS (
    DELETE FROM relationships r USING p JOIN input USING (nth)
     WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id
       AND r.customer_id <> ALL (input.customer_ids)
  ), r AS (
    INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
    SELECT p.company_id, p.case_id, p.id, r.*
      FROM p JOIN input USING (nth), unnest(input.customer_ids, input.relationship_words) WITH ORDINALITY AS r (customer_id, word, position)
    ON CONFLICT (company_id, case_id, person_id, customer_id)
    DO UPDATE SET word = excluded.word, position = excluded.position), a AS (
    UPDATE addresses a
       SET address_1 = coalesce(input.address_1, a.address_1), address_2 = coalesce(input.address_2, a.address_2), address_3 = coalesce(input.address_3, a.address_3), postcode = coalesce(input.postcode, a.postcode),
           updated_at = p.now
      FROM p JOIN input USING (nth)
     WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id)
  SELECT nth, p.version::text AS version, ('{"id" : "' || (p.id) || '", "customer_case_id" : "' || (p.case_id) || '", "entity_id" : "person", "data" : {"title" : ' || coalesce(to_json(p.title)::text, 'null') || ', "last_name" : ' || coalesce(to_json(p.last_name)::text, 'null') || ', "first_names" : ' || coalesce(to_json(p.first_names)::text, 'null') || ', "relationship" : ' || (input.relationship)::text || ', "middle_names" : ' || coalesce(to_json(p.middle_names)::text, 'null') || ', "known_as" : ' || coalesce(to_json(p.known_as)::text, 'null') || ', "tel_1" : ' || coalesce(to_json(p.tel_1)::text, 'null') || ', "tel_2" : ' || coalesce(to_json(p.tel_2)::text, 'null') || ', "email" : ' || coalesce(to_json(p.email)::text, 'null') || ', "occupation" : ' || coalesce(to_json(p.occupation)::text, 'null') || ', "preferred_name" : ' || coalesce(to_json(p.preferred_name)::text, 'null') || ', "alias" : ' || coalesce(to_json(p.alias)::text, 'null') || ', "dob" : ' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ', "gender" : ' || coalesce(to_json(p.gender)::text, 'null') || ', "marital_status" : ' || coalesce(to_json(p.marital_status)::text, 'null') || ', "their_pronoun" : ' || coalesce(to_json(p.their_pronoun)::text, 'null') || ', "them_pronoun" : ' || coalesce(to_json(p.them_pronoun)::text, 'null') || ', "they_pronoun" : ' || coalesce(to_json(p.they_pronoun)::text, 'null') || '}, "created_at" : "' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "customer_person_id" : null, "is_company_global" : null, "user_id" : null, "company_id" : "' || (p.company_id) || '", "deleted_at" : ' || coalesce('"' || (to_char(p.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "notes" : null, "copied_from_id" : null, "transferred_from_user_id" : null, "transferred_at" : null, "is_user_global" : null, "partner_record_id" : null, "partner_card_id" : null, "partner_person_id" : null}') AS json FROM p JOIN input USING (nth);

-- address_book.update+cleared+relationship+address* (batch form)
  WITH input AS (SELECT company_id, case_id, id, tags::text[], custom_tags::text[], title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, now, origin, cleared_fields::text[], customer_ids::uuid[], relationship_words::text[], relationship, address_1, address_2, address_3, postcode, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::date[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::timestamptz[], $24::json[], $25::text[], $26::text[], $27::text[], $28::json[], $29::text[], $30::text[], $31::text[], $32::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, tags, custom_tags, title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, now, origin, cleared_fields, customer_ids, relationship_words, relationship, address_1, address_2, address_3, postcode, nth)), p AS (
      UPDATE people p SET title = CASE WHEN 'title' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.title, p.title) END, first_names = CASE WHEN 'first_names' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.first_names, p.first_names) END, middle_names = CASE WHEN 'middle_names' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.middle_names, p.middle_names) END, last_name = CASE WHEN 'last_name' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.last_name, p.last_name) END, known_as = CASE WHEN 'known_as' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.known_as, p.known_as) END, tel_1 = CASE WHEN 'tel_1' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.tel_1, p.tel_1) END, tel_2 = CASE WHEN 'tel_2' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.tel_2, p.tel_2) END, email = CASE WHEN 'email' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.email, p.email) END, gender = CASE WHEN 'gender' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.gender, p.gender) END, dob = CASE WHEN 'dob' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.dob, p.dob) END, marital_status = CASE WHEN 'marital_status' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.marital_status, p.marital_status) END, occupation = CASE WHEN 'occupation' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.occupation, p.occupation) END, preferred_name = CASE WHEN 'preferred_name' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.preferred_name, p.preferred_name) END, alias = CASE WHEN 'alias' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.alias, p.alias) END, them_pronoun = CASE WHEN 'them_pronoun' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.them_pronoun, p.them_pronoun) END, they_pronoun = CASE WHEN 'they_pronoun' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.they_pronoun, p.they_pronoun) END, their_pronoun = CASE WHEN 'their_pronoun' = ANY (input.cleared_fields) THEN NULL ELSE coalesce(input.their_pronoun, p.their_pronoun) END, tags = CASE WHEN input.tags <@ p.tags THEN p.tags ELSE p.tags || ARRAY(
   SELECT tag FROM unnest(input.tags) WITH ORDINALITY AS sent (tag, position)
    WHERE tag <> ALL (p.tags) ORDER BY position) END,
          custom_tags = CASE WHEN input.custom_tags <@ p.custom_tags THEN p.custom_tags ELSE p.custom_tags || ARRAY(
   SELECT tag FROM unnest(input.custom_tags) WITH ORDINALITY AS sent (tag, position)
    WHERE tag <> ALL (p.custom_tags) ORDER BY position) END, updated_at = input.now, version = p.version + 1
        FROM input, people seen
       WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL AND (input.tags <@ p.tags OR input.tags <@ (ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (input.tags)) || p.tags))
    AND (input.custom_tags <@ p.custom_tags OR input.custom_tags <@ (ARRAY(SELECT tag FROM custom_tags WHERE company_id = input.company_id AND tag = ANY (input.custom_tags)) || p.custom_tags)) AND (input.customer_ids <@ ARRAY(
SELECT r.customer_id FROM relationships r
 WHERE r.company_id = input.company_id AND r.case_id = input.case_id AND r.person_id = input.id) OR input.customer_ids <@ (ARRAY(
SELECT u.id FROM customers u
 WHERE u.company_id = input.company_id AND u.case_id = input.case_id AND u.removed_at IS NULL) || ARRAY(
SELECT r.customer_id FROM relationships r
 WHERE r.company_id = input.company_id AND r.case_id = input.case_id AND r.person_id = input.id)))
      RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT p.company_id, p.case_id, p.id, 'address_book_entry.updated', p.now::timestamptz, p.origin::json, p.was
       FROM p
    ), removed AS (
    DELETE FROM relationships r USING p JOIN input USING (nth)
     WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id
       AND r.customer_id <> ALL (input.customer_ids)
  ), r AS (
    INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
    SELECT p.company_id, p.case_id, p.id, r.*
      FROM p JOIN input USING (nth), unnest(input.customer_ids, input.relationship_words) WITH ORDINALITY AS r (customer_id, word, position)
    ON CONFLICT (company_id, case_id, person_id, customer_id)
    DO UPDATE SET word = excluded.word, position = excluded.position), a AS (
    UPDATE addresses a
       SET address_1 = coalesce(input.address_1, a.address_1), address_2 = coalesce(input.address_2, a.address_2), address_3 = coalesce(input.address_3, a.address_3), postcode = coalesce(input.postcode, a.postcode),
           updated_at = p.now
      FROM p JOIN input USING (nth)
     WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id)
  SELECT nth, p.version::text AS version, ('{"id" : "' || (p.id) || '", "customer_case_id" : "' || (p.case_id) || '", "entity_id" : "person", "data" : {"title" : ' || coalesce(to_json(p.title)::text, 'null') || ', "last_name" : ' || coalesce(to_json(p.last_name)::text, 'null') || ', "first_names" : ' || coalesce(to_json(p.first_names)::text, 'null') || ', "relationship" : ' || (input.relationship)::text || ', "middle_names" : ' || coalesce(to_json(p.middle_names)::text, 'null') || ', "known_as" : ' || coalesce(to_json(p.known_as)::text, 'null') || ', "tel_1" : ' || coalesce(to_json(p.tel_1)::text, 'null') || ', "tel_2" : ' || coalesce(to_json(p.tel_2)::text, 'null') || ', "email" : ' || coalesce(to_json(p.email)::text, 'null') || ', "occupation" : ' || coalesce(to_json(p.occupation)::text, 'null') || ', "preferred_name" : ' || coalesce(to_json(p.preferred_name)::text, 'null') || ', "alias" : ' || coalesce(to_json(p.alias)::text, 'null') || ', "dob" : ' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ', "gender" : ' || coalesce(to_json(p.gender)::text, 'null') || ', "marital_status" : ' || coalesce(to_json(p.marital_status)::text, 'null') || ', "their_pronoun" : ' || coalesce(to_json(p.their_pronoun)::text, 'null') || ', "them_pronoun" : ' || coalesce(to_json(p.them_pronoun)::text, 'null') || ', "they_pronoun" : ' || coalesce(to_json(p.they_pronoun)::text, 'null') || '}, "created_at" : "' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "customer_person_id" : null, "is_company_global" : null, "user_id" : null, "company_id" : "' || (p.company_id) || '", "deleted_at" : ' || coalesce('"' || (to_char(p.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "notes" : null, "copied_from_id" : null, "transferred_from_user_id" : null, "transferred_at" : null, "is_user_global" : null, "partner_record_id" : null, "partner_card_id" : null, "partner_person_id" : null}') AS json FROM p JOIN input USING (nth);

-- address_book.update+relationship (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text[] AS tags, $5::text[] AS custom_tags, $6::text AS title, $7::text AS first_names, $8::text AS middle_names, $9::text AS last_name, $10::text AS known_as, $11::text AS tel_1, $12::text AS tel_2, $13::text AS email, $14::text AS gender, $15::date AS dob, $16::text AS marital_status, $17::text AS occupation, $18::text AS preferred_name, $19::text AS alias, $20::text AS them_pronoun, $21::text AS they_pronoun, $22::text AS their_pronoun, $23::timestamptz AS now, $24::json AS origin, $25::uuid[] AS customer_ids, $26::text[] AS relationship_words, $27::json AS relationship, 1 AS nth), p AS (
      UPDATE people p SET title = coalesce(input.title, p.title), first_names = coalesce(input.first_names, p.first_names), middle_names = coalesce(input.middle_names, p.middle_names), last_name = coalesce(input.last_name, p.last_name), known_as = coalesce(input.known_as, p.known_as), tel_1 = coalesce(input.tel_1, p.tel_1), tel_2 = coalesce(input.tel_2, p.tel_2), email = coalesce(input.email, p.email), gender = coalesce(input.gender, p.gender), dob = coalesce(input.dob, p.dob), marital_status = coalesce(input.marital_status, p.marital_status), occupation = coalesce(input.occupation, p.occupation), preferred_name = coalesce(input.preferred_name, p.preferred_name), alias = coalesce(input.alias, p.alias), them_pronoun = coalesce(input.them_pronoun, p.them_pronoun), they_pronoun = coalesce(input.they_pronoun, p.they_pronoun), their_pronoun = coalesce(input.their_pronoun, p.their_pronoun), tags = CASE WHEN input.tags <@ p.tags THEN p.tags ELSE p.tags || ARRAY(
   SELECT tag FROM unnest(input.tags) WITH ORDINALITY AS sent (tag, position)
    WHERE tag <> ALL (p.tags) ORDER BY position) END,
          custom_tags = CASE WHEN input.custom_tags <@ p.custom_tags THEN p.custom_tags ELSE p.custom_tags || ARRAY(
   SELECT tag FROM unnest(input.custom_tags) WITH ORDINALITY AS sent (tag, position)
    WHERE tag <> ALL (p.custom_tags) ORDER BY position) END, updated_at = input.now, version = p.version + 1
        FROM input, people seen
       WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL AND (input.tags <@ p.tags OR input.tags <@ (ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (input.tags)) || p.tags))
    AND (input.custom_tags <@ p.custom_tags OR input.custom_tags <@ (ARRAY(SELECT tag FROM custom_tags WHERE company_id = input.company_id AND tag = ANY (input.custom_tags)) || p.custom_tags)) AND (input.customer_ids <@ ARRAY(
SELECT r.customer_id FROM relationships r
 WHERE r.company_id = input.company_id AND r.case_id = input.case_id AND r.person_id = input.id) OR input.customer_ids <@ (ARRAY(
SELECT u.id FROM customers u
 WHERE u.company_id = input.company_id AND u.case_id = input.case_id AND u.removed_at IS NULL) || ARRAY(
SELECT r.customer_id FROM relationships r
 WHERE r.company_id = input.company_id AND r.case_id = input.case_id AND r.person_id = input.id)))
      RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT p.company_id, p.case_id, p.id, 'address_book_entry.updated', p.now::timestamptz, p.origin::json, p.was
       FROM p
    ), removed AS (
    DELETE FROM relationships r USING p JOIN input USING (nth)
     WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id
       AND r.customer_id <> ALL (input.customer_ids)
  ), r AS (
    INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
    SELECT p.company_id, p.case_id, p.id, r.*
      FROM p JOIN input USING (nth), unnest(input.customer_ids, input.relationship_words) WITH ORDINALITY AS r (customer_id, word, position)
    ON CONFLICT (company_id, case_id, person_id, customer_id)
    DO UPDATE SET word = excluded.word, position = excluded.position)
  SELECT nth, p.version::text AS version, ('{"id" : "' || (p.id) || '", "customer_case_id" : "' || (p.case_id) || '", "entity_id" : "person", "data" : {"title" : ' || coalesce(to_json(p.title)::text, 'null') || ', "last_name" : ' || coalesce(to_json(p.last_name)::text, 'null') || ', "first_names" : ' || coalesce(to_json(p.first_names)::text, 'null') || ', "relationship" : ' || (input.relationship)::text || ', "middle_names" : ' || coalesce(to_json(p.middle_names)::text, 'null') || ', "known_as" : ' || coalesce(to_json(p.known_as)::text, 'null') || ', "tel_1" : ' || coalesce(to_json(p.tel_1)::text, 'null') || ', "tel_2" : ' || coalesce(to_json(p.tel_2)::text, 'null') || ', "email" : ' || coalesce(to_json(p.email)::text, 'null') || ', "occupation" : ' || coalesce(to_json(p.occupation)::text, 'null') || ', "preferred_name" : ' || coalesce(to_json(p.preferred_name)::text, 'null') || ', "alias" : ' || coalesce(to_json(p.alias)::text, 'null') || ', "dob" : ' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ', "gender" : ' || coalesce(to_json(p.gender)::text, 'null') || ', "marital_status" : ' || coalesce(to_json(p.marital_status)::text, 'null') || ', "their_pronoun" : ' || coalesce(to_json(p.their_pronoun)::text, 'null') || ', "them_pronoun" : ' || coalesce(to_json(p.them_pronoun)::text, 'null') || ', "they_pronoun" : ' || coalesce(to_json(p.they_pronoun)::text, 'null') || '}, "created_at" : "' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "customer_person_id" : null, "is_company_global" : null, "user_id" : null, "company_id" : "' || (p.company_id) || '", "deleted_at" : ' || coalesce('"' || (to_char(p.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "notes" : null, "copied_from_id" : null, "transferred_from_user_id" : null, "transferred_at" : null, "is_user_global" : null, "partner_record_id" : null, "partner_card_id" : null, "partner_person_id" : null}') AS json FROM p JOIN input USING (nth);

-- address_book.update+relationship* (batch form)
  WITH input AS (SELECT company_id, case_id, id, tags::text[], custom_tags::text[], title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, now, origin, customer_ids::uuid[], relationship_words::text[], relationship, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::date[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::timestamptz[], $24::json[], $25::text[], $26::text[], $27::json[]) WITH ORDINALITY AS batch (company_id, case_id, id, tags, custom_tags, title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, now, origin, customer_ids, relationship_words, relationship, nth)), p AS (
      UPDATE people p SET title = coalesce(input.title, p.title), first_names = coalesce(input.first_names, p.first_names), middle_names = coalesce(input.middle_names, p.middle_names), last_name = coalesce(input.last_name, p.last_name), known_as = coalesce(input.known_as, p.known_as), tel_1 = coalesce(input.tel_1, p.tel_1), tel_2 = coalesce(input.tel_2, p.tel_2), email = coalesce(input.email, p.email), gender = coalesce(input.gender, p.gender), dob = coalesce(input.dob, p.dob), marital_status = coalesce(input.marital_status, p.marital_status), occupation = coalesce(input.occupation, p.occupation), preferred_name = coalesce(input.preferred_name, p.preferred_name), alias = coalesce(input.alias, p.alias), them_pronoun = coalesce(input.them_pronoun, p.them_pronoun), they_pronoun = coalesce(input.they_pronoun, p.they_pronoun), their_pronoun = coalesce(input.their_pronoun, p.their_pronoun), tags = CASE WHEN input.tags <@ p.tags THEN p.tags ELSE p.tags || ARRAY(
   SELECT tag FROM unnest(input.tags) WITH ORDINALITY AS sent (tag, position)
    WHERE tag <> ALL (p.tags) ORDER BY position) END,
          custom_tags = CASE WHEN input.custom_tags <@ p.custom_tags THEN p.custom_tags ELSE p.custom_tags || ARRAY(
   SELECT tag FROM unnest(input.custom_tags) WITH ORDINALITY AS sent (tag, position)
    WHERE tag <> ALL (p.custom_tags) ORDER BY position) END, updated_at = input.now, version = p.version + 1
        FROM input, people seen
       WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL AND (input.tags <@ p.tags OR input.tags <@ (ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (input.tags)) || p.tags))
    AND (input.custom_tags <@ p.custom_tags OR input.custom_tags <@ (ARRAY(SELECT tag FROM custom_tags WHERE company_id = input.company_id AND tag = ANY (input.custom_tags)) || p.custom_tags)) AND (input.customer_ids <@ ARRAY(
SELECT r.customer_id FROM relationships r
 WHERE r.company_id = input.company_id AND r.case_id = input.case_id AND r.person_id = input.id) OR input.customer_ids <@ (ARRAY(
SELECT u.id FROM customers u
 WHERE u.company_id = input.company_id AND u.case_id = input.case_id AND u.removed_at IS NULL) || ARRAY(
SELECT r.customer_id FROM relationships r
 WHERE r.company_id = input.company_id AND r.case_id = input.case_id AND r.person_id = input.id)))
      RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT p.company_id, p.case_id, p.id, 'address_book_entry.updated', p.now::timestamptz, p.origin::json, p.was
       FROM p
    ), removed AS (
    DELETE FROM relationships r USING p JOIN input USING (nth)
     WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id
       AND r.customer_id <> ALL (input.customer_ids)
  ), r AS (
    INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
    SELECT p.company_id, p.case_id, p.id, r.*
      FROM p JOIN input USING (nth), unnest(input.customer_ids, input.relationship_words) WITH ORDINALITY AS r (customer_id, word, position)
    ON CONFLICT (company_id, case_id, person_id, customer_id)
    DO UPDATE SET word = excluded.word, position = excluded.position)
  SELECT nth, p.version::text AS version, ('{"id" : "' || (p.id) || '", "customer_case_id" : "' || (p.case_id) || '", "entity_id" : "person", "data" : {"title" : ' || coalesce(to_json(p.title)::text, 'null') || ', "last_name" : ' || coalesce(to_json(p.last_name)::text, 'null') || ', "first_names" : ' || coalesce(to_json(p.first_names)::text, 'null') || ', "relationship" : ' || (input.relationship)::text || ', "middle_names" : ' || coalesce(to_json(p.middle_names)::text, 'null') || ', "known_as" : ' || coalesce(to_json(p.known_as)::text, 'null') || ', "tel_1" : ' || coalesce(to_json(p.tel_1)::text, 'null') || ', "tel_2" : ' || coalesce(to_json(p.tel_2)::text, 'null') || ', "email" : ' || coalesce(to_json(p.email)::text, 'null') || ', "occupation" : ' || coalesce(to_json(p.occupation)::text, 'null') || ', "preferred_name" : ' || coalesce(to_json(p.preferred_name)::text, 'null') || ', "alias" : ' || coalesce(to_json(p.alias)::text, 'null') || ', "dob" : ' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ', "gender" : ' || coalesce(to_json(p.gender)::text, 'null') || ', "marital_status" : ' || coalesce(to_json(p.marital_status)::text, 'null') || ', "their_pronoun" : ' || coalesce(to_json(p.their_pronoun)::text, 'null') || ', "them_pronoun" : ' || coalesce(to_json(p.them_pronoun)::text, 'null') || ', "they_pronoun" : ' || coalesce(to_json(p.they_pronoun)::text, 'null') || '}, "created_at" : "' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "customer_person_id" : null, "is_company_global" : null, "user_id" : null, "company_id" : "' || (p.company_id) || '", "deleted_at" : ' || coalesce('"' || (to_char(p.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "notes" : null, "copied_from_id" : null, "transferred_from_user_id" : null, "transferred_at" : null, "is_user_global" : null, "partner_record_id" : null, "partner_card_id" : null, "partner_person_id" : null}') AS json FROM p JOIN input USING (nth);

-- address_book.update+relationship+address (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text[] AS tags, $5::text[] AS custom_tags, $6::text AS title, $7::text AS first_names, $8::text AS middle_names, $9::text AS last_name, $10::text AS known_as, $11::text AS tel_1, $12::text AS tel_2, $13::text AS email, $14::text AS gender, $15::date AS dob, $16::text AS marital_status, $17::text AS occupation, $18::text AS preferred_name, $19::text AS alias, $20::text AS them_pronoun, $21::text AS they_pronoun, $22::text AS their_pronoun, $23::timestamptz AS now, $24::json AS origin, $25::uuid[] AS customer_ids, $26::text[] AS relationship_words, $27::json AS relationship, $28::text AS address_1, $29::text AS address_2, $30::text AS address_3, $31::text AS postcode, 1 AS nth), p AS (
      UPDATE people p SET title = coalesce(input.title, p.title), first_names = coalesce(input.first_names, p.first_names), middle_names = coalesce(input.middle_names, p.middle_names), last_name = coalesce(input.last_name, p.last_name), known_as = coalesce(input.known_as, p.known_as), tel_1 = coalesce(input.tel_1, p.tel_1), tel_2 = coalesce(input.tel_2, p.tel_2), email = coalesce(input.email, p.email), gender = coalesce(input.gender, p.gender), dob = coalesce(input.dob, p.dob), marital_status = coalesce(input.marital_status, p.marital_status), occupation = coalesce(input.occupation, p.occupation), preferred_name = coalesce(input.preferred_name, p.preferred_name), alias = coalesce(input.alias, p.alias), them_pronoun = coalesce(input.them_pronoun, p.them_pronoun), they_pronoun = coalesce(input.they_pronoun, p.they_pronoun), their_pronoun = coalesce(input.their_pronoun, p.their_pronoun), tags = CASE WHEN input.tags <@ p.tags THEN p.tags ELSE p.tags || ARRAY(
   SELECT tag FROM unnest(input.tags) WITH ORDINALITY AS sent (tag, position)
    WHERE tag <> ALL (p.tags) ORDER BY position) END,
          custom_tags = CASE WHEN input.custom_tags <@ p.custom_tags THEN p.custom_tags ELSE p.custom_tags || ARRAY(
   SELECT tag FROM unnest(input.custom_tags) WITH ORDINALITY AS sent (tag, position)
    WHERE tag <> ALL (p.custom_tags) ORDER BY position) END, updated_at = input.now, version = p.version + 1
        FROM input, people seen
       WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL AND (input.tags <@ p.tags OR input.tags <@ (ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (input.tags)) || p.tags))
    AND (input.custom_tags <@ p.custom_tags OR input.custom_tags <@ (ARRAY(SELECT tag FROM custom_tags WHERE company_id = input.company_id AND tag = ANY (input.custom_tags)) || p.custom_tags)) AND (input.customer_ids <@ ARRAY(
SELECT r.customer_id FROM relationships r
 WHERE r.company_id = input.company_id AND r.case_id = input.case_id AND r.person_id = input.id) OR input.customer_ids <@ (ARRAY(
SELECT u.id FROM customers u
 WHERE u.company_id = input.company_id AND u.case_id = input.case_id AND u.removed_at IS NULL) || ARRAY(
SELECT r.customer_id FROM relationships r
 WHERE r.company_id = input.company_id AND r.case_id = input.case_id AND r.person_id = input.id)))
      RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT p.company_id, p.case_id, p.id, 'address_book_entry.updated', p.now::timestamptz, p.origin::json, p.was
       FROM p
    ), removed AS (
    DELETE FROM relationships r USING p JOIN input USING (nth)
     WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id
       AND r.customer_id <> ALL (input.customer_ids)
  ), r AS (
    INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
    SELECT p.company_id, p.case_id, p.id, r.*
      FROM p JOIN input USING (nth), unnest(input.customer_ids, input.relationship_words) WITH ORDINALITY AS r (customer_id, word, position)
    ON CONFLICT (company_id, case_id, person_id, customer_id)
    DO UPDATE SET word = excluded.word, position = excluded.position), a AS (
    UPDATE addresses a
       SET address_1 = coalesce(input.address_1, a.address_1), address_2 = coalesce(input.address_2, a.address_2), address_3 = coalesce(input.address_3, a.address_3), postcode = coalesce(input.postcode, a.postcode),
           updated_at = p.now
      FROM p JOIN input USING (nth)
     WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id)
  SELECT nth, p.version::text AS version, ('{"id" : "' || (p.id) || '", "customer_case_id" : "' || (p.case_id) || '", "entity_id" : "person", "data" : {"title" : ' || coalesce(to_json(p.title)::text, 'null') || ', "last_name" : ' || coalesce(to_json(p.last_name)::text, 'null') || ', "first_names" : ' || coalesce(to_json(p.first_names)::text, 'null') || ', "relationship" : ' || (input.relationship)::text || ', "middle_names" : ' || coalesce(to_json(p.middle_names)::text, 'null') || ', "known_as" : ' || coalesce(to_json(p.known_as)::text, 'null') || ', "tel_1" : ' || coalesce(to_json(p.tel_1)::text, 'null') || ', "tel_2" : ' || coalesce(to_json(p.tel_2)::text, 'null') || ', "email" : ' || coalesce(to_json(p.email)::text, 'null') || ', "occupation" : ' || coalesce(to_json(p.occupation)::text, 'null') || ', "preferred_name" : ' || coalesce(to_json(p.preferred_name)::text, 'null') || ', "alias" : ' || coalesce(to_json(p.alias)::text, 'null') || ', "dob" : ' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ', "gender" : ' || coalesce(to_json(p.gender)::text, 'null') || ', "marital_status" : ' || coalesce(to_json(p.marital_status)::text, 'null') || ', "their_pronoun" : ' || coalesce(to_json(p.their_pronoun)::text, 'null') || ', "them_pronoun" : ' || coalesce(to_json(p.them_pronoun)::text, 'null') || ', "they_pronoun" : ' || coalesce(to_json(p.they_pronoun)::text, 'null') || '}, "created_at" : "' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "customer_person_id" : null, "is_company_global" : null, "user_id" : null, "company_id" : "' || (p.company_id) || '", "deleted_at" : ' || coalesce('"' || (to_char(p.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "notes" : null, "copied_from_id" : null, "transferred_from_user_id" : null, "transferred_at" : null, "is_user_global" : null, "partner_record_id" : null, "partner_card_id" : null, "partner_person_id" : null}') AS json FROM p JOIN input USING (nth);

-- address_book.update+relationship+address* (batch form)
  WITH input AS (SELECT company_id, case_id, id, tags::text[], custom_tags::text[], title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, now, origin, customer_ids::uuid[], relationship_words::text[], relationship, address_1, address_2, address_3, postcode, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::date[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::timestamptz[], $24::json[], $25::text[], $26::text[], $27::json[], $28::text[], $29::text[], $30::text[], $31::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, tags, custom_tags, title, first_names, middle_names, last_name, known_as, tel_1, tel_2, email, gender, dob, marital_status, occupation, preferred_name, alias, them_pronoun, they_pronoun, their_pronoun, now, origin, customer_ids, relationship_words, relationship, address_1, address_2, address_3, postcode, nth)), p AS (
      UPDATE people p SET title = coalesce(input.title, p.title), first_names = coalesce(input.first_names, p.first_names), middle_names = coalesce(input.middle_names, p.middle_names), last_name = coalesce(input.last_name, p.last_name), known_as = coalesce(input.known_as, p.known_as), tel_1 = coalesce(input.tel_1, p.tel_1), tel_2 = coalesce(input.tel_2, p.tel_2), email = coalesce(input.email, p.email), gender = coalesce(input.gender, p.gender), dob = coalesce(input.dob, p.dob), marital_status = coalesce(input.marital_status, p.marital_status), occupation = coalesce(input.occupation, p.occupation), preferred_name = coalesce(input.preferred_name, p.preferred_name), alias = coalesce(input.alias, p.alias), them_pronoun = coalesce(input.them_pronoun, p.them_pronoun), they_pronoun = coalesce(input.they_pronoun, p.they_pronoun), their_pronoun = coalesce(input.their_pronoun, p.their_pronoun), tags = CASE WHEN input.tags <@ p.tags THEN p.tags ELSE p.tags || ARRAY(
   SELECT tag FROM unnest(input.tags) WITH ORDINALITY AS sent (tag, position)
    WHERE tag <> ALL (p.tags) ORDER BY position) END,
          custom_tags = CASE WHEN input.custom_tags <@ p.custom_tags THEN p.custom_tags ELSE p.custom_tags || ARRAY(
   SELECT tag FROM unnest(input.custom_tags) WITH ORDINALITY AS sent (tag, position)
    WHERE tag <> ALL (p.custom_tags) ORDER BY position) END, updated_at = input.now, version = p.version + 1
        FROM input, people seen
       WHERE p.company_id = input.company_id AND p.case_id = input.case_id AND p.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND p.version = seen.version AND p.deleted_at IS NULL AND (input.tags <@ p.tags OR input.tags <@ (ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (input.tags)) || p.tags))
    AND (input.custom_tags <@ p.custom_tags OR input.custom_tags <@ (ARRAY(SELECT tag FROM custom_tags WHERE company_id = input.company_id AND tag = ANY (input.custom_tags)) || p.custom_tags)) AND (input.customer_ids <@ ARRAY(
SELECT r.customer_id FROM relationships r
 WHERE r.company_id = input.company_id AND r.case_id = input.case_id AND r.person_id = input.id) OR input.customer_ids <@ (ARRAY(
SELECT u.id FROM customers u
 WHERE u.company_id = input.company_id AND u.case_id = input.case_id AND u.removed_at IS NULL) || ARRAY(
SELECT r.customer_id FROM relationships r
 WHERE r.company_id = input.company_id AND r.case_id = input.case_id AND r.person_id = input.id)))
      RETURNING p.*, input.nth, input.now, input.origin, json_build_object('people', seen, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT p.company_id, p.case_id, p.id, 'address_book_entry.updated', p.now::timestamptz, p.origin::json, p.was
       FROM p
    ), removed AS (
    DELETE FROM relationships r USING p JOIN input USING (nth)
     WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id
       AND r.customer_id <> ALL (input.customer_ids)
  ), r AS (
    INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
    SELECT p.company_id, p.case_id, p.id, r.*
      FROM p JOIN input USING (nth), unnest(input.customer_ids, input.relationship_words) WITH ORDINALITY AS r (customer_id, word, position)
    ON CONFLICT (company_id, case_id, person_id, customer_id)
    DO UPDATE SET word = excluded.word, position = excluded.position), a AS (
    UPDATE addresses a
       SET address_1 = coalesce(input.address_1, a.address_1), address_2 = coalesce(input.address_2, a.address_2), address_3 = coalesce(input.address_3, a.address_3), postcode = coalesce(input.postcode, a.postcode),
           updated_at = p.now
      FROM p JOIN input USING (nth)
     WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id)
  SELECT nth, p.version::text AS version, ('{"id" : "' || (p.id) || '", "customer_case_id" : "' || (p.case_id) || '", "entity_id" : "person", "data" : {"title" : ' || coalesce(to_json(p.title)::text, 'null') || ', "last_name" : ' || coalesce(to_json(p.last_name)::text, 'null') || ', "first_names" : ' || coalesce(to_json(p.first_names)::text, 'null') || ', "relationship" : ' || (input.relationship)::text || ', "middle_names" : ' || coalesce(to_json(p.middle_names)::text, 'null') || ', "known_as" : ' || coalesce(to_json(p.known_as)::text, 'null') || ', "tel_1" : ' || coalesce(to_json(p.tel_1)::text, 'null') || ', "tel_2" : ' || coalesce(to_json(p.tel_2)::text, 'null') || ', "email" : ' || coalesce(to_json(p.email)::text, 'null') || ', "occupation" : ' || coalesce(to_json(p.occupation)::text, 'null') || ', "preferred_name" : ' || coalesce(to_json(p.preferred_name)::text, 'null') || ', "alias" : ' || coalesce(to_json(p.alias)::text, 'null') || ', "dob" : ' || coalesce('"' || (to_char(p.dob, 'DD/MM/YYYY')) || '"', 'null') || ', "gender" : ' || coalesce(to_json(p.gender)::text, 'null') || ', "marital_status" : ' || coalesce(to_json(p.marital_status)::text, 'null') || ', "their_pronoun" : ' || coalesce(to_json(p.their_pronoun)::text, 'null') || ', "them_pronoun" : ' || coalesce(to_json(p.them_pronoun)::text, 'null') || ', "they_pronoun" : ' || coalesce(to_json(p.they_pronoun)::text, 'null') || '}, "created_at" : "' || (to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "customer_person_id" : null, "is_company_global" : null, "user_id" : null, "company_id" : "' || (p.company_id) || '", "deleted_at" : ' || coalesce('"' || (to_char(p.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "notes" : null, "copied_from_id" : null, "transferred_from_user_id" : null, "transferred_at" : null, "is_user_global" : null, "partner_record_id" : null, "partner_card_id" : null, "partner_person_id" : null}') AS json FROM p JOIN input USING (nth);

