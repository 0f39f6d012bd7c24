-- One log of every change, written by the statement that makes the change. An entry keeps what the record was before;
-- what it became is what its next entry has as before, or else the record itself. So nothing is written twice.

-- Ids of events are made from positions under a key of the company: they tell nobody how much others write.
ALTER TABLE companies ADD event_key bytea NOT NULL DEFAULT uuid_send(gen_random_uuid());

CREATE SEQUENCE event_positions;

-- No foreign keys: the log outlives what it tells of, and its writing locks nothing.
CREATE TABLE events (
  company_id uuid NOT NULL,
  -- Of two changes of one record the later has the greater one. See settled_events for what a reader has to mind.
  position bigint NOT NULL DEFAULT nextval('event_positions'),
  -- Zeros for what belongs to no case.
  case_id uuid NOT NULL,
  record_id uuid NOT NULL,
  -- <record>.<what happened>
  type text NOT NULL,
  at timestamptz NOT NULL,
  -- {"actor": {"type", "id", "name"}, "request_id"}
  origin json NOT NULL,
  before json,
  PRIMARY KEY (company_id, position)
  -- What fits onto a page is not compressed: on invoices that cost more than the rest of the entry.
) WITH (toast_tuple_target = 8160);
-- One for the history of a record and for that of a case, whose events it gives in another order: a third index would
-- cost every write more than the sorting costs a reader.
CREATE INDEX events_record ON events (company_id, case_id, record_id, position);
-- They lie in the order of time: a few bytes per hundred pages find the old ones.
CREATE INDEX events_age ON events USING brin (at) WITH (pages_per_range = 32);

-- Up to here everything is there to be read. A position is given before it is committed, so a later one may be seen
-- first: whoever was writing when the last was given is waited for. They are known by the lock that every insert has,
-- and a writer who comes later takes greater ones. Null where somebody takes longer than that. To be asked before
-- the statement that reads, whose view is then the later one.
CREATE FUNCTION settled_events(patience interval DEFAULT '200 milliseconds') RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  top bigint;
  writers text[];
  latest timestamptz := clock_timestamp() + patience;
BEGIN
  SELECT last_value INTO top FROM event_positions;
  LOOP
    writers := ARRAY(
      SELECT l.virtualtransaction FROM pg_locks l
       WHERE l.locktype = 'relation' AND l.relation = 'events'::regclass AND l.mode = 'RowExclusiveLock'
         AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
         AND l.pid <> pg_backend_pid() AND (writers IS NULL OR l.virtualtransaction = ANY (writers)));
    IF cardinality(writers) = 0 THEN RETURN top; END IF;
    IF clock_timestamp() > latest THEN RETURN NULL; END IF;
    PERFORM pg_sleep(0.001);
  END LOOP;
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
