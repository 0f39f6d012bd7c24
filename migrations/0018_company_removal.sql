-- A company can be removed with everything that belongs to it. Its rows are deleted in many small transactions, so that
-- an interrupted removal can be continued; until it has finished, this is set.
ALTER TABLE companies ADD removal_started_at timestamptz;

-- The event log cannot be changed, except that old events end with their retention, and all events with their company.
-- Only the owner of the table may delete.
CREATE OR REPLACE FUNCTION refuse_change_of_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND (
    OLD.at < now() - (SELECT make_interval(days => days) FROM event_retention)
    OR EXISTS (SELECT FROM companies WHERE id = OLD.company_id AND removal_started_at IS NOT NULL)
  ) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'The event log cannot be changed.' USING ERRCODE = 'insufficient_privilege';
END $$;

-- Replacing the function has dropped its search path: a temporary table `companies` would come first.
DO $$
BEGIN
  EXECUTE format('ALTER FUNCTION refuse_change_of_events SET search_path = %I, pg_temp', current_schema());
END $$;
