-- One log of every change, written by the statement that makes the change. An entry keeps what the record was before;
-- what it became is what its next entry has as before, or else the record itself. So nothing is written twice.

-- Ids of events are made from positions under a key of the company: they tell nobody how much others write.
ALTER TABLE companies ADD event_key bytea NOT NULL DEFAULT uuid_send(gen_random_uuid());

CREATE SEQUENCE event_positions;
-- The first position is 2: every one is greater than what the sequence showed before it was given.
SELECT setval('event_positions', 1);

-- No foreign keys: the log outlives what it tells of, and its writing locks nothing.
CREATE TABLE events (
  company_id uuid NOT NULL,
  -- Of two changes of one record the later has the greater one. A reader stays below those that are still being written
  -- (src/events/events.sql.ts).
  position bigint NOT NULL,
  case_id uuid,
  record_id uuid NOT NULL,
  -- <record>.<what happened>
  type text NOT NULL,
  at timestamptz NOT NULL,
  -- {"actor": {"type", "id", "name"}, "request_id"}
  origin json NOT NULL,
  before json,
  PRIMARY KEY (company_id, position)
);
CREATE INDEX events_record ON events (company_id, record_id, position);
CREATE INDEX events_case ON events (company_id, case_id, position) WHERE case_id IS NOT NULL;
-- They lie in the order of time: a few bytes per hundred pages find the old ones.
CREATE INDEX events_age ON events USING brin (at) WITH (pages_per_range = 32);

-- Up to here everything is there to be read: whoever is still writing has shown by a lock that it takes a greater
-- position (src/kernel/record-log.ts). To be asked before the statement that reads, whose view is then the later one.
CREATE FUNCTION settled_events(company uuid) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  top bigint;
  lowest bigint;
BEGIN
  SELECT last_value INTO top FROM event_positions;
  SELECT min(top - ((top - l.objid::bigint) & 2147483647)) INTO lowest
    FROM pg_locks l
   WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.mode = 'ShareLock'
     AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
     AND l.classid = (uuid_hash(company)::bigint & 4294967295)::oid;
  RETURN least(top, lowest);
END $$;

-- How long they are kept; no row: for ever. Who may write this may have events forgotten, so the service may not.
CREATE TABLE event_retention (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  days integer NOT NULL CHECK (days >= 30)
);

CREATE FUNCTION refuse_change_of_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND OLD.at < now() - (SELECT make_interval(days => days) FROM event_retention) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'The event log cannot be changed.' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER events_stay BEFORE UPDATE OR DELETE ON events FOR EACH ROW EXECUTE FUNCTION refuse_change_of_events();
CREATE TRIGGER events_stay_all BEFORE TRUNCATE ON events EXECUTE FUNCTION refuse_change_of_events();

-- As its owner: the service's own role can have old events forgotten, and no others.
CREATE FUNCTION forget_events(most integer) RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  WITH gone AS (
    DELETE FROM events e
     USING (SELECT company_id, position FROM events
             WHERE at < now() - (SELECT make_interval(days => days) FROM event_retention) LIMIT most) old
     WHERE e.company_id = old.company_id AND e.position = old.position
    RETURNING 1
  )
  SELECT count(*) FROM gone
$$;
REVOKE EXECUTE ON FUNCTION forget_events FROM PUBLIC;
