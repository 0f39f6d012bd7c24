-- outside of a transaction

-- Existing cases were opened when they were created.
UPDATE cases SET opened_at = created_at WHERE opened_at IS NULL;
ALTER TABLE cases DROP CONSTRAINT IF EXISTS cases_opened_at;
ALTER TABLE cases ADD CONSTRAINT cases_opened_at CHECK (opened_at IS NOT NULL) NOT VALID;
ALTER TABLE cases VALIDATE CONSTRAINT cases_opened_at;
ALTER TABLE cases ALTER opened_at SET NOT NULL;
ALTER TABLE cases DROP CONSTRAINT cases_opened_at;

ALTER TABLE cases VALIDATE CONSTRAINT cases_state;
ALTER TABLE cases VALIDATE CONSTRAINT cases_kind;
ALTER TABLE cases VALIDATE CONSTRAINT cases_responsible_adviser;

-- The id that a record has in another system of the company: one per company and kind of record. A record that is
-- deleted or removed does not hold its id any more.
ALTER TABLE cases ADD COLUMN IF NOT EXISTS external_id text;
ALTER TABLE customers ADD COLUMN IF NOT EXISTS external_id text;
ALTER TABLE people ADD COLUMN IF NOT EXISTS external_id text;
ALTER TABLE interactions ADD COLUMN IF NOT EXISTS external_id text;
ALTER TABLE invoices ADD COLUMN IF NOT EXISTS external_id text;
ALTER TABLE appointments ADD COLUMN IF NOT EXISTS external_id text;

-- An index that an interruption left unfinished is invalid, so each is built anew.
DROP INDEX CONCURRENTLY IF EXISTS cases_external_id;
CREATE UNIQUE INDEX CONCURRENTLY cases_external_id ON cases (company_id, external_id)
  WHERE external_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS customers_external_id;
CREATE UNIQUE INDEX CONCURRENTLY customers_external_id ON customers (company_id, external_id)
  WHERE external_id IS NOT NULL AND removed_at IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS people_external_id;
CREATE UNIQUE INDEX CONCURRENTLY people_external_id ON people (company_id, external_id)
  WHERE external_id IS NOT NULL AND deleted_at IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS interactions_external_id;
CREATE UNIQUE INDEX CONCURRENTLY interactions_external_id ON interactions (company_id, external_id)
  WHERE external_id IS NOT NULL AND deleted_at IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS invoices_external_id;
CREATE UNIQUE INDEX CONCURRENTLY invoices_external_id ON invoices (company_id, external_id)
  WHERE external_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS appointments_external_id;
CREATE UNIQUE INDEX CONCURRENTLY appointments_external_id ON appointments (company_id, external_id)
  WHERE external_id IS NOT NULL AND deleted_at IS NULL;
