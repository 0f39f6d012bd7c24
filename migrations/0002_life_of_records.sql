-- States that the twelve operations show and only the additional ones change. A deleted record keeps its row, and the
-- address of a deleted person is reached through the person alone.
ALTER TABLE people ADD COLUMN deleted_at timestamptz;
ALTER TABLE interactions ADD COLUMN deleted_at timestamptz;

-- Status and dates of payment follow from what is stored here; no operation ever wrote the columns that go.
ALTER TABLE invoices
  DROP COLUMN status,
  DROP COLUMN date_paid,
  ADD COLUMN cancelled_at timestamptz,
  -- The sum of the payments that are not reversed: one row to wait for, so that two payments at once both count.
  ADD COLUMN paid numeric(12, 2) NOT NULL DEFAULT 0 CHECK (paid >= 0),
  ADD CONSTRAINT invoices_cancelled_unpaid CHECK (cancelled_at IS NULL OR paid = 0);
ALTER TABLE invoice_items
  DROP COLUMN status,
  DROP COLUMN paid_at,
  ADD COLUMN cancelled_at timestamptz;

CREATE TABLE payments (
  company_id uuid NOT NULL,
  case_id uuid NOT NULL,
  invoice_id uuid NOT NULL,
  id uuid NOT NULL,
  amount numeric(12, 2) NOT NULL CHECK (amount > 0),
  paid_at timestamptz NOT NULL,
  reference text,
  created_at timestamptz NOT NULL,
  reversed_at timestamptz,
  PRIMARY KEY (company_id, case_id, invoice_id, id),
  FOREIGN KEY (company_id, case_id, invoice_id) REFERENCES invoices (company_id, case_id, id)
);

-- The diary of an adviser across cases, in the order in which it is listed.
CREATE INDEX appointments_adviser ON appointments (company_id, adviser_id, start_at, id);
