-- invoice_sums.begin_building (writes; pool: short)
INSERT INTO invoice_sums_progress AS p (company_id, position, built_at)
SELECT c.id, $3::bigint, $4::timestamptz FROM companies c
 WHERE c.id = $1::uuid AND c.removal_started_at IS NULL AND $3::bigint <= (SELECT last_value FROM event_positions)
   AND NOT (SELECT count(*) > 1000 OR coalesce(sum(bytes), 0) > 2000000 FROM (
  SELECT e.position, e.case_id, e.record_id, i.is_of_invoice, CASE WHEN i.is_of_invoice THEN pg_column_size(e.was) END AS bytes
    FROM events e CROSS JOIN LATERAL (SELECT e.type LIKE 'invoice.%' AS is_of_invoice) i
   WHERE e.company_id = $1::uuid AND e.position > $3::bigint ORDER BY e.position LIMIT 1001) e)
    ON CONFLICT (company_id) DO UPDATE SET position = excluded.position, built_at = excluded.built_at
 WHERE p.position = $2::bigint
RETURNING true AS begun;

-- invoice_sums.build (writes; pool: short)
  WITH recent_events AS MATERIALIZED (
    SELECT e.position, e.case_id, e.record_id, i.is_of_invoice, CASE WHEN i.is_of_invoice THEN pg_column_size(e.was) END AS bytes
      FROM events e CROSS JOIN LATERAL (SELECT e.type LIKE 'invoice.%' AS is_of_invoice) i
     WHERE e.company_id = $1::uuid AND e.position > $2::bigint ORDER BY e.position
  )
  INSERT INTO invoice_sums AS s (company_id, unit, start, status, count, outstanding)
  SELECT $1::uuid, u.unit, date_trunc(u.unit, a.date_due AT TIME ZONE 'UTC')::date, a.status, sum(a.count),
         sum(a.outstanding)
    FROM (
    SELECT v.date_due, CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, 1 AS count, 1 * (v.total - v.paid) AS outstanding FROM invoices v WHERE v.company_id = $1::uuid AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END IN ('Not Paid', 'Part Paid') AND v.total > v.paid
     UNION ALL
    SELECT c.date_due, c.status, -c.count, -c.outstanding
      FROM (
    SELECT v.date_due, CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, 1 AS count, 1 * (v.total - v.paid) AS outstanding FROM (SELECT DISTINCT ON (e.case_id, e.record_id) e.case_id, e.record_id, e.position FROM recent_events e
              WHERE e.is_of_invoice AND e.position > $2::bigint ORDER BY e.case_id, e.record_id, e.position) f
     CROSS JOIN LATERAL (
             SELECT * FROM invoices v
              WHERE v.company_id = $1::uuid AND v.case_id = f.case_id AND v.id = f.record_id OFFSET 0) v
     WHERE CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END IN ('Not Paid', 'Part Paid') AND v.total > v.paid
     UNION ALL
    SELECT v.date_due, CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, -1 AS count, -1 * (v.total - v.paid) AS outstanding FROM (SELECT DISTINCT ON (e.case_id, e.record_id) e.case_id, e.record_id, e.position FROM recent_events e
              WHERE e.is_of_invoice AND e.position > $2::bigint ORDER BY e.case_id, e.record_id, e.position) f CROSS JOIN LATERAL (
             SELECT r.* FROM events e CROSS JOIN json_populate_record(NULL::invoices, e.was->'invoices') r
              WHERE e.company_id = $1::uuid AND e.case_id = f.case_id AND e.record_id = f.record_id
                AND e.position = f.position OFFSET 0) v
     WHERE v.id IS NOT NULL AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END IN ('Not Paid', 'Part Paid') AND v.total > v.paid) c) a CROSS JOIN (VALUES ('month'), ('day')) u (unit)
   GROUP BY 2, 3, 4 HAVING sum(a.count) <> 0 OR sum(a.outstanding) <> 0
      ON CONFLICT (company_id, unit, start, status) DO UPDATE
         SET count = s.count + excluded.count, outstanding = s.outstanding + excluded.outstanding;

-- invoice_sums.companies_to_build (reads; pool: search)
SELECT count(*)::int AS value FROM companies c LEFT JOIN invoice_sums_progress p ON p.company_id = c.id
 WHERE c.removal_started_at IS NULL AND p.built_at BETWEEN $1::timestamptz - interval '2 days' AND $1::timestamptz + interval '1 hour' IS NOT TRUE;

-- invoice_sums.delete (writes; pool: short)
DELETE FROM invoice_sums WHERE company_id = $1::uuid;

