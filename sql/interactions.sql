-- interactions.delete (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::timestamptz AS now, $5::json AS origin, 1 AS nth), i AS (
    UPDATE interactions i SET deleted_at = input.now, updated_at = input.now, version = i.version + 1
      FROM input, interactions seen
     WHERE i.company_id = input.company_id AND i.case_id = input.case_id AND i.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND i.version = seen.version AND i.deleted_at IS NULL
    RETURNING i.*, input.nth, input.now, input.origin, json_build_object('interactions', seen) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT i.company_id, i.case_id, i.id, 'interaction.deleted', i.now::timestamptz, i.origin::json, i.was
     FROM i
  )
SELECT nth, NULL AS version, json_build_object('id', i.id, 'deleted_at', to_char(i.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text AS json FROM i;

-- interactions.delete keyed (writes; pool: short)
WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::timestamptz AS now, $5::json AS origin, $6::uuid AS credential_id, $7::bytea AS key_sha256, $8::bytea AS request_sha256, $9::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL),
input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::timestamptz AS now, $5::json AS origin, $6::uuid AS credential_id, $7::bytea AS key_sha256, $8::bytea AS request_sha256, $9::text AS etag_suffix, 1 AS nth FROM guard), i AS (
    UPDATE interactions i SET deleted_at = input.now, updated_at = input.now, version = i.version + 1
      FROM input, interactions seen
     WHERE i.company_id = input.company_id AND i.case_id = input.case_id AND i.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND i.version = seen.version AND i.deleted_at IS NULL
    RETURNING i.*, input.nth, input.now, input.origin, json_build_object('interactions', seen) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT i.company_id, i.case_id, i.id, 'interaction.deleted', i.now::timestamptz, i.origin::json, i.was
     FROM i
  ), answer AS (
  SELECT nth, NULL AS version, json_build_object('id', i.id, 'deleted_at', to_char(i.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text AS json FROM i
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- interactions.find (reads; pool: short)
SELECT deleted_at IS NOT NULL AS deleted FROM interactions
 WHERE company_id = $1::uuid AND case_id = $2::uuid AND id = $3::uuid;

-- interactions.find_by_external_id (reads; pool: short)
SELECT i.id, i.case_id AS case_id FROM interactions i WHERE i.company_id = $1::uuid AND i.external_id = $2::text
AND i.deleted_at IS NULL;

-- interactions.insert (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS type, $5::text AS notes, $6::timestamptz AS happened_at, $7::text AS sender, $8::text AS recipient, $9::timestamptz AS now, $10::json AS origin, 1 AS nth), inserted AS (
  INSERT INTO interactions
    (company_id, case_id, id, type, notes, happened_at, sender, recipient, created_at, updated_at)
  SELECT c.company_id, c.id, input.id, input.type, input.notes, input.happened_at, input.sender,
         input.recipient, input.now, input.now
    FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
  RETURNING *
), i AS (
  SELECT inserted.*, input.nth, input.now, input.origin
    FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT i.company_id, i.case_id, i.id, 'interaction.created', i.now::timestamptz, i.origin::json
     FROM i
)
SELECT nth, i.version::text AS version, ('{"id" : "' || (i.id) || '", "type" : "' || (i.type) || '", "notes" : ' || to_json(i.notes)::text || ', "sender" : ' || coalesce(to_json(i.sender)::text, 'null') || ', "recipient" : ' || to_json(i.recipient)::text || ', "customer_case_id" : "' || (i.case_id) || '", "when" : "' || (to_char(i.happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM i;

-- interactions.insert* (batch form)
WITH input AS (SELECT company_id, case_id, id, type, notes, happened_at, sender, recipient, now, origin, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $7::text[], $8::text[], $9::timestamptz[], $10::json[]) WITH ORDINALITY AS batch (company_id, case_id, id, type, notes, happened_at, sender, recipient, now, origin, nth)), inserted AS (
  INSERT INTO interactions
    (company_id, case_id, id, type, notes, happened_at, sender, recipient, created_at, updated_at)
  SELECT c.company_id, c.id, input.id, input.type, input.notes, input.happened_at, input.sender,
         input.recipient, input.now, input.now
    FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
  RETURNING *
), i AS (
  SELECT inserted.*, input.nth, input.now, input.origin
    FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT i.company_id, i.case_id, i.id, 'interaction.created', i.now::timestamptz, i.origin::json
     FROM i
)
SELECT nth, i.version::text AS version, ('{"id" : "' || (i.id) || '", "type" : "' || (i.type) || '", "notes" : ' || to_json(i.notes)::text || ', "sender" : ' || coalesce(to_json(i.sender)::text, 'null') || ', "recipient" : ' || to_json(i.recipient)::text || ', "customer_case_id" : "' || (i.case_id) || '", "when" : "' || (to_char(i.happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM i;

-- interactions.insert keyed (writes; pool: short)
WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS type, $5::text AS notes, $6::timestamptz AS happened_at, $7::text AS sender, $8::text AS recipient, $9::timestamptz AS now, $10::json AS origin, $11::uuid AS credential_id, $12::bytea AS key_sha256, $13::bytea AS request_sha256, $14::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL),
input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS type, $5::text AS notes, $6::timestamptz AS happened_at, $7::text AS sender, $8::text AS recipient, $9::timestamptz AS now, $10::json AS origin, $11::uuid AS credential_id, $12::bytea AS key_sha256, $13::bytea AS request_sha256, $14::text AS etag_suffix, 1 AS nth FROM guard), inserted AS (
  INSERT INTO interactions
    (company_id, case_id, id, type, notes, happened_at, sender, recipient, created_at, updated_at)
  SELECT c.company_id, c.id, input.id, input.type, input.notes, input.happened_at, input.sender,
         input.recipient, input.now, input.now
    FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
  RETURNING *
), i AS (
  SELECT inserted.*, input.nth, input.now, input.origin
    FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT i.company_id, i.case_id, i.id, 'interaction.created', i.now::timestamptz, i.origin::json
     FROM i
), answer AS (
  SELECT nth, i.version::text AS version, ('{"id" : "' || (i.id) || '", "type" : "' || (i.type) || '", "notes" : ' || to_json(i.notes)::text || ', "sender" : ' || coalesce(to_json(i.sender)::text, 'null') || ', "recipient" : ' || to_json(i.recipient)::text || ', "customer_case_id" : "' || (i.case_id) || '", "when" : "' || (to_char(i.happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM i
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- interactions.insert keyed* (batch form)
WITH input AS MATERIALIZED (
  WITH input AS (SELECT company_id, case_id, id, type, notes, happened_at, sender, recipient, now, origin, credential_id, key_sha256, request_sha256, etag_suffix, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $7::text[], $8::text[], $9::timestamptz[], $10::json[], $11::uuid[], $12::bytea[], $13::bytea[], $14::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, type, notes, happened_at, sender, recipient, now, origin, credential_id, key_sha256, request_sha256, etag_suffix, nth))
  SELECT * FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL), inserted AS (
  INSERT INTO interactions
    (company_id, case_id, id, type, notes, happened_at, sender, recipient, created_at, updated_at)
  SELECT c.company_id, c.id, input.id, input.type, input.notes, input.happened_at, input.sender,
         input.recipient, input.now, input.now
    FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
  RETURNING *
), i AS (
  SELECT inserted.*, input.nth, input.now, input.origin
    FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT i.company_id, i.case_id, i.id, 'interaction.created', i.now::timestamptz, i.origin::json
     FROM i
), answer AS (
  SELECT nth, i.version::text AS version, ('{"id" : "' || (i.id) || '", "type" : "' || (i.type) || '", "notes" : ' || to_json(i.notes)::text || ', "sender" : ' || coalesce(to_json(i.sender)::text, 'null') || ', "recipient" : ' || to_json(i.recipient)::text || ', "customer_case_id" : "' || (i.case_id) || '", "when" : "' || (to_char(i.happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM i
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- interactions.insert+external_id (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS type, $5::text AS notes, $6::timestamptz AS happened_at, $7::text AS sender, $8::text AS recipient, $9::timestamptz AS now, $10::json AS origin, $11::text AS external_id, 1 AS nth), inserted AS (
  INSERT INTO interactions
    (company_id, case_id, id, type, notes, happened_at, sender, recipient, created_at, updated_at, external_id)
  SELECT c.company_id, c.id, input.id, input.type, input.notes, input.happened_at, input.sender,
         input.recipient, input.now, input.now, input.external_id
    FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
  ON CONFLICT DO NOTHING
  RETURNING *
), i AS (
  SELECT inserted.*, input.nth, input.now, input.origin
    FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT i.company_id, i.case_id, i.id, 'interaction.created', i.now::timestamptz, i.origin::json
     FROM i
)
SELECT nth, i.version::text AS version, ('{"id" : "' || (i.id) || '", "type" : "' || (i.type) || '", "notes" : ' || to_json(i.notes)::text || ', "sender" : ' || coalesce(to_json(i.sender)::text, 'null') || ', "recipient" : ' || to_json(i.recipient)::text || ', "customer_case_id" : "' || (i.case_id) || '", "when" : "' || (to_char(i.happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM i;

-- interactions.insert+external_id* (batch form)
WITH input AS (SELECT company_id, case_id, id, type, notes, happened_at, sender, recipient, now, origin, external_id, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $7::text[], $8::text[], $9::timestamptz[], $10::json[], $11::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, type, notes, happened_at, sender, recipient, now, origin, external_id, nth)), inserted AS (
  INSERT INTO interactions
    (company_id, case_id, id, type, notes, happened_at, sender, recipient, created_at, updated_at, external_id)
  SELECT c.company_id, c.id, input.id, input.type, input.notes, input.happened_at, input.sender,
         input.recipient, input.now, input.now, input.external_id
    FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
  ON CONFLICT DO NOTHING
  RETURNING *
), i AS (
  SELECT inserted.*, input.nth, input.now, input.origin
    FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT i.company_id, i.case_id, i.id, 'interaction.created', i.now::timestamptz, i.origin::json
     FROM i
)
SELECT nth, i.version::text AS version, ('{"id" : "' || (i.id) || '", "type" : "' || (i.type) || '", "notes" : ' || to_json(i.notes)::text || ', "sender" : ' || coalesce(to_json(i.sender)::text, 'null') || ', "recipient" : ' || to_json(i.recipient)::text || ', "customer_case_id" : "' || (i.case_id) || '", "when" : "' || (to_char(i.happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM i;

-- interactions.is_present (reads; pool: short)
SELECT 1 FROM interactions i WHERE i.company_id = $1::uuid AND i.id = $3::uuid
   AND i.case_id = $2::uuid AND i.deleted_at IS NULL;

-- interactions.list (reads; pool: list)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::text AS zone, 1 AS nth) SELECT input.nth, l.json FROM input CROSS JOIN LATERAL (SELECT json FROM (SELECT CASE WHEN f.n <= 1000 AND coalesce(octet_length(f.elements), 0) <= 4000000
               THEN '[' || coalesce(f.elements, '') || ']' END AS json, f.n
     FROM (SELECT string_agg(('{"id":"' || (i.id) || '","type":"' || (i.type) || '","notes":' || to_json(i.notes)::text || ',"sender":' || coalesce(to_json(i.sender)::text, 'null') || ',"recipient":' || to_json(i.recipient)::text || ',"customer_case_id":"' || (i.case_id) || '","when":"' || ((input.zone::text || (floor(extract(epoch FROM i.happened_at)) + 140000000000)::text)) || '","icon":"' || (d.icon) || '","formatted_type":"' || (d.formatted_type) || '"}'), ',' ORDER BY i.happened_at DESC, i.created_at DESC, i.id DESC) AS elements, count(*) AS n FROM (SELECT * FROM interactions i WHERE i.company_id = input.company_id AND i.case_id = input.case_id AND i.deleted_at IS NULL LIMIT 1001) i JOIN (VALUES ('phone', 'phone', 'Phone'), ('email', 'envelope', 'Email'),
('SMS', 'comment', 'SMS'), ('appointment', 'calendar', 'Appointment'), ('letter', 'file-lines', 'Letter'),
('video_conference', 'video', 'Video conference'), ('other', 'circle-info', 'Other'))
AS d (type, icon, formatted_type) ON d.type = i.type) f) l WHERE l.n > 0 OR (SELECT true FROM cases c WHERE c.company_id = input.company_id AND c.id = input.case_id)) l;

-- interactions.list* (batch form)
WITH input AS (SELECT company_id, case_id, zone, nth FROM unnest($1::uuid[], $2::uuid[], $3::text[]) WITH ORDINALITY AS batch (company_id, case_id, zone, nth)) SELECT input.nth, l.json FROM input CROSS JOIN LATERAL (SELECT json FROM (SELECT CASE WHEN f.n <= 1000 AND coalesce(octet_length(f.elements), 0) <= 4000000
               THEN '[' || coalesce(f.elements, '') || ']' END AS json, f.n
     FROM (SELECT string_agg(('{"id":"' || (i.id) || '","type":"' || (i.type) || '","notes":' || to_json(i.notes)::text || ',"sender":' || coalesce(to_json(i.sender)::text, 'null') || ',"recipient":' || to_json(i.recipient)::text || ',"customer_case_id":"' || (i.case_id) || '","when":"' || ((input.zone::text || (floor(extract(epoch FROM i.happened_at)) + 140000000000)::text)) || '","icon":"' || (d.icon) || '","formatted_type":"' || (d.formatted_type) || '"}'), ',' ORDER BY i.happened_at DESC, i.created_at DESC, i.id DESC) AS elements, count(*) AS n FROM (SELECT * FROM interactions i WHERE i.company_id = input.company_id AND i.case_id = input.case_id AND i.deleted_at IS NULL LIMIT 1001) i JOIN (VALUES ('phone', 'phone', 'Phone'), ('email', 'envelope', 'Email'),
('SMS', 'comment', 'SMS'), ('appointment', 'calendar', 'Appointment'), ('letter', 'file-lines', 'Letter'),
('video_conference', 'video', 'Video conference'), ('other', 'circle-info', 'Other'))
AS d (type, icon, formatted_type) ON d.type = i.type) f) l WHERE l.n > 0 OR (SELECT true FROM cases c WHERE c.company_id = input.company_id AND c.id = input.case_id)) l;

-- interactions.list_matching (reads; pool: search)
SELECT json FROM (SELECT CASE WHEN f.n <= 1000 AND coalesce(octet_length(f.elements), 0) <= 4000000
               THEN '[' || coalesce(f.elements, '') || ']' END AS json, f.n
     FROM (SELECT string_agg(l.element, ',' ORDER BY l.n) AS elements, count(*) AS n FROM (SELECT ('{"id":"' || (i.id) || '","type":"' || (i.type) || '","notes":' || to_json(i.notes)::text || ',"sender":' || coalesce(to_json(i.sender)::text, 'null') || ',"recipient":' || to_json(i.recipient)::text || ',"customer_case_id":"' || (i.case_id) || '","when":"' || (($3::text::text || (floor(extract(epoch FROM i.happened_at)) + 140000000000)::text)) || '","icon":"' || (d.icon) || '","formatted_type":"' || (d.formatted_type) || '"}') AS element,
          row_number() OVER (ORDER BY i.happened_at DESC, i.created_at DESC, i.id DESC) AS n FROM interactions i JOIN (VALUES ('phone', 'phone', 'Phone'), ('email', 'envelope', 'Email'),
('SMS', 'comment', 'SMS'), ('appointment', 'calendar', 'Appointment'), ('letter', 'file-lines', 'Letter'),
('video_conference', 'video', 'Video conference'), ('other', 'circle-info', 'Other'))
AS d (type, icon, formatted_type) ON d.type = i.type WHERE i.company_id = $1::uuid AND i.case_id = $2::uuid AND ($4::text IS NULL OR i.type = $4::text)
  AND ($5::timestamptz IS NULL OR i.happened_at >= $5::timestamptz) AND ($6::timestamptz IS NULL OR i.happened_at < $6::timestamptz)
  AND (i.deleted_at IS NOT NULL) = coalesce($7::boolean, false) LIMIT 1001) l) f) l WHERE l.n > 0 OR (SELECT true FROM cases c WHERE c.company_id = $1::uuid AND c.id = $2::uuid);

-- interactions.list_page (reads; pool: search)
SELECT (SELECT count(*)::int FROM interactions i JOIN (VALUES ('phone', 'phone', 'Phone'), ('email', 'envelope', 'Email'),
('SMS', 'comment', 'SMS'), ('appointment', 'calendar', 'Appointment'), ('letter', 'file-lines', 'Letter'),
('video_conference', 'video', 'Video conference'), ('other', 'circle-info', 'Other'))
AS d (type, icon, formatted_type) ON d.type = i.type WHERE i.company_id = $1::uuid AND i.case_id = $2::uuid AND ($4::text IS NULL OR i.type = $4::text)
  AND ($5::timestamptz IS NULL OR i.happened_at >= $5::timestamptz) AND ($6::timestamptz IS NULL OR i.happened_at < $6::timestamptz)
  AND (i.deleted_at IS NOT NULL) = coalesce($7::boolean, false)) AS total, (SELECT ('[' || coalesce(string_agg(l.element, ',' ORDER BY l.n), '') || ']') FROM (SELECT ('{"id":"' || (i.id) || '","type":"' || (i.type) || '","notes":' || to_json(i.notes)::text || ',"sender":' || coalesce(to_json(i.sender)::text, 'null') || ',"recipient":' || to_json(i.recipient)::text || ',"customer_case_id":"' || (i.case_id) || '","when":"' || (($3::text::text || (floor(extract(epoch FROM i.happened_at)) + 140000000000)::text)) || '","icon":"' || (d.icon) || '","formatted_type":"' || (d.formatted_type) || '"}') AS element,
          row_number() OVER (ORDER BY i.happened_at DESC, i.created_at DESC, i.id DESC) AS n FROM interactions i JOIN (VALUES ('phone', 'phone', 'Phone'), ('email', 'envelope', 'Email'),
('SMS', 'comment', 'SMS'), ('appointment', 'calendar', 'Appointment'), ('letter', 'file-lines', 'Letter'),
('video_conference', 'video', 'Video conference'), ('other', 'circle-info', 'Other'))
AS d (type, icon, formatted_type) ON d.type = i.type WHERE i.company_id = $1::uuid AND i.case_id = $2::uuid AND ($4::text IS NULL OR i.type = $4::text)
  AND ($5::timestamptz IS NULL OR i.happened_at >= $5::timestamptz) AND ($6::timestamptz IS NULL OR i.happened_at < $6::timestamptz)
  AND (i.deleted_at IS NOT NULL) = coalesce($7::boolean, false) ORDER BY n LIMIT $8::int OFFSET $9::int) l) AS json FROM cases c WHERE c.company_id = $1::uuid AND c.id = $2::uuid;

-- interactions.list_page_pieces (reads; pool: short)
SELECT string_agg(l.element, ',' ORDER BY l.n) FROM (SELECT ('{"id":"' || (i.id) || '","type":"' || (i.type) || '","notes":' || to_json(i.notes)::text || ',"sender":' || coalesce(to_json(i.sender)::text, 'null') || ',"recipient":' || to_json(i.recipient)::text || ',"customer_case_id":"' || (i.case_id) || '","when":"' || (($3::text::text || (floor(extract(epoch FROM i.happened_at)) + 140000000000)::text)) || '","icon":"' || (d.icon) || '","formatted_type":"' || (d.formatted_type) || '"}') AS element,
          row_number() OVER (ORDER BY i.happened_at DESC, i.created_at DESC, i.id DESC) AS n FROM interactions i JOIN (VALUES ('phone', 'phone', 'Phone'), ('email', 'envelope', 'Email'),
('SMS', 'comment', 'SMS'), ('appointment', 'calendar', 'Appointment'), ('letter', 'file-lines', 'Letter'),
('video_conference', 'video', 'Video conference'), ('other', 'circle-info', 'Other'))
AS d (type, icon, formatted_type) ON d.type = i.type WHERE i.company_id = $1::uuid AND i.case_id = $2::uuid AND ($4::text IS NULL OR i.type = $4::text)
  AND ($5::timestamptz IS NULL OR i.happened_at >= $5::timestamptz) AND ($6::timestamptz IS NULL OR i.happened_at < $6::timestamptz)
  AND (i.deleted_at IS NOT NULL) = coalesce($7::boolean, false) ORDER BY n LIMIT $8::int OFFSET $9::int) l
      GROUP BY (l.n - 1) / 100 ORDER BY (l.n - 1) / 100;

-- interactions.list_pieces (reads; pool: short)
SELECT string_agg(l.element, ',' ORDER BY l.n) FROM (SELECT ('{"id":"' || (i.id) || '","type":"' || (i.type) || '","notes":' || to_json(i.notes)::text || ',"sender":' || coalesce(to_json(i.sender)::text, 'null') || ',"recipient":' || to_json(i.recipient)::text || ',"customer_case_id":"' || (i.case_id) || '","when":"' || (($3::text::text || (floor(extract(epoch FROM i.happened_at)) + 140000000000)::text)) || '","icon":"' || (d.icon) || '","formatted_type":"' || (d.formatted_type) || '"}') AS element,
          row_number() OVER (ORDER BY i.happened_at DESC, i.created_at DESC, i.id DESC) AS n FROM interactions i JOIN (VALUES ('phone', 'phone', 'Phone'), ('email', 'envelope', 'Email'),
('SMS', 'comment', 'SMS'), ('appointment', 'calendar', 'Appointment'), ('letter', 'file-lines', 'Letter'),
('video_conference', 'video', 'Video conference'), ('other', 'circle-info', 'Other'))
AS d (type, icon, formatted_type) ON d.type = i.type WHERE i.company_id = $1::uuid AND i.case_id = $2::uuid AND ($4::text IS NULL OR i.type = $4::text)
  AND ($5::timestamptz IS NULL OR i.happened_at >= $5::timestamptz) AND ($6::timestamptz IS NULL OR i.happened_at < $6::timestamptz)
  AND (i.deleted_at IS NOT NULL) = coalesce($7::boolean, false) ORDER BY n ) l
      GROUP BY (l.n - 1) / 100 ORDER BY (l.n - 1) / 100;

-- interactions.lock_by_external_id (writes; pool: short)
SELECT 1 FROM interactions i WHERE i.company_id = $1::uuid AND i.external_id = $2::text
AND i.deleted_at IS NULL FOR NO KEY UPDATE;

-- interactions.lock_row (writes; pool: short)
SELECT 1 FROM interactions WHERE company_id = $1::uuid AND case_id = $2::uuid AND id = $3::uuid
   FOR NO KEY UPDATE;

-- interactions.of_company_by_external_id_asc (reads; pool: search)
  WITH scanned AS MATERIALIZED (
    SELECT s.* FROM (
    (SELECT i.*, i.happened_at AS sort_key FROM interactions i
       WHERE i.company_id = $1::uuid AND i.deleted_at IS NULL AND i.external_id = $10::text
         AND (i.happened_at, i.id) > ($6::timestamptz, $4::uuid)
         AND i.happened_at < $7::timestamptz
       ORDER BY i.happened_at asc, i.id asc LIMIT $3::int)) s ORDER BY s.sort_key asc, s.id asc LIMIT $3::int
  ), found AS MATERIALIZED (
    SELECT i.*, row_number() OVER before AS n, sum(0) OVER before AS bytes
      FROM (SELECT i.* FROM scanned i WHERE i.type = ANY ($9::text[]) AND ($10::text IS NULL OR i.external_id = $10::text) ORDER BY i.sort_key asc, i.id asc LIMIT $2::int + 1) i
    WINDOW before AS (ORDER BY i.sort_key asc, i.id asc ROWS UNBOUNDED PRECEDING)
  ), shown AS MATERIALIZED (
    SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
  )
  SELECT (SELECT ('[' || coalesce(string_agg(('{"id":"' || (i.id) || '","type":"' || (i.type) || '","notes":' || to_json(i.notes)::text || ',"sender":' || coalesce(to_json(i.sender)::text, 'null') || ',"recipient":' || to_json(i.recipient)::text || ',"customer_case_id":"' || (i.case_id) || '","when":"' || (($8::text::text || (floor(extract(epoch FROM i.happened_at)) + 140000000000)::text)) || '","icon":"' || (d.icon) || '","formatted_type":"' || (d.formatted_type) || '","when_utc":"' || (to_char(i.happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","external_id":' || coalesce(to_json(i.external_id)::text, 'null') || ',"created_at":"' || (to_char(i.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","updated_at":"' || (to_char(i.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","case":{"id":"' || (i.case_id) || '","reference":' || coalesce(to_json((SELECT c.reference FROM cases c
         WHERE $5::boolean AND c.company_id = i.company_id AND c.id = i.case_id))::text, 'null') || '}}'), ',' ORDER BY i.n), '') || ']') FROM shown i JOIN (VALUES ('phone', 'phone', 'Phone'), ('email', 'envelope', 'Email'),
('SMS', 'comment', 'SMS'), ('appointment', 'calendar', 'Appointment'), ('letter', 'file-lines', 'Letter'),
('video_conference', 'video', 'Video conference'), ('other', 'circle-info', 'Other'))
AS d (type, icon, formatted_type) ON d.type = i.type) AS json,
         to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
    FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
      (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key desc, e.id desc LIMIT 1)
      UNION ALL
      (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key desc, e.id desc LIMIT 1)
    ) next ON true;

-- interactions.of_company_by_external_id_desc (reads; pool: search)
  WITH scanned AS MATERIALIZED (
    SELECT s.* FROM (
    (SELECT i.*, i.happened_at AS sort_key FROM interactions i
       WHERE i.company_id = $1::uuid AND i.deleted_at IS NULL AND i.external_id = $10::text
         AND (i.happened_at, i.id) < ($6::timestamptz, $4::uuid)
         AND i.happened_at >= $7::timestamptz
       ORDER BY i.happened_at desc, i.id desc LIMIT $3::int)) s ORDER BY s.sort_key desc, s.id desc LIMIT $3::int
  ), found AS MATERIALIZED (
    SELECT i.*, row_number() OVER before AS n, sum(0) OVER before AS bytes
      FROM (SELECT i.* FROM scanned i WHERE i.type = ANY ($9::text[]) AND ($10::text IS NULL OR i.external_id = $10::text) ORDER BY i.sort_key desc, i.id desc LIMIT $2::int + 1) i
    WINDOW before AS (ORDER BY i.sort_key desc, i.id desc ROWS UNBOUNDED PRECEDING)
  ), shown AS MATERIALIZED (
    SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
  )
  SELECT (SELECT ('[' || coalesce(string_agg(('{"id":"' || (i.id) || '","type":"' || (i.type) || '","notes":' || to_json(i.notes)::text || ',"sender":' || coalesce(to_json(i.sender)::text, 'null') || ',"recipient":' || to_json(i.recipient)::text || ',"customer_case_id":"' || (i.case_id) || '","when":"' || (($8::text::text || (floor(extract(epoch FROM i.happened_at)) + 140000000000)::text)) || '","icon":"' || (d.icon) || '","formatted_type":"' || (d.formatted_type) || '","when_utc":"' || (to_char(i.happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","external_id":' || coalesce(to_json(i.external_id)::text, 'null') || ',"created_at":"' || (to_char(i.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","updated_at":"' || (to_char(i.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","case":{"id":"' || (i.case_id) || '","reference":' || coalesce(to_json((SELECT c.reference FROM cases c
         WHERE $5::boolean AND c.company_id = i.company_id AND c.id = i.case_id))::text, 'null') || '}}'), ',' ORDER BY i.n), '') || ']') FROM shown i JOIN (VALUES ('phone', 'phone', 'Phone'), ('email', 'envelope', 'Email'),
('SMS', 'comment', 'SMS'), ('appointment', 'calendar', 'Appointment'), ('letter', 'file-lines', 'Letter'),
('video_conference', 'video', 'Video conference'), ('other', 'circle-info', 'Other'))
AS d (type, icon, formatted_type) ON d.type = i.type) AS json,
         to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
    FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
      (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key asc, e.id asc LIMIT 1)
      UNION ALL
      (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key asc, e.id asc LIMIT 1)
    ) next ON true;

-- interactions.of_company_by_when_asc (reads; pool: search)
  WITH scanned AS MATERIALIZED (
    SELECT s.* FROM (
    (SELECT i.*, i.happened_at AS sort_key FROM interactions i
       WHERE i.company_id = $1::uuid AND i.deleted_at IS NULL AND i.type = ($9::text[])[1]
         AND (i.happened_at, i.id) > ($6::timestamptz, $4::uuid)
         AND i.happened_at < $7::timestamptz
       ORDER BY i.happened_at asc, i.id asc LIMIT $3::int) UNION ALL
    (SELECT i.*, i.happened_at AS sort_key FROM interactions i
       WHERE i.company_id = $1::uuid AND i.deleted_at IS NULL AND i.type = ($9::text[])[2]
         AND (i.happened_at, i.id) > ($6::timestamptz, $4::uuid)
         AND i.happened_at < $7::timestamptz
       ORDER BY i.happened_at asc, i.id asc LIMIT $3::int) UNION ALL
    (SELECT i.*, i.happened_at AS sort_key FROM interactions i
       WHERE i.company_id = $1::uuid AND i.deleted_at IS NULL AND i.type = ($9::text[])[3]
         AND (i.happened_at, i.id) > ($6::timestamptz, $4::uuid)
         AND i.happened_at < $7::timestamptz
       ORDER BY i.happened_at asc, i.id asc LIMIT $3::int) UNION ALL
    (SELECT i.*, i.happened_at AS sort_key FROM interactions i
       WHERE i.company_id = $1::uuid AND i.deleted_at IS NULL AND i.type = ($9::text[])[4]
         AND (i.happened_at, i.id) > ($6::timestamptz, $4::uuid)
         AND i.happened_at < $7::timestamptz
       ORDER BY i.happened_at asc, i.id asc LIMIT $3::int) UNION ALL
    (SELECT i.*, i.happened_at AS sort_key FROM interactions i
       WHERE i.company_id = $1::uuid AND i.deleted_at IS NULL AND i.type = ($9::text[])[5]
         AND (i.happened_at, i.id) > ($6::timestamptz, $4::uuid)
         AND i.happened_at < $7::timestamptz
       ORDER BY i.happened_at asc, i.id asc LIMIT $3::int) UNION ALL
    (SELECT i.*, i.happened_at AS sort_key FROM interactions i
       WHERE i.company_id = $1::uuid AND i.deleted_at IS NULL AND i.type = ($9::text[])[6]
         AND (i.happened_at, i.id) > ($6::timestamptz, $4::uuid)
         AND i.happened_at < $7::timestamptz
       ORDER BY i.happened_at asc, i.id asc LIMIT $3::int) UNION ALL
    (SELECT i.*, i.happened_at AS sort_key FROM interactions i
       WHERE i.company_id = $1::uuid AND i.deleted_at IS NULL AND i.type = ($9::text[])[7]
         AND (i.happened_at, i.id) > ($6::timestamptz, $4::uuid)
         AND i.happened_at < $7::timestamptz
       ORDER BY i.happened_at asc, i.id asc LIMIT $3::int)) s ORDER BY s.sort_key asc, s.id asc LIMIT $3::int
  ), found AS MATERIALIZED (
    SELECT i.*, row_number() OVER before AS n, sum(0) OVER before AS bytes
      FROM (SELECT DISTINCT ON (i.sort_key, i.id) i.* FROM scanned i WHERE i.type = ANY ($9::text[]) AND ($10::text IS NULL OR i.external_id = $10::text) ORDER BY i.sort_key asc, i.id asc LIMIT $2::int + 1) i
    WINDOW before AS (ORDER BY i.sort_key asc, i.id asc ROWS UNBOUNDED PRECEDING)
  ), shown AS MATERIALIZED (
    SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
  )
  SELECT (SELECT ('[' || coalesce(string_agg(('{"id":"' || (i.id) || '","type":"' || (i.type) || '","notes":' || to_json(i.notes)::text || ',"sender":' || coalesce(to_json(i.sender)::text, 'null') || ',"recipient":' || to_json(i.recipient)::text || ',"customer_case_id":"' || (i.case_id) || '","when":"' || (($8::text::text || (floor(extract(epoch FROM i.happened_at)) + 140000000000)::text)) || '","icon":"' || (d.icon) || '","formatted_type":"' || (d.formatted_type) || '","when_utc":"' || (to_char(i.happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","external_id":' || coalesce(to_json(i.external_id)::text, 'null') || ',"created_at":"' || (to_char(i.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","updated_at":"' || (to_char(i.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","case":{"id":"' || (i.case_id) || '","reference":' || coalesce(to_json((SELECT c.reference FROM cases c
         WHERE $5::boolean AND c.company_id = i.company_id AND c.id = i.case_id))::text, 'null') || '}}'), ',' ORDER BY i.n), '') || ']') FROM shown i JOIN (VALUES ('phone', 'phone', 'Phone'), ('email', 'envelope', 'Email'),
('SMS', 'comment', 'SMS'), ('appointment', 'calendar', 'Appointment'), ('letter', 'file-lines', 'Letter'),
('video_conference', 'video', 'Video conference'), ('other', 'circle-info', 'Other'))
AS d (type, icon, formatted_type) ON d.type = i.type) AS json,
         to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
    FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
      (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key desc, e.id desc LIMIT 1)
      UNION ALL
      (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key desc, e.id desc LIMIT 1)
    ) next ON true;

-- interactions.of_company_by_when_desc (reads; pool: search)
  WITH scanned AS MATERIALIZED (
    SELECT s.* FROM (
    (SELECT i.*, i.happened_at AS sort_key FROM interactions i
       WHERE i.company_id = $1::uuid AND i.deleted_at IS NULL AND i.type = ($9::text[])[1]
         AND (i.happened_at, i.id) < ($6::timestamptz, $4::uuid)
         AND i.happened_at >= $7::timestamptz
       ORDER BY i.happened_at desc, i.id desc LIMIT $3::int) UNION ALL
    (SELECT i.*, i.happened_at AS sort_key FROM interactions i
       WHERE i.company_id = $1::uuid AND i.deleted_at IS NULL AND i.type = ($9::text[])[2]
         AND (i.happened_at, i.id) < ($6::timestamptz, $4::uuid)
         AND i.happened_at >= $7::timestamptz
       ORDER BY i.happened_at desc, i.id desc LIMIT $3::int) UNION ALL
    (SELECT i.*, i.happened_at AS sort_key FROM interactions i
       WHERE i.company_id = $1::uuid AND i.deleted_at IS NULL AND i.type = ($9::text[])[3]
         AND (i.happened_at, i.id) < ($6::timestamptz, $4::uuid)
         AND i.happened_at >= $7::timestamptz
       ORDER BY i.happened_at desc, i.id desc LIMIT $3::int) UNION ALL
    (SELECT i.*, i.happened_at AS sort_key FROM interactions i
       WHERE i.company_id = $1::uuid AND i.deleted_at IS NULL AND i.type = ($9::text[])[4]
         AND (i.happened_at, i.id) < ($6::timestamptz, $4::uuid)
         AND i.happened_at >= $7::timestamptz
       ORDER BY i.happened_at desc, i.id desc LIMIT $3::int) UNION ALL
    (SELECT i.*, i.happened_at AS sort_key FROM interactions i
       WHERE i.company_id = $1::uuid AND i.deleted_at IS NULL AND i.type = ($9::text[])[5]
         AND (i.happened_at, i.id) < ($6::timestamptz, $4::uuid)
         AND i.happened_at >= $7::timestamptz
       ORDER BY i.happened_at desc, i.id desc LIMIT $3::int) UNION ALL
    (SELECT i.*, i.happened_at AS sort_key FROM interactions i
       WHERE i.company_id = $1::uuid AND i.deleted_at IS NULL AND i.type = ($9::text[])[6]
         AND (i.happened_at, i.id) < ($6::timestamptz, $4::uuid)
         AND i.happened_at >= $7::timestamptz
       ORDER BY i.happened_at desc, i.id desc LIMIT $3::int) UNION ALL
    (SELECT i.*, i.happened_at AS sort_key FROM interactions i
       WHERE i.company_id = $1::uuid AND i.deleted_at IS NULL AND i.type = ($9::text[])[7]
         AND (i.happened_at, i.id) < ($6::timestamptz, $4::uuid)
         AND i.happened_at >= $7::timestamptz
       ORDER BY i.happened_at desc, i.id desc LIMIT $3::int)) s ORDER BY s.sort_key desc, s.id desc LIMIT $3::int
  ), found AS MATERIALIZED (
    SELECT i.*, row_number() OVER before AS n, sum(0) OVER before AS bytes
      FROM (SELECT DISTINCT ON (i.sort_key, i.id) i.* FROM scanned i WHERE i.type = ANY ($9::text[]) AND ($10::text IS NULL OR i.external_id = $10::text) ORDER BY i.sort_key desc, i.id desc LIMIT $2::int + 1) i
    WINDOW before AS (ORDER BY i.sort_key desc, i.id desc ROWS UNBOUNDED PRECEDING)
  ), shown AS MATERIALIZED (
    SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
  )
  SELECT (SELECT ('[' || coalesce(string_agg(('{"id":"' || (i.id) || '","type":"' || (i.type) || '","notes":' || to_json(i.notes)::text || ',"sender":' || coalesce(to_json(i.sender)::text, 'null') || ',"recipient":' || to_json(i.recipient)::text || ',"customer_case_id":"' || (i.case_id) || '","when":"' || (($8::text::text || (floor(extract(epoch FROM i.happened_at)) + 140000000000)::text)) || '","icon":"' || (d.icon) || '","formatted_type":"' || (d.formatted_type) || '","when_utc":"' || (to_char(i.happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","external_id":' || coalesce(to_json(i.external_id)::text, 'null') || ',"created_at":"' || (to_char(i.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","updated_at":"' || (to_char(i.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","case":{"id":"' || (i.case_id) || '","reference":' || coalesce(to_json((SELECT c.reference FROM cases c
         WHERE $5::boolean AND c.company_id = i.company_id AND c.id = i.case_id))::text, 'null') || '}}'), ',' ORDER BY i.n), '') || ']') FROM shown i JOIN (VALUES ('phone', 'phone', 'Phone'), ('email', 'envelope', 'Email'),
('SMS', 'comment', 'SMS'), ('appointment', 'calendar', 'Appointment'), ('letter', 'file-lines', 'Letter'),
('video_conference', 'video', 'Video conference'), ('other', 'circle-info', 'Other'))
AS d (type, icon, formatted_type) ON d.type = i.type) AS json,
         to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
    FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
      (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key asc, e.id asc LIMIT 1)
      UNION ALL
      (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key asc, e.id asc LIMIT 1)
    ) next ON true;

-- interactions.read (reads; pool: short)
  SELECT i.version::text, ('{"id":"' || (i.id) || '","type":"' || (i.type) || '","notes":' || to_json(i.notes)::text || ',"sender":' || coalesce(to_json(i.sender)::text, 'null') || ',"recipient":' || to_json(i.recipient)::text || ',"customer_case_id":"' || (i.case_id) || '","when":"' || (($4::text::text || (floor(extract(epoch FROM i.happened_at)) + 140000000000)::text)) || '","icon":"' || (d.icon) || '","formatted_type":"' || (d.formatted_type) || '","external_id":' || coalesce(to_json(i.external_id)::text, 'null') || '}') FROM interactions i JOIN (VALUES ('phone', 'phone', 'Phone'), ('email', 'envelope', 'Email'),
('SMS', 'comment', 'SMS'), ('appointment', 'calendar', 'Appointment'), ('letter', 'file-lines', 'Letter'),
('video_conference', 'video', 'Video conference'), ('other', 'circle-info', 'Other'))
AS d (type, icon, formatted_type) ON d.type = i.type
   WHERE i.company_id = $1::uuid AND i.case_id = $2::uuid AND i.id = $3::uuid
     AND i.deleted_at IS NULL;

-- interactions.restore (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS zone, $5::timestamptz AS now, $6::json AS origin, 1 AS nth), i AS (
      UPDATE interactions i SET deleted_at = NULL, updated_at = input.now, version = i.version + 1
        FROM input, interactions seen
       WHERE i.company_id = input.company_id AND i.case_id = input.case_id AND i.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND i.version = seen.version AND i.deleted_at IS NOT NULL
      RETURNING i.*, input.nth, input.now, input.origin, json_build_object('interactions', seen) AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT i.company_id, i.case_id, i.id, 'interaction.restored', i.now::timestamptz, i.origin::json, i.was
       FROM i
    )
  SELECT i.version::text, ('{"id":"' || (i.id) || '","type":"' || (i.type) || '","notes":' || to_json(i.notes)::text || ',"sender":' || coalesce(to_json(i.sender)::text, 'null') || ',"recipient":' || to_json(i.recipient)::text || ',"customer_case_id":"' || (i.case_id) || '","when":"' || ((input.zone::text || (floor(extract(epoch FROM i.happened_at)) + 140000000000)::text)) || '","icon":"' || (d.icon) || '","formatted_type":"' || (d.formatted_type) || '","external_id":' || coalesce(to_json(i.external_id)::text, 'null') || '}') FROM i JOIN input USING (nth) JOIN (VALUES ('phone', 'phone', 'Phone'), ('email', 'envelope', 'Email'),
('SMS', 'comment', 'SMS'), ('appointment', 'calendar', 'Appointment'), ('letter', 'file-lines', 'Letter'),
('video_conference', 'video', 'Video conference'), ('other', 'circle-info', 'Other'))
AS d (type, icon, formatted_type) ON d.type = i.type;

-- interactions.set_external_id (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS external_id, $5::timestamptz AS now, $6::json AS origin, 1 AS nth), i AS (
    UPDATE interactions i SET external_id = input.external_id, updated_at = input.now, version = i.version + 1
      FROM input, interactions seen
     WHERE i.company_id = input.company_id AND i.case_id = input.case_id AND i.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND i.version = seen.version AND i.deleted_at IS NULL
    RETURNING i.*, input.nth, input.now, input.origin, json_build_object('interactions', seen) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT i.company_id, i.case_id, i.id, 'interaction.updated', i.now::timestamptz, i.origin::json, i.was
     FROM i
  )
SELECT nth, NULL AS version, json_build_object('id', i.id, 'external_id', i.external_id)::text AS json FROM i;

-- interactions.set_external_id keyed (writes; pool: short)
WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS external_id, $5::timestamptz AS now, $6::json AS origin, $7::uuid AS credential_id, $8::bytea AS key_sha256, $9::bytea AS request_sha256, $10::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL),
input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS external_id, $5::timestamptz AS now, $6::json AS origin, $7::uuid AS credential_id, $8::bytea AS key_sha256, $9::bytea AS request_sha256, $10::text AS etag_suffix, 1 AS nth FROM guard), i AS (
    UPDATE interactions i SET external_id = input.external_id, updated_at = input.now, version = i.version + 1
      FROM input, interactions seen
     WHERE i.company_id = input.company_id AND i.case_id = input.case_id AND i.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND i.version = seen.version AND i.deleted_at IS NULL
    RETURNING i.*, input.nth, input.now, input.origin, json_build_object('interactions', seen) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT i.company_id, i.case_id, i.id, 'interaction.updated', i.now::timestamptz, i.origin::json, i.was
     FROM i
  ), answer AS (
  SELECT nth, NULL AS version, json_build_object('id', i.id, 'external_id', i.external_id)::text AS json FROM i
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- interactions.update (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS type, $5::text AS notes, $6::timestamptz AS happened_at, $7::text AS sender, $8::boolean AS set_sender, $9::text AS recipient, $10::timestamptz AS now, $11::json AS origin, 1 AS nth), i AS (
    UPDATE interactions i SET type = input.type, notes = coalesce(input.notes, i.notes),
        happened_at = coalesce(input.happened_at, i.happened_at),
        sender = CASE WHEN input.set_sender THEN input.sender ELSE i.sender END,
        recipient = coalesce(input.recipient, i.recipient), updated_at = input.now, version = i.version + 1
      FROM input, interactions seen
     WHERE i.company_id = input.company_id AND i.case_id = input.case_id AND i.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND i.version = seen.version AND i.deleted_at IS NULL
    RETURNING i.*, input.nth, input.now, input.origin, json_build_object('interactions', seen) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT i.company_id, i.case_id, i.id, 'interaction.updated', i.now::timestamptz, i.origin::json, i.was
     FROM i
  )
SELECT nth, i.version::text AS version, ('{"id" : "' || (i.id) || '", "type" : "' || (i.type) || '", "notes" : ' || to_json(i.notes)::text || ', "sender" : ' || coalesce(to_json(i.sender)::text, 'null') || ', "recipient" : ' || to_json(i.recipient)::text || ', "customer_case_id" : "' || (i.case_id) || '", "when" : "' || (to_char(i.happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM i;

-- interactions.update* (batch form)
WITH input AS (SELECT company_id, case_id, id, type, notes, happened_at, sender, set_sender, recipient, now, origin, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $7::text[], $8::boolean[], $9::text[], $10::timestamptz[], $11::json[]) WITH ORDINALITY AS batch (company_id, case_id, id, type, notes, happened_at, sender, set_sender, recipient, now, origin, nth)), i AS (
    UPDATE interactions i SET type = input.type, notes = coalesce(input.notes, i.notes),
        happened_at = coalesce(input.happened_at, i.happened_at),
        sender = CASE WHEN input.set_sender THEN input.sender ELSE i.sender END,
        recipient = coalesce(input.recipient, i.recipient), updated_at = input.now, version = i.version + 1
      FROM input, interactions seen
     WHERE i.company_id = input.company_id AND i.case_id = input.case_id AND i.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND i.version = seen.version AND i.deleted_at IS NULL
    RETURNING i.*, input.nth, input.now, input.origin, json_build_object('interactions', seen) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT i.company_id, i.case_id, i.id, 'interaction.updated', i.now::timestamptz, i.origin::json, i.was
     FROM i
  )
SELECT nth, i.version::text AS version, ('{"id" : "' || (i.id) || '", "type" : "' || (i.type) || '", "notes" : ' || to_json(i.notes)::text || ', "sender" : ' || coalesce(to_json(i.sender)::text, 'null') || ', "recipient" : ' || to_json(i.recipient)::text || ', "customer_case_id" : "' || (i.case_id) || '", "when" : "' || (to_char(i.happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM i;

-- interactions.update keyed (writes; pool: short)
WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS type, $5::text AS notes, $6::timestamptz AS happened_at, $7::text AS sender, $8::boolean AS set_sender, $9::text AS recipient, $10::timestamptz AS now, $11::json AS origin, $12::uuid AS credential_id, $13::bytea AS key_sha256, $14::bytea AS request_sha256, $15::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL),
input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS type, $5::text AS notes, $6::timestamptz AS happened_at, $7::text AS sender, $8::boolean AS set_sender, $9::text AS recipient, $10::timestamptz AS now, $11::json AS origin, $12::uuid AS credential_id, $13::bytea AS key_sha256, $14::bytea AS request_sha256, $15::text AS etag_suffix, 1 AS nth FROM guard), i AS (
    UPDATE interactions i SET type = input.type, notes = coalesce(input.notes, i.notes),
        happened_at = coalesce(input.happened_at, i.happened_at),
        sender = CASE WHEN input.set_sender THEN input.sender ELSE i.sender END,
        recipient = coalesce(input.recipient, i.recipient), updated_at = input.now, version = i.version + 1
      FROM input, interactions seen
     WHERE i.company_id = input.company_id AND i.case_id = input.case_id AND i.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND i.version = seen.version AND i.deleted_at IS NULL
    RETURNING i.*, input.nth, input.now, input.origin, json_build_object('interactions', seen) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT i.company_id, i.case_id, i.id, 'interaction.updated', i.now::timestamptz, i.origin::json, i.was
     FROM i
  ), answer AS (
  SELECT nth, i.version::text AS version, ('{"id" : "' || (i.id) || '", "type" : "' || (i.type) || '", "notes" : ' || to_json(i.notes)::text || ', "sender" : ' || coalesce(to_json(i.sender)::text, 'null') || ', "recipient" : ' || to_json(i.recipient)::text || ', "customer_case_id" : "' || (i.case_id) || '", "when" : "' || (to_char(i.happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM i
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- interactions.update keyed* (batch form)
WITH input AS MATERIALIZED (
  WITH input AS (SELECT company_id, case_id, id, type, notes, happened_at, sender, set_sender, recipient, now, origin, credential_id, key_sha256, request_sha256, etag_suffix, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $7::text[], $8::boolean[], $9::text[], $10::timestamptz[], $11::json[], $12::uuid[], $13::bytea[], $14::bytea[], $15::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, type, notes, happened_at, sender, set_sender, recipient, now, origin, credential_id, key_sha256, request_sha256, etag_suffix, nth))
  SELECT * FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL), i AS (
    UPDATE interactions i SET type = input.type, notes = coalesce(input.notes, i.notes),
        happened_at = coalesce(input.happened_at, i.happened_at),
        sender = CASE WHEN input.set_sender THEN input.sender ELSE i.sender END,
        recipient = coalesce(input.recipient, i.recipient), updated_at = input.now, version = i.version + 1
      FROM input, interactions seen
     WHERE i.company_id = input.company_id AND i.case_id = input.case_id AND i.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND i.version = seen.version AND i.deleted_at IS NULL
    RETURNING i.*, input.nth, input.now, input.origin, json_build_object('interactions', seen) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT i.company_id, i.case_id, i.id, 'interaction.updated', i.now::timestamptz, i.origin::json, i.was
     FROM i
  ), answer AS (
  SELECT nth, i.version::text AS version, ('{"id" : "' || (i.id) || '", "type" : "' || (i.type) || '", "notes" : ' || to_json(i.notes)::text || ', "sender" : ' || coalesce(to_json(i.sender)::text, 'null') || ', "recipient" : ' || to_json(i.recipient)::text || ', "customer_case_id" : "' || (i.case_id) || '", "when" : "' || (to_char(i.happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM i
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

