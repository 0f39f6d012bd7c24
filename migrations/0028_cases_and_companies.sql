-- What a case is, and what a company is. The constraints are checked for existing rows by 0029, which needs no lock that
-- writes wait for.

-- A company's own list of kinds of case. A removed kind stays in the table, because cases refer to it.
CREATE TABLE case_kinds (
  company_id uuid NOT NULL REFERENCES companies,
  id uuid NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  removed_at timestamptz,
  PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX case_kinds_name ON case_kinds (company_id, lower(name)) WHERE removed_at IS NULL;

ALTER TABLE cases
  ADD kind_id uuid,
  -- An archived case is closed, too.
  ADD state text NOT NULL DEFAULT 'open',
  ADD opened_at timestamptz,
  ADD closed_at timestamptz,
  ADD responsible_adviser_id uuid,
  ADD CONSTRAINT cases_state CHECK (
    state IN ('open', 'closed', 'archived') AND (state = 'open') = (closed_at IS NULL)) NOT VALID,
  ADD CONSTRAINT cases_kind FOREIGN KEY (company_id, kind_id) REFERENCES case_kinds (company_id, id) NOT VALID,
  ADD CONSTRAINT cases_responsible_adviser
    FOREIGN KEY (company_id, responsible_adviser_id) REFERENCES advisers (company_id, id) NOT VALID;
-- For the release before this one, which does not know the column. The value of existing rows follows in 0029.
ALTER TABLE cases ALTER opened_at SET DEFAULT now();

-- How the company is named on paper. `currency` is an ISO 4217 code. Null: not stated.
ALTER TABLE companies
  ADD legal_name text,
  ADD address text,
  ADD company_number text,
  ADD tax_number text,
  ADD currency text;