-- invoice_sums.find_outdated (reads; pool: search)
SELECT c.id AS company_id, p.position::text,
       p.position IS NULL OR b.is_old OR (SELECT count(*) > 1000 OR coalesce(sum(bytes), 0) > 2000000 FROM (SELECT e.bytes FROM (
  SELECT e.position, e.case_id, e.record_id, i.is_of_invoice, CASE WHEN i.is_of_invoice THEN pg_column_size(e.was) END AS bytes
    FROM events e CROSS JOIN LATERAL (SELECT e.type LIKE 'invoice.%' AS is_of_invoice) i
   WHERE e.company_id = c.id AND e.position > p.position ORDER BY e.position LIMIT 1001) e
          WHERE e.position <= $1::bigint) e) AS must_build
  FROM companies c LEFT JOIN invoice_sums_progress p ON p.company_id = c.id
 CROSS JOIN LATERAL (
   SELECT p.built_at < $2::timestamptz - interval '18 hours' - (hashtext(c.id::text) & 1023) * interval '20 seconds' OR NOT p.built_at BETWEEN $2::timestamptz - interval '2 days' AND $2::timestamptz + interval '1 hour' AS is_old) b
 WHERE c.removal_started_at IS NULL
   AND (p.position IS NULL OR b.is_old
        OR EXISTS (SELECT FROM events e WHERE e.company_id = c.id AND e.position > p.position
                      AND e.position <= $1::bigint))
 ORDER BY p.position;

-- invoice_sums.follow_events (writes; pool: short)
  WITH free AS MATERIALIZED (
    SELECT company_id FROM invoice_sums_progress
     WHERE company_id = $1::uuid AND position = $2::bigint AND $3::bigint <= (SELECT last_value FROM event_positions)
       FOR NO KEY UPDATE SKIP LOCKED
  ), moved AS (
    UPDATE invoice_sums_progress p SET position = $3::bigint FROM free WHERE p.company_id = free.company_id
    RETURNING p.company_id
  ), recent_events AS MATERIALIZED (
    SELECT e.position, e.case_id, e.record_id, i.is_of_invoice, CASE WHEN i.is_of_invoice THEN pg_column_size(e.was) END AS bytes
      FROM events e CROSS JOIN LATERAL (SELECT e.type LIKE 'invoice.%' AS is_of_invoice) i
     WHERE e.company_id = $1::uuid AND e.position > $2::bigint ORDER BY e.position
  )
  INSERT INTO invoice_sums AS s (company_id, unit, start, status, count, outstanding)
  SELECT $1::uuid, u.unit, date_trunc(u.unit, a.date_due AT TIME ZONE 'UTC')::date, a.status, sum(a.count),
         sum(a.outstanding)
    FROM (
    SELECT a.* FROM (
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
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END IN ('Not Paid', 'Part Paid') AND v.total > v.paid
     UNION ALL
    SELECT c.date_due, c.status, -c.count, -c.outstanding
      FROM (
    SELECT v.date_due, CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, 1 AS count, 1 * (v.total - v.paid) AS outstanding FROM (SELECT DISTINCT ON (e.case_id, e.record_id) e.case_id, e.record_id, e.position FROM recent_events e
              WHERE e.is_of_invoice AND e.position > $3::bigint ORDER BY e.case_id, e.record_id, e.position) f
     CROSS JOIN LATERAL (
             SELECT * FROM invoices v
              WHERE v.company_id = $1::uuid AND v.case_id = f.case_id AND v.id = f.record_id OFFSET 0) v
     WHERE CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END IN ('Not Paid', 'Part Paid') AND v.total > v.paid
     UNION ALL
    SELECT v.date_due, CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, -1 AS count, -1 * (v.total - v.paid) AS outstanding FROM (SELECT DISTINCT ON (e.case_id, e.record_id) e.case_id, e.record_id, e.position FROM recent_events e
              WHERE e.is_of_invoice AND e.position > $3::bigint ORDER BY e.case_id, e.record_id, e.position) f CROSS JOIN LATERAL (
             SELECT r.* FROM events e CROSS JOIN json_populate_record(NULL::invoices, e.was->'invoices') r
              WHERE e.company_id = $1::uuid AND e.case_id = f.case_id AND e.record_id = f.record_id
                AND e.position = f.position OFFSET 0) v
     WHERE v.id IS NOT NULL AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END IN ('Not Paid', 'Part Paid') AND v.total > v.paid) c) a WHERE EXISTS (SELECT FROM moved)) a CROSS JOIN (VALUES ('month'), ('day')) u (unit)
   GROUP BY 2, 3, 4 HAVING sum(a.count) <> 0 OR sum(a.outstanding) <> 0
      ON CONFLICT (company_id, unit, start, status) DO UPDATE
         SET count = s.count + excluded.count, outstanding = s.outstanding + excluded.outstanding;

