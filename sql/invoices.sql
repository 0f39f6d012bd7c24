-- invoices.list (reads; pool: list)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::text AS zone, $4::boolean AS show_cancelled_items, 1 AS nth) SELECT input.nth, l.json FROM input CROSS JOIN LATERAL (SELECT json FROM (WITH few AS MATERIALIZED (SELECT * FROM invoices v WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND true LIMIT 1001)
   SELECT CASE WHEN count(*) <= 1000 AND coalesce(sum((600 + octet_length(v.recipients_name) + octet_length(v.terms) + octet_length(v.payment_terms)
    + 450 * coalesce(v.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = v.company_id AND c.case_id = v.case_id AND c.invoice_id = v.id)))), 0) <= 4000000 THEN (SELECT ('[' || coalesce(string_agg(('{"id":"' || (v.id) || '","ref":null,"notes":null,"terms":' || to_json(v.terms)::text || ',"date_due":"' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","date_sent":' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ',"date_paid":' || coalesce('"' || (s.date_paid) || '"', 'null') || ',"payment_terms":' || to_json(v.payment_terms)::text || ',"subtotal":' || (v.sub_total)::text || ',"total":' || (v.total)::text || ',"invoice_number":' || to_json(v.invoice_number)::text || ',"recipients_name":' || to_json(v.recipients_name)::text || ',"vat_amount":' || (v.vat_amount)::text || ',"customer_case_id":"' || (v.case_id) || '","date_created":"' || ((input.zone::text || (floor(extract(epoch FROM v.date_created)) + 140000000000)::text)) || '","status":"' || (s.status) || '","mail_sent":' || (v.date_sent IS NOT NULL)::text || ',"payable_online":' || (false)::text || ',"formatted_recurring_interval":null,"items":' || i.items || '}'), ',' ORDER BY v.date_created DESC, v.created_at DESC, v.id DESC), '') || ']') FROM few v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS reached FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.reached >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s CROSS JOIN LATERAL (
SELECT ('[' || coalesce(string_agg(('{"id":"' || (t.id) || '","description":' || to_json(t.description)::text || ',"amount":' || (t.amount)::text || ',"quantity":' || (t.quantity)::text || ',"rate":' || (t.rate)::text || ',"subtotal":' || (t.subtotal)::text || ',"vat_amount":' || (t.vat_amount)::text || ',"status":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END) || '"', 'null') || ',"paid_at":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END) || '"', 'null') || ',"case_invoice_id":"' || (t.invoice_id) || '","customer_case_id":"' || (t.case_id) || '","has_vat":' || (t.vat_amount <> 0)::text || '}'), ',' ORDER BY t.position), '') || ']') AS items FROM invoice_items t
 WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND (input.show_cancelled_items OR t.cancelled_at IS NULL)) i) END AS json, count(*) AS n
     FROM few v) l WHERE l.n > 0 OR (SELECT true FROM cases c WHERE c.company_id = input.company_id AND c.id = input.case_id)) l;

-- invoices.list* (batch form)
WITH input AS (
SELECT company_id, case_id, zone, show_cancelled_items, nth
  FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::boolean[]) WITH ORDINALITY AS batch (company_id, case_id, zone, show_cancelled_items, nth)) SELECT input.nth, l.json FROM input CROSS JOIN LATERAL (SELECT json FROM (WITH few AS MATERIALIZED (SELECT * FROM invoices v WHERE v.company_id = input.company_id AND v.case_id = input.case_id AND true LIMIT 1001)
   SELECT CASE WHEN count(*) <= 1000 AND coalesce(sum((600 + octet_length(v.recipients_name) + octet_length(v.terms) + octet_length(v.payment_terms)
    + 450 * coalesce(v.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = v.company_id AND c.case_id = v.case_id AND c.invoice_id = v.id)))), 0) <= 4000000 THEN (SELECT ('[' || coalesce(string_agg(('{"id":"' || (v.id) || '","ref":null,"notes":null,"terms":' || to_json(v.terms)::text || ',"date_due":"' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","date_sent":' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ',"date_paid":' || coalesce('"' || (s.date_paid) || '"', 'null') || ',"payment_terms":' || to_json(v.payment_terms)::text || ',"subtotal":' || (v.sub_total)::text || ',"total":' || (v.total)::text || ',"invoice_number":' || to_json(v.invoice_number)::text || ',"recipients_name":' || to_json(v.recipients_name)::text || ',"vat_amount":' || (v.vat_amount)::text || ',"customer_case_id":"' || (v.case_id) || '","date_created":"' || ((input.zone::text || (floor(extract(epoch FROM v.date_created)) + 140000000000)::text)) || '","status":"' || (s.status) || '","mail_sent":' || (v.date_sent IS NOT NULL)::text || ',"payable_online":' || (false)::text || ',"formatted_recurring_interval":null,"items":' || i.items || '}'), ',' ORDER BY v.date_created DESC, v.created_at DESC, v.id DESC), '') || ']') FROM few v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS reached FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.reached >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s CROSS JOIN LATERAL (
SELECT ('[' || coalesce(string_agg(('{"id":"' || (t.id) || '","description":' || to_json(t.description)::text || ',"amount":' || (t.amount)::text || ',"quantity":' || (t.quantity)::text || ',"rate":' || (t.rate)::text || ',"subtotal":' || (t.subtotal)::text || ',"vat_amount":' || (t.vat_amount)::text || ',"status":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END) || '"', 'null') || ',"paid_at":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END) || '"', 'null') || ',"case_invoice_id":"' || (t.invoice_id) || '","customer_case_id":"' || (t.case_id) || '","has_vat":' || (t.vat_amount <> 0)::text || '}'), ',' ORDER BY t.position), '') || ']') AS items FROM invoice_items t
 WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND (input.show_cancelled_items OR t.cancelled_at IS NULL)) i) END AS json, count(*) AS n
     FROM few v) l WHERE l.n > 0 OR (SELECT true FROM cases c WHERE c.company_id = input.company_id AND c.id = input.case_id)) l;

-- invoices.list_matching (reads; pool: search)
SELECT json FROM (WITH few AS MATERIALIZED (SELECT v.* FROM invoices v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS reached FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.reached >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s WHERE v.company_id = $1::uuid AND v.case_id = $2::uuid AND ($5::text IS NULL OR s.status = $5::text)
  AND ($6::timestamptz IS NULL OR v.date_due >= $6::timestamptz)
  AND ($7::timestamptz IS NULL OR v.date_due < $7::timestamptz) LIMIT 1001)
   SELECT CASE WHEN count(*) <= 1000 AND coalesce(sum((600 + octet_length(v.recipients_name) + octet_length(v.terms) + octet_length(v.payment_terms)
    + 450 * coalesce(v.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = v.company_id AND c.case_id = v.case_id AND c.invoice_id = v.id)))), 0) <= 4000000 THEN (SELECT ('[' || coalesce(string_agg(('{"id":"' || (v.id) || '","ref":null,"notes":null,"terms":' || to_json(v.terms)::text || ',"date_due":"' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","date_sent":' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ',"date_paid":' || coalesce('"' || (s.date_paid) || '"', 'null') || ',"payment_terms":' || to_json(v.payment_terms)::text || ',"subtotal":' || (v.sub_total)::text || ',"total":' || (v.total)::text || ',"invoice_number":' || to_json(v.invoice_number)::text || ',"recipients_name":' || to_json(v.recipients_name)::text || ',"vat_amount":' || (v.vat_amount)::text || ',"customer_case_id":"' || (v.case_id) || '","date_created":"' || (($3::text::text || (floor(extract(epoch FROM v.date_created)) + 140000000000)::text)) || '","status":"' || (s.status) || '","mail_sent":' || (v.date_sent IS NOT NULL)::text || ',"payable_online":' || (false)::text || ',"formatted_recurring_interval":null,"items":' || i.items || '}'), ',' ORDER BY v.date_created DESC, v.created_at DESC, v.id DESC), '') || ']') FROM few v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS reached FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.reached >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s CROSS JOIN LATERAL (
SELECT ('[' || coalesce(string_agg(('{"id":"' || (t.id) || '","description":' || to_json(t.description)::text || ',"amount":' || (t.amount)::text || ',"quantity":' || (t.quantity)::text || ',"rate":' || (t.rate)::text || ',"subtotal":' || (t.subtotal)::text || ',"vat_amount":' || (t.vat_amount)::text || ',"status":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END) || '"', 'null') || ',"paid_at":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END) || '"', 'null') || ',"case_invoice_id":"' || (t.invoice_id) || '","customer_case_id":"' || (t.case_id) || '","has_vat":' || (t.vat_amount <> 0)::text || '}'), ',' ORDER BY t.position), '') || ']') AS items FROM invoice_items t
 WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND ($4::boolean OR t.cancelled_at IS NULL)) i) END AS json, count(*) AS n
     FROM few v) l WHERE l.n > 0 OR (SELECT true FROM cases c WHERE c.company_id = $1::uuid AND c.id = $2::uuid);

-- invoices.list_page (reads; pool: search)
SELECT (SELECT count(*)::int FROM invoices v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS reached FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.reached >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s WHERE v.company_id = $1::uuid AND v.case_id = $2::uuid AND ($5::text IS NULL OR s.status = $5::text)
  AND ($6::timestamptz IS NULL OR v.date_due >= $6::timestamptz)
  AND ($7::timestamptz IS NULL OR v.date_due < $7::timestamptz)) AS total, (SELECT l.json FROM (WITH few AS MATERIALIZED (SELECT v.* FROM invoices v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS reached FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.reached >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s WHERE v.company_id = $1::uuid AND v.case_id = $2::uuid AND ($5::text IS NULL OR s.status = $5::text)
  AND ($6::timestamptz IS NULL OR v.date_due >= $6::timestamptz)
  AND ($7::timestamptz IS NULL OR v.date_due < $7::timestamptz) ORDER BY v.date_created DESC, v.created_at DESC, v.id DESC LIMIT $8::int OFFSET $9::int)
   SELECT CASE WHEN count(*) <= 1000 AND coalesce(sum((600 + octet_length(v.recipients_name) + octet_length(v.terms) + octet_length(v.payment_terms)
    + 450 * coalesce(v.item_count, (
SELECT count(*)::int FROM invoice_items c WHERE c.company_id = v.company_id AND c.case_id = v.case_id AND c.invoice_id = v.id)))), 0) <= 4000000 THEN (SELECT ('[' || coalesce(string_agg(('{"id":"' || (v.id) || '","ref":null,"notes":null,"terms":' || to_json(v.terms)::text || ',"date_due":"' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","date_sent":' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ',"date_paid":' || coalesce('"' || (s.date_paid) || '"', 'null') || ',"payment_terms":' || to_json(v.payment_terms)::text || ',"subtotal":' || (v.sub_total)::text || ',"total":' || (v.total)::text || ',"invoice_number":' || to_json(v.invoice_number)::text || ',"recipients_name":' || to_json(v.recipients_name)::text || ',"vat_amount":' || (v.vat_amount)::text || ',"customer_case_id":"' || (v.case_id) || '","date_created":"' || (($3::text::text || (floor(extract(epoch FROM v.date_created)) + 140000000000)::text)) || '","status":"' || (s.status) || '","mail_sent":' || (v.date_sent IS NOT NULL)::text || ',"payable_online":' || (false)::text || ',"formatted_recurring_interval":null,"items":' || i.items || '}'), ',' ORDER BY v.date_created DESC, v.created_at DESC, v.id DESC), '') || ']') FROM few v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS reached FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.reached >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s CROSS JOIN LATERAL (
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
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS reached FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.reached >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s WHERE v.company_id = $1::uuid AND v.case_id = $2::uuid AND ($5::text IS NULL OR s.status = $5::text)
  AND ($6::timestamptz IS NULL OR v.date_due >= $6::timestamptz)
  AND ($7::timestamptz IS NULL OR v.date_due < $7::timestamptz) WINDOW before AS (ORDER BY v.date_created DESC, v.created_at DESC, v.id DESC ROWS UNBOUNDED PRECEDING)
                      ORDER BY n LIMIT $8::int OFFSET $9::int) r
              GROUP BY r.piece ORDER BY r.piece OFFSET 0) p
      CROSS JOIN LATERAL (
        SELECT string_agg(('{"id":"' || (v.id) || '","ref":null,"notes":null,"terms":' || to_json(v.terms)::text || ',"date_due":"' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","date_sent":' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ',"date_paid":' || coalesce('"' || (s.date_paid) || '"', 'null') || ',"payment_terms":' || to_json(v.payment_terms)::text || ',"subtotal":' || (v.sub_total)::text || ',"total":' || (v.total)::text || ',"invoice_number":' || to_json(v.invoice_number)::text || ',"recipients_name":' || to_json(v.recipients_name)::text || ',"vat_amount":' || (v.vat_amount)::text || ',"customer_case_id":"' || (v.case_id) || '","date_created":"' || (($3::text::text || (floor(extract(epoch FROM v.date_created)) + 140000000000)::text)) || '","status":"' || (s.status) || '","mail_sent":' || (v.date_sent IS NOT NULL)::text || ',"payable_online":' || (false)::text || ',"formatted_recurring_interval":null,"items":' || i.items || '}'), ',' ORDER BY v.date_created DESC, v.created_at DESC, v.id DESC) AS elements FROM unnest(p.records) v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS reached FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.reached >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s CROSS JOIN LATERAL (
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
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS reached FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.reached >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s WHERE v.company_id = $1::uuid AND v.case_id = $2::uuid AND ($5::text IS NULL OR s.status = $5::text)
  AND ($6::timestamptz IS NULL OR v.date_due >= $6::timestamptz)
  AND ($7::timestamptz IS NULL OR v.date_due < $7::timestamptz) WINDOW before AS (ORDER BY v.date_created DESC, v.created_at DESC, v.id DESC ROWS UNBOUNDED PRECEDING)
                      ORDER BY n ) r
              GROUP BY r.piece ORDER BY r.piece OFFSET 0) p
      CROSS JOIN LATERAL (
        SELECT string_agg(('{"id":"' || (v.id) || '","ref":null,"notes":null,"terms":' || to_json(v.terms)::text || ',"date_due":"' || (to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '","date_sent":' || coalesce('"' || (to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ',"date_paid":' || coalesce('"' || (s.date_paid) || '"', 'null') || ',"payment_terms":' || to_json(v.payment_terms)::text || ',"subtotal":' || (v.sub_total)::text || ',"total":' || (v.total)::text || ',"invoice_number":' || to_json(v.invoice_number)::text || ',"recipients_name":' || to_json(v.recipients_name)::text || ',"vat_amount":' || (v.vat_amount)::text || ',"customer_case_id":"' || (v.case_id) || '","date_created":"' || (($3::text::text || (floor(extract(epoch FROM v.date_created)) + 140000000000)::text)) || '","status":"' || (s.status) || '","mail_sent":' || (v.date_sent IS NOT NULL)::text || ',"payable_online":' || (false)::text || ',"formatted_recurring_interval":null,"items":' || i.items || '}'), ',' ORDER BY v.date_created DESC, v.created_at DESC, v.id DESC) AS elements FROM unnest(p.records) v CROSS JOIN LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS reached FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.reached >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s CROSS JOIN LATERAL (
SELECT ('[' || coalesce(string_agg(('{"id":"' || (t.id) || '","description":' || to_json(t.description)::text || ',"amount":' || (t.amount)::text || ',"quantity":' || (t.quantity)::text || ',"rate":' || (t.rate)::text || ',"subtotal":' || (t.subtotal)::text || ',"vat_amount":' || (t.vat_amount)::text || ',"status":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END) || '"', 'null') || ',"paid_at":' || coalesce('"' || (CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END) || '"', 'null') || ',"case_invoice_id":"' || (t.invoice_id) || '","customer_case_id":"' || (t.case_id) || '","has_vat":' || (t.vat_amount <> 0)::text || '}'), ',' ORDER BY t.position), '') || ']') AS items FROM invoice_items t
 WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id AND ($4::boolean OR t.cancelled_at IS NULL)) i) e
      ORDER BY p.piece;

