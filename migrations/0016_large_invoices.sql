-- How many items and payments an invoice has, so that a list can tell how long it will be before it is put together, and a
-- log entry how much it would copy. Null for an invoice of an earlier release: it is counted when it is needed. A release
-- from before this migration leaves the columns as they are, so they are estimates and nothing depends on them but size.
ALTER TABLE invoices ADD item_count integer, ADD payment_count integer;

-- Of how many rows the images of an entry are made, if they are many; a page of the log is cut by it. An entry of a large
-- invoice has in `was` only what its change touched: {"invoices": {…}, "changed": {table: [rows as they were]},
-- "added": {table: [ids]}}. Every thousandth version is kept whole.
ALTER TABLE events ADD image_rows integer;

-- Returns what such an entry would have kept if it had kept everything: the rows of the next whole entry, or those that
-- are there now, with every change in between taken back. The first entry that mentions a row knows what it was.
CREATE FUNCTION whole_invoice_entry(company uuid, in_case uuid, invoice uuid, at_position bigint) RETURNS json
LANGUAGE sql STABLE AS $$
  WITH entries AS MATERIALIZED (
    SELECT e.position, e.was, e.was -> 'invoice_items' IS NOT NULL AS is_whole
      FROM events e
     WHERE e.company_id = company AND e.case_id = in_case AND e.record_id = invoice AND e.position >= at_position
       AND e.was IS NOT NULL AND e.position <= coalesce((
         SELECT n.position FROM events n
          WHERE n.company_id = company AND n.case_id = in_case AND n.record_id = invoice AND n.position >= at_position
            AND n.was -> 'invoice_items' IS NOT NULL
          ORDER BY n.position LIMIT 1), e.position)
  ), whole AS MATERIALIZED (
    SELECT was FROM entries WHERE is_whole
  ), mentioned AS MATERIALIZED (
    SELECT DISTINCT ON (m.part, m.id) m.part, m.id, m.kept
      FROM (SELECT e.position, c.key AS part, (r.value ->> 'id')::uuid AS id, r.value AS kept
              FROM entries e, json_each(e.was -> 'changed') c, json_array_elements(c.value) r WHERE NOT e.is_whole
             UNION ALL
            SELECT e.position, a.key, i.id::uuid, NULL
              FROM entries e, json_each(e.was -> 'added') a, json_array_elements_text(a.value) AS i (id) WHERE NOT e.is_whole) m
     ORDER BY m.part, m.id, m.position
  ), later AS (
    SELECT p.part, (r.value ->> 'id')::uuid AS id, r.value AS kept
      FROM whole, (VALUES ('invoice_items'), ('payments')) AS p (part), json_array_elements(whole.was -> p.part) r
     UNION ALL
    SELECT 'invoice_items', t.id, to_json(t) FROM invoice_items t
     WHERE t.company_id = company AND t.case_id = in_case AND t.invoice_id = invoice AND NOT EXISTS (SELECT FROM whole)
     UNION ALL
    SELECT 'payments', y.id, to_json(y) FROM payments y
     WHERE y.company_id = company AND y.case_id = in_case AND y.invoice_id = invoice AND NOT EXISTS (SELECT FROM whole)
  ), parts AS (
    SELECT l.part, l.kept FROM later l LEFT JOIN mentioned m USING (part, id) WHERE m.id IS NULL
     UNION ALL
    SELECT m.part, m.kept FROM mentioned m WHERE m.kept IS NOT NULL
  )
  SELECT json_build_object(
    'invoices', e.was -> 'invoices',
    'invoice_items', (SELECT coalesce(json_agg(p.kept), '[]') FROM parts p WHERE p.part = 'invoice_items'),
    'payments', (SELECT coalesce(json_agg(p.kept), '[]') FROM parts p WHERE p.part = 'payments'))
    FROM entries e WHERE e.position = at_position
$$;

DO $$
BEGIN
  EXECUTE format('ALTER FUNCTION whole_invoice_entry SET search_path = %I, pg_temp', current_schema());
END $$;
