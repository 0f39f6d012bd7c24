-- The event log becomes a table of partitions by position. The table that is there becomes the first partition as it is:
-- no row is moved or read. Only the names change, under a lock that is held for milliseconds.

-- Writers queue behind a waiting lock, so it is given up and tried again until no transaction is in the way.
DO $$
BEGIN
  FOR attempt IN 1..300 LOOP
    BEGIN
      PERFORM set_config('lock_timeout', '300ms', true);
      LOCK TABLE events IN ACCESS EXCLUSIVE MODE;
      EXIT;
    EXCEPTION WHEN lock_not_available THEN
      IF attempt = 300 THEN
        RAISE EXCEPTION 'A transaction has kept the event log locked for minutes. Find it in pg_stat_activity, then try again.';
      END IF;
      PERFORM pg_sleep(0.5);
    END;
  END LOOP;
END $$;

ALTER TABLE events RENAME TO events_0;
ALTER INDEX events_pkey RENAME TO events_0_pkey;
ALTER INDEX events_record RENAME TO events_0_record;
ALTER INDEX events_age RENAME TO events_0_age;
ALTER STATISTICS events_of_records RENAME TO events_0_of_records;
DROP TRIGGER events_stay ON events_0;

CREATE TABLE events (LIKE events_0 INCLUDING DEFAULTS) PARTITION BY RANGE (position);
ALTER TABLE events ADD PRIMARY KEY (company_id, position);
CREATE INDEX events_record ON events (company_id, case_id, record_id, position);
CREATE INDEX events_age ON events USING brin (at) WITH (pages_per_range = 32, autosummarize = on);
CREATE STATISTICS events_of_records (dependencies) ON company_id, case_id, record_id FROM events;
CREATE TRIGGER events_stay BEFORE UPDATE OR DELETE ON events FOR EACH ROW EXECUTE FUNCTION refuse_change_of_events();
CREATE TRIGGER events_stay_all BEFORE TRUNCATE ON events EXECUTE FUNCTION refuse_change_of_events();

-- Each partition has the positions up to the limit in its check events_until, and the last one also has all that come after it.
-- The limit is so far away that no log gets there. When the last partition is full, the next one begins at the limit and
-- the sequence is moved there. So nothing has to be read to close a partition, and no position is ever without one.
-- The check is not valid yet: the next migration reads the table for that, while it is written to.
DO $$
BEGIN
  EXECUTE format('ALTER TABLE events_0 ADD CONSTRAINT events_until CHECK (position < %s) NOT VALID',
    ((SELECT last_value FROM event_positions) / 100000000000 + 2) * 100000000000);
END $$;
ALTER TABLE events ATTACH PARTITION events_0 FOR VALUES FROM (MINVALUE) TO (MAXVALUE);

