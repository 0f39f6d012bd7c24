-- invoices.cancel (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS zone, $5::timestamptz AS now, $6::json AS origin, 1 AS nth), v AS (
      UPDATE invoices v SET cancelled_at = input.now, updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND v.cancelled_at IS NULL AND v.paid = 0
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) AND (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('invoice_items', CASE WHEN NOT (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN json_build_object() END, 'payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments > 50 THEN 2 * (counted.invoice_items + counted.payments) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.cancelled', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    )
  SELECT v.version::text, ('{"id":"' || (v.id) || '","ref":null,"notes":null,"terms":' || to_json(v.terms)::text || ',"date_due":"' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","date_sent":' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ',"date_paid":' || coalesce('"' || (s.date_paid) || '"', 'null') || ',"payment_terms":' || to_json(v.payment_terms)::text || ',"subtotal":' || (v.sub_total)::text || ',"total":' || (v.total)::text || ',"invoice_number":' || to_json(v.invoice_number)::text || ',"recipients_name":' || to_json(v.recipients_name)::text || ',"vat_amount":' || (v.vat_amount)::text || ',"customer_case_id":"' || (v.case_id) || '","date_created":"' || ((input.zone::text || (floor(extract(epoch FROM v.date_created)) + 140000000000)::text)) || '","status":"' || (s.status) || '","mail_sent":' || (v.date_sent IS NOT NULL)::text || ',"payable_online":' || (false)::text || ',"formatted_recurring_interval":null,"items":' || i.items || ',"sender_id":"' || (v.sender_id) || '","vat":' || (v.vat)::text || ',"external_id":' || coalesce(to_json(v.external_id)::text, 'null') || ',"paid":' || (v.paid)::text || ',"outstanding":' || (CASE WHEN v.cancelled_at IS NULL THEN greatest(v.total - v.paid, 0.00) ELSE 0.00 END)::text || '}')
   FROM v JOIN input USING (nth), LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s, LATERAL (
SELECT ('[' || coalesce(string_agg(('{"id":"' || (t.id) || '","description":' || to_json(t.description)::text || ',"amount":' || (t.amount)::text || ',"quantity":' || (t.quantity)::text || ',"rate":' || (t.rate)::text || ',"subtotal":' || (t.subtotal)::text || ',"vat_amount":' || (t.vat_amount)::text || ',"status":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END) || '"', 'null') || ',"paid_at":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END) || '"', 'null') || ',"case_invoice_id":"' || (t.invoice_id) || '","customer_case_id":"' || (t.case_id) || '","has_vat":' || (t.vat_amount <> 0)::text || '}'), ',' ORDER BY t.position), '') || ']') AS items FROM invoice_items t
 WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND (false OR t.cancelled_at IS NULL)) i;

-- invoices.cancel_item (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::uuid AS item_id, $5::timestamptz AS now, $6::json AS origin, 1 AS nth),
v AS (
      UPDATE invoices v SET updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND v.cancelled_at IS NULL AND EXISTS (
    SELECT 1 FROM invoice_items t WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND t.id = input.item_id AND t.cancelled_at IS NULL)
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) AND (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('invoice_items', CASE WHEN NOT (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN json_build_object('changed', ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id AND part.id = input.item_id)) END, 'payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments > 50 THEN 2 * (counted.invoice_items + counted.payments) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.item_cancelled', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    ), t AS (
  UPDATE invoice_items t SET cancelled_at = input.now FROM v JOIN input USING (nth)
   WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND t.id = input.item_id
  RETURNING t.*
)
  SELECT nth, v.version::text AS version, json_build_object('id', t.id, 'description', t.description, 'amount', t.amount, 'quantity', t.quantity, 'rate', t.rate, 'subtotal', t.subtotal, 'vat_amount', t.vat_amount, 'status', CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END, 'paid_at', CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END, 'case_invoice_id', t.invoice_id, 'customer_case_id', t.case_id, 'has_vat', t.vat_amount <> 0)::text AS json FROM v, t, LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s;

-- invoices.cancel_item keyed (writes; pool: short)
  WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::uuid AS item_id, $5::timestamptz AS now, $6::json AS origin, $7::uuid AS credential_id, $8::bytea AS key_sha256, $9::bytea AS request_sha256, $10::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
      SELECT k.created_at FROM idempotency_keys k
       WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
         AND k.key_sha256 = input.key_sha256) IS NULL),
  input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::uuid AS item_id, $5::timestamptz AS now, $6::json AS origin, $7::uuid AS credential_id, $8::bytea AS key_sha256, $9::bytea AS request_sha256, $10::text AS etag_suffix, 1 AS nth FROM guard),
v AS (
      UPDATE invoices v SET updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND v.cancelled_at IS NULL AND EXISTS (
    SELECT 1 FROM invoice_items t WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND t.id = input.item_id AND t.cancelled_at IS NULL)
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) AND (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('invoice_items', CASE WHEN NOT (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN json_build_object('changed', ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id AND part.id = input.item_id)) END, 'payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments > 50 THEN 2 * (counted.invoice_items + counted.payments) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.item_cancelled', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    ), t AS (
  UPDATE invoice_items t SET cancelled_at = input.now FROM v JOIN input USING (nth)
   WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND t.id = input.item_id
  RETURNING t.*
), answer AS (
    SELECT nth, v.version::text AS version, json_build_object('id', t.id, 'description', t.description, 'amount', t.amount, 'quantity', t.quantity, 'rate', t.rate, 'subtotal', t.subtotal, 'vat_amount', t.vat_amount, 'status', CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END, 'paid_at', CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END, 'case_invoice_id', t.invoice_id, 'customer_case_id', t.case_id, 'has_vat', t.vat_amount <> 0)::text AS json FROM v, t, LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s
  ), stored AS (
    INSERT INTO idempotency_keys
      (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
    SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
           '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
           answer.json, input.now
      FROM answer JOIN input USING (nth))
  SELECT nth, version, json FROM answer;

-- invoices.find (reads; pool: short)
SELECT v.cancelled_at IS NOT NULL AS cancelled, v.paid > 0 AS has_payments
  FROM invoices v
 WHERE v.company_id = $1::uuid AND v.case_id = $2::uuid AND v.id = $3::uuid;

-- invoices.find_by_external_id (reads; pool: short)
SELECT v.id, v.case_id AS case_id FROM invoices v WHERE v.company_id = $1::uuid AND v.external_id = $2::text
AND true;

-- invoices.find_item (reads; pool: short)
SELECT t.cancelled_at IS NOT NULL AS cancelled, v.cancelled_at IS NOT NULL AS invoice_cancelled
  FROM invoices v
  JOIN invoice_items t ON t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id
 WHERE v.company_id = $1::uuid AND v.case_id = $2::uuid AND v.id = $3::uuid
   AND t.id = $4::uuid;

-- invoices.insert (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS invoice_number, $5::uuid AS sender_id, $6::timestamptz AS date_created, $7::timestamptz AS date_due, $8::numeric AS vat, $9::numeric AS sub_total, $10::numeric AS vat_amount, $11::numeric AS total, $12::timestamptz AS now, $13::json AS origin, $14::text AS terms, $15::text AS payment_terms, $16::uuid[] AS item_ids, $17::text[] AS descriptions, $18::numeric[] AS quantities, $19::numeric[] AS rates, $20::numeric[] AS amounts, $21::numeric[] AS subtotals, $22::numeric[] AS vat_amounts, 1 AS nth), inserted AS (
    INSERT INTO invoices (company_id, case_id, id, invoice_number, sender_id, date_created, date_due,
      vat, sub_total, vat_amount, total, terms, payment_terms, recipients_name,
      created_at, updated_at, item_count, payment_count)
    SELECT c.company_id, c.id, input.id, input.invoice_number, input.sender_id, input.date_created,
           input.date_due, input.vat, input.sub_total, input.vat_amount, input.total,
           input.terms, input.payment_terms, (
SELECT coalesce(CASE WHEN cardinality(names) < 2 THEN names[1]
  ELSE array_to_string(names[:cardinality(names) - 1], ', ') || ' and ' || names[cardinality(names)] END, '')
FROM (SELECT array_agg(concat_ws(' ', nullif(title, ''), nullif(first_names, ''), nullif(last_name, ''))
               ORDER BY created_at, id) AS names
        FROM customers u
       WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL) n),
           input.now, input.now, cardinality(input.item_ids), 0
      FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
    ON CONFLICT ON CONSTRAINT invoices_number DO NOTHING
    RETURNING *
  ), v AS (
    SELECT inserted.*, input.nth, input.now, input.origin
      FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
  ), items AS (
    INSERT INTO invoice_items (company_id, case_id, invoice_id, id, description, quantity, rate, amount, subtotal, vat_amount, position)
    SELECT v.company_id, v.case_id, v.id, l.* FROM v JOIN input USING (nth), unnest(input.item_ids, input.descriptions, input.quantities, input.rates, input.amounts,
        input.subtotals, input.vat_amounts)
 WITH ORDINALITY AS l (id, description, quantity, rate, amount, subtotal, vat_amount, position)
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.created', v.now::timestamptz, v.origin::json, CASE WHEN v.item_count > 50 THEN v.item_count END
       FROM v
  )
  SELECT nth, v.version::text AS version, ('{"id" : "' || (v.id) || '", "ref" : null, "notes" : null, "terms" : ' || to_json(v.terms)::text || ', "date_due" : "' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "date_sent" : ' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "date_paid" : null, "payment_terms" : ' || to_json(v.payment_terms)::text || ', "subtotal" : ' || (v.sub_total)::text || ', "total" : ' || (v.total)::text || ', "invoice_number" : ' || to_json(v.invoice_number)::text || ', "recipients_name" : ' || to_json(v.recipients_name)::text || ', "vat_amount" : ' || (v.vat_amount)::text || ', "customer_case_id" : "' || (v.case_id) || '", "date_created" : "' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM v;

-- invoices.insert* (batch form)
  WITH input AS (SELECT company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total, vat_amount, total, now, origin, terms, payment_terms, item_ids::uuid[], descriptions::text[], quantities::numeric[], rates::numeric[], amounts::numeric[], subtotals::numeric[], vat_amounts::numeric[], nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::timestamptz[], $7::timestamptz[], $8::numeric[], $9::numeric[], $10::numeric[], $11::numeric[], $12::timestamptz[], $13::json[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total, vat_amount, total, now, origin, terms, payment_terms, item_ids, descriptions, quantities, rates, amounts, subtotals, vat_amounts, nth)), inserted AS (
    INSERT INTO invoices (company_id, case_id, id, invoice_number, sender_id, date_created, date_due,
      vat, sub_total, vat_amount, total, terms, payment_terms, recipients_name,
      created_at, updated_at, item_count, payment_count)
    SELECT c.company_id, c.id, input.id, input.invoice_number, input.sender_id, input.date_created,
           input.date_due, input.vat, input.sub_total, input.vat_amount, input.total,
           input.terms, input.payment_terms, (
SELECT coalesce(CASE WHEN cardinality(names) < 2 THEN names[1]
  ELSE array_to_string(names[:cardinality(names) - 1], ', ') || ' and ' || names[cardinality(names)] END, '')
FROM (SELECT array_agg(concat_ws(' ', nullif(title, ''), nullif(first_names, ''), nullif(last_name, ''))
               ORDER BY created_at, id) AS names
        FROM customers u
       WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL) n),
           input.now, input.now, cardinality(input.item_ids), 0
      FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
    ON CONFLICT ON CONSTRAINT invoices_number DO NOTHING
    RETURNING *
  ), v AS (
    SELECT inserted.*, input.nth, input.now, input.origin
      FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
  ), items AS (
    INSERT INTO invoice_items (company_id, case_id, invoice_id, id, description, quantity, rate, amount, subtotal, vat_amount, position)
    SELECT v.company_id, v.case_id, v.id, l.* FROM v JOIN input USING (nth), unnest(input.item_ids, input.descriptions, input.quantities, input.rates, input.amounts,
        input.subtotals, input.vat_amounts)
 WITH ORDINALITY AS l (id, description, quantity, rate, amount, subtotal, vat_amount, position)
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.created', v.now::timestamptz, v.origin::json, CASE WHEN v.item_count > 50 THEN v.item_count END
       FROM v
  )
  SELECT nth, v.version::text AS version, ('{"id" : "' || (v.id) || '", "ref" : null, "notes" : null, "terms" : ' || to_json(v.terms)::text || ', "date_due" : "' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "date_sent" : ' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "date_paid" : null, "payment_terms" : ' || to_json(v.payment_terms)::text || ', "subtotal" : ' || (v.sub_total)::text || ', "total" : ' || (v.total)::text || ', "invoice_number" : ' || to_json(v.invoice_number)::text || ', "recipients_name" : ' || to_json(v.recipients_name)::text || ', "vat_amount" : ' || (v.vat_amount)::text || ', "customer_case_id" : "' || (v.case_id) || '", "date_created" : "' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM v;

-- invoices.insert keyed (writes; pool: short)
  WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS invoice_number, $5::uuid AS sender_id, $6::timestamptz AS date_created, $7::timestamptz AS date_due, $8::numeric AS vat, $9::numeric AS sub_total, $10::numeric AS vat_amount, $11::numeric AS total, $12::timestamptz AS now, $13::json AS origin, $14::text AS terms, $15::text AS payment_terms, $16::uuid[] AS item_ids, $17::text[] AS descriptions, $18::numeric[] AS quantities, $19::numeric[] AS rates, $20::numeric[] AS amounts, $21::numeric[] AS subtotals, $22::numeric[] AS vat_amounts, $23::uuid AS credential_id, $24::bytea AS key_sha256, $25::bytea AS request_sha256, $26::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
      SELECT k.created_at FROM idempotency_keys k
       WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
         AND k.key_sha256 = input.key_sha256) IS NULL),
  input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS invoice_number, $5::uuid AS sender_id, $6::timestamptz AS date_created, $7::timestamptz AS date_due, $8::numeric AS vat, $9::numeric AS sub_total, $10::numeric AS vat_amount, $11::numeric AS total, $12::timestamptz AS now, $13::json AS origin, $14::text AS terms, $15::text AS payment_terms, $16::uuid[] AS item_ids, $17::text[] AS descriptions, $18::numeric[] AS quantities, $19::numeric[] AS rates, $20::numeric[] AS amounts, $21::numeric[] AS subtotals, $22::numeric[] AS vat_amounts, $23::uuid AS credential_id, $24::bytea AS key_sha256, $25::bytea AS request_sha256, $26::text AS etag_suffix, 1 AS nth FROM guard), inserted AS (
    INSERT INTO invoices (company_id, case_id, id, invoice_number, sender_id, date_created, date_due,
      vat, sub_total, vat_amount, total, terms, payment_terms, recipients_name,
      created_at, updated_at, item_count, payment_count)
    SELECT c.company_id, c.id, input.id, input.invoice_number, input.sender_id, input.date_created,
           input.date_due, input.vat, input.sub_total, input.vat_amount, input.total,
           input.terms, input.payment_terms, (
SELECT coalesce(CASE WHEN cardinality(names) < 2 THEN names[1]
  ELSE array_to_string(names[:cardinality(names) - 1], ', ') || ' and ' || names[cardinality(names)] END, '')
FROM (SELECT array_agg(concat_ws(' ', nullif(title, ''), nullif(first_names, ''), nullif(last_name, ''))
               ORDER BY created_at, id) AS names
        FROM customers u
       WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL) n),
           input.now, input.now, cardinality(input.item_ids), 0
      FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
    ON CONFLICT ON CONSTRAINT invoices_number DO NOTHING
    RETURNING *
  ), v AS (
    SELECT inserted.*, input.nth, input.now, input.origin
      FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
  ), items AS (
    INSERT INTO invoice_items (company_id, case_id, invoice_id, id, description, quantity, rate, amount, subtotal, vat_amount, position)
    SELECT v.company_id, v.case_id, v.id, l.* FROM v JOIN input USING (nth), unnest(input.item_ids, input.descriptions, input.quantities, input.rates, input.amounts,
        input.subtotals, input.vat_amounts)
 WITH ORDINALITY AS l (id, description, quantity, rate, amount, subtotal, vat_amount, position)
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.created', v.now::timestamptz, v.origin::json, CASE WHEN v.item_count > 50 THEN v.item_count END
       FROM v
  ), answer AS (
    SELECT nth, v.version::text AS version, ('{"id" : "' || (v.id) || '", "ref" : null, "notes" : null, "terms" : ' || to_json(v.terms)::text || ', "date_due" : "' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "date_sent" : ' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "date_paid" : null, "payment_terms" : ' || to_json(v.payment_terms)::text || ', "subtotal" : ' || (v.sub_total)::text || ', "total" : ' || (v.total)::text || ', "invoice_number" : ' || to_json(v.invoice_number)::text || ', "recipients_name" : ' || to_json(v.recipients_name)::text || ', "vat_amount" : ' || (v.vat_amount)::text || ', "customer_case_id" : "' || (v.case_id) || '", "date_created" : "' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM v
  ), stored AS (
    INSERT INTO idempotency_keys
      (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
    SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
           '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
           answer.json, input.now
      FROM answer JOIN input USING (nth))
  SELECT nth, version, json FROM answer;

-- invoices.insert keyed* (batch form)
  WITH input AS MATERIALIZED (
    WITH input AS (SELECT company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total, vat_amount, total, now, origin, terms, payment_terms, item_ids::uuid[], descriptions::text[], quantities::numeric[], rates::numeric[], amounts::numeric[], subtotals::numeric[], vat_amounts::numeric[], credential_id, key_sha256, request_sha256, etag_suffix, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::timestamptz[], $7::timestamptz[], $8::numeric[], $9::numeric[], $10::numeric[], $11::numeric[], $12::timestamptz[], $13::json[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::uuid[], $24::bytea[], $25::bytea[], $26::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total, vat_amount, total, now, origin, terms, payment_terms, item_ids, descriptions, quantities, rates, amounts, subtotals, vat_amounts, credential_id, key_sha256, request_sha256, etag_suffix, nth))
    SELECT * FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
      SELECT k.created_at FROM idempotency_keys k
       WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
         AND k.key_sha256 = input.key_sha256) IS NULL), inserted AS (
    INSERT INTO invoices (company_id, case_id, id, invoice_number, sender_id, date_created, date_due,
      vat, sub_total, vat_amount, total, terms, payment_terms, recipients_name,
      created_at, updated_at, item_count, payment_count)
    SELECT c.company_id, c.id, input.id, input.invoice_number, input.sender_id, input.date_created,
           input.date_due, input.vat, input.sub_total, input.vat_amount, input.total,
           input.terms, input.payment_terms, (
SELECT coalesce(CASE WHEN cardinality(names) < 2 THEN names[1]
  ELSE array_to_string(names[:cardinality(names) - 1], ', ') || ' and ' || names[cardinality(names)] END, '')
FROM (SELECT array_agg(concat_ws(' ', nullif(title, ''), nullif(first_names, ''), nullif(last_name, ''))
               ORDER BY created_at, id) AS names
        FROM customers u
       WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL) n),
           input.now, input.now, cardinality(input.item_ids), 0
      FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
    ON CONFLICT ON CONSTRAINT invoices_number DO NOTHING
    RETURNING *
  ), v AS (
    SELECT inserted.*, input.nth, input.now, input.origin
      FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
  ), items AS (
    INSERT INTO invoice_items (company_id, case_id, invoice_id, id, description, quantity, rate, amount, subtotal, vat_amount, position)
    SELECT v.company_id, v.case_id, v.id, l.* FROM v JOIN input USING (nth), unnest(input.item_ids, input.descriptions, input.quantities, input.rates, input.amounts,
        input.subtotals, input.vat_amounts)
 WITH ORDINALITY AS l (id, description, quantity, rate, amount, subtotal, vat_amount, position)
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.created', v.now::timestamptz, v.origin::json, CASE WHEN v.item_count > 50 THEN v.item_count END
       FROM v
  ), answer AS (
    SELECT nth, v.version::text AS version, ('{"id" : "' || (v.id) || '", "ref" : null, "notes" : null, "terms" : ' || to_json(v.terms)::text || ', "date_due" : "' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "date_sent" : ' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "date_paid" : null, "payment_terms" : ' || to_json(v.payment_terms)::text || ', "subtotal" : ' || (v.sub_total)::text || ', "total" : ' || (v.total)::text || ', "invoice_number" : ' || to_json(v.invoice_number)::text || ', "recipients_name" : ' || to_json(v.recipients_name)::text || ', "vat_amount" : ' || (v.vat_amount)::text || ', "customer_case_id" : "' || (v.case_id) || '", "date_created" : "' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM v
  ), stored AS (
    INSERT INTO idempotency_keys
      (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
    SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
           '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
           answer.json, input.now
      FROM answer JOIN input USING (nth))
  SELECT nth, version, json FROM answer;

-- invoices.insert+external_id (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS invoice_number, $5::uuid AS sender_id, $6::timestamptz AS date_created, $7::timestamptz AS date_due, $8::numeric AS vat, $9::numeric AS sub_total, $10::numeric AS vat_amount, $11::numeric AS total, $12::timestamptz AS now, $13::json AS origin, $14::text AS terms, $15::text AS payment_terms, $16::uuid[] AS item_ids, $17::text[] AS descriptions, $18::numeric[] AS quantities, $19::numeric[] AS rates, $20::numeric[] AS amounts, $21::numeric[] AS subtotals, $22::numeric[] AS vat_amounts, $23::text AS external_id, 1 AS nth), inserted AS (
    INSERT INTO invoices (company_id, case_id, id, invoice_number, sender_id, date_created, date_due,
      vat, sub_total, vat_amount, total, terms, payment_terms, recipients_name,
      created_at, updated_at, item_count, payment_count, external_id)
    SELECT c.company_id, c.id, input.id, input.invoice_number, input.sender_id, input.date_created,
           input.date_due, input.vat, input.sub_total, input.vat_amount, input.total,
           input.terms, input.payment_terms, (
SELECT coalesce(CASE WHEN cardinality(names) < 2 THEN names[1]
  ELSE array_to_string(names[:cardinality(names) - 1], ', ') || ' and ' || names[cardinality(names)] END, '')
FROM (SELECT array_agg(concat_ws(' ', nullif(title, ''), nullif(first_names, ''), nullif(last_name, ''))
               ORDER BY created_at, id) AS names
        FROM customers u
       WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL) n),
           input.now, input.now, cardinality(input.item_ids), 0, input.external_id
      FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
    ON CONFLICT DO NOTHING
    RETURNING *
  ), v AS (
    SELECT inserted.*, input.nth, input.now, input.origin
      FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
  ), items AS (
    INSERT INTO invoice_items (company_id, case_id, invoice_id, id, description, quantity, rate, amount, subtotal, vat_amount, position)
    SELECT v.company_id, v.case_id, v.id, l.* FROM v JOIN input USING (nth), unnest(input.item_ids, input.descriptions, input.quantities, input.rates, input.amounts,
        input.subtotals, input.vat_amounts)
 WITH ORDINALITY AS l (id, description, quantity, rate, amount, subtotal, vat_amount, position)
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.created', v.now::timestamptz, v.origin::json, CASE WHEN v.item_count > 50 THEN v.item_count END
       FROM v
  )
  SELECT nth, v.version::text AS version, ('{"id" : "' || (v.id) || '", "ref" : null, "notes" : null, "terms" : ' || to_json(v.terms)::text || ', "date_due" : "' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "date_sent" : ' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "date_paid" : null, "payment_terms" : ' || to_json(v.payment_terms)::text || ', "subtotal" : ' || (v.sub_total)::text || ', "total" : ' || (v.total)::text || ', "invoice_number" : ' || to_json(v.invoice_number)::text || ', "recipients_name" : ' || to_json(v.recipients_name)::text || ', "vat_amount" : ' || (v.vat_amount)::text || ', "customer_case_id" : "' || (v.case_id) || '", "date_created" : "' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM v;

-- invoices.insert+external_id* (batch form)
  WITH input AS (SELECT company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total, vat_amount, total, now, origin, terms, payment_terms, item_ids::uuid[], descriptions::text[], quantities::numeric[], rates::numeric[], amounts::numeric[], subtotals::numeric[], vat_amounts::numeric[], external_id, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::timestamptz[], $7::timestamptz[], $8::numeric[], $9::numeric[], $10::numeric[], $11::numeric[], $12::timestamptz[], $13::json[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total, vat_amount, total, now, origin, terms, payment_terms, item_ids, descriptions, quantities, rates, amounts, subtotals, vat_amounts, external_id, nth)), inserted AS (
    INSERT INTO invoices (company_id, case_id, id, invoice_number, sender_id, date_created, date_due,
      vat, sub_total, vat_amount, total, terms, payment_terms, recipients_name,
      created_at, updated_at, item_count, payment_count, external_id)
    SELECT c.company_id, c.id, input.id, input.invoice_number, input.sender_id, input.date_created,
           input.date_due, input.vat, input.sub_total, input.vat_amount, input.total,
           input.terms, input.payment_terms, (
SELECT coalesce(CASE WHEN cardinality(names) < 2 THEN names[1]
  ELSE array_to_string(names[:cardinality(names) - 1], ', ') || ' and ' || names[cardinality(names)] END, '')
FROM (SELECT array_agg(concat_ws(' ', nullif(title, ''), nullif(first_names, ''), nullif(last_name, ''))
               ORDER BY created_at, id) AS names
        FROM customers u
       WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL) n),
           input.now, input.now, cardinality(input.item_ids), 0, input.external_id
      FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
    ON CONFLICT DO NOTHING
    RETURNING *
  ), v AS (
    SELECT inserted.*, input.nth, input.now, input.origin
      FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
  ), items AS (
    INSERT INTO invoice_items (company_id, case_id, invoice_id, id, description, quantity, rate, amount, subtotal, vat_amount, position)
    SELECT v.company_id, v.case_id, v.id, l.* FROM v JOIN input USING (nth), unnest(input.item_ids, input.descriptions, input.quantities, input.rates, input.amounts,
        input.subtotals, input.vat_amounts)
 WITH ORDINALITY AS l (id, description, quantity, rate, amount, subtotal, vat_amount, position)
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.created', v.now::timestamptz, v.origin::json, CASE WHEN v.item_count > 50 THEN v.item_count END
       FROM v
  )
  SELECT nth, v.version::text AS version, ('{"id" : "' || (v.id) || '", "ref" : null, "notes" : null, "terms" : ' || to_json(v.terms)::text || ', "date_due" : "' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "date_sent" : ' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "date_paid" : null, "payment_terms" : ' || to_json(v.payment_terms)::text || ', "subtotal" : ' || (v.sub_total)::text || ', "total" : ' || (v.total)::text || ', "invoice_number" : ' || to_json(v.invoice_number)::text || ', "recipients_name" : ' || to_json(v.recipients_name)::text || ', "vat_amount" : ' || (v.vat_amount)::text || ', "customer_case_id" : "' || (v.case_id) || '", "date_created" : "' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM v;

-- invoices.is_present (reads; pool: short)
SELECT 1 FROM invoices v WHERE v.company_id = $1::uuid AND v.id = $3::uuid
   AND v.case_id = $2::uuid AND true;

-- invoices.kept_sums_of_company (reads; pool: list)
  WITH progress AS MATERIALIZED (
    SELECT p.position FROM invoice_sums_progress p
     WHERE p.company_id = $1::uuid AND p.built_at BETWEEN $6::timestamptz - interval '2 days' AND $6::timestamptz + interval '1 hour'
  ), recent_events AS MATERIALIZED (
    SELECT e.position, e.case_id, e.record_id, i.is_of_invoice, CASE WHEN i.is_of_invoice THEN pg_column_size(e.was) END AS bytes
      FROM events e CROSS JOIN LATERAL (SELECT e.type LIKE 'invoice.%' AS is_of_invoice) i
     WHERE e.company_id = $1::uuid AND e.position > (SELECT position FROM progress) ORDER BY e.position LIMIT 1001
  ), kept AS MATERIALIZED (
    SELECT FROM progress WHERE NOT (SELECT count(*) > 1000 OR coalesce(sum(bytes), 0) > 2000000 FROM recent_events e)
  ), divided AS MATERIALIZED (
    SELECT DISTINCT u.unit, date_trunc(u.unit, b.bound AT TIME ZONE 'UTC')::date AS start
      FROM (VALUES ($3::timestamptz), ($4::timestamptz), ($5::timestamptz)) b (bound),
           (VALUES ('month'), ('day')) u (unit)
     WHERE isfinite(b.bound) AND b.bound <> date_trunc(u.unit, b.bound, 'UTC')
  ), amounts AS (
    SELECT s.start::timestamp AT TIME ZONE 'UTC' AS date_due, s.status, s.count, s.outstanding
      FROM invoice_sums s
     WHERE EXISTS (SELECT FROM kept) AND s.company_id = $1::uuid AND s.unit = 'month'
       AND s.start NOT IN (SELECT start FROM divided WHERE unit = 'month')
     UNION ALL
    SELECT s.start::timestamp AT TIME ZONE 'UTC', s.status, s.count, s.outstanding
      FROM divided m CROSS JOIN LATERAL (
             SELECT s.* FROM invoice_sums s
              WHERE s.company_id = $1::uuid AND s.unit = 'day'
                AND s.start >= m.start AND s.start < m.start + interval '1 month' OFFSET 0) s
     WHERE EXISTS (SELECT FROM kept) AND m.unit = 'month' AND s.start NOT IN (SELECT start FROM divided WHERE unit = 'day')
     UNION ALL
    SELECT v.*
      FROM divided d CROSS JOIN LATERAL (
             SELECT v.date_due, CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END, 1, v.total - v.paid FROM invoices v
              WHERE v.company_id = $1::uuid AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END = ANY ($2::text[]) AND v.total > v.paid
                AND v.date_due >= d.start::timestamp AT TIME ZONE 'UTC'
                AND v.date_due < (d.start + 1)::timestamp AT TIME ZONE 'UTC' OFFSET 0) v
     WHERE EXISTS (SELECT FROM kept) AND d.unit = 'day'
     UNION ALL
    SELECT c.* FROM (
    SELECT v.date_due, CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, 1 AS count, 1 * (v.total - v.paid) AS outstanding FROM (SELECT DISTINCT ON (e.case_id, e.record_id) e.case_id, e.record_id, e.position FROM recent_events e
              WHERE e.is_of_invoice AND true ORDER BY e.case_id, e.record_id, e.position) f
     CROSS JOIN LATERAL (
             SELECT * FROM invoices v
              WHERE v.company_id = $1::uuid AND v.case_id = f.case_id AND v.id = f.record_id OFFSET 0) v
     WHERE CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END IN ('Not Paid', 'Part Paid') AND v.total > v.paid
     UNION ALL
    SELECT v.date_due, CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, -1 AS count, -1 * (v.total - v.paid) AS outstanding FROM (SELECT DISTINCT ON (e.case_id, e.record_id) e.case_id, e.record_id, e.position FROM recent_events e
              WHERE e.is_of_invoice AND true ORDER BY e.case_id, e.record_id, e.position) f CROSS JOIN LATERAL (
             SELECT r.* FROM events e CROSS JOIN json_populate_record(NULL::invoices, e.was->'invoices') r
              WHERE e.company_id = $1::uuid AND e.case_id = f.case_id AND e.record_id = f.record_id
                AND e.position = f.position OFFSET 0) v
     WHERE v.id IS NOT NULL AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END IN ('Not Paid', 'Part Paid') AND v.total > v.paid) c
     WHERE EXISTS (SELECT FROM kept) AND (c.date_due AT TIME ZONE 'UTC')::date NOT IN (SELECT start FROM divided WHERE unit = 'day')
  )
  SELECT EXISTS (SELECT FROM kept) AS is_kept, s.*
    FROM (SELECT) one LEFT JOIN (
           SELECT a.date_due < $5::timestamptz AS overdue, sum(a.count)::int AS count,
                  sum(a.outstanding)::text AS outstanding
             FROM amounts a
            WHERE a.status = ANY ($2::text[]) AND a.date_due >= $3::timestamptz AND a.date_due < $4::timestamptz
            GROUP BY 1) s ON true;

-- invoices.list (reads; pool: list)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::text AS zone, $4::boolean AS show_cancelled_items, 1 AS nth) SELECT input.nth, l.json FROM input CROSS JOIN LATERAL (SELECT json FROM (WITH few AS MATERIALIZED (SELECT * FROM invoices v WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND true LIMIT 1001)
   SELECT CASE WHEN count(*) <= 1000 AND coalesce(sum((600 + octet_length(v.recipients_name) + octet_length(v.terms) + octet_length(v.payment_terms)
    + 450 * coalesce(v.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = v.company_id AND c.case_id = v.case_id AND c.invoice_id = v.id)))), 0) <= 4000000 THEN (SELECT ('[' || coalesce(string_agg(('{"id":"' || (v.id) || '","ref":null,"notes":null,"terms":' || to_json(v.terms)::text || ',"date_due":"' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","date_sent":' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ',"date_paid":' || coalesce('"' || (s.date_paid) || '"', 'null') || ',"payment_terms":' || to_json(v.payment_terms)::text || ',"subtotal":' || (v.sub_total)::text || ',"total":' || (v.total)::text || ',"invoice_number":' || to_json(v.invoice_number)::text || ',"recipients_name":' || to_json(v.recipients_name)::text || ',"vat_amount":' || (v.vat_amount)::text || ',"customer_case_id":"' || (v.case_id) || '","date_created":"' || ((input.zone::text || (floor(extract(epoch FROM v.date_created)) + 140000000000)::text)) || '","status":"' || (s.status) || '","mail_sent":' || (v.date_sent IS NOT NULL)::text || ',"payable_online":' || (false)::text || ',"formatted_recurring_interval":null,"items":' || i.items || '}'), ',' ORDER BY v.date_created DESC, v.created_at DESC, v.id DESC), '') || ']') FROM few v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s CROSS JOIN LATERAL (
SELECT ('[' || coalesce(string_agg(('{"id":"' || (t.id) || '","description":' || to_json(t.description)::text || ',"amount":' || (t.amount)::text || ',"quantity":' || (t.quantity)::text || ',"rate":' || (t.rate)::text || ',"subtotal":' || (t.subtotal)::text || ',"vat_amount":' || (t.vat_amount)::text || ',"status":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END) || '"', 'null') || ',"paid_at":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END) || '"', 'null') || ',"case_invoice_id":"' || (t.invoice_id) || '","customer_case_id":"' || (t.case_id) || '","has_vat":' || (t.vat_amount <> 0)::text || '}'), ',' ORDER BY t.position), '') || ']') AS items FROM invoice_items t
 WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND (input.show_cancelled_items OR t.cancelled_at IS NULL)) i) END AS json, count(*) AS n
     FROM few v) l WHERE l.n > 0 OR (SELECT true FROM cases c WHERE c.company_id = input.company_id AND c.id = input.case_id)) l;

-- invoices.list* (batch form)
WITH input AS (SELECT company_id, case_id, zone, show_cancelled_items, nth FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::boolean[]) WITH ORDINALITY AS batch (company_id, case_id, zone, show_cancelled_items, nth)) SELECT input.nth, l.json FROM input CROSS JOIN LATERAL (SELECT json FROM (WITH few AS MATERIALIZED (SELECT * FROM invoices v WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND true LIMIT 1001)
   SELECT CASE WHEN count(*) <= 1000 AND coalesce(sum((600 + octet_length(v.recipients_name) + octet_length(v.terms) + octet_length(v.payment_terms)
    + 450 * coalesce(v.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = v.company_id AND c.case_id = v.case_id AND c.invoice_id = v.id)))), 0) <= 4000000 THEN (SELECT ('[' || coalesce(string_agg(('{"id":"' || (v.id) || '","ref":null,"notes":null,"terms":' || to_json(v.terms)::text || ',"date_due":"' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","date_sent":' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ',"date_paid":' || coalesce('"' || (s.date_paid) || '"', 'null') || ',"payment_terms":' || to_json(v.payment_terms)::text || ',"subtotal":' || (v.sub_total)::text || ',"total":' || (v.total)::text || ',"invoice_number":' || to_json(v.invoice_number)::text || ',"recipients_name":' || to_json(v.recipients_name)::text || ',"vat_amount":' || (v.vat_amount)::text || ',"customer_case_id":"' || (v.case_id) || '","date_created":"' || ((input.zone::text || (floor(extract(epoch FROM v.date_created)) + 140000000000)::text)) || '","status":"' || (s.status) || '","mail_sent":' || (v.date_sent IS NOT NULL)::text || ',"payable_online":' || (false)::text || ',"formatted_recurring_interval":null,"items":' || i.items || '}'), ',' ORDER BY v.date_created DESC, v.created_at DESC, v.id DESC), '') || ']') FROM few v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s CROSS JOIN LATERAL (
SELECT ('[' || coalesce(string_agg(('{"id":"' || (t.id) || '","description":' || to_json(t.description)::text || ',"amount":' || (t.amount)::text || ',"quantity":' || (t.quantity)::text || ',"rate":' || (t.rate)::text || ',"subtotal":' || (t.subtotal)::text || ',"vat_amount":' || (t.vat_amount)::text || ',"status":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END) || '"', 'null') || ',"paid_at":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END) || '"', 'null') || ',"case_invoice_id":"' || (t.invoice_id) || '","customer_case_id":"' || (t.case_id) || '","has_vat":' || (t.vat_amount <> 0)::text || '}'), ',' ORDER BY t.position), '') || ']') AS items FROM invoice_items t
 WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND (input.show_cancelled_items OR t.cancelled_at IS NULL)) i) END AS json, count(*) AS n
     FROM few v) l WHERE l.n > 0 OR (SELECT true FROM cases c WHERE c.company_id = input.company_id AND c.id = input.case_id)) l;

-- invoices.list_matching (reads; pool: search)
SELECT json FROM (WITH few AS MATERIALIZED (SELECT v.* FROM invoices v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s WHERE v.company_id = $1::uuid AND v.case_id = $2::uuid AND ($5::text IS NULL OR s.status = $5::text)
  AND ($6::timestamptz IS NULL OR v.date_due >= $6::timestamptz)
  AND ($7::timestamptz IS NULL OR v.date_due < $7::timestamptz) LIMIT 1001)
   SELECT CASE WHEN count(*) <= 1000 AND coalesce(sum((600 + octet_length(v.recipients_name) + octet_length(v.terms) + octet_length(v.payment_terms)
    + 450 * coalesce(v.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = v.company_id AND c.case_id = v.case_id AND c.invoice_id = v.id)))), 0) <= 4000000 THEN (SELECT ('[' || coalesce(string_agg(('{"id":"' || (v.id) || '","ref":null,"notes":null,"terms":' || to_json(v.terms)::text || ',"date_due":"' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","date_sent":' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ',"date_paid":' || coalesce('"' || (s.date_paid) || '"', 'null') || ',"payment_terms":' || to_json(v.payment_terms)::text || ',"subtotal":' || (v.sub_total)::text || ',"total":' || (v.total)::text || ',"invoice_number":' || to_json(v.invoice_number)::text || ',"recipients_name":' || to_json(v.recipients_name)::text || ',"vat_amount":' || (v.vat_amount)::text || ',"customer_case_id":"' || (v.case_id) || '","date_created":"' || (($3::text::text || (floor(extract(epoch FROM v.date_created)) + 140000000000)::text)) || '","status":"' || (s.status) || '","mail_sent":' || (v.date_sent IS NOT NULL)::text || ',"payable_online":' || (false)::text || ',"formatted_recurring_interval":null,"items":' || i.items || '}'), ',' ORDER BY v.date_created DESC, v.created_at DESC, v.id DESC), '') || ']') FROM few v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s CROSS JOIN LATERAL (
SELECT ('[' || coalesce(string_agg(('{"id":"' || (t.id) || '","description":' || to_json(t.description)::text || ',"amount":' || (t.amount)::text || ',"quantity":' || (t.quantity)::text || ',"rate":' || (t.rate)::text || ',"subtotal":' || (t.subtotal)::text || ',"vat_amount":' || (t.vat_amount)::text || ',"status":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END) || '"', 'null') || ',"paid_at":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END) || '"', 'null') || ',"case_invoice_id":"' || (t.invoice_id) || '","customer_case_id":"' || (t.case_id) || '","has_vat":' || (t.vat_amount <> 0)::text || '}'), ',' ORDER BY t.position), '') || ']') AS items FROM invoice_items t
 WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND ($4::boolean OR t.cancelled_at IS NULL)) i) END AS json, count(*) AS n
     FROM few v) l WHERE l.n > 0 OR (SELECT true FROM cases c WHERE c.company_id = $1::uuid AND c.id = $2::uuid);

-- invoices.list_page (reads; pool: search)
SELECT (SELECT count(*)::int FROM invoices v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s WHERE v.company_id = $1::uuid AND v.case_id = $2::uuid AND ($5::text IS NULL OR s.status = $5::text)
  AND ($6::timestamptz IS NULL OR v.date_due >= $6::timestamptz)
  AND ($7::timestamptz IS NULL OR v.date_due < $7::timestamptz)) AS total, (SELECT l.json FROM (WITH few AS MATERIALIZED (SELECT v.* FROM invoices v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s WHERE v.company_id = $1::uuid AND v.case_id = $2::uuid AND ($5::text IS NULL OR s.status = $5::text)
  AND ($6::timestamptz IS NULL OR v.date_due >= $6::timestamptz)
  AND ($7::timestamptz IS NULL OR v.date_due < $7::timestamptz) ORDER BY v.date_created DESC, v.created_at DESC, v.id DESC LIMIT $8::int OFFSET $9::int)
   SELECT CASE WHEN count(*) <= 1000 AND coalesce(sum((600 + octet_length(v.recipients_name) + octet_length(v.terms) + octet_length(v.payment_terms)
    + 450 * coalesce(v.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = v.company_id AND c.case_id = v.case_id AND c.invoice_id = v.id)))), 0) <= 4000000 THEN (SELECT ('[' || coalesce(string_agg(('{"id":"' || (v.id) || '","ref":null,"notes":null,"terms":' || to_json(v.terms)::text || ',"date_due":"' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","date_sent":' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ',"date_paid":' || coalesce('"' || (s.date_paid) || '"', 'null') || ',"payment_terms":' || to_json(v.payment_terms)::text || ',"subtotal":' || (v.sub_total)::text || ',"total":' || (v.total)::text || ',"invoice_number":' || to_json(v.invoice_number)::text || ',"recipients_name":' || to_json(v.recipients_name)::text || ',"vat_amount":' || (v.vat_amount)::text || ',"customer_case_id":"' || (v.case_id) || '","date_created":"' || (($3::text::text || (floor(extract(epoch FROM v.date_created)) + 140000000000)::text)) || '","status":"' || (s.status) || '","mail_sent":' || (v.date_sent IS NOT NULL)::text || ',"payable_online":' || (false)::text || ',"formatted_recurring_interval":null,"items":' || i.items || '}'), ',' ORDER BY v.date_created DESC, v.created_at DESC, v.id DESC), '') || ']') FROM few v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s CROSS JOIN LATERAL (
SELECT ('[' || coalesce(string_agg(('{"id":"' || (t.id) || '","description":' || to_json(t.description)::text || ',"amount":' || (t.amount)::text || ',"quantity":' || (t.quantity)::text || ',"rate":' || (t.rate)::text || ',"subtotal":' || (t.subtotal)::text || ',"vat_amount":' || (t.vat_amount)::text || ',"status":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END) || '"', 'null') || ',"paid_at":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END) || '"', 'null') || ',"case_invoice_id":"' || (t.invoice_id) || '","customer_case_id":"' || (t.case_id) || '","has_vat":' || (t.vat_amount <> 0)::text || '}'), ',' ORDER BY t.position), '') || ']') AS items FROM invoice_items t
 WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND ($4::boolean OR t.cancelled_at IS NULL)) i) END AS json, count(*) AS n
     FROM few v) l) AS json FROM cases c WHERE c.company_id = $1::uuid AND c.id = $2::uuid;

-- invoices.list_page_pieces (reads; pool: short)
SELECT e.elements
       FROM (SELECT r.piece, array_agg(r.record) AS records
               FROM (SELECT v AS record, row_number() OVER before AS n,
                            (sum((600 + octet_length(v.recipients_name) + octet_length(v.terms) + octet_length(v.payment_terms)
    + 450 * coalesce(v.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = v.company_id AND c.case_id = v.case_id AND c.invoice_id = v.id)))) OVER before - (600 + octet_length(v.recipients_name) + octet_length(v.terms) + octet_length(v.payment_terms)
    + 450 * coalesce(v.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = v.company_id AND c.case_id = v.case_id AND c.invoice_id = v.id)))) / 30000 AS piece
                       FROM invoices v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s WHERE v.company_id = $1::uuid AND v.case_id = $2::uuid AND ($5::text IS NULL OR s.status = $5::text)
  AND ($6::timestamptz IS NULL OR v.date_due >= $6::timestamptz)
  AND ($7::timestamptz IS NULL OR v.date_due < $7::timestamptz) WINDOW before AS (ORDER BY v.date_created DESC, v.created_at DESC, v.id DESC ROWS UNBOUNDED PRECEDING)
                      ORDER BY n LIMIT $8::int OFFSET $9::int) r
              GROUP BY r.piece ORDER BY r.piece OFFSET 0) p
      CROSS JOIN LATERAL (
        SELECT string_agg(('{"id":"' || (v.id) || '","ref":null,"notes":null,"terms":' || to_json(v.terms)::text || ',"date_due":"' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","date_sent":' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ',"date_paid":' || coalesce('"' || (s.date_paid) || '"', 'null') || ',"payment_terms":' || to_json(v.payment_terms)::text || ',"subtotal":' || (v.sub_total)::text || ',"total":' || (v.total)::text || ',"invoice_number":' || to_json(v.invoice_number)::text || ',"recipients_name":' || to_json(v.recipients_name)::text || ',"vat_amount":' || (v.vat_amount)::text || ',"customer_case_id":"' || (v.case_id) || '","date_created":"' || (($3::text::text || (floor(extract(epoch FROM v.date_created)) + 140000000000)::text)) || '","status":"' || (s.status) || '","mail_sent":' || (v.date_sent IS NOT NULL)::text || ',"payable_online":' || (false)::text || ',"formatted_recurring_interval":null,"items":' || i.items || '}'), ',' ORDER BY v.date_created DESC, v.created_at DESC, v.id DESC) AS elements FROM unnest(p.records) v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s CROSS JOIN LATERAL (
SELECT ('[' || coalesce(string_agg(('{"id":"' || (t.id) || '","description":' || to_json(t.description)::text || ',"amount":' || (t.amount)::text || ',"quantity":' || (t.quantity)::text || ',"rate":' || (t.rate)::text || ',"subtotal":' || (t.subtotal)::text || ',"vat_amount":' || (t.vat_amount)::text || ',"status":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END) || '"', 'null') || ',"paid_at":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END) || '"', 'null') || ',"case_invoice_id":"' || (t.invoice_id) || '","customer_case_id":"' || (t.case_id) || '","has_vat":' || (t.vat_amount <> 0)::text || '}'), ',' ORDER BY t.position), '') || ']') AS items FROM invoice_items t
 WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND ($4::boolean OR t.cancelled_at IS NULL)) i) e
      ORDER BY p.piece;

-- invoices.list_pieces (reads; pool: short)
SELECT e.elements
       FROM (SELECT r.piece, array_agg(r.record) AS records
               FROM (SELECT v AS record, row_number() OVER before AS n,
                            (sum((600 + octet_length(v.recipients_name) + octet_length(v.terms) + octet_length(v.payment_terms)
    + 450 * coalesce(v.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = v.company_id AND c.case_id = v.case_id AND c.invoice_id = v.id)))) OVER before - (600 + octet_length(v.recipients_name) + octet_length(v.terms) + octet_length(v.payment_terms)
    + 450 * coalesce(v.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = v.company_id AND c.case_id = v.case_id AND c.invoice_id = v.id)))) / 30000 AS piece
                       FROM invoices v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s WHERE v.company_id = $1::uuid AND v.case_id = $2::uuid AND ($5::text IS NULL OR s.status = $5::text)
  AND ($6::timestamptz IS NULL OR v.date_due >= $6::timestamptz)
  AND ($7::timestamptz IS NULL OR v.date_due < $7::timestamptz) WINDOW before AS (ORDER BY v.date_created DESC, v.created_at DESC, v.id DESC ROWS UNBOUNDED PRECEDING)
                      ORDER BY n ) r
              GROUP BY r.piece ORDER BY r.piece OFFSET 0) p
      CROSS JOIN LATERAL (
        SELECT string_agg(('{"id":"' || (v.id) || '","ref":null,"notes":null,"terms":' || to_json(v.terms)::text || ',"date_due":"' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","date_sent":' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ',"date_paid":' || coalesce('"' || (s.date_paid) || '"', 'null') || ',"payment_terms":' || to_json(v.payment_terms)::text || ',"subtotal":' || (v.sub_total)::text || ',"total":' || (v.total)::text || ',"invoice_number":' || to_json(v.invoice_number)::text || ',"recipients_name":' || to_json(v.recipients_name)::text || ',"vat_amount":' || (v.vat_amount)::text || ',"customer_case_id":"' || (v.case_id) || '","date_created":"' || (($3::text::text || (floor(extract(epoch FROM v.date_created)) + 140000000000)::text)) || '","status":"' || (s.status) || '","mail_sent":' || (v.date_sent IS NOT NULL)::text || ',"payable_online":' || (false)::text || ',"formatted_recurring_interval":null,"items":' || i.items || '}'), ',' ORDER BY v.date_created DESC, v.created_at DESC, v.id DESC) AS elements FROM unnest(p.records) v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s CROSS JOIN LATERAL (
SELECT ('[' || coalesce(string_agg(('{"id":"' || (t.id) || '","description":' || to_json(t.description)::text || ',"amount":' || (t.amount)::text || ',"quantity":' || (t.quantity)::text || ',"rate":' || (t.rate)::text || ',"subtotal":' || (t.subtotal)::text || ',"vat_amount":' || (t.vat_amount)::text || ',"status":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END) || '"', 'null') || ',"paid_at":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END) || '"', 'null') || ',"case_invoice_id":"' || (t.invoice_id) || '","customer_case_id":"' || (t.case_id) || '","has_vat":' || (t.vat_amount <> 0)::text || '}'), ',' ORDER BY t.position), '') || ']') AS items FROM invoice_items t
 WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND ($4::boolean OR t.cancelled_at IS NULL)) i) e
      ORDER BY p.piece;

-- invoices.lock_by_external_id (writes; pool: short)
SELECT 1 FROM invoices v WHERE v.company_id = $1::uuid AND v.external_id = $2::text
AND true FOR NO KEY UPDATE;

-- invoices.lock_row (writes; pool: short)
SELECT 1 FROM invoices WHERE company_id = $1::uuid AND case_id = $2::uuid AND id = $3::uuid
   FOR NO KEY UPDATE;

-- invoices.of_company_by_date_created_asc (reads; pool: search)
  WITH scanned AS MATERIALIZED (
    SELECT s.* FROM (
    (SELECT v.*, v.date_created AS sort_key FROM invoices v
       WHERE v.company_id = $1::uuid AND true AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END = ($9::text[])[1]
         AND (v.date_created, v.id) > ($6::timestamptz, $4::uuid)
         AND v.date_created < $7::timestamptz
       ORDER BY v.date_created asc, v.id asc LIMIT $3::int) UNION ALL
    (SELECT v.*, v.date_created AS sort_key FROM invoices v
       WHERE v.company_id = $1::uuid AND true AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END = ($9::text[])[2]
         AND (v.date_created, v.id) > ($6::timestamptz, $4::uuid)
         AND v.date_created < $7::timestamptz
       ORDER BY v.date_created asc, v.id asc LIMIT $3::int) UNION ALL
    (SELECT v.*, v.date_created AS sort_key FROM invoices v
       WHERE v.company_id = $1::uuid AND true AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END = ($9::text[])[3]
         AND (v.date_created, v.id) > ($6::timestamptz, $4::uuid)
         AND v.date_created < $7::timestamptz
       ORDER BY v.date_created asc, v.id asc LIMIT $3::int) UNION ALL
    (SELECT v.*, v.date_created AS sort_key FROM invoices v
       WHERE v.company_id = $1::uuid AND true AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END = ($9::text[])[4]
         AND (v.date_created, v.id) > ($6::timestamptz, $4::uuid)
         AND v.date_created < $7::timestamptz
       ORDER BY v.date_created asc, v.id asc LIMIT $3::int)) s ORDER BY s.sort_key asc, s.id asc LIMIT $3::int
  ), found AS MATERIALIZED (
    SELECT v.*, row_number() OVER before AS n, sum(600 + CASE WHEN $15::boolean THEN 450 * coalesce(v.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = v.company_id AND c.case_id = v.case_id AND c.invoice_id = v.id)) ELSE 0 END) OVER before AS bytes
      FROM (SELECT DISTINCT ON (v.sort_key, v.id) v.* FROM scanned v WHERE ($12::text IS NULL OR v.external_id = $12::text) AND (NOT $13::boolean OR v.total > v.paid) AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END = ANY ($9::text[]) AND v.date_due >= $10::timestamptz AND v.date_due < $11::timestamptz ORDER BY v.sort_key asc, v.id asc LIMIT $2::int + 1) v
    WINDOW before AS (ORDER BY v.sort_key asc, v.id asc ROWS UNBOUNDED PRECEDING)
  ), shown AS MATERIALIZED (
    SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
  )
  SELECT (SELECT ('[' || coalesce(string_agg(('{"id":"' || (v.id) || '","ref":null,"notes":null,"terms":' || to_json(v.terms)::text || ',"date_due":"' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","date_sent":' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ',"date_paid":' || coalesce('"' || (s.date_paid) || '"', 'null') || ',"payment_terms":' || to_json(v.payment_terms)::text || ',"subtotal":' || (v.sub_total)::text || ',"total":' || (v.total)::text || ',"invoice_number":' || to_json(v.invoice_number)::text || ',"recipients_name":' || to_json(v.recipients_name)::text || ',"vat_amount":' || (v.vat_amount)::text || ',"customer_case_id":"' || (v.case_id) || '","date_created":"' || (($8::text::text || (floor(extract(epoch FROM v.date_created)) + 140000000000)::text)) || '","status":"' || (s.status) || '","mail_sent":' || (v.date_sent IS NOT NULL)::text || ',"payable_online":' || (false)::text || ',"formatted_recurring_interval":null,"items":' || i.items || ',"sender_id":"' || (v.sender_id) || '","vat":' || (v.vat)::text || ',"date_created_utc":"' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","paid":' || (v.paid)::text || ',"outstanding":' || (CASE WHEN v.cancelled_at IS NULL THEN greatest(v.total - v.paid, 0.00) ELSE 0.00 END)::text || ',"overdue":' || ((CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END IN ('Not Paid', 'Part Paid') AND v.total > v.paid AND v.date_due < $14::timestamptz))::text || ',"external_id":' || coalesce(to_json(v.external_id)::text, 'null') || ',"created_at":"' || (to_char(v.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","updated_at":"' || (to_char(v.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","case":{"id":"' || (v.case_id) || '","reference":' || coalesce(to_json((SELECT c.reference FROM cases c
         WHERE $5::boolean AND c.company_id = v.company_id AND c.id = v.case_id))::text, 'null') || '}}'), ',' ORDER BY v.n), '') || ']') FROM shown v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s CROSS JOIN LATERAL (
SELECT ('[' || coalesce(string_agg(('{"id":"' || (t.id) || '","description":' || to_json(t.description)::text || ',"amount":' || (t.amount)::text || ',"quantity":' || (t.quantity)::text || ',"rate":' || (t.rate)::text || ',"subtotal":' || (t.subtotal)::text || ',"vat_amount":' || (t.vat_amount)::text || ',"status":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END) || '"', 'null') || ',"paid_at":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END) || '"', 'null') || ',"case_invoice_id":"' || (t.invoice_id) || '","customer_case_id":"' || (t.case_id) || '","has_vat":' || (t.vat_amount <> 0)::text || '}'), ',' ORDER BY t.position), '') || ']') AS items FROM invoice_items t
 WHERE $15::boolean AND t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND ($16::boolean OR t.cancelled_at IS NULL)) i) AS json,
         to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
    FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
      (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key desc, e.id desc LIMIT 1)
      UNION ALL
      (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key desc, e.id desc LIMIT 1)
    ) next ON true;

-- invoices.of_company_by_date_created_desc (reads; pool: search)
  WITH scanned AS MATERIALIZED (
    SELECT s.* FROM (
    (SELECT v.*, v.date_created AS sort_key FROM invoices v
       WHERE v.company_id = $1::uuid AND true AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END = ($9::text[])[1]
         AND (v.date_created, v.id) < ($6::timestamptz, $4::uuid)
         AND v.date_created >= $7::timestamptz
       ORDER BY v.date_created desc, v.id desc LIMIT $3::int) UNION ALL
    (SELECT v.*, v.date_created AS sort_key FROM invoices v
       WHERE v.company_id = $1::uuid AND true AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END = ($9::text[])[2]
         AND (v.date_created, v.id) < ($6::timestamptz, $4::uuid)
         AND v.date_created >= $7::timestamptz
       ORDER BY v.date_created desc, v.id desc LIMIT $3::int) UNION ALL
    (SELECT v.*, v.date_created AS sort_key FROM invoices v
       WHERE v.company_id = $1::uuid AND true AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END = ($9::text[])[3]
         AND (v.date_created, v.id) < ($6::timestamptz, $4::uuid)
         AND v.date_created >= $7::timestamptz
       ORDER BY v.date_created desc, v.id desc LIMIT $3::int) UNION ALL
    (SELECT v.*, v.date_created AS sort_key FROM invoices v
       WHERE v.company_id = $1::uuid AND true AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END = ($9::text[])[4]
         AND (v.date_created, v.id) < ($6::timestamptz, $4::uuid)
         AND v.date_created >= $7::timestamptz
       ORDER BY v.date_created desc, v.id desc LIMIT $3::int)) s ORDER BY s.sort_key desc, s.id desc LIMIT $3::int
  ), found AS MATERIALIZED (
    SELECT v.*, row_number() OVER before AS n, sum(600 + CASE WHEN $15::boolean THEN 450 * coalesce(v.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = v.company_id AND c.case_id = v.case_id AND c.invoice_id = v.id)) ELSE 0 END) OVER before AS bytes
      FROM (SELECT DISTINCT ON (v.sort_key, v.id) v.* FROM scanned v WHERE ($12::text IS NULL OR v.external_id = $12::text) AND (NOT $13::boolean OR v.total > v.paid) AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END = ANY ($9::text[]) AND v.date_due >= $10::timestamptz AND v.date_due < $11::timestamptz ORDER BY v.sort_key desc, v.id desc LIMIT $2::int + 1) v
    WINDOW before AS (ORDER BY v.sort_key desc, v.id desc ROWS UNBOUNDED PRECEDING)
  ), shown AS MATERIALIZED (
    SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
  )
  SELECT (SELECT ('[' || coalesce(string_agg(('{"id":"' || (v.id) || '","ref":null,"notes":null,"terms":' || to_json(v.terms)::text || ',"date_due":"' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","date_sent":' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ',"date_paid":' || coalesce('"' || (s.date_paid) || '"', 'null') || ',"payment_terms":' || to_json(v.payment_terms)::text || ',"subtotal":' || (v.sub_total)::text || ',"total":' || (v.total)::text || ',"invoice_number":' || to_json(v.invoice_number)::text || ',"recipients_name":' || to_json(v.recipients_name)::text || ',"vat_amount":' || (v.vat_amount)::text || ',"customer_case_id":"' || (v.case_id) || '","date_created":"' || (($8::text::text || (floor(extract(epoch FROM v.date_created)) + 140000000000)::text)) || '","status":"' || (s.status) || '","mail_sent":' || (v.date_sent IS NOT NULL)::text || ',"payable_online":' || (false)::text || ',"formatted_recurring_interval":null,"items":' || i.items || ',"sender_id":"' || (v.sender_id) || '","vat":' || (v.vat)::text || ',"date_created_utc":"' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","paid":' || (v.paid)::text || ',"outstanding":' || (CASE WHEN v.cancelled_at IS NULL THEN greatest(v.total - v.paid, 0.00) ELSE 0.00 END)::text || ',"overdue":' || ((CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END IN ('Not Paid', 'Part Paid') AND v.total > v.paid AND v.date_due < $14::timestamptz))::text || ',"external_id":' || coalesce(to_json(v.external_id)::text, 'null') || ',"created_at":"' || (to_char(v.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","updated_at":"' || (to_char(v.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","case":{"id":"' || (v.case_id) || '","reference":' || coalesce(to_json((SELECT c.reference FROM cases c
         WHERE $5::boolean AND c.company_id = v.company_id AND c.id = v.case_id))::text, 'null') || '}}'), ',' ORDER BY v.n), '') || ']') FROM shown v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s CROSS JOIN LATERAL (
SELECT ('[' || coalesce(string_agg(('{"id":"' || (t.id) || '","description":' || to_json(t.description)::text || ',"amount":' || (t.amount)::text || ',"quantity":' || (t.quantity)::text || ',"rate":' || (t.rate)::text || ',"subtotal":' || (t.subtotal)::text || ',"vat_amount":' || (t.vat_amount)::text || ',"status":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END) || '"', 'null') || ',"paid_at":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END) || '"', 'null') || ',"case_invoice_id":"' || (t.invoice_id) || '","customer_case_id":"' || (t.case_id) || '","has_vat":' || (t.vat_amount <> 0)::text || '}'), ',' ORDER BY t.position), '') || ']') AS items FROM invoice_items t
 WHERE $15::boolean AND t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND ($16::boolean OR t.cancelled_at IS NULL)) i) AS json,
         to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
    FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
      (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key asc, e.id asc LIMIT 1)
      UNION ALL
      (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key asc, e.id asc LIMIT 1)
    ) next ON true;

-- invoices.of_company_by_date_due_asc (reads; pool: search)
  WITH scanned AS MATERIALIZED (
    SELECT s.* FROM (
    (SELECT v.*, v.date_due AS sort_key FROM invoices v
       WHERE v.company_id = $1::uuid AND true AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END = ($9::text[])[1]
         AND (v.date_due, v.id) > ($6::timestamptz, $4::uuid)
         AND v.date_due < $7::timestamptz
       ORDER BY v.date_due asc, v.id asc LIMIT $3::int) UNION ALL
    (SELECT v.*, v.date_due AS sort_key FROM invoices v
       WHERE v.company_id = $1::uuid AND true AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END = ($9::text[])[2]
         AND (v.date_due, v.id) > ($6::timestamptz, $4::uuid)
         AND v.date_due < $7::timestamptz
       ORDER BY v.date_due asc, v.id asc LIMIT $3::int) UNION ALL
    (SELECT v.*, v.date_due AS sort_key FROM invoices v
       WHERE v.company_id = $1::uuid AND true AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END = ($9::text[])[3]
         AND (v.date_due, v.id) > ($6::timestamptz, $4::uuid)
         AND v.date_due < $7::timestamptz
       ORDER BY v.date_due asc, v.id asc LIMIT $3::int) UNION ALL
    (SELECT v.*, v.date_due AS sort_key FROM invoices v
       WHERE v.company_id = $1::uuid AND true AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END = ($9::text[])[4]
         AND (v.date_due, v.id) > ($6::timestamptz, $4::uuid)
         AND v.date_due < $7::timestamptz
       ORDER BY v.date_due asc, v.id asc LIMIT $3::int)) s ORDER BY s.sort_key asc, s.id asc LIMIT $3::int
  ), found AS MATERIALIZED (
    SELECT v.*, row_number() OVER before AS n, sum(600 + CASE WHEN $15::boolean THEN 450 * coalesce(v.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = v.company_id AND c.case_id = v.case_id AND c.invoice_id = v.id)) ELSE 0 END) OVER before AS bytes
      FROM (SELECT DISTINCT ON (v.sort_key, v.id) v.* FROM scanned v WHERE ($12::text IS NULL OR v.external_id = $12::text) AND (NOT $13::boolean OR v.total > v.paid) AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END = ANY ($9::text[]) AND v.date_due >= $10::timestamptz AND v.date_due < $11::timestamptz ORDER BY v.sort_key asc, v.id asc LIMIT $2::int + 1) v
    WINDOW before AS (ORDER BY v.sort_key asc, v.id asc ROWS UNBOUNDED PRECEDING)
  ), shown AS MATERIALIZED (
    SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
  )
  SELECT (SELECT ('[' || coalesce(string_agg(('{"id":"' || (v.id) || '","ref":null,"notes":null,"terms":' || to_json(v.terms)::text || ',"date_due":"' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","date_sent":' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ',"date_paid":' || coalesce('"' || (s.date_paid) || '"', 'null') || ',"payment_terms":' || to_json(v.payment_terms)::text || ',"subtotal":' || (v.sub_total)::text || ',"total":' || (v.total)::text || ',"invoice_number":' || to_json(v.invoice_number)::text || ',"recipients_name":' || to_json(v.recipients_name)::text || ',"vat_amount":' || (v.vat_amount)::text || ',"customer_case_id":"' || (v.case_id) || '","date_created":"' || (($8::text::text || (floor(extract(epoch FROM v.date_created)) + 140000000000)::text)) || '","status":"' || (s.status) || '","mail_sent":' || (v.date_sent IS NOT NULL)::text || ',"payable_online":' || (false)::text || ',"formatted_recurring_interval":null,"items":' || i.items || ',"sender_id":"' || (v.sender_id) || '","vat":' || (v.vat)::text || ',"date_created_utc":"' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","paid":' || (v.paid)::text || ',"outstanding":' || (CASE WHEN v.cancelled_at IS NULL THEN greatest(v.total - v.paid, 0.00) ELSE 0.00 END)::text || ',"overdue":' || ((CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END IN ('Not Paid', 'Part Paid') AND v.total > v.paid AND v.date_due < $14::timestamptz))::text || ',"external_id":' || coalesce(to_json(v.external_id)::text, 'null') || ',"created_at":"' || (to_char(v.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","updated_at":"' || (to_char(v.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","case":{"id":"' || (v.case_id) || '","reference":' || coalesce(to_json((SELECT c.reference FROM cases c
         WHERE $5::boolean AND c.company_id = v.company_id AND c.id = v.case_id))::text, 'null') || '}}'), ',' ORDER BY v.n), '') || ']') FROM shown v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s CROSS JOIN LATERAL (
SELECT ('[' || coalesce(string_agg(('{"id":"' || (t.id) || '","description":' || to_json(t.description)::text || ',"amount":' || (t.amount)::text || ',"quantity":' || (t.quantity)::text || ',"rate":' || (t.rate)::text || ',"subtotal":' || (t.subtotal)::text || ',"vat_amount":' || (t.vat_amount)::text || ',"status":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END) || '"', 'null') || ',"paid_at":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END) || '"', 'null') || ',"case_invoice_id":"' || (t.invoice_id) || '","customer_case_id":"' || (t.case_id) || '","has_vat":' || (t.vat_amount <> 0)::text || '}'), ',' ORDER BY t.position), '') || ']') AS items FROM invoice_items t
 WHERE $15::boolean AND t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND ($16::boolean OR t.cancelled_at IS NULL)) i) AS json,
         to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
    FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
      (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key desc, e.id desc LIMIT 1)
      UNION ALL
      (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key desc, e.id desc LIMIT 1)
    ) next ON true;

-- invoices.of_company_by_date_due_desc (reads; pool: search)
  WITH scanned AS MATERIALIZED (
    SELECT s.* FROM (
    (SELECT v.*, v.date_due AS sort_key FROM invoices v
       WHERE v.company_id = $1::uuid AND true AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END = ($9::text[])[1]
         AND (v.date_due, v.id) < ($6::timestamptz, $4::uuid)
         AND v.date_due >= $7::timestamptz
       ORDER BY v.date_due desc, v.id desc LIMIT $3::int) UNION ALL
    (SELECT v.*, v.date_due AS sort_key FROM invoices v
       WHERE v.company_id = $1::uuid AND true AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END = ($9::text[])[2]
         AND (v.date_due, v.id) < ($6::timestamptz, $4::uuid)
         AND v.date_due >= $7::timestamptz
       ORDER BY v.date_due desc, v.id desc LIMIT $3::int) UNION ALL
    (SELECT v.*, v.date_due AS sort_key FROM invoices v
       WHERE v.company_id = $1::uuid AND true AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END = ($9::text[])[3]
         AND (v.date_due, v.id) < ($6::timestamptz, $4::uuid)
         AND v.date_due >= $7::timestamptz
       ORDER BY v.date_due desc, v.id desc LIMIT $3::int) UNION ALL
    (SELECT v.*, v.date_due AS sort_key FROM invoices v
       WHERE v.company_id = $1::uuid AND true AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END = ($9::text[])[4]
         AND (v.date_due, v.id) < ($6::timestamptz, $4::uuid)
         AND v.date_due >= $7::timestamptz
       ORDER BY v.date_due desc, v.id desc LIMIT $3::int)) s ORDER BY s.sort_key desc, s.id desc LIMIT $3::int
  ), found AS MATERIALIZED (
    SELECT v.*, row_number() OVER before AS n, sum(600 + CASE WHEN $15::boolean THEN 450 * coalesce(v.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = v.company_id AND c.case_id = v.case_id AND c.invoice_id = v.id)) ELSE 0 END) OVER before AS bytes
      FROM (SELECT DISTINCT ON (v.sort_key, v.id) v.* FROM scanned v WHERE ($12::text IS NULL OR v.external_id = $12::text) AND (NOT $13::boolean OR v.total > v.paid) AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END = ANY ($9::text[]) AND v.date_due >= $10::timestamptz AND v.date_due < $11::timestamptz ORDER BY v.sort_key desc, v.id desc LIMIT $2::int + 1) v
    WINDOW before AS (ORDER BY v.sort_key desc, v.id desc ROWS UNBOUNDED PRECEDING)
  ), shown AS MATERIALIZED (
    SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
  )
  SELECT (SELECT ('[' || coalesce(string_agg(('{"id":"' || (v.id) || '","ref":null,"notes":null,"terms":' || to_json(v.terms)::text || ',"date_due":"' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","date_sent":' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ',"date_paid":' || coalesce('"' || (s.date_paid) || '"', 'null') || ',"payment_terms":' || to_json(v.payment_terms)::text || ',"subtotal":' || (v.sub_total)::text || ',"total":' || (v.total)::text || ',"invoice_number":' || to_json(v.invoice_number)::text || ',"recipients_name":' || to_json(v.recipients_name)::text || ',"vat_amount":' || (v.vat_amount)::text || ',"customer_case_id":"' || (v.case_id) || '","date_created":"' || (($8::text::text || (floor(extract(epoch FROM v.date_created)) + 140000000000)::text)) || '","status":"' || (s.status) || '","mail_sent":' || (v.date_sent IS NOT NULL)::text || ',"payable_online":' || (false)::text || ',"formatted_recurring_interval":null,"items":' || i.items || ',"sender_id":"' || (v.sender_id) || '","vat":' || (v.vat)::text || ',"date_created_utc":"' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","paid":' || (v.paid)::text || ',"outstanding":' || (CASE WHEN v.cancelled_at IS NULL THEN greatest(v.total - v.paid, 0.00) ELSE 0.00 END)::text || ',"overdue":' || ((CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END IN ('Not Paid', 'Part Paid') AND v.total > v.paid AND v.date_due < $14::timestamptz))::text || ',"external_id":' || coalesce(to_json(v.external_id)::text, 'null') || ',"created_at":"' || (to_char(v.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","updated_at":"' || (to_char(v.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","case":{"id":"' || (v.case_id) || '","reference":' || coalesce(to_json((SELECT c.reference FROM cases c
         WHERE $5::boolean AND c.company_id = v.company_id AND c.id = v.case_id))::text, 'null') || '}}'), ',' ORDER BY v.n), '') || ']') FROM shown v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s CROSS JOIN LATERAL (
SELECT ('[' || coalesce(string_agg(('{"id":"' || (t.id) || '","description":' || to_json(t.description)::text || ',"amount":' || (t.amount)::text || ',"quantity":' || (t.quantity)::text || ',"rate":' || (t.rate)::text || ',"subtotal":' || (t.subtotal)::text || ',"vat_amount":' || (t.vat_amount)::text || ',"status":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END) || '"', 'null') || ',"paid_at":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END) || '"', 'null') || ',"case_invoice_id":"' || (t.invoice_id) || '","customer_case_id":"' || (t.case_id) || '","has_vat":' || (t.vat_amount <> 0)::text || '}'), ',' ORDER BY t.position), '') || ']') AS items FROM invoice_items t
 WHERE $15::boolean AND t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND ($16::boolean OR t.cancelled_at IS NULL)) i) AS json,
         to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
    FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
      (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key asc, e.id asc LIMIT 1)
      UNION ALL
      (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key asc, e.id asc LIMIT 1)
    ) next ON true;

-- invoices.of_company_by_external_id_asc (reads; pool: search)
  WITH scanned AS MATERIALIZED (
    SELECT s.* FROM (
    (SELECT v.*, v.date_due AS sort_key FROM invoices v
       WHERE v.company_id = $1::uuid AND true AND v.external_id = $12::text
         AND (v.date_due, v.id) > ($6::timestamptz, $4::uuid)
         AND v.date_due < $7::timestamptz
       ORDER BY v.date_due asc, v.id asc LIMIT $3::int)) s ORDER BY s.sort_key asc, s.id asc LIMIT $3::int
  ), found AS MATERIALIZED (
    SELECT v.*, row_number() OVER before AS n, sum(600 + CASE WHEN $15::boolean THEN 450 * coalesce(v.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = v.company_id AND c.case_id = v.case_id AND c.invoice_id = v.id)) ELSE 0 END) OVER before AS bytes
      FROM (SELECT v.* FROM scanned v WHERE ($12::text IS NULL OR v.external_id = $12::text) AND (NOT $13::boolean OR v.total > v.paid) AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END = ANY ($9::text[]) AND v.date_due >= $10::timestamptz AND v.date_due < $11::timestamptz ORDER BY v.sort_key asc, v.id asc LIMIT $2::int + 1) v
    WINDOW before AS (ORDER BY v.sort_key asc, v.id asc ROWS UNBOUNDED PRECEDING)
  ), shown AS MATERIALIZED (
    SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
  )
  SELECT (SELECT ('[' || coalesce(string_agg(('{"id":"' || (v.id) || '","ref":null,"notes":null,"terms":' || to_json(v.terms)::text || ',"date_due":"' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","date_sent":' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ',"date_paid":' || coalesce('"' || (s.date_paid) || '"', 'null') || ',"payment_terms":' || to_json(v.payment_terms)::text || ',"subtotal":' || (v.sub_total)::text || ',"total":' || (v.total)::text || ',"invoice_number":' || to_json(v.invoice_number)::text || ',"recipients_name":' || to_json(v.recipients_name)::text || ',"vat_amount":' || (v.vat_amount)::text || ',"customer_case_id":"' || (v.case_id) || '","date_created":"' || (($8::text::text || (floor(extract(epoch FROM v.date_created)) + 140000000000)::text)) || '","status":"' || (s.status) || '","mail_sent":' || (v.date_sent IS NOT NULL)::text || ',"payable_online":' || (false)::text || ',"formatted_recurring_interval":null,"items":' || i.items || ',"sender_id":"' || (v.sender_id) || '","vat":' || (v.vat)::text || ',"date_created_utc":"' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","paid":' || (v.paid)::text || ',"outstanding":' || (CASE WHEN v.cancelled_at IS NULL THEN greatest(v.total - v.paid, 0.00) ELSE 0.00 END)::text || ',"overdue":' || ((CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END IN ('Not Paid', 'Part Paid') AND v.total > v.paid AND v.date_due < $14::timestamptz))::text || ',"external_id":' || coalesce(to_json(v.external_id)::text, 'null') || ',"created_at":"' || (to_char(v.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","updated_at":"' || (to_char(v.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","case":{"id":"' || (v.case_id) || '","reference":' || coalesce(to_json((SELECT c.reference FROM cases c
         WHERE $5::boolean AND c.company_id = v.company_id AND c.id = v.case_id))::text, 'null') || '}}'), ',' ORDER BY v.n), '') || ']') FROM shown v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s CROSS JOIN LATERAL (
SELECT ('[' || coalesce(string_agg(('{"id":"' || (t.id) || '","description":' || to_json(t.description)::text || ',"amount":' || (t.amount)::text || ',"quantity":' || (t.quantity)::text || ',"rate":' || (t.rate)::text || ',"subtotal":' || (t.subtotal)::text || ',"vat_amount":' || (t.vat_amount)::text || ',"status":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END) || '"', 'null') || ',"paid_at":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END) || '"', 'null') || ',"case_invoice_id":"' || (t.invoice_id) || '","customer_case_id":"' || (t.case_id) || '","has_vat":' || (t.vat_amount <> 0)::text || '}'), ',' ORDER BY t.position), '') || ']') AS items FROM invoice_items t
 WHERE $15::boolean AND t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND ($16::boolean OR t.cancelled_at IS NULL)) i) AS json,
         to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
    FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
      (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key desc, e.id desc LIMIT 1)
      UNION ALL
      (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key desc, e.id desc LIMIT 1)
    ) next ON true;

-- invoices.of_company_by_external_id_desc (reads; pool: search)
  WITH scanned AS MATERIALIZED (
    SELECT s.* FROM (
    (SELECT v.*, v.date_due AS sort_key FROM invoices v
       WHERE v.company_id = $1::uuid AND true AND v.external_id = $12::text
         AND (v.date_due, v.id) < ($6::timestamptz, $4::uuid)
         AND v.date_due >= $7::timestamptz
       ORDER BY v.date_due desc, v.id desc LIMIT $3::int)) s ORDER BY s.sort_key desc, s.id desc LIMIT $3::int
  ), found AS MATERIALIZED (
    SELECT v.*, row_number() OVER before AS n, sum(600 + CASE WHEN $15::boolean THEN 450 * coalesce(v.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = v.company_id AND c.case_id = v.case_id AND c.invoice_id = v.id)) ELSE 0 END) OVER before AS bytes
      FROM (SELECT v.* FROM scanned v WHERE ($12::text IS NULL OR v.external_id = $12::text) AND (NOT $13::boolean OR v.total > v.paid) AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END = ANY ($9::text[]) AND v.date_due >= $10::timestamptz AND v.date_due < $11::timestamptz ORDER BY v.sort_key desc, v.id desc LIMIT $2::int + 1) v
    WINDOW before AS (ORDER BY v.sort_key desc, v.id desc ROWS UNBOUNDED PRECEDING)
  ), shown AS MATERIALIZED (
    SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
  )
  SELECT (SELECT ('[' || coalesce(string_agg(('{"id":"' || (v.id) || '","ref":null,"notes":null,"terms":' || to_json(v.terms)::text || ',"date_due":"' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","date_sent":' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ',"date_paid":' || coalesce('"' || (s.date_paid) || '"', 'null') || ',"payment_terms":' || to_json(v.payment_terms)::text || ',"subtotal":' || (v.sub_total)::text || ',"total":' || (v.total)::text || ',"invoice_number":' || to_json(v.invoice_number)::text || ',"recipients_name":' || to_json(v.recipients_name)::text || ',"vat_amount":' || (v.vat_amount)::text || ',"customer_case_id":"' || (v.case_id) || '","date_created":"' || (($8::text::text || (floor(extract(epoch FROM v.date_created)) + 140000000000)::text)) || '","status":"' || (s.status) || '","mail_sent":' || (v.date_sent IS NOT NULL)::text || ',"payable_online":' || (false)::text || ',"formatted_recurring_interval":null,"items":' || i.items || ',"sender_id":"' || (v.sender_id) || '","vat":' || (v.vat)::text || ',"date_created_utc":"' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","paid":' || (v.paid)::text || ',"outstanding":' || (CASE WHEN v.cancelled_at IS NULL THEN greatest(v.total - v.paid, 0.00) ELSE 0.00 END)::text || ',"overdue":' || ((CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END IN ('Not Paid', 'Part Paid') AND v.total > v.paid AND v.date_due < $14::timestamptz))::text || ',"external_id":' || coalesce(to_json(v.external_id)::text, 'null') || ',"created_at":"' || (to_char(v.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","updated_at":"' || (to_char(v.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","case":{"id":"' || (v.case_id) || '","reference":' || coalesce(to_json((SELECT c.reference FROM cases c
         WHERE $5::boolean AND c.company_id = v.company_id AND c.id = v.case_id))::text, 'null') || '}}'), ',' ORDER BY v.n), '') || ']') FROM shown v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s CROSS JOIN LATERAL (
SELECT ('[' || coalesce(string_agg(('{"id":"' || (t.id) || '","description":' || to_json(t.description)::text || ',"amount":' || (t.amount)::text || ',"quantity":' || (t.quantity)::text || ',"rate":' || (t.rate)::text || ',"subtotal":' || (t.subtotal)::text || ',"vat_amount":' || (t.vat_amount)::text || ',"status":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END) || '"', 'null') || ',"paid_at":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END) || '"', 'null') || ',"case_invoice_id":"' || (t.invoice_id) || '","customer_case_id":"' || (t.case_id) || '","has_vat":' || (t.vat_amount <> 0)::text || '}'), ',' ORDER BY t.position), '') || ']') AS items FROM invoice_items t
 WHERE $15::boolean AND t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND ($16::boolean OR t.cancelled_at IS NULL)) i) AS json,
         to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
    FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
      (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key asc, e.id asc LIMIT 1)
      UNION ALL
      (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key asc, e.id asc LIMIT 1)
    ) next ON true;

-- invoices.read (reads; pool: short)
  SELECT v.version::text, ('{"id":"' || (v.id) || '","ref":null,"notes":null,"terms":' || to_json(v.terms)::text || ',"date_due":"' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","date_sent":' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ',"date_paid":' || coalesce('"' || (s.date_paid) || '"', 'null') || ',"payment_terms":' || to_json(v.payment_terms)::text || ',"subtotal":' || (v.sub_total)::text || ',"total":' || (v.total)::text || ',"invoice_number":' || to_json(v.invoice_number)::text || ',"recipients_name":' || to_json(v.recipients_name)::text || ',"vat_amount":' || (v.vat_amount)::text || ',"customer_case_id":"' || (v.case_id) || '","date_created":"' || (($4::text::text || (floor(extract(epoch FROM v.date_created)) + 140000000000)::text)) || '","status":"' || (s.status) || '","mail_sent":' || (v.date_sent IS NOT NULL)::text || ',"payable_online":' || (false)::text || ',"formatted_recurring_interval":null,"items":' || i.items || ',"sender_id":"' || (v.sender_id) || '","vat":' || (v.vat)::text || ',"external_id":' || coalesce(to_json(v.external_id)::text, 'null') || ',"paid":' || (v.paid)::text || ',"outstanding":' || (CASE WHEN v.cancelled_at IS NULL THEN greatest(v.total - v.paid, 0.00) ELSE 0.00 END)::text || '}')
    FROM invoices v, LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s, LATERAL (
SELECT ('[' || coalesce(string_agg(('{"id":"' || (t.id) || '","description":' || to_json(t.description)::text || ',"amount":' || (t.amount)::text || ',"quantity":' || (t.quantity)::text || ',"rate":' || (t.rate)::text || ',"subtotal":' || (t.subtotal)::text || ',"vat_amount":' || (t.vat_amount)::text || ',"status":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END) || '"', 'null') || ',"paid_at":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END) || '"', 'null') || ',"case_invoice_id":"' || (t.invoice_id) || '","customer_case_id":"' || (t.case_id) || '","has_vat":' || (t.vat_amount <> 0)::text || '}'), ',' ORDER BY t.position), '') || ']') AS items FROM invoice_items t
 WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND ($5::boolean OR t.cancelled_at IS NULL)) i
   WHERE v.company_id = $1::uuid AND v.case_id = $2::uuid AND v.id = $3::uuid;

-- invoices.reinstate (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS zone, $5::timestamptz AS now, $6::json AS origin, 1 AS nth), v AS (
      UPDATE invoices v SET cancelled_at = NULL, updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND v.cancelled_at IS NOT NULL
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) AND (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('invoice_items', CASE WHEN NOT (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN json_build_object() END, 'payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments > 50 THEN 2 * (counted.invoice_items + counted.payments) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.reinstated', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    )
  SELECT v.version::text, ('{"id":"' || (v.id) || '","ref":null,"notes":null,"terms":' || to_json(v.terms)::text || ',"date_due":"' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","date_sent":' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ',"date_paid":' || coalesce('"' || (s.date_paid) || '"', 'null') || ',"payment_terms":' || to_json(v.payment_terms)::text || ',"subtotal":' || (v.sub_total)::text || ',"total":' || (v.total)::text || ',"invoice_number":' || to_json(v.invoice_number)::text || ',"recipients_name":' || to_json(v.recipients_name)::text || ',"vat_amount":' || (v.vat_amount)::text || ',"customer_case_id":"' || (v.case_id) || '","date_created":"' || ((input.zone::text || (floor(extract(epoch FROM v.date_created)) + 140000000000)::text)) || '","status":"' || (s.status) || '","mail_sent":' || (v.date_sent IS NOT NULL)::text || ',"payable_online":' || (false)::text || ',"formatted_recurring_interval":null,"items":' || i.items || ',"sender_id":"' || (v.sender_id) || '","vat":' || (v.vat)::text || ',"external_id":' || coalesce(to_json(v.external_id)::text, 'null') || ',"paid":' || (v.paid)::text || ',"outstanding":' || (CASE WHEN v.cancelled_at IS NULL THEN greatest(v.total - v.paid, 0.00) ELSE 0.00 END)::text || '}')
   FROM v JOIN input USING (nth), LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s, LATERAL (
SELECT ('[' || coalesce(string_agg(('{"id":"' || (t.id) || '","description":' || to_json(t.description)::text || ',"amount":' || (t.amount)::text || ',"quantity":' || (t.quantity)::text || ',"rate":' || (t.rate)::text || ',"subtotal":' || (t.subtotal)::text || ',"vat_amount":' || (t.vat_amount)::text || ',"status":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END) || '"', 'null') || ',"paid_at":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END) || '"', 'null') || ',"case_invoice_id":"' || (t.invoice_id) || '","customer_case_id":"' || (t.case_id) || '","has_vat":' || (t.vat_amount <> 0)::text || '}'), ',' ORDER BY t.position), '') || ']') AS items FROM invoice_items t
 WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND (false OR t.cancelled_at IS NULL)) i;

-- invoices.reinstate_item (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::uuid AS item_id, $5::timestamptz AS now, $6::json AS origin, 1 AS nth),
v AS (
      UPDATE invoices v SET updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND v.cancelled_at IS NULL AND EXISTS (
    SELECT 1 FROM invoice_items t WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND t.id = input.item_id AND t.cancelled_at IS NOT NULL)
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) AND (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('invoice_items', CASE WHEN NOT (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN json_build_object('changed', ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id AND part.id = input.item_id)) END, 'payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments > 50 THEN 2 * (counted.invoice_items + counted.payments) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.item_reinstated', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    ), t AS (
  UPDATE invoice_items t SET cancelled_at = NULL FROM v JOIN input USING (nth)
   WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND t.id = input.item_id
  RETURNING t.*
)
  SELECT nth, v.version::text AS version, json_build_object('id', t.id, 'description', t.description, 'amount', t.amount, 'quantity', t.quantity, 'rate', t.rate, 'subtotal', t.subtotal, 'vat_amount', t.vat_amount, 'status', CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END, 'paid_at', CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END, 'case_invoice_id', t.invoice_id, 'customer_case_id', t.case_id, 'has_vat', t.vat_amount <> 0)::text AS json FROM v, t, LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s;

-- invoices.reinstate_item keyed (writes; pool: short)
  WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::uuid AS item_id, $5::timestamptz AS now, $6::json AS origin, $7::uuid AS credential_id, $8::bytea AS key_sha256, $9::bytea AS request_sha256, $10::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
      SELECT k.created_at FROM idempotency_keys k
       WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
         AND k.key_sha256 = input.key_sha256) IS NULL),
  input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::uuid AS item_id, $5::timestamptz AS now, $6::json AS origin, $7::uuid AS credential_id, $8::bytea AS key_sha256, $9::bytea AS request_sha256, $10::text AS etag_suffix, 1 AS nth FROM guard),
v AS (
      UPDATE invoices v SET updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND v.cancelled_at IS NULL AND EXISTS (
    SELECT 1 FROM invoice_items t WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND t.id = input.item_id AND t.cancelled_at IS NOT NULL)
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) AND (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('invoice_items', CASE WHEN NOT (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN json_build_object('changed', ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id AND part.id = input.item_id)) END, 'payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments > 50 THEN 2 * (counted.invoice_items + counted.payments) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.item_reinstated', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    ), t AS (
  UPDATE invoice_items t SET cancelled_at = NULL FROM v JOIN input USING (nth)
   WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND t.id = input.item_id
  RETURNING t.*
), answer AS (
    SELECT nth, v.version::text AS version, json_build_object('id', t.id, 'description', t.description, 'amount', t.amount, 'quantity', t.quantity, 'rate', t.rate, 'subtotal', t.subtotal, 'vat_amount', t.vat_amount, 'status', CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END, 'paid_at', CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END, 'case_invoice_id', t.invoice_id, 'customer_case_id', t.case_id, 'has_vat', t.vat_amount <> 0)::text AS json FROM v, t, LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s
  ), stored AS (
    INSERT INTO idempotency_keys
      (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
    SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
           '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
           answer.json, input.now
      FROM answer JOIN input USING (nth))
  SELECT nth, version, json FROM answer;

-- invoices.rejection_reasons (reads; pool: short)
SELECT ($3::uuid IS NULL OR EXISTS (
         SELECT 1 FROM invoices v
          WHERE v.company_id = $1::uuid AND v.case_id = $2::uuid
            AND v.id = $3::uuid)) AS found,
       EXISTS (
         SELECT 1 FROM invoices v
          WHERE v.company_id = $1::uuid AND v.case_id = $2::uuid
            AND v.invoice_number = $4::text AND v.id IS DISTINCT FROM $3::uuid) AS number_taken
  FROM cases c WHERE c.company_id = $1::uuid AND c.id = $2::uuid;

-- invoices.send (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS zone, $5::timestamptz AS now, $6::json AS origin, $7::timestamptz AS date_sent, 1 AS nth), v AS (
      UPDATE invoices v SET date_sent = input.date_sent, updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND v.cancelled_at IS NULL
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) AND (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('invoice_items', CASE WHEN NOT (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN json_build_object() END, 'payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments > 50 THEN 2 * (counted.invoice_items + counted.payments) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.sent', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    )
  SELECT v.version::text, ('{"id":"' || (v.id) || '","ref":null,"notes":null,"terms":' || to_json(v.terms)::text || ',"date_due":"' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","date_sent":' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ',"date_paid":' || coalesce('"' || (s.date_paid) || '"', 'null') || ',"payment_terms":' || to_json(v.payment_terms)::text || ',"subtotal":' || (v.sub_total)::text || ',"total":' || (v.total)::text || ',"invoice_number":' || to_json(v.invoice_number)::text || ',"recipients_name":' || to_json(v.recipients_name)::text || ',"vat_amount":' || (v.vat_amount)::text || ',"customer_case_id":"' || (v.case_id) || '","date_created":"' || ((input.zone::text || (floor(extract(epoch FROM v.date_created)) + 140000000000)::text)) || '","status":"' || (s.status) || '","mail_sent":' || (v.date_sent IS NOT NULL)::text || ',"payable_online":' || (false)::text || ',"formatted_recurring_interval":null,"items":' || i.items || ',"sender_id":"' || (v.sender_id) || '","vat":' || (v.vat)::text || ',"external_id":' || coalesce(to_json(v.external_id)::text, 'null') || ',"paid":' || (v.paid)::text || ',"outstanding":' || (CASE WHEN v.cancelled_at IS NULL THEN greatest(v.total - v.paid, 0.00) ELSE 0.00 END)::text || '}')
   FROM v JOIN input USING (nth), LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s, LATERAL (
SELECT ('[' || coalesce(string_agg(('{"id":"' || (t.id) || '","description":' || to_json(t.description)::text || ',"amount":' || (t.amount)::text || ',"quantity":' || (t.quantity)::text || ',"rate":' || (t.rate)::text || ',"subtotal":' || (t.subtotal)::text || ',"vat_amount":' || (t.vat_amount)::text || ',"status":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END) || '"', 'null') || ',"paid_at":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END) || '"', 'null') || ',"case_invoice_id":"' || (t.invoice_id) || '","customer_case_id":"' || (t.case_id) || '","has_vat":' || (t.vat_amount <> 0)::text || '}'), ',' ORDER BY t.position), '') || ']') AS items FROM invoice_items t
 WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND (false OR t.cancelled_at IS NULL)) i;

-- invoices.set_external_id (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS external_id, $5::timestamptz AS now, $6::json AS origin, 1 AS nth), v AS (
      UPDATE invoices v SET external_id = input.external_id, updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND true
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) AND (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('invoice_items', CASE WHEN NOT (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN json_build_object() END, 'payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments > 50 THEN 2 * (counted.invoice_items + counted.payments) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.updated', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    )
  SELECT nth, NULL AS version, json_build_object('id', v.id, 'external_id', v.external_id)::text AS json FROM v;

-- invoices.set_external_id keyed (writes; pool: short)
WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS external_id, $5::timestamptz AS now, $6::json AS origin, $7::uuid AS credential_id, $8::bytea AS key_sha256, $9::bytea AS request_sha256, $10::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
      SELECT k.created_at FROM idempotency_keys k
       WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
         AND k.key_sha256 = input.key_sha256) IS NULL),
  input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS external_id, $5::timestamptz AS now, $6::json AS origin, $7::uuid AS credential_id, $8::bytea AS key_sha256, $9::bytea AS request_sha256, $10::text AS etag_suffix, 1 AS nth FROM guard), v AS (
      UPDATE invoices v SET external_id = input.external_id, updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND true
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) AND (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('invoice_items', CASE WHEN NOT (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN json_build_object() END, 'payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments > 50 THEN 2 * (counted.invoice_items + counted.payments) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.updated', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    ), answer AS (
    SELECT nth, NULL AS version, json_build_object('id', v.id, 'external_id', v.external_id)::text AS json FROM v
  ), stored AS (
    INSERT INTO idempotency_keys
      (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
    SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
           '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
           answer.json, input.now
      FROM answer JOIN input USING (nth))
  SELECT nth, version, json FROM answer;

-- invoices.sums_of_company (reads; pool: search)
  SELECT v.date_due < $5::timestamptz AS overdue, count(*)::int AS count,
         sum(v.total - v.paid)::text AS outstanding
    FROM invoices v
   WHERE v.company_id = $1::uuid AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END = ANY ($2::text[]) AND v.total > v.paid
     AND v.date_due >= $3::timestamptz AND v.date_due < $4::timestamptz
   GROUP BY 1;

-- invoices.update (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS invoice_number, $5::uuid AS sender_id, $6::timestamptz AS date_created, $7::timestamptz AS date_due, $8::numeric AS vat, $9::numeric AS sub_total, $10::numeric AS vat_amount, $11::numeric AS total, $12::timestamptz AS now, $13::json AS origin, $14::text AS payment_terms, 1 AS nth), v AS (
      UPDATE invoices v SET invoice_number = input.invoice_number, sender_id = input.sender_id,
          date_created = input.date_created, date_due = input.date_due, vat = input.vat,
          sub_total = input.sub_total, vat_amount = input.vat_amount, total = input.total,
          payment_terms = coalesce(input.payment_terms, v.payment_terms), updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND NOT (v.paid > 0 AND v.paid >= input.total)
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) AND (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('invoice_items', CASE WHEN NOT (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN json_build_object() END, 'payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments > 50 THEN 2 * (counted.invoice_items + counted.payments) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.updated', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    )
  SELECT nth, v.version::text AS version, ('{"id" : "' || (v.id) || '", "ref" : null, "notes" : null, "terms" : ' || to_json(v.terms)::text || ', "date_due" : "' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "date_sent" : ' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "date_paid" : null, "payment_terms" : ' || to_json(v.payment_terms)::text || ', "subtotal" : ' || (v.sub_total)::text || ', "total" : ' || (v.total)::text || ', "invoice_number" : ' || to_json(v.invoice_number)::text || ', "recipients_name" : ' || to_json(v.recipients_name)::text || ', "vat_amount" : ' || (v.vat_amount)::text || ', "customer_case_id" : "' || (v.case_id) || '", "date_created" : "' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM v;

-- invoices.update* (batch form)
  WITH input AS (SELECT company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total, vat_amount, total, now, origin, payment_terms, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::timestamptz[], $7::timestamptz[], $8::numeric[], $9::numeric[], $10::numeric[], $11::numeric[], $12::timestamptz[], $13::json[], $14::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total, vat_amount, total, now, origin, payment_terms, nth)), v AS (
      UPDATE invoices v SET invoice_number = input.invoice_number, sender_id = input.sender_id,
          date_created = input.date_created, date_due = input.date_due, vat = input.vat,
          sub_total = input.sub_total, vat_amount = input.vat_amount, total = input.total,
          payment_terms = coalesce(input.payment_terms, v.payment_terms), updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND NOT (v.paid > 0 AND v.paid >= input.total)
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) AND (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('invoice_items', CASE WHEN NOT (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN json_build_object() END, 'payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments > 50 THEN 2 * (counted.invoice_items + counted.payments) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.updated', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    )
  SELECT nth, v.version::text AS version, ('{"id" : "' || (v.id) || '", "ref" : null, "notes" : null, "terms" : ' || to_json(v.terms)::text || ', "date_due" : "' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "date_sent" : ' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "date_paid" : null, "payment_terms" : ' || to_json(v.payment_terms)::text || ', "subtotal" : ' || (v.sub_total)::text || ', "total" : ' || (v.total)::text || ', "invoice_number" : ' || to_json(v.invoice_number)::text || ', "recipients_name" : ' || to_json(v.recipients_name)::text || ', "vat_amount" : ' || (v.vat_amount)::text || ', "customer_case_id" : "' || (v.case_id) || '", "date_created" : "' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM v;

-- invoices.update keyed (writes; pool: short)
  WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS invoice_number, $5::uuid AS sender_id, $6::timestamptz AS date_created, $7::timestamptz AS date_due, $8::numeric AS vat, $9::numeric AS sub_total, $10::numeric AS vat_amount, $11::numeric AS total, $12::timestamptz AS now, $13::json AS origin, $14::text AS payment_terms, $15::uuid AS credential_id, $16::bytea AS key_sha256, $17::bytea AS request_sha256, $18::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
      SELECT k.created_at FROM idempotency_keys k
       WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
         AND k.key_sha256 = input.key_sha256) IS NULL),
  input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS invoice_number, $5::uuid AS sender_id, $6::timestamptz AS date_created, $7::timestamptz AS date_due, $8::numeric AS vat, $9::numeric AS sub_total, $10::numeric AS vat_amount, $11::numeric AS total, $12::timestamptz AS now, $13::json AS origin, $14::text AS payment_terms, $15::uuid AS credential_id, $16::bytea AS key_sha256, $17::bytea AS request_sha256, $18::text AS etag_suffix, 1 AS nth FROM guard), v AS (
      UPDATE invoices v SET invoice_number = input.invoice_number, sender_id = input.sender_id,
          date_created = input.date_created, date_due = input.date_due, vat = input.vat,
          sub_total = input.sub_total, vat_amount = input.vat_amount, total = input.total,
          payment_terms = coalesce(input.payment_terms, v.payment_terms), updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND NOT (v.paid > 0 AND v.paid >= input.total)
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) AND (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('invoice_items', CASE WHEN NOT (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN json_build_object() END, 'payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments > 50 THEN 2 * (counted.invoice_items + counted.payments) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.updated', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    ), answer AS (
    SELECT nth, v.version::text AS version, ('{"id" : "' || (v.id) || '", "ref" : null, "notes" : null, "terms" : ' || to_json(v.terms)::text || ', "date_due" : "' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "date_sent" : ' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "date_paid" : null, "payment_terms" : ' || to_json(v.payment_terms)::text || ', "subtotal" : ' || (v.sub_total)::text || ', "total" : ' || (v.total)::text || ', "invoice_number" : ' || to_json(v.invoice_number)::text || ', "recipients_name" : ' || to_json(v.recipients_name)::text || ', "vat_amount" : ' || (v.vat_amount)::text || ', "customer_case_id" : "' || (v.case_id) || '", "date_created" : "' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM v
  ), stored AS (
    INSERT INTO idempotency_keys
      (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
    SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
           '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
           answer.json, input.now
      FROM answer JOIN input USING (nth))
  SELECT nth, version, json FROM answer;

-- invoices.update keyed* (batch form)
  WITH input AS MATERIALIZED (
    WITH input AS (SELECT company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total, vat_amount, total, now, origin, payment_terms, credential_id, key_sha256, request_sha256, etag_suffix, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::timestamptz[], $7::timestamptz[], $8::numeric[], $9::numeric[], $10::numeric[], $11::numeric[], $12::timestamptz[], $13::json[], $14::text[], $15::uuid[], $16::bytea[], $17::bytea[], $18::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total, vat_amount, total, now, origin, payment_terms, credential_id, key_sha256, request_sha256, etag_suffix, nth))
    SELECT * FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
      SELECT k.created_at FROM idempotency_keys k
       WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
         AND k.key_sha256 = input.key_sha256) IS NULL), v AS (
      UPDATE invoices v SET invoice_number = input.invoice_number, sender_id = input.sender_id,
          date_created = input.date_created, date_due = input.date_due, vat = input.vat,
          sub_total = input.sub_total, vat_amount = input.vat_amount, total = input.total,
          payment_terms = coalesce(input.payment_terms, v.payment_terms), updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND NOT (v.paid > 0 AND v.paid >= input.total)
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) AND (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('invoice_items', CASE WHEN NOT (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN json_build_object() END, 'payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments > 50 THEN 2 * (counted.invoice_items + counted.payments) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.updated', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    ), answer AS (
    SELECT nth, v.version::text AS version, ('{"id" : "' || (v.id) || '", "ref" : null, "notes" : null, "terms" : ' || to_json(v.terms)::text || ', "date_due" : "' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "date_sent" : ' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "date_paid" : null, "payment_terms" : ' || to_json(v.payment_terms)::text || ', "subtotal" : ' || (v.sub_total)::text || ', "total" : ' || (v.total)::text || ', "invoice_number" : ' || to_json(v.invoice_number)::text || ', "recipients_name" : ' || to_json(v.recipients_name)::text || ', "vat_amount" : ' || (v.vat_amount)::text || ', "customer_case_id" : "' || (v.case_id) || '", "date_created" : "' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM v
  ), stored AS (
    INSERT INTO idempotency_keys
      (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
    SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
           '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
           answer.json, input.now
      FROM answer JOIN input USING (nth))
  SELECT nth, version, json FROM answer;

-- invoices.update+add_items (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS invoice_number, $5::uuid AS sender_id, $6::timestamptz AS date_created, $7::timestamptz AS date_due, $8::numeric AS vat, $9::numeric AS sub_total, $10::numeric AS vat_amount, $11::numeric AS total, $12::timestamptz AS now, $13::json AS origin, $14::text AS payment_terms, $15::uuid[] AS item_ids, $16::text[] AS descriptions, $17::numeric[] AS quantities, $18::numeric[] AS rates, $19::numeric[] AS amounts, $20::numeric[] AS subtotals, $21::numeric[] AS vat_amounts, 1 AS nth), v AS (
      UPDATE invoices v SET invoice_number = input.invoice_number, sender_id = input.sender_id,
          date_created = input.date_created, date_due = input.date_due, vat = input.vat,
          sub_total = input.sub_total, vat_amount = input.vat_amount, total = input.total,
          payment_terms = coalesce(input.payment_terms, v.payment_terms), item_count = coalesce(v.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = v.company_id AND c.case_id = v.case_id AND c.invoice_id = v.id)) + cardinality(input.item_ids), updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND NOT (v.paid > 0 AND v.paid >= input.total)
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) AND (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('invoice_items', CASE WHEN NOT (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN json_build_object('added', input.item_ids) END, 'payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments + cardinality(input.item_ids) > 50 THEN 2 * (counted.invoice_items + counted.payments) + cardinality(input.item_ids) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.updated', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    ), added AS (
    INSERT INTO invoice_items (company_id, case_id, invoice_id, id, description, quantity, rate, amount, subtotal, vat_amount, position)
    SELECT v.company_id, v.case_id, v.id, l.id, l.description, l.quantity, l.rate, l.amount, l.subtotal,
           l.vat_amount, (SELECT coalesce(max(t.position), 0) FROM invoice_items t WHERE t.company_id = input.company_id AND t.case_id = input.case_id AND t.invoice_id = input.id) + l.position
      FROM v JOIN input USING (nth), unnest(input.item_ids, input.descriptions, input.quantities, input.rates, input.amounts,
        input.subtotals, input.vat_amounts)
 WITH ORDINALITY AS l (id, description, quantity, rate, amount, subtotal, vat_amount, position)
  )
  SELECT nth, v.version::text AS version, ('{"id" : "' || (v.id) || '", "ref" : null, "notes" : null, "terms" : ' || to_json(v.terms)::text || ', "date_due" : "' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "date_sent" : ' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "date_paid" : null, "payment_terms" : ' || to_json(v.payment_terms)::text || ', "subtotal" : ' || (v.sub_total)::text || ', "total" : ' || (v.total)::text || ', "invoice_number" : ' || to_json(v.invoice_number)::text || ', "recipients_name" : ' || to_json(v.recipients_name)::text || ', "vat_amount" : ' || (v.vat_amount)::text || ', "customer_case_id" : "' || (v.case_id) || '", "date_created" : "' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM v;

-- invoices.update+add_items* (batch form)
  WITH input AS (SELECT company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total, vat_amount, total, now, origin, payment_terms, item_ids::uuid[], descriptions::text[], quantities::numeric[], rates::numeric[], amounts::numeric[], subtotals::numeric[], vat_amounts::numeric[], nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::timestamptz[], $7::timestamptz[], $8::numeric[], $9::numeric[], $10::numeric[], $11::numeric[], $12::timestamptz[], $13::json[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total, vat_amount, total, now, origin, payment_terms, item_ids, descriptions, quantities, rates, amounts, subtotals, vat_amounts, nth)), v AS (
      UPDATE invoices v SET invoice_number = input.invoice_number, sender_id = input.sender_id,
          date_created = input.date_created, date_due = input.date_due, vat = input.vat,
          sub_total = input.sub_total, vat_amount = input.vat_amount, total = input.total,
          payment_terms = coalesce(input.payment_terms, v.payment_terms), item_count = coalesce(v.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = v.company_id AND c.case_id = v.case_id AND c.invoice_id = v.id)) + cardinality(input.item_ids), updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND NOT (v.paid > 0 AND v.paid >= input.total)
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) AND (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('invoice_items', CASE WHEN NOT (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN json_build_object('added', input.item_ids) END, 'payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments + cardinality(input.item_ids) > 50 THEN 2 * (counted.invoice_items + counted.payments) + cardinality(input.item_ids) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.updated', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    ), added AS (
    INSERT INTO invoice_items (company_id, case_id, invoice_id, id, description, quantity, rate, amount, subtotal, vat_amount, position)
    SELECT v.company_id, v.case_id, v.id, l.id, l.description, l.quantity, l.rate, l.amount, l.subtotal,
           l.vat_amount, (SELECT coalesce(max(t.position), 0) FROM invoice_items t WHERE t.company_id = input.company_id AND t.case_id = input.case_id AND t.invoice_id = input.id) + l.position
      FROM v JOIN input USING (nth), unnest(input.item_ids, input.descriptions, input.quantities, input.rates, input.amounts,
        input.subtotals, input.vat_amounts)
 WITH ORDINALITY AS l (id, description, quantity, rate, amount, subtotal, vat_amount, position)
  )
  SELECT nth, v.version::text AS version, ('{"id" : "' || (v.id) || '", "ref" : null, "notes" : null, "terms" : ' || to_json(v.terms)::text || ', "date_due" : "' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "date_sent" : ' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "date_paid" : null, "payment_terms" : ' || to_json(v.payment_terms)::text || ', "subtotal" : ' || (v.sub_total)::text || ', "total" : ' || (v.total)::text || ', "invoice_number" : ' || to_json(v.invoice_number)::text || ', "recipients_name" : ' || to_json(v.recipients_name)::text || ', "vat_amount" : ' || (v.vat_amount)::text || ', "customer_case_id" : "' || (v.case_id) || '", "date_created" : "' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM v;

-- invoices.update+add_items+allow_paid (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS invoice_number, $5::uuid AS sender_id, $6::timestamptz AS date_created, $7::timestamptz AS date_due, $8::numeric AS vat, $9::numeric AS sub_total, $10::numeric AS vat_amount, $11::numeric AS total, $12::timestamptz AS now, $13::json AS origin, $14::text AS payment_terms, $15::uuid[] AS item_ids, $16::text[] AS descriptions, $17::numeric[] AS quantities, $18::numeric[] AS rates, $19::numeric[] AS amounts, $20::numeric[] AS subtotals, $21::numeric[] AS vat_amounts, 1 AS nth), v AS (
      UPDATE invoices v SET invoice_number = input.invoice_number, sender_id = input.sender_id,
          date_created = input.date_created, date_due = input.date_due, vat = input.vat,
          sub_total = input.sub_total, vat_amount = input.vat_amount, total = input.total,
          payment_terms = coalesce(input.payment_terms, v.payment_terms), item_count = coalesce(v.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = v.company_id AND c.case_id = v.case_id AND c.invoice_id = v.id)) + cardinality(input.item_ids), updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND true
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) AND (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('invoice_items', CASE WHEN NOT (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN json_build_object('added', input.item_ids) END, 'payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments + cardinality(input.item_ids) > 50 THEN 2 * (counted.invoice_items + counted.payments) + cardinality(input.item_ids) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.updated', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    ), added AS (
    INSERT INTO invoice_items (company_id, case_id, invoice_id, id, description, quantity, rate, amount, subtotal, vat_amount, position)
    SELECT v.company_id, v.case_id, v.id, l.id, l.description, l.quantity, l.rate, l.amount, l.subtotal,
           l.vat_amount, (SELECT coalesce(max(t.position), 0) FROM invoice_items t WHERE t.company_id = input.company_id AND t.case_id = input.case_id AND t.invoice_id = input.id) + l.position
      FROM v JOIN input USING (nth), unnest(input.item_ids, input.descriptions, input.quantities, input.rates, input.amounts,
        input.subtotals, input.vat_amounts)
 WITH ORDINALITY AS l (id, description, quantity, rate, amount, subtotal, vat_amount, position)
  )
  SELECT nth, v.version::text AS version, ('{"id" : "' || (v.id) || '", "ref" : null, "notes" : null, "terms" : ' || to_json(v.terms)::text || ', "date_due" : "' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "date_sent" : ' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "date_paid" : ' || coalesce('"' || (s.date_paid) || '"', 'null') || ', "payment_terms" : ' || to_json(v.payment_terms)::text || ', "subtotal" : ' || (v.sub_total)::text || ', "total" : ' || (v.total)::text || ', "invoice_number" : ' || to_json(v.invoice_number)::text || ', "recipients_name" : ' || to_json(v.recipients_name)::text || ', "vat_amount" : ' || (v.vat_amount)::text || ', "customer_case_id" : "' || (v.case_id) || '", "date_created" : "' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM v, LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s;

-- invoices.update+add_items+allow_paid* (batch form)
  WITH input AS (SELECT company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total, vat_amount, total, now, origin, payment_terms, item_ids::uuid[], descriptions::text[], quantities::numeric[], rates::numeric[], amounts::numeric[], subtotals::numeric[], vat_amounts::numeric[], nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::timestamptz[], $7::timestamptz[], $8::numeric[], $9::numeric[], $10::numeric[], $11::numeric[], $12::timestamptz[], $13::json[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total, vat_amount, total, now, origin, payment_terms, item_ids, descriptions, quantities, rates, amounts, subtotals, vat_amounts, nth)), v AS (
      UPDATE invoices v SET invoice_number = input.invoice_number, sender_id = input.sender_id,
          date_created = input.date_created, date_due = input.date_due, vat = input.vat,
          sub_total = input.sub_total, vat_amount = input.vat_amount, total = input.total,
          payment_terms = coalesce(input.payment_terms, v.payment_terms), item_count = coalesce(v.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = v.company_id AND c.case_id = v.case_id AND c.invoice_id = v.id)) + cardinality(input.item_ids), updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND true
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) AND (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('invoice_items', CASE WHEN NOT (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN json_build_object('added', input.item_ids) END, 'payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments + cardinality(input.item_ids) > 50 THEN 2 * (counted.invoice_items + counted.payments) + cardinality(input.item_ids) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.updated', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    ), added AS (
    INSERT INTO invoice_items (company_id, case_id, invoice_id, id, description, quantity, rate, amount, subtotal, vat_amount, position)
    SELECT v.company_id, v.case_id, v.id, l.id, l.description, l.quantity, l.rate, l.amount, l.subtotal,
           l.vat_amount, (SELECT coalesce(max(t.position), 0) FROM invoice_items t WHERE t.company_id = input.company_id AND t.case_id = input.case_id AND t.invoice_id = input.id) + l.position
      FROM v JOIN input USING (nth), unnest(input.item_ids, input.descriptions, input.quantities, input.rates, input.amounts,
        input.subtotals, input.vat_amounts)
 WITH ORDINALITY AS l (id, description, quantity, rate, amount, subtotal, vat_amount, position)
  )
  SELECT nth, v.version::text AS version, ('{"id" : "' || (v.id) || '", "ref" : null, "notes" : null, "terms" : ' || to_json(v.terms)::text || ', "date_due" : "' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "date_sent" : ' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "date_paid" : ' || coalesce('"' || (s.date_paid) || '"', 'null') || ', "payment_terms" : ' || to_json(v.payment_terms)::text || ', "subtotal" : ' || (v.sub_total)::text || ', "total" : ' || (v.total)::text || ', "invoice_number" : ' || to_json(v.invoice_number)::text || ', "recipients_name" : ' || to_json(v.recipients_name)::text || ', "vat_amount" : ' || (v.vat_amount)::text || ', "customer_case_id" : "' || (v.case_id) || '", "date_created" : "' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM v, LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s;

-- invoices.update+allow_paid (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS invoice_number, $5::uuid AS sender_id, $6::timestamptz AS date_created, $7::timestamptz AS date_due, $8::numeric AS vat, $9::numeric AS sub_total, $10::numeric AS vat_amount, $11::numeric AS total, $12::timestamptz AS now, $13::json AS origin, $14::text AS payment_terms, 1 AS nth), v AS (
      UPDATE invoices v SET invoice_number = input.invoice_number, sender_id = input.sender_id,
          date_created = input.date_created, date_due = input.date_due, vat = input.vat,
          sub_total = input.sub_total, vat_amount = input.vat_amount, total = input.total,
          payment_terms = coalesce(input.payment_terms, v.payment_terms), updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND true
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) AND (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('invoice_items', CASE WHEN NOT (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN json_build_object() END, 'payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments > 50 THEN 2 * (counted.invoice_items + counted.payments) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.updated', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    )
  SELECT nth, v.version::text AS version, ('{"id" : "' || (v.id) || '", "ref" : null, "notes" : null, "terms" : ' || to_json(v.terms)::text || ', "date_due" : "' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "date_sent" : ' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "date_paid" : ' || coalesce('"' || (s.date_paid) || '"', 'null') || ', "payment_terms" : ' || to_json(v.payment_terms)::text || ', "subtotal" : ' || (v.sub_total)::text || ', "total" : ' || (v.total)::text || ', "invoice_number" : ' || to_json(v.invoice_number)::text || ', "recipients_name" : ' || to_json(v.recipients_name)::text || ', "vat_amount" : ' || (v.vat_amount)::text || ', "customer_case_id" : "' || (v.case_id) || '", "date_created" : "' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM v, LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s;

-- invoices.update+allow_paid* (batch form)
  WITH input AS (SELECT company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total, vat_amount, total, now, origin, payment_terms, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::timestamptz[], $7::timestamptz[], $8::numeric[], $9::numeric[], $10::numeric[], $11::numeric[], $12::timestamptz[], $13::json[], $14::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total, vat_amount, total, now, origin, payment_terms, nth)), v AS (
      UPDATE invoices v SET invoice_number = input.invoice_number, sender_id = input.sender_id,
          date_created = input.date_created, date_due = input.date_due, vat = input.vat,
          sub_total = input.sub_total, vat_amount = input.vat_amount, total = input.total,
          payment_terms = coalesce(input.payment_terms, v.payment_terms), updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND true
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) AND (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('invoice_items', CASE WHEN NOT (counted.invoice_items <= 50 OR seen.version % greatest(64, counted.invoice_items / 16) = 0) THEN json_build_object() END, 'payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments > 50 THEN 2 * (counted.invoice_items + counted.payments) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.updated', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    )
  SELECT nth, v.version::text AS version, ('{"id" : "' || (v.id) || '", "ref" : null, "notes" : null, "terms" : ' || to_json(v.terms)::text || ', "date_due" : "' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "date_sent" : ' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "date_paid" : ' || coalesce('"' || (s.date_paid) || '"', 'null') || ', "payment_terms" : ' || to_json(v.payment_terms)::text || ', "subtotal" : ' || (v.sub_total)::text || ', "total" : ' || (v.total)::text || ', "invoice_number" : ' || to_json(v.invoice_number)::text || ', "recipients_name" : ' || to_json(v.recipients_name)::text || ', "vat_amount" : ' || (v.vat_amount)::text || ', "customer_case_id" : "' || (v.case_id) || '", "date_created" : "' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM v, LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s;

-- invoices.update+remove_items (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS invoice_number, $5::uuid AS sender_id, $6::timestamptz AS date_created, $7::timestamptz AS date_due, $8::numeric AS vat, $9::numeric AS sub_total, $10::numeric AS vat_amount, $11::numeric AS total, $12::timestamptz AS now, $13::json AS origin, $14::text AS payment_terms, 1 AS nth), v AS (
      UPDATE invoices v SET invoice_number = input.invoice_number, sender_id = input.sender_id,
          date_created = input.date_created, date_due = input.date_due, vat = input.vat,
          sub_total = input.sub_total, vat_amount = input.vat_amount, total = input.total,
          payment_terms = coalesce(input.payment_terms, v.payment_terms), item_count = 0, updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND NOT (v.paid > 0 AND v.paid >= input.total)
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN true THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments > 50 THEN 2 * (counted.invoice_items + counted.payments) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.updated', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    ), removed AS (DELETE FROM invoice_items t USING v WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id)
  SELECT nth, v.version::text AS version, ('{"id" : "' || (v.id) || '", "ref" : null, "notes" : null, "terms" : ' || to_json(v.terms)::text || ', "date_due" : "' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "date_sent" : ' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "date_paid" : null, "payment_terms" : ' || to_json(v.payment_terms)::text || ', "subtotal" : ' || (v.sub_total)::text || ', "total" : ' || (v.total)::text || ', "invoice_number" : ' || to_json(v.invoice_number)::text || ', "recipients_name" : ' || to_json(v.recipients_name)::text || ', "vat_amount" : ' || (v.vat_amount)::text || ', "customer_case_id" : "' || (v.case_id) || '", "date_created" : "' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM v;

-- invoices.update+remove_items* (batch form)
  WITH input AS (SELECT company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total, vat_amount, total, now, origin, payment_terms, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::timestamptz[], $7::timestamptz[], $8::numeric[], $9::numeric[], $10::numeric[], $11::numeric[], $12::timestamptz[], $13::json[], $14::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total, vat_amount, total, now, origin, payment_terms, nth)), v AS (
      UPDATE invoices v SET invoice_number = input.invoice_number, sender_id = input.sender_id,
          date_created = input.date_created, date_due = input.date_due, vat = input.vat,
          sub_total = input.sub_total, vat_amount = input.vat_amount, total = input.total,
          payment_terms = coalesce(input.payment_terms, v.payment_terms), item_count = 0, updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND NOT (v.paid > 0 AND v.paid >= input.total)
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN true THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments > 50 THEN 2 * (counted.invoice_items + counted.payments) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.updated', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    ), removed AS (DELETE FROM invoice_items t USING v WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id)
  SELECT nth, v.version::text AS version, ('{"id" : "' || (v.id) || '", "ref" : null, "notes" : null, "terms" : ' || to_json(v.terms)::text || ', "date_due" : "' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "date_sent" : ' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "date_paid" : null, "payment_terms" : ' || to_json(v.payment_terms)::text || ', "subtotal" : ' || (v.sub_total)::text || ', "total" : ' || (v.total)::text || ', "invoice_number" : ' || to_json(v.invoice_number)::text || ', "recipients_name" : ' || to_json(v.recipients_name)::text || ', "vat_amount" : ' || (v.vat_amount)::text || ', "customer_case_id" : "' || (v.case_id) || '", "date_created" : "' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM v;

-- invoices.update+remove_items+add_items (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS invoice_number, $5::uuid AS sender_id, $6::timestamptz AS date_created, $7::timestamptz AS date_due, $8::numeric AS vat, $9::numeric AS sub_total, $10::numeric AS vat_amount, $11::numeric AS total, $12::timestamptz AS now, $13::json AS origin, $14::text AS payment_terms, $15::uuid[] AS item_ids, $16::text[] AS descriptions, $17::numeric[] AS quantities, $18::numeric[] AS rates, $19::numeric[] AS amounts, $20::numeric[] AS subtotals, $21::numeric[] AS vat_amounts, 1 AS nth), v AS (
      UPDATE invoices v SET invoice_number = input.invoice_number, sender_id = input.sender_id,
          date_created = input.date_created, date_due = input.date_due, vat = input.vat,
          sub_total = input.sub_total, vat_amount = input.vat_amount, total = input.total,
          payment_terms = coalesce(input.payment_terms, v.payment_terms), item_count = 0 + cardinality(input.item_ids), updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND NOT (v.paid > 0 AND v.paid >= input.total)
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN true THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments + cardinality(input.item_ids) > 50 THEN 2 * (counted.invoice_items + counted.payments) + cardinality(input.item_ids) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.updated', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    ), removed AS (DELETE FROM invoice_items t USING v WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id), added AS (
    INSERT INTO invoice_items (company_id, case_id, invoice_id, id, description, quantity, rate, amount, subtotal, vat_amount, position)
    SELECT v.company_id, v.case_id, v.id, l.id, l.description, l.quantity, l.rate, l.amount, l.subtotal,
           l.vat_amount, 0 + l.position
      FROM v JOIN input USING (nth), unnest(input.item_ids, input.descriptions, input.quantities, input.rates, input.amounts,
        input.subtotals, input.vat_amounts)
 WITH ORDINALITY AS l (id, description, quantity, rate, amount, subtotal, vat_amount, position)
  )
  SELECT nth, v.version::text AS version, ('{"id" : "' || (v.id) || '", "ref" : null, "notes" : null, "terms" : ' || to_json(v.terms)::text || ', "date_due" : "' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "date_sent" : ' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "date_paid" : null, "payment_terms" : ' || to_json(v.payment_terms)::text || ', "subtotal" : ' || (v.sub_total)::text || ', "total" : ' || (v.total)::text || ', "invoice_number" : ' || to_json(v.invoice_number)::text || ', "recipients_name" : ' || to_json(v.recipients_name)::text || ', "vat_amount" : ' || (v.vat_amount)::text || ', "customer_case_id" : "' || (v.case_id) || '", "date_created" : "' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM v;

-- invoices.update+remove_items+add_items* (batch form)
  WITH input AS (SELECT company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total, vat_amount, total, now, origin, payment_terms, item_ids::uuid[], descriptions::text[], quantities::numeric[], rates::numeric[], amounts::numeric[], subtotals::numeric[], vat_amounts::numeric[], nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::timestamptz[], $7::timestamptz[], $8::numeric[], $9::numeric[], $10::numeric[], $11::numeric[], $12::timestamptz[], $13::json[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total, vat_amount, total, now, origin, payment_terms, item_ids, descriptions, quantities, rates, amounts, subtotals, vat_amounts, nth)), v AS (
      UPDATE invoices v SET invoice_number = input.invoice_number, sender_id = input.sender_id,
          date_created = input.date_created, date_due = input.date_due, vat = input.vat,
          sub_total = input.sub_total, vat_amount = input.vat_amount, total = input.total,
          payment_terms = coalesce(input.payment_terms, v.payment_terms), item_count = 0 + cardinality(input.item_ids), updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND NOT (v.paid > 0 AND v.paid >= input.total)
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN true THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments + cardinality(input.item_ids) > 50 THEN 2 * (counted.invoice_items + counted.payments) + cardinality(input.item_ids) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.updated', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    ), removed AS (DELETE FROM invoice_items t USING v WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id), added AS (
    INSERT INTO invoice_items (company_id, case_id, invoice_id, id, description, quantity, rate, amount, subtotal, vat_amount, position)
    SELECT v.company_id, v.case_id, v.id, l.id, l.description, l.quantity, l.rate, l.amount, l.subtotal,
           l.vat_amount, 0 + l.position
      FROM v JOIN input USING (nth), unnest(input.item_ids, input.descriptions, input.quantities, input.rates, input.amounts,
        input.subtotals, input.vat_amounts)
 WITH ORDINALITY AS l (id, description, quantity, rate, amount, subtotal, vat_amount, position)
  )
  SELECT nth, v.version::text AS version, ('{"id" : "' || (v.id) || '", "ref" : null, "notes" : null, "terms" : ' || to_json(v.terms)::text || ', "date_due" : "' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "date_sent" : ' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "date_paid" : null, "payment_terms" : ' || to_json(v.payment_terms)::text || ', "subtotal" : ' || (v.sub_total)::text || ', "total" : ' || (v.total)::text || ', "invoice_number" : ' || to_json(v.invoice_number)::text || ', "recipients_name" : ' || to_json(v.recipients_name)::text || ', "vat_amount" : ' || (v.vat_amount)::text || ', "customer_case_id" : "' || (v.case_id) || '", "date_created" : "' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM v;

-- invoices.update+remove_items+add_items+allow_paid (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS invoice_number, $5::uuid AS sender_id, $6::timestamptz AS date_created, $7::timestamptz AS date_due, $8::numeric AS vat, $9::numeric AS sub_total, $10::numeric AS vat_amount, $11::numeric AS total, $12::timestamptz AS now, $13::json AS origin, $14::text AS payment_terms, $15::uuid[] AS item_ids, $16::text[] AS descriptions, $17::numeric[] AS quantities, $18::numeric[] AS rates, $19::numeric[] AS amounts, $20::numeric[] AS subtotals, $21::numeric[] AS vat_amounts, 1 AS nth), v AS (
      UPDATE invoices v SET invoice_number = input.invoice_number, sender_id = input.sender_id,
          date_created = input.date_created, date_due = input.date_due, vat = input.vat,
          sub_total = input.sub_total, vat_amount = input.vat_amount, total = input.total,
          payment_terms = coalesce(input.payment_terms, v.payment_terms), item_count = 0 + cardinality(input.item_ids), updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND true
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN true THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments + cardinality(input.item_ids) > 50 THEN 2 * (counted.invoice_items + counted.payments) + cardinality(input.item_ids) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.updated', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    ), removed AS (DELETE FROM invoice_items t USING v WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id), added AS (
    INSERT INTO invoice_items (company_id, case_id, invoice_id, id, description, quantity, rate, amount, subtotal, vat_amount, position)
    SELECT v.company_id, v.case_id, v.id, l.id, l.description, l.quantity, l.rate, l.amount, l.subtotal,
           l.vat_amount, 0 + l.position
      FROM v JOIN input USING (nth), unnest(input.item_ids, input.descriptions, input.quantities, input.rates, input.amounts,
        input.subtotals, input.vat_amounts)
 WITH ORDINALITY AS l (id, description, quantity, rate, amount, subtotal, vat_amount, position)
  )
  SELECT nth, v.version::text AS version, ('{"id" : "' || (v.id) || '", "ref" : null, "notes" : null, "terms" : ' || to_json(v.terms)::text || ', "date_due" : "' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "date_sent" : ' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "date_paid" : ' || coalesce('"' || (s.date_paid) || '"', 'null') || ', "payment_terms" : ' || to_json(v.payment_terms)::text || ', "subtotal" : ' || (v.sub_total)::text || ', "total" : ' || (v.total)::text || ', "invoice_number" : ' || to_json(v.invoice_number)::text || ', "recipients_name" : ' || to_json(v.recipients_name)::text || ', "vat_amount" : ' || (v.vat_amount)::text || ', "customer_case_id" : "' || (v.case_id) || '", "date_created" : "' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM v, LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s;

-- invoices.update+remove_items+add_items+allow_paid* (batch form)
  WITH input AS (SELECT company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total, vat_amount, total, now, origin, payment_terms, item_ids::uuid[], descriptions::text[], quantities::numeric[], rates::numeric[], amounts::numeric[], subtotals::numeric[], vat_amounts::numeric[], nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::timestamptz[], $7::timestamptz[], $8::numeric[], $9::numeric[], $10::numeric[], $11::numeric[], $12::timestamptz[], $13::json[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total, vat_amount, total, now, origin, payment_terms, item_ids, descriptions, quantities, rates, amounts, subtotals, vat_amounts, nth)), v AS (
      UPDATE invoices v SET invoice_number = input.invoice_number, sender_id = input.sender_id,
          date_created = input.date_created, date_due = input.date_due, vat = input.vat,
          sub_total = input.sub_total, vat_amount = input.vat_amount, total = input.total,
          payment_terms = coalesce(input.payment_terms, v.payment_terms), item_count = 0 + cardinality(input.item_ids), updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND true
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN true THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments + cardinality(input.item_ids) > 50 THEN 2 * (counted.invoice_items + counted.payments) + cardinality(input.item_ids) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.updated', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    ), removed AS (DELETE FROM invoice_items t USING v WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id), added AS (
    INSERT INTO invoice_items (company_id, case_id, invoice_id, id, description, quantity, rate, amount, subtotal, vat_amount, position)
    SELECT v.company_id, v.case_id, v.id, l.id, l.description, l.quantity, l.rate, l.amount, l.subtotal,
           l.vat_amount, 0 + l.position
      FROM v JOIN input USING (nth), unnest(input.item_ids, input.descriptions, input.quantities, input.rates, input.amounts,
        input.subtotals, input.vat_amounts)
 WITH ORDINALITY AS l (id, description, quantity, rate, amount, subtotal, vat_amount, position)
  )
  SELECT nth, v.version::text AS version, ('{"id" : "' || (v.id) || '", "ref" : null, "notes" : null, "terms" : ' || to_json(v.terms)::text || ', "date_due" : "' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "date_sent" : ' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "date_paid" : ' || coalesce('"' || (s.date_paid) || '"', 'null') || ', "payment_terms" : ' || to_json(v.payment_terms)::text || ', "subtotal" : ' || (v.sub_total)::text || ', "total" : ' || (v.total)::text || ', "invoice_number" : ' || to_json(v.invoice_number)::text || ', "recipients_name" : ' || to_json(v.recipients_name)::text || ', "vat_amount" : ' || (v.vat_amount)::text || ', "customer_case_id" : "' || (v.case_id) || '", "date_created" : "' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM v, LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s;

-- invoices.update+remove_items+allow_paid (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS invoice_number, $5::uuid AS sender_id, $6::timestamptz AS date_created, $7::timestamptz AS date_due, $8::numeric AS vat, $9::numeric AS sub_total, $10::numeric AS vat_amount, $11::numeric AS total, $12::timestamptz AS now, $13::json AS origin, $14::text AS payment_terms, 1 AS nth), v AS (
      UPDATE invoices v SET invoice_number = input.invoice_number, sender_id = input.sender_id,
          date_created = input.date_created, date_due = input.date_due, vat = input.vat,
          sub_total = input.sub_total, vat_amount = input.vat_amount, total = input.total,
          payment_terms = coalesce(input.payment_terms, v.payment_terms), item_count = 0, updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND true
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN true THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments > 50 THEN 2 * (counted.invoice_items + counted.payments) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.updated', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    ), removed AS (DELETE FROM invoice_items t USING v WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id)
  SELECT nth, v.version::text AS version, ('{"id" : "' || (v.id) || '", "ref" : null, "notes" : null, "terms" : ' || to_json(v.terms)::text || ', "date_due" : "' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "date_sent" : ' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "date_paid" : ' || coalesce('"' || (s.date_paid) || '"', 'null') || ', "payment_terms" : ' || to_json(v.payment_terms)::text || ', "subtotal" : ' || (v.sub_total)::text || ', "total" : ' || (v.total)::text || ', "invoice_number" : ' || to_json(v.invoice_number)::text || ', "recipients_name" : ' || to_json(v.recipients_name)::text || ', "vat_amount" : ' || (v.vat_amount)::text || ', "customer_case_id" : "' || (v.case_id) || '", "date_created" : "' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM v, LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s;

-- invoices.update+remove_items+allow_paid* (batch form)
  WITH input AS (SELECT company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total, vat_amount, total, now, origin, payment_terms, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::timestamptz[], $7::timestamptz[], $8::numeric[], $9::numeric[], $10::numeric[], $11::numeric[], $12::timestamptz[], $13::json[], $14::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total, vat_amount, total, now, origin, payment_terms, nth)), v AS (
      UPDATE invoices v SET invoice_number = input.invoice_number, sender_id = input.sender_id,
          date_created = input.date_created, date_due = input.date_due, vat = input.vat,
          sub_total = input.sub_total, vat_amount = input.vat_amount, total = input.total,
          payment_terms = coalesce(input.payment_terms, v.payment_terms), item_count = 0, updated_at = input.now, version = v.version + 1
        FROM input, invoices seen CROSS JOIN LATERAL (
  SELECT coalesce(seen.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS invoice_items, coalesce(seen.payment_count, (
SELECT count(*)::int FROM payments c WHERE c.company_id = seen.company_id AND c.case_id = seen.case_id AND c.invoice_id = seen.id)) AS payments OFFSET 0) counted
       WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND v.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND v.version = seen.version AND true
      RETURNING v.*, input.nth, input.now, input.origin, json_build_object('invoices', seen, 'invoice_items', CASE WHEN true THEN ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END, 'payments', CASE WHEN (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id) END) AS was, CASE WHEN NOT ((counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0)) THEN json_strip_nulls(json_build_object('payments', CASE WHEN NOT (counted.payments <= 50 OR seen.version % greatest(64, counted.payments / 16) = 0) THEN json_build_object() END)) END AS touched, CASE WHEN counted.invoice_items + counted.payments > 50 THEN 2 * (counted.invoice_items + counted.payments) END AS image_rows
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was, touched, image_rows)
     SELECT v.company_id, v.case_id, v.id, 'invoice.updated', v.now::timestamptz, v.origin::json, v.was, v.touched, v.image_rows
       FROM v
    ), removed AS (DELETE FROM invoice_items t USING v WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id)
  SELECT nth, v.version::text AS version, ('{"id" : "' || (v.id) || '", "ref" : null, "notes" : null, "terms" : ' || to_json(v.terms)::text || ', "date_due" : "' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "date_sent" : ' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "date_paid" : ' || coalesce('"' || (s.date_paid) || '"', 'null') || ', "payment_terms" : ' || to_json(v.payment_terms)::text || ', "subtotal" : ' || (v.sub_total)::text || ', "total" : ' || (v.total)::text || ', "invoice_number" : ' || to_json(v.invoice_number)::text || ', "recipients_name" : ' || to_json(v.recipients_name)::text || ', "vat_amount" : ' || (v.vat_amount)::text || ', "customer_case_id" : "' || (v.case_id) || '", "date_created" : "' || (to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"}') AS json FROM v, LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s;

