-- Reads the events that were there before 0024, so that their partition can be closed. The log is written to meanwhile. If
-- it is interrupted, it starts again.
ALTER TABLE events_0 VALIDATE CONSTRAINT events_until;

-- Rows are deleted one by one only if their partition is needed for longer than a thirtieth of the retention, and so never
-- in a log that fills a partition in that time. drop_old_event_partition removes the others.
CREATE OR REPLACE FUNCTION forget_events(most integer) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET enable_seqscan = off SET enable_mergejoin = off AS $$
DECLARE
  retention interval := (SELECT make_interval(days => days) FROM event_retention);
  kept_from timestamptz := now() - retention;
  forgotten bigint;
BEGIN
  IF retention IS NULL OR first_event_partition_is_older(kept_from + retention / 30) THEN RETURN 0; END IF;
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
