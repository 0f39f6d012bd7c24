-- payments.find (reads; pool: short)
SELECT reversed_at IS NOT NULL AS reversed FROM payments
 WHERE company_id = $1::uuid AND case_id = $2::uuid AND invoice_id = $3::uuid
   AND id = $4::uuid;

-- payments.insert (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::uuid AS payment_id, $5::numeric AS amount, $6::timestamptz AS paid_at, $7::text AS reference, $8::timestamptz AS now, $9::json AS origin, 1 AS nth), v AS (
      UPDATE invoices v SET paid = v.paid + input.amount, payment_count = coalesce(v.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = v.company_id AND c.case_id = v.case_id AND c.invoice_id = v.id)) + 1, updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND v.cancelled_at IS NULL AND v.paid + input.amount <= v.total
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) AND (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('invoice_items', CASE WHEN NOT (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN json_build_object() END, 'payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object('added', ARRAY[input.payment_id]) END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments + cardinality(ARRAY[input.payment_id]) > 50 THEN 2 * (counted.invoice_items + counted.payments) + cardinality(ARRAY[input.payment_id]) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.payment_recorded', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    ), y AS (
    INSERT INTO payments (company_id, case_id, invoice_id, id, amount, paid_at, reference, created_at)
    SELECT v.company_id, v.case_id, v.id, input.payment_id, input.amount, input.paid_at,
           input.reference, input.now
      FROM v JOIN input USING (nth)
    RETURNING *
  )
  SELECT nth, v.version::text AS version, json_build_object('id', y.id, 'case_invoice_id', y.invoice_id, 'customer_case_id', y.case_id, 'amount', y.amount, 'paid_at', to_char(y.paid_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'reference', y.reference, 'created_at', to_char(y.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'reversed_at', to_char(y.reversed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text AS json FROM v, y;

-- payments.insert keyed (writes; pool: short)
  WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::uuid AS payment_id, $5::numeric AS amount, $6::timestamptz AS paid_at, $7::text AS reference, $8::timestamptz AS now, $9::json AS origin, $10::uuid AS credential_id, $11::bytea AS key_sha256, $12::bytea AS request_sha256, $13::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
      SELECT k.created_at FROM idempotency_keys k
       WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
         AND k.key_sha256 = input.key_sha256) IS NULL),
  input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::uuid AS payment_id, $5::numeric AS amount, $6::timestamptz AS paid_at, $7::text AS reference, $8::timestamptz AS now, $9::json AS origin, $10::uuid AS credential_id, $11::bytea AS key_sha256, $12::bytea AS request_sha256, $13::text AS etag_suffix, 1 AS nth FROM guard), v AS (
      UPDATE invoices v SET paid = v.paid + input.amount, payment_count = coalesce(v.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = v.company_id AND c.case_id = v.case_id AND c.invoice_id = v.id)) + 1, updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND v.cancelled_at IS NULL AND v.paid + input.amount <= v.total
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) AND (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('invoice_items', CASE WHEN NOT (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN json_build_object() END, 'payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object('added', ARRAY[input.payment_id]) END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments + cardinality(ARRAY[input.payment_id]) > 50 THEN 2 * (counted.invoice_items + counted.payments) + cardinality(ARRAY[input.payment_id]) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.payment_recorded', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    ), y AS (
    INSERT INTO payments (company_id, case_id, invoice_id, id, amount, paid_at, reference, created_at)
    SELECT v.company_id, v.case_id, v.id, input.payment_id, input.amount, input.paid_at,
           input.reference, input.now
      FROM v JOIN input USING (nth)
    RETURNING *
  ), answer AS (
    SELECT nth, v.version::text AS version, json_build_object('id', y.id, 'case_invoice_id', y.invoice_id, 'customer_case_id', y.case_id, 'amount', y.amount, 'paid_at', to_char(y.paid_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'reference', y.reference, 'created_at', to_char(y.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'reversed_at', to_char(y.reversed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text AS json FROM v, y
  ), stored AS (
    INSERT INTO idempotency_keys
      (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
    SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
           '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
           answer.json, input.now
      FROM answer JOIN input USING (nth))
  SELECT nth, version, json FROM answer;

-- payments.list (reads; pool: short)
SELECT coalesce(json_agg(json_build_object('id', y.id, 'case_invoice_id', y.invoice_id, 'customer_case_id', y.case_id, 'amount', y.amount, 'paid_at', to_char(y.paid_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'reference', y.reference, 'created_at', to_char(y.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'reversed_at', to_char(y.reversed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY y.paid_at, y.id) FILTER (WHERE y.id IS NOT NULL), '[]')::text
  FROM invoices v
  LEFT JOIN payments y ON y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id
 WHERE v.company_id = $1::uuid AND v.case_id = $2::uuid AND v.id = $3::uuid
 GROUP BY v.id;

-- payments.lock_invoice (writes; pool: short)
SELECT 1 FROM invoices
 WHERE company_id = $1::uuid AND case_id = $2::uuid AND id = $3::uuid
   FOR NO KEY UPDATE;

-- payments.rejection_reasons (reads; pool: short)
SELECT v.cancelled_at IS NOT NULL AS cancelled, (CASE WHEN v.cancelled_at IS NULL THEN greatest(v.total - v.paid, 0.00) ELSE 0.00 END)::text AS outstanding,
       coalesce(v.paid + $4::numeric > v.total, false) AS exceeds_total
  FROM invoices v
 WHERE v.company_id = $1::uuid AND v.case_id = $2::uuid AND v.id = $3::uuid;

-- payments.reverse (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::uuid AS payment_id, $5::timestamptz AS now, $6::json AS origin, 1 AS nth), v AS (
      UPDATE invoices v SET paid = v.paid - (
            SELECT y.amount FROM payments y WHERE y.company_id = input.company_id AND y.case_id = input.case_id AND y.invoice_id = input.id AND y.id = input.payment_id), updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND EXISTS (
      SELECT 1 FROM payments y WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.id = input.payment_id AND y.reversed_at IS NULL)
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) AND (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('invoice_items', CASE WHEN NOT (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN json_build_object() END, 'payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object('changed', ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id AND part.id = input.payment_id)) END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments > 50 THEN 2 * (counted.invoice_items + counted.payments) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.payment_reversed', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    ), y AS (
    UPDATE payments y SET reversed_at = input.now FROM v JOIN input USING (nth)
     WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.id = input.payment_id
    RETURNING y.*
  )
  SELECT nth, v.version::text AS version, json_build_object('id', y.id, 'case_invoice_id', y.invoice_id, 'customer_case_id', y.case_id, 'amount', y.amount, 'paid_at', to_char(y.paid_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'reference', y.reference, 'created_at', to_char(y.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'reversed_at', to_char(y.reversed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text AS json FROM v, y;

-- payments.reverse keyed (writes; pool: short)
  WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::uuid AS payment_id, $5::timestamptz AS now, $6::json AS origin, $7::uuid AS credential_id, $8::bytea AS key_sha256, $9::bytea AS request_sha256, $10::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
      SELECT k.created_at FROM idempotency_keys k
       WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
         AND k.key_sha256 = input.key_sha256) IS NULL),
  input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::uuid AS payment_id, $5::timestamptz AS now, $6::json AS origin, $7::uuid AS credential_id, $8::bytea AS key_sha256, $9::bytea AS request_sha256, $10::text AS etag_suffix, 1 AS nth FROM guard), v AS (
      UPDATE invoices v SET paid = v.paid - (
            SELECT y.amount FROM payments y WHERE y.company_id = input.company_id AND y.case_id = input.case_id AND y.invoice_id = input.id AND y.id = input.payment_id), updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND EXISTS (
      SELECT 1 FROM payments y WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.id = input.payment_id AND y.reversed_at IS NULL)
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) AND (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('invoice_items', CASE WHEN NOT (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN json_build_object() END, 'payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object('changed', ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id AND part.id = input.payment_id)) END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments > 50 THEN 2 * (counted.invoice_items + counted.payments) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.payment_reversed', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    ), y AS (
    UPDATE payments y SET reversed_at = input.now FROM v JOIN input USING (nth)
     WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.id = input.payment_id
    RETURNING y.*
  ), answer AS (
    SELECT nth, v.version::text AS version, json_build_object('id', y.id, 'case_invoice_id', y.invoice_id, 'customer_case_id', y.case_id, 'amount', y.amount, 'paid_at', to_char(y.paid_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'reference', y.reference, 'created_at', to_char(y.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'reversed_at', to_char(y.reversed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text AS json FROM v, y
  ), stored AS (
    INSERT INTO idempotency_keys
      (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
    SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
           '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
           answer.json, input.now
      FROM answer JOIN input USING (nth))
  SELECT nth, version, json FROM answer;

