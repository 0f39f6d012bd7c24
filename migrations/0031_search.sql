-- The words of every record that can be searched, kept up to date by a worker that follows the event log. Everything here
-- can be built anew from the records.

CREATE TABLE search_progress (
  company_id uuid PRIMARY KEY REFERENCES companies,
  -- Every word of the index begins with this number, so a search never meets the words of another company.
  company_number integer NOT NULL UNIQUE GENERATED ALWAYS AS IDENTITY,
  -- How the words were made. The documents of an earlier edition are built anew.
  edition integer NOT NULL,
  -- The events up to this one are in the index, or will be when it is built.
  position bigint NOT NULL,
  -- While the index is built: the last case that is done. Null: complete.
  built_to uuid
);

-- No foreign keys: a document may outlive its record by a moment, and a search shows only records that exist.
CREATE TABLE search_documents (
  company_id uuid NOT NULL,
  case_id uuid NOT NULL,
  kind text NOT NULL,
  id uuid NOT NULL,
  at timestamptz NOT NULL,
  words tsvector NOT NULL,
  PRIMARY KEY (company_id, case_id, kind, id)
);
CREATE INDEX search_documents_newest ON search_documents (company_id, kind, at, id);
-- With a list of pending entries, every search would read what other companies have just written.
CREATE INDEX search_documents_words ON search_documents USING gin (words) WITH (fastupdate = off);
-- With statistics, PostgreSQL would read the table instead of the index to find the first matches of a frequent word.
ALTER TABLE search_documents ALTER words SET STATISTICS 0;
CREATE STATISTICS search_documents_of_cases (dependencies) ON company_id, case_id FROM search_documents;
