-- How many items and payments an invoice has, so that a list can tell how long it will be before it is put together, and a
-- log entry how much it would copy. Null for an invoice of an earlier release: it is counted when it is needed. A release
-- from before this migration leaves the columns as they are, so they are estimates and nothing depends on them but size.
ALTER TABLE invoices ADD item_count integer, ADD payment_count integer;

ALTER TABLE events
  -- For parts of a large record that `was` does not have, because copying them with every change would take megabytes: what
  -- the change touched, {table: {"changed": [rows as they were], "added": [ids]}}. A table that is not named is whole in `was`.
  ADD touched json,
  -- Of how many rows the images of an entry are made, if they are many; a page of the log is cut by it.
  ADD image_rows integer;

-- Returns the rows that an entry left out: those of the next entry that has them all, or the present ones, with every change
-- in between taken back. The first entry that mentions a row knows what it was.
CREATE FUNCTION untouched_invoice_part(company uuid, in_case uuid, invoice uuid, at_position bigint, part text) RETURNS json
LANGUAGE sql STABLE AS $$
  -- Found first and read afterwards: each may have megabytes.
  WITH next_whole AS MATERIALIZED (
    SELECT min(n.position) AS position FROM events n
     WHERE n.company_id = company AND n.case_id = in_case AND n.record_id = invoice AND n.position > at_position
       AND n.was IS NOT NULL AND n.touched -> part IS NULL
  ), whole AS MATERIALIZED (
    SELECT n.position, n.was -> part AS kept FROM next_whole w
      JOIN events n ON n.company_id = company AND n.position = w.position
  ), entries AS MATERIALIZED (
    SELECT e.position, e.touched -> part AS touched FROM events e
     WHERE e.company_id = company AND e.case_id = in_case AND e.record_id = invoice AND e.position >= at_position
       AND e.position < coalesce((SELECT position FROM whole), 9223372036854775807) AND e.touched IS NOT NULL
  ), mentioned AS MATERIALIZED (
    SELECT DISTINCT ON (m.id) m.id, m.kept
      FROM (SELECT e.position, (r.value ->> 'id')::uuid AS id, r.value AS kept
              FROM entries e, json_array_elements(e.touched -> 'changed') r
             UNION ALL
            SELECT e.position, a.id::uuid, NULL FROM entries e, json_array_elements_text(e.touched -> 'added') AS a (id)) m
     ORDER BY m.id, m.position
  ), later AS (
    SELECT (r.value ->> 'id')::uuid AS id, r.value AS kept FROM whole, json_array_elements(whole.kept) r
     UNION ALL
    SELECT t.id, to_json(t) FROM invoice_items t
     WHERE part = 'invoice_items' AND t.company_id = company AND t.case_id = in_case AND t.invoice_id = invoice
       AND NOT EXISTS (SELECT FROM whole)
     UNION ALL
    SELECT y.id, to_json(y) FROM payments y
     WHERE part = 'payments' AND y.company_id = company AND y.case_id = in_case AND y.invoice_id = invoice
       AND NOT EXISTS (SELECT FROM whole)
  )
  SELECT coalesce(json_agg(p.kept), '[]')
    FROM (SELECT l.kept FROM later l LEFT JOIN mentioned m USING (id) WHERE m.id IS NULL
           UNION ALL
          SELECT m.kept FROM mentioned m WHERE m.kept IS NOT NULL) p
$$;

-- Returns what an entry would have kept if it had kept everything.
CREATE FUNCTION whole_invoice_entry(company uuid, in_case uuid, invoice uuid, at_position bigint, was json, touched json)
RETURNS json LANGUAGE sql STABLE AS $$
  SELECT json_build_object('invoices', was -> 'invoices',
    'invoice_items', CASE WHEN touched -> 'invoice_items' IS NULL THEN was -> 'invoice_items'
                          ELSE untouched_invoice_part(company, in_case, invoice, at_position, 'invoice_items') END,
    'payments', CASE WHEN touched -> 'payments' IS NULL THEN was -> 'payments'
                     ELSE untouched_invoice_part(company, in_case, invoice, at_position, 'payments') END)
$$;

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['untouched_invoice_part', 'whole_invoice_entry'] LOOP
    EXECUTE format('ALTER FUNCTION %I SET search_path = %I, pg_temp', name, current_schema());
  END LOOP;
END $$;
