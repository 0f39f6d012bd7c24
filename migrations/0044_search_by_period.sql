-- outside of a transaction

-- A search looks through one period after another, newest first, until it has a page of hits. So a word costs only as much as
-- it occurs in the periods that are looked through. An index that an interruption left unfinished is invalid, so each is
-- built anew.
DROP INDEX CONCURRENTLY IF EXISTS search_documents_by_time;
CREATE INDEX CONCURRENTLY search_documents_by_time ON search_documents (company_id, at, id);
-- With a list of pending entries, every search would read what other companies have just written.
DROP INDEX CONCURRENTLY IF EXISTS search_documents_of_periods;
CREATE INDEX CONCURRENTLY search_documents_of_periods ON search_documents USING gin (words_of_period(at, words))
  WITH (fastupdate = off);
-- With statistics, PostgreSQL would read the table for frequent words.
ALTER INDEX search_documents_of_periods ALTER COLUMN 1 SET STATISTICS 0;

DROP INDEX CONCURRENTLY IF EXISTS search_documents_words;
DROP INDEX CONCURRENTLY IF EXISTS search_documents_newest;
