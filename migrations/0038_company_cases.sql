-- outside of a transaction

-- What the list of the cases of a company is read by. An index that an interruption left unfinished is invalid, so each
-- is built anew.
DROP INDEX CONCURRENTLY IF EXISTS cases_of_company_opened;
CREATE INDEX CONCURRENTLY cases_of_company_opened ON cases (company_id, state, opened_at, id);
DROP INDEX CONCURRENTLY IF EXISTS cases_of_company_updated;
CREATE INDEX CONCURRENTLY cases_of_company_updated ON cases (company_id, state, updated_at, id);
DROP INDEX CONCURRENTLY IF EXISTS cases_of_kind_opened;
CREATE INDEX CONCURRENTLY cases_of_kind_opened ON cases (company_id, kind_id, state, opened_at, id)
  WHERE kind_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS cases_of_kind_updated;
CREATE INDEX CONCURRENTLY cases_of_kind_updated ON cases (company_id, kind_id, state, updated_at, id)
  WHERE kind_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS cases_of_adviser_opened;
CREATE INDEX CONCURRENTLY cases_of_adviser_opened ON cases (company_id, responsible_adviser_id, state, opened_at, id)
  WHERE responsible_adviser_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS cases_of_adviser_updated;
CREATE INDEX CONCURRENTLY cases_of_adviser_updated ON cases (company_id, responsible_adviser_id, state, updated_at, id)
  WHERE responsible_adviser_id IS NOT NULL;