-- The rights are those of the log. A partition has none of its own, whatever a new table gets by default.
CREATE FUNCTION keep_event_partition_private(partition regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  grantee text;
BEGIN
  FOR grantee IN
    SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
      FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = partition AND a.grantee <> c.relowner
  LOOP
    EXECUTE format('REVOKE ALL ON %s FROM %s', partition, grantee);
  END LOOP;
END $$;

DO $$
DECLARE
  had record;
BEGIN
  EXECUTE format('ALTER TABLE events OWNER TO %s', (SELECT relowner::regrole FROM pg_class WHERE oid = 'events_0'::regclass));
  FOR had IN
    SELECT a.privilege_type, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee
      FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = 'events_0'::regclass AND a.grantee <> c.relowner
  LOOP
    EXECUTE format('GRANT %s ON events TO %s', had.privilege_type, had.grantee);
  END LOOP;
  PERFORM keep_event_partition_private('events_0');
END $$;

-- The partitions in the order of their positions. `is_proven` is whether the check is known to hold for all rows.
CREATE FUNCTION event_partitions(OUT partition regclass, OUT from_position bigint, OUT until_position bigint, OUT is_proven boolean)
RETURNS SETOF record LANGUAGE sql STABLE AS $$
  SELECT p.partition, lag(p.until) OVER (ORDER BY p.until), p.until, p.convalidated
    FROM (SELECT c.conrelid::regclass AS partition, c.convalidated,
                 substring(pg_get_constraintdef(c.oid) FROM '< ''?([0-9]+)')::bigint AS until
            FROM pg_inherits i JOIN pg_constraint c ON c.conrelid = i.inhrelid AND c.conname = 'events_until'
           WHERE i.inhparent = 'events'::regclass) p
   ORDER BY p.until
$$;

-- Waits until nothing else works on the partition, and then for a moment in which nothing uses the log. Fails if there is
-- none: writers queue behind this lock. Autovacuum gives way after deadlock_timeout, so it is waited for first.
CREATE FUNCTION lock_event_partition(partition regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('lock_timeout', '3s', true);
  EXECUTE format('LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE', partition);
  PERFORM set_config('lock_timeout', '300ms', true);
  LOCK TABLE ONLY events IN ACCESS EXCLUSIVE MODE;
END $$;

-- Ends the last partition at its limit and begins the next one there, with a limit beyond `beyond`. The sequence moves to
-- where it begins. Only the owner may do this. Imports of companies set the sequence under the same lock.
CREATE FUNCTION close_event_partition(beyond bigint) RETURNS void LANGUAGE plpgsql SET lock_timeout = '3s' AS $$
DECLARE
  closed record;
  next_until bigint;
  next_partition text;
BEGIN
  PERFORM pg_advisory_xact_lock(7226004);
  SELECT * INTO closed FROM event_partitions() ORDER BY until_position DESC LIMIT 1;
  IF NOT closed.is_proven THEN
    RAISE EXCEPTION 'The check events_until of % is not validated. Run "case-records migrate".', closed.partition;
  END IF;
  next_until := (greatest(closed.until_position, beyond) / 100000000000 + 2) * 100000000000;
  next_partition := format('events_%s', closed.until_position / 100000000000);
  PERFORM lock_event_partition(closed.partition);
  EXECUTE format('ALTER TABLE events DETACH PARTITION %s', closed.partition);
  EXECUTE format('ALTER TABLE events ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s)',
    closed.partition, coalesce(closed.from_position::text, 'MINVALUE'), closed.until_position);
  -- What fits onto a page is not compressed, as in 0009.
  EXECUTE format('CREATE TABLE %I PARTITION OF events (CONSTRAINT events_until CHECK (position >= %s AND position < %s))
    FOR VALUES FROM (%2$s) TO (MAXVALUE) WITH (toast_tuple_target = 8160)',
    next_partition, closed.until_position, next_until);
  EXECUTE format('CREATE STATISTICS %I (dependencies) ON company_id, case_id, record_id FROM %I',
    next_partition || '_of_records', next_partition);
  EXECUTE format('CREATE TRIGGER events_stay_all BEFORE TRUNCATE ON %I EXECUTE FUNCTION refuse_change_of_events()', next_partition);
  PERFORM keep_event_partition_private(next_partition::regclass);
  PERFORM setval('event_positions', closed.until_position) FROM event_positions WHERE last_value < closed.until_position;
END $$;

-- With a retention there are some thirty partitions, so that whole ones get old; without one there are fewer, each larger than
-- the one before. So their number grows with the logarithm of the log, and reading the history of a record with it.
CREATE FUNCTION full_event_partition_bytes(log_bytes numeric, is_forgotten boolean) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN is_forgotten THEN greatest(1e9, log_bytes / 32) ELSE greatest(8e9, log_bytes / 8) END
$$;

-- Closes the last partition if it is full, or if its positions could run out. As the owner: the service's own role can
-- have no more partitions made than the log needs.
CREATE FUNCTION close_full_event_partition() RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  log_bytes numeric;
  last record;
  reached bigint := (SELECT last_value FROM event_positions);
BEGIN
  SELECT sum(pg_table_size(partition)) INTO log_bytes FROM event_partitions();
  SELECT *, pg_table_size(partition) AS bytes INTO last FROM event_partitions() ORDER BY until_position DESC LIMIT 1;
  IF NOT last.is_proven OR reached < last.until_position - 50000000000
     AND last.bytes < full_event_partition_bytes(log_bytes, EXISTS (SELECT FROM event_retention)) THEN
    RETURN false;
  END IF;
  PERFORM close_event_partition(reached);
  RETURN true;
END $$;

-- Whether the first partition is closed and all its events are older. The index by age tells that from few pages.
CREATE FUNCTION first_event_partition_is_older(than timestamptz) RETURNS boolean LANGUAGE plpgsql STABLE STRICT SET enable_seqscan = off AS $$
DECLARE
  first_partition regclass;
  has_newer boolean;
BEGIN
  SELECT partition INTO first_partition FROM event_partitions() LIMIT 1;
  IF (SELECT count(*) FROM event_partitions()) = 1 THEN RETURN false; END IF;
  EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE at >= $1)', first_partition) INTO has_newer USING than;
  RETURN NOT has_newer;
END $$;

-- Removes the first partition if all its events are older than the retention: earlier events of their records went before,
-- or go with them. The next partition takes its positions over, because a company that is imported may bring some. As
-- the owner: the service's own role can have old events removed, and no others.
CREATE FUNCTION drop_old_event_partition() RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET lock_timeout = '3s' AS $$
DECLARE
  kept_from timestamptz := (SELECT now() - make_interval(days => days) FROM event_retention);
  dropped record;
  next_partition record;
BEGIN
  PERFORM pg_advisory_xact_lock(7226004);
  -- Null without a retention.
  IF first_event_partition_is_older(kept_from) IS NOT TRUE THEN RETURN false; END IF;
  SELECT * INTO dropped FROM event_partitions() LIMIT 1;
  PERFORM lock_event_partition(dropped.partition);
  IF NOT first_event_partition_is_older(kept_from) THEN RETURN false; END IF;
  EXECUTE format('DROP TABLE %s', dropped.partition);
  SELECT * INTO next_partition FROM event_partitions() LIMIT 1;
  EXECUTE format('ALTER TABLE events DETACH PARTITION %s', next_partition.partition);
  EXECUTE format('ALTER TABLE events ATTACH PARTITION %s FOR VALUES FROM (MINVALUE) TO (%s)', next_partition.partition,
    CASE WHEN EXISTS (SELECT FROM event_partitions()) THEN next_partition.until_position::text ELSE 'MAXVALUE' END);
  RETURN true;
END $$;

REVOKE EXECUTE ON FUNCTION keep_event_partition_private, lock_event_partition, close_event_partition,
  close_full_event_partition, drop_old_event_partition FROM PUBLIC;

-- Temporary tables come first in a search path that does not name them.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['keep_event_partition_private', 'event_partitions', 'lock_event_partition',
    'close_event_partition', 'full_event_partition_bytes', 'close_full_event_partition', 'first_event_partition_is_older',
    'drop_old_event_partition'] LOOP
    EXECUTE format('ALTER FUNCTION %I SET search_path = %I, pg_temp', name, current_schema());
  END LOOP;
END $$;
