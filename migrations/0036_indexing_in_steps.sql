-- A case may have any number of records, and all of them are indexed anew when its reference or a customer changes. So the
-- worker takes some hundred of them per transaction, and what it has done is kept here.
ALTER TABLE search_progress
  -- The cases that are indexed anew, in this order.
  ADD COLUMN cases uuid[] NOT NULL DEFAULT '{}',
  -- The last record of the first of them that is done. Null: none.
  ADD COLUMN done_kind text,
  ADD COLUMN done_id uuid,
  -- The region by which phone numbers were read. Null: unknown, as the previous release writes it.
  ADD COLUMN phone_region text,
  -- A company whose step failed waits, so that it holds up no other.
  ADD COLUMN failures integer NOT NULL DEFAULT 0,
  ADD COLUMN retry_at timestamptz;

UPDATE search_progress p SET phone_region = c.phone_region FROM companies c WHERE c.id = p.company_id;
