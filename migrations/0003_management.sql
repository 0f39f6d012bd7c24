-- An adviser or a customer who is removed stays in its table, because records refer to it, and leaves every list.

ALTER TABLE companies ADD sender_name text, ADD sender_address text;

ALTER TABLE advisers ADD removed_at timestamptz;
DROP INDEX advisers_email;
CREATE UNIQUE INDEX advisers_email ON advisers (company_id, lower(email)) WHERE removed_at IS NULL;

-- `search` is what a search looks at: one LIKE per row instead of five, in lower case once and for all. The line ends
-- keep a match inside one field. `phone_e164` finds a number however it was written down.
ALTER TABLE customers
  ADD removed_at timestamptz,
  ADD phone_e164 text,
  ADD search text NOT NULL GENERATED ALWAYS AS (lower(
    title || ' ' || first_names || ' ' || last_name || E'\n' || coalesce(email, '') || E'\n' || coalesce(phone, '')
  )) STORED;
CREATE INDEX customers_name ON customers (company_id, lower(last_name), lower(first_names), id) WHERE removed_at IS NULL;

ALTER TABLE cases ADD search text NOT NULL GENERATED ALWAYS AS (lower(reference)) STORED;
CREATE INDEX cases_newest ON cases (company_id, created_at DESC, id DESC);

CREATE TABLE clients (
  company_id uuid NOT NULL REFERENCES companies,
  -- Also its client_id, by which it is found before the company is known.
  id uuid NOT NULL UNIQUE,
  name text NOT NULL,
  scopes text[] NOT NULL,
  secret_sha256 bytea NOT NULL CHECK (octet_length(secret_sha256) = 32),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  rotated_at timestamptz,
  disabled_at timestamptz,
  PRIMARY KEY (company_id, id)
);

-- A token without a client is an API key.
ALTER TABLE tokens
  ADD client_id uuid,
  ADD last_used_at timestamptz,
  ADD FOREIGN KEY (company_id, client_id) REFERENCES clients (company_id, id);
CREATE INDEX tokens_client ON tokens (company_id, client_id) WHERE client_id IS NOT NULL;
-- By the moment at which a token ended, for those that are forgotten.
CREATE INDEX tokens_ended ON tokens (company_id, least(expires_at, revoked_at));
