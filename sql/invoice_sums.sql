-- invoice_sums.begin_building (writes; pool: short)
INSERT INTO invoice_sums_progress (company_id, position, built_at)
SELECT c.id, $2::bigint, $3::timestamptz FROM companies c
 WHERE c.id = $1::uuid AND c.removal_started_at IS NULL
    ON CONFLICT (company_id) DO UPDATE SET position = excluded.position, built_at = excluded.built_at
RETURNING true AS begun;

-- invoice_sums.build (writes; pool: short)
  WITH later AS MATERIALIZED (
    SELECT e.position, e.case_id, e.record_id, i.is_of_invoice, CASE WHEN i.is_of_invoice THEN e.was END AS was
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
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, 1 AS count, 1 * (v.total - v.paid) AS outstanding FROM (SELECT DISTINCT ON (e.case_id, e.record_id) e.case_id, e.record_id, e.was->'invoices' AS was
              FROM (SELECT * FROM later WHERE position > $2::bigint) e WHERE e.is_of_invoice ORDER BY e.case_id, e.record_id, e.position) c
      JOIN invoices v ON v.company_id = $1::uuid AND v.case_id = c.case_id AND v.id = c.record_id
     WHERE CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END IN ('Not Paid', 'Part Paid') AND v.total > v.paid
     UNION ALL
    SELECT v.date_due, CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, -1 AS count, -1 * (v.total - v.paid) AS outstanding FROM (SELECT DISTINCT ON (e.case_id, e.record_id) e.case_id, e.record_id, e.was->'invoices' AS was
              FROM (SELECT * FROM later WHERE position > $2::bigint) e WHERE e.is_of_invoice ORDER BY e.case_id, e.record_id, e.position) c CROSS JOIN json_populate_record(NULL::invoices, c.was) v
     WHERE c.was IS NOT NULL AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END IN ('Not Paid', 'Part Paid') AND v.total > v.paid) c) a CROSS JOIN (VALUES ('month'), ('day')) u (unit)
   GROUP BY 2, 3, 4 HAVING sum(a.count) <> 0 OR sum(a.outstanding) <> 0
      ON CONFLICT (company_id, unit, start, status) DO UPDATE
         SET count = s.count + excluded.count, outstanding = s.outstanding + excluded.outstanding;

-- invoice_sums.delete (writes; pool: short)
DELETE FROM invoice_sums WHERE company_id = $1::uuid;

-- invoice_sums.find_outdated (reads; pool: short)
SELECT c.id AS company_id, p.position::text,
       p.position IS NULL OR p.built_at < $2::timestamptz - interval '1 day' OR e.count > 1000 AS must_build
  FROM companies c LEFT JOIN invoice_sums_progress p ON p.company_id = c.id
 CROSS JOIN LATERAL (
   SELECT count(*) FROM (SELECT FROM events e
     WHERE e.company_id = p.company_id AND e.position > p.position AND e.position <= $1::bigint
     LIMIT 1001) e) e
 WHERE c.removal_started_at IS NULL
   AND (p.position IS NULL OR p.built_at < $2::timestamptz - interval '1 day' OR e.count > 0);

-- invoice_sums.follow_events (writes; pool: short)
  WITH moved AS (
    UPDATE invoice_sums_progress SET position = $3::bigint
     WHERE company_id = $1::uuid AND position = $2::bigint RETURNING company_id
  ), later AS MATERIALIZED (
    SELECT e.position, e.case_id, e.record_id, i.is_of_invoice, CASE WHEN i.is_of_invoice THEN e.was END AS was
      FROM events e CROSS JOIN LATERAL (SELECT e.type LIKE 'invoice.%' AS is_of_invoice) i
     WHERE e.company_id = $1::uuid AND e.position > $2::bigint ORDER BY e.position
  )
  INSERT INTO invoice_sums AS s (company_id, unit, start, status, count, outstanding)
  SELECT $1::uuid, u.unit, date_trunc(u.unit, a.date_due AT TIME ZONE 'UTC')::date, a.status, sum(a.count),
         sum(a.outstanding)
    FROM (
    SELECT a.* FROM moved CROSS JOIN (
    SELECT v.date_due, CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, 1 AS count, 1 * (v.total - v.paid) AS outstanding FROM (SELECT DISTINCT ON (e.case_id, e.record_id) e.case_id, e.record_id, e.was->'invoices' AS was
              FROM later e WHERE e.is_of_invoice ORDER BY e.case_id, e.record_id, e.position) c
      JOIN invoices v ON v.company_id = $1::uuid AND v.case_id = c.case_id AND v.id = c.record_id
     WHERE CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END IN ('Not Paid', 'Part Paid') AND v.total > v.paid
     UNION ALL
    SELECT v.date_due, CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, -1 AS count, -1 * (v.total - v.paid) AS outstanding FROM (SELECT DISTINCT ON (e.case_id, e.record_id) e.case_id, e.record_id, e.was->'invoices' AS was
              FROM later e WHERE e.is_of_invoice ORDER BY e.case_id, e.record_id, e.position) c CROSS JOIN json_populate_record(NULL::invoices, c.was) v
     WHERE c.was IS NOT NULL AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END IN ('Not Paid', 'Part Paid') AND v.total > v.paid
     UNION ALL
    SELECT c.date_due, c.status, -c.count, -c.outstanding
      FROM (
    SELECT v.date_due, CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, 1 AS count, 1 * (v.total - v.paid) AS outstanding FROM (SELECT DISTINCT ON (e.case_id, e.record_id) e.case_id, e.record_id, e.was->'invoices' AS was
              FROM (SELECT * FROM later WHERE position > $3::bigint) e WHERE e.is_of_invoice ORDER BY e.case_id, e.record_id, e.position) c
      JOIN invoices v ON v.company_id = $1::uuid AND v.case_id = c.case_id AND v.id = c.record_id
     WHERE CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END IN ('Not Paid', 'Part Paid') AND v.total > v.paid
     UNION ALL
    SELECT v.date_due, CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, -1 AS count, -1 * (v.total - v.paid) AS outstanding FROM (SELECT DISTINCT ON (e.case_id, e.record_id) e.case_id, e.record_id, e.was->'invoices' AS was
              FROM (SELECT * FROM later WHERE position > $3::bigint) e WHERE e.is_of_invoice ORDER BY e.case_id, e.record_id, e.position) c CROSS JOIN json_populate_record(NULL::invoices, c.was) v
     WHERE c.was IS NOT NULL AND CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END IN ('Not Paid', 'Part Paid') AND v.total > v.paid) c) a) a CROSS JOIN (VALUES ('month'), ('day')) u (unit)
   GROUP BY 2, 3, 4 HAVING sum(a.count) <> 0 OR sum(a.outstanding) <> 0
      ON CONFLICT (company_id, unit, start, status) DO UPDATE
         SET count = s.count + excluded.count, outstanding = s.outstanding + excluded.outstanding;

