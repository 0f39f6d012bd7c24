-- The sums of what is outstanding, so that asking for them does not read every open invoice. They count what the event log
-- says up to a position, and can be built anew from the invoices at any time.

CREATE TABLE invoice_sums_progress (
  -- The release before this one removes companies without knowing this table.
  company_id uuid PRIMARY KEY REFERENCES companies ON DELETE CASCADE,
  -- The sums count each invoice as it was after the events up to this one.
  position bigint NOT NULL,
  built_at timestamptz NOT NULL
);

-- Open invoices by the UTC day on which they are due, and the same ones by month, so that a sum of many years reads few rows.
CREATE TABLE invoice_sums (
  company_id uuid NOT NULL,
  unit text NOT NULL CHECK (unit IN ('month', 'day')),
  start date NOT NULL,
  status text NOT NULL,
  count integer NOT NULL,
  outstanding numeric NOT NULL,
  PRIMARY KEY (company_id, unit, start, status)
  -- A row changes often and its key never does, so the new version should find room beside the old one.
) WITH (fillfactor = 70);
