-- The first answer to a write that carried an Idempotency-Key, written in the same transaction as the write itself.
-- The key is kept as its hash, an answer that shows a secret only sealed (src/http/kept-answer.ts).
CREATE TABLE idempotency_keys (
  company_id uuid NOT NULL REFERENCES companies (id),
  -- The API key, or the client of the access token: a client keeps its keys when its token is renewed.
  credential_id uuid NOT NULL,
  key_sha256 bytea NOT NULL,
  -- Of method, address and body.
  request_sha256 bytea NOT NULL,
  status smallint NOT NULL,
  headers json NOT NULL,
  body text,
  sealed_body bytea,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (company_id, credential_id, key_sha256),
  CHECK ((body IS NULL) <> (sealed_body IS NULL))
);

CREATE INDEX idempotency_keys_age ON idempotency_keys (company_id, created_at);
