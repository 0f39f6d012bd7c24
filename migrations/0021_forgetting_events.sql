-- Pages that the index by age does not know are read every time. They are summarized as the log grows, not only when a
-- fifth of the log is new.
ALTER INDEX events_age SET (autosummarize = on);

-- event_retention has one row and is never analysed, so the planner expected thousands and read an index of the whole
-- log, also when no event was old: 40,872 pages among 40,000 events, now 38. The planner still does not know how few
-- old events there are: it would read the table from its beginning, or merge two whole indexes.
CREATE OR REPLACE FUNCTION forget_events(most integer) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET enable_seqscan = off SET enable_mergejoin = off AS $$
DECLARE
  kept_from timestamptz;
  forgotten bigint;
BEGIN
  SELECT now() - make_interval(days => days) INTO kept_from FROM event_retention;
  IF kept_from IS NULL THEN RETURN 0; END IF;
  WITH gone AS (
    DELETE FROM events e
     USING (SELECT o.company_id, o.position FROM events o
             WHERE o.at < kept_from AND NOT EXISTS (
               SELECT FROM events p
                WHERE p.company_id = o.company_id AND p.case_id = o.case_id AND p.record_id = o.record_id
                  AND p.position < o.position AND p.at >= kept_from)
             LIMIT most) old
     WHERE e.company_id = old.company_id AND e.position = old.position
    RETURNING 1
  )
  SELECT count(*) INTO forgotten FROM gone;
  RETURN forgotten;
END $$;

-- Replacing the function has dropped its search path: a temporary table `event_retention` would come first.
DO $$
BEGIN
  EXECUTE format('ALTER FUNCTION forget_events SET search_path = %I, pg_temp', current_schema());
END $$;
