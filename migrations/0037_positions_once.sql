-- Moves the positions of the log on to this one, and begins another partition if the present one does not reach far beyond
-- it. Only the owner may do this: after a restore, and for the events of an imported company.
CREATE FUNCTION move_event_positions(target bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  -- Two imports must not set the sequence back.
  PERFORM pg_advisory_xact_lock(7226004);
  IF (SELECT max(until_position) FROM event_partitions()) < target + 50000000000 THEN
    BEGIN
      PERFORM close_event_partition(target);
    EXCEPTION WHEN raise_exception THEN
      -- Events go to the last partition already, which has no end.
    END;
  END IF;
  PERFORM setval('event_positions', target) FROM event_positions WHERE last_value < target;
END $$;

-- As in 0024, except that two workers which both find the partition full do not close two.
CREATE OR REPLACE FUNCTION close_full_event_partition() RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  reached bigint;
  log_bytes numeric;
  used_bytes numeric;
  used_until bigint;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7226004) THEN RETURN false; END IF;
  SELECT last_value INTO reached FROM event_positions;
  SELECT sum(pg_table_size(partition)), sum(pg_table_size(partition)) FILTER (WHERE NOT is_closed), max(until_position)
    INTO log_bytes, used_bytes, used_until FROM event_partitions();
  IF used_until IS NULL OR reached < used_until - 50000000000
     AND used_bytes < full_event_partition_bytes(log_bytes, EXISTS (SELECT FROM event_retention)) THEN
    RETURN false;
  END IF;
  PERFORM close_event_partition(reached);
  RETURN true;
END $$;

REVOKE EXECUTE ON FUNCTION move_event_positions FROM PUBLIC;

-- Replacing a function drops its search path.
DO $$
BEGIN
  EXECUTE format('ALTER FUNCTION move_event_positions SET search_path = %I, pg_temp', current_schema());
  EXECUTE format('ALTER FUNCTION close_full_event_partition SET search_path = %I, pg_temp', current_schema());
END $$;
