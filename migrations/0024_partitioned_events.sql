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

-- For the next migration, which gives the partition an end far beyond all positions that are in use. A write that passed it
-- would be refused, and none can: not by growth, and a restore moves the positions on by a hundredth of that.
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

-- The partitions in the order of their positions. The first has no beginning and the last has no end, so that every position
-- has a partition. The last is empty: it is there for positions that nobody foresaw. Events go to the one before.
CREATE FUNCTION event_partitions(OUT partition regclass, OUT until_position bigint, OUT is_closed boolean) RETURNS SETOF record
LANGUAGE sql STABLE AS $$
  SELECT p.partition, p.until, row_number() OVER (ORDER BY p.until DESC NULLS FIRST) > 2
    FROM (SELECT c.oid::regclass AS partition,
                 substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO \(''?([0-9]+)')::bigint AS until
            FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'events'::regclass) p
   ORDER BY p.until NULLS LAST
$$;

-- A partition like the others. What fits onto a page is not compressed, as in 0009.
CREATE FUNCTION create_event_partition(name text, range text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TABLE %I PARTITION OF events FOR VALUES %s WITH (toast_tuple_target = 8160)', name, range);
  EXECUTE format('CREATE STATISTICS %I (dependencies) ON company_id, case_id, record_id FROM %I', name || '_of_records', name);
  EXECUTE format('CREATE TRIGGER events_stay_all BEFORE TRUNCATE ON %I EXECUTE FUNCTION refuse_change_of_events()', name);
  PERFORM keep_event_partition_private(name::regclass);
END $$;

-- Ends the partition that events go to: the last one, which is empty, gets an end and takes over, and a new one follows. The
-- sequence moves to where it begins, so nothing is read and no row is moved. Positions that are passed over do not matter:
-- there are enough for ten thousands of partitions. Only the owner may do this. Imports move the sequence under the same lock.
CREATE FUNCTION close_event_partition(beyond bigint) RETURNS void LANGUAGE plpgsql SET lock_timeout = '3s' AS $$
DECLARE
  next_partition regclass;
  next_from bigint;
  next_until bigint;
  is_used boolean;
BEGIN
  PERFORM pg_advisory_xact_lock(7226004);
  -- Writers queue behind this lock, so it is given up soon.
  PERFORM set_config('lock_timeout', '300ms', true);
  LOCK TABLE ONLY events IN ACCESS EXCLUSIVE MODE;
  SELECT max(until_position) INTO next_from FROM event_partitions();
  SELECT partition INTO next_partition FROM event_partitions() WHERE until_position IS NULL;
  EXECUTE format('SELECT EXISTS (SELECT FROM %s)', next_partition) INTO is_used;
  IF is_used THEN
    RAISE EXCEPTION 'Somebody has moved event_positions beyond %. The log works, but % cannot be closed.', next_from, next_partition;
  END IF;
  next_until := (greatest(next_from, beyond) / 100000000000 + 2) * 100000000000;
  EXECUTE format('ALTER TABLE events DETACH PARTITION %s', next_partition);
  EXECUTE format('ALTER TABLE events ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s)', next_partition, next_from, next_until);
  PERFORM create_event_partition('events_' || next_until / 100000000000, format('FROM (%s) TO (MAXVALUE)', next_until));
  PERFORM setval('event_positions', next_from) FROM event_positions WHERE last_value < next_from;
END $$;

-- With a retention there are some thirty partitions, so that whole ones get old; without one there are fewer, each larger than
-- the one before. So their number grows with the logarithm of the log, and reading the history of a record with it.
CREATE FUNCTION full_event_partition_bytes(log_bytes numeric, is_forgotten boolean) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN is_forgotten THEN greatest(1e9, log_bytes / 32) ELSE greatest(8e9, log_bytes / 8) END
$$;

-- Closes the partition that events go to if it is full, or if its end could be reached. As the owner: the service's own role
-- can have no more partitions made than the log needs.
CREATE FUNCTION close_full_event_partition() RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  reached bigint := (SELECT last_value FROM event_positions);
  log_bytes numeric;
  used_bytes numeric;
  used_until bigint;
BEGIN
  SELECT sum(pg_table_size(partition)), sum(pg_table_size(partition)) FILTER (WHERE NOT is_closed), max(until_position)
    INTO log_bytes, used_bytes, used_until FROM event_partitions();
  -- Null before the next migration.
  IF used_until IS NULL OR reached < used_until - 50000000000
     AND used_bytes < full_event_partition_bytes(log_bytes, EXISTS (SELECT FROM event_retention)) THEN
    RETURN false;
  END IF;
  PERFORM close_event_partition(reached);
  RETURN true;
END $$;

-- How many partitions from the first one on are closed and have only older events. The index by age tells that from few pages.
CREATE FUNCTION old_event_partitions(than timestamptz) RETURNS integer LANGUAGE plpgsql STABLE STRICT SET enable_seqscan = off AS $$
DECLARE
  old integer := 0;
  closed regclass;
  has_newer boolean;
BEGIN
  FOR closed IN SELECT partition FROM event_partitions() WHERE is_closed LOOP
    EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE at >= $1)', closed) INTO has_newer USING than;
    EXIT WHEN has_newer;
    old := old + 1;
  END LOOP;
  RETURN old;
END $$;

-- Removes the first partitions if all their events are older than the retention: earlier events of their records went before,
-- or go with them. An empty partition takes their place, because a company that is imported may have events there. As the
-- owner: the service's own role can have old events removed, and no others.
CREATE FUNCTION drop_old_event_partitions() RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET lock_timeout = '3s' AS $$
DECLARE
  kept_from timestamptz := (SELECT now() - make_interval(days => days) FROM event_retention);
  -- Null without a retention.
  old integer := old_event_partitions(kept_from);
  is_used boolean;
  dropped record;
BEGIN
  IF old IS NULL OR old = 0 THEN RETURN false; END IF;
  PERFORM pg_advisory_xact_lock(7226004);
  -- Autovacuum gives way after deadlock_timeout. Writers queue behind the other lock, so it is given up sooner.
  FOR dropped IN SELECT * FROM event_partitions() LIMIT old LOOP
    EXECUTE format('LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE', dropped.partition);
  END LOOP;
  PERFORM set_config('lock_timeout', '300ms', true);
  LOCK TABLE ONLY events IN ACCESS EXCLUSIVE MODE;
  -- An import may have written meanwhile, and another worker may have removed them.
  old := old_event_partitions(kept_from);
  SELECT * INTO dropped FROM event_partitions() LIMIT 1;
  EXECUTE format('SELECT EXISTS (SELECT FROM %s)', dropped.partition) INTO is_used;
  IF old = 0 OR old = 1 AND NOT is_used THEN RETURN false; END IF;
  FOR dropped IN SELECT * FROM event_partitions() LIMIT old LOOP
    EXECUTE format('DROP TABLE %s', dropped.partition);
  END LOOP;
  PERFORM create_event_partition(format('events_before_%s', dropped.until_position / 100000000000),
    format('FROM (MINVALUE) TO (%s)', dropped.until_position));
  RETURN true;
END $$;

REVOKE EXECUTE ON FUNCTION keep_event_partition_private, create_event_partition, close_event_partition,
  close_full_event_partition, drop_old_event_partitions FROM PUBLIC;

-- Temporary tables come first in a search path that does not name them.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['keep_event_partition_private', 'event_partitions', 'create_event_partition',
    'close_event_partition', 'full_event_partition_bytes', 'close_full_event_partition', 'old_event_partitions',
    'drop_old_event_partitions'] LOOP
    EXECUTE format('ALTER FUNCTION %I SET search_path = %I, pg_temp', name, current_schema());
  END LOOP;
END $$;
