-- A write with an Idempotency-Key stores its response in the statement of the write itself, so every index and check of
-- this table is paid by every such write.
ALTER TABLE idempotency_keys
  -- The check locked the row of the company for each write. Companies are not deleted, and the company of a response is
  -- that of the credential.
  DROP CONSTRAINT idempotency_keys_company_id_fkey,
  -- The tag of the record that the response shows. Other headers are in `headers`.
  ADD etag text;

-- Rows are only inserted, and deleted every hour. Without deletions there is nothing to vacuum.
ALTER TABLE idempotency_keys SET (autovacuum_vacuum_insert_threshold = -1);

-- Expired responses are found by reading the table once an hour, in the order of its pages. A process of the release
-- before this one looks for them with every key, and takes longer for that until it is replaced.
DROP INDEX idempotency_keys_age;
