-- Reads the events that were there before 0024, while others are written. If it is interrupted, it starts again.
ALTER TABLE events_0 VALIDATE CONSTRAINT events_until;

-- As in 0024: the lock is held for milliseconds, and waited for in short attempts.
DO $$
DECLARE
  until_position text;
BEGIN
  FOR attempt IN 1..300 LOOP
    BEGIN
      PERFORM set_config('lock_timeout', '300ms', true);
      LOCK TABLE ONLY events IN ACCESS EXCLUSIVE MODE;
      EXIT;
    EXCEPTION WHEN lock_not_available THEN
      IF attempt = 300 THEN
        RAISE EXCEPTION 'A transaction has kept the event log locked for minutes. Find it in pg_stat_activity, then try again.';
      END IF;
      PERFORM pg_sleep(0.5);
    END;
  END LOOP;
  SELECT substring(pg_get_constraintdef(oid) FROM '< ''?([0-9]+)') INTO until_position
    FROM pg_constraint WHERE conrelid = 'events_0'::regclass AND conname = 'events_until';
  -- The check proves the end, so the table is not read again.
  ALTER TABLE events DETACH PARTITION events_0;
  EXECUTE format('ALTER TABLE events ATTACH PARTITION events_0 FOR VALUES FROM (MINVALUE) TO (%s)', until_position);
  -- It would cost every write some microseconds.
  ALTER TABLE events_0 DROP CONSTRAINT events_until;
  PERFORM create_event_partition('events_' || until_position::bigint / 100000000000, format('FROM (%s) TO (MAXVALUE)', until_position));
END $$;

-- Rows are deleted one by one only if their partition is needed for longer than a thirtieth of the retention, and so never
-- in a log that fills a partition in that time. drop_old_event_partitions removes the others. Of several partitions the
-- planner expects more old events than ever, so the events that are found lead to the others by their key.
CREATE OR REPLACE FUNCTION forget_events(most integer) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET enable_seqscan = off SET enable_mergejoin = off SET enable_hashjoin = off AS $$
DECLARE
  retention interval := (SELECT make_interval(days => days) FROM event_retention);
  kept_from timestamptz := now() - retention;
  forgotten bigint;
BEGIN
  IF retention IS NULL OR old_event_partitions(kept_from + retention / 30) > old_event_partitions(kept_from) THEN RETURN 0; END IF;
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

-- Ended alerts are deleted every hour: without it the table was read from end to end for that.
CREATE INDEX webhook_notices_ended ON webhook_notices (ended_at) WHERE ended_at IS NOT NULL;
