-- Only tokens of clients are forgotten; keys that ended stay, and are in nobody's way here.
DROP INDEX tokens_ended;
CREATE INDEX tokens_ended ON tokens (company_id, least(expires_at, revoked_at)) WHERE client_id IS NOT NULL;

-- Which credential made a key or a client, as it was called then. No reference: an operator's key may belong to another
-- company. All three are null for the command line and the demonstration, and for what was made before.
ALTER TABLE tokens
  ADD created_by_type text CHECK (created_by_type IN ('key', 'client')),
  ADD created_by_id uuid,
  ADD created_by_name text,
  ADD CONSTRAINT tokens_created_by CHECK (num_nulls(created_by_type, created_by_id, created_by_name) IN (0, 3));
ALTER TABLE clients
  ADD created_by_type text CHECK (created_by_type IN ('key', 'client')),
  ADD created_by_id uuid,
  ADD created_by_name text,
  ADD CONSTRAINT clients_created_by CHECK (num_nulls(created_by_type, created_by_id, created_by_name) IN (0, 3));

-- Disabling a client ends its tokens for good. A token carries the generation in which it was given, and works only in
-- that one; enabling begins the next. So no order of requests that meet can bring a token back.
ALTER TABLE clients ADD generation integer NOT NULL DEFAULT 1;
ALTER TABLE tokens ADD client_generation integer;
UPDATE tokens SET client_generation = 1 WHERE client_id IS NOT NULL;
ALTER TABLE tokens ADD CONSTRAINT tokens_generation CHECK ((client_id IS NULL) = (client_generation IS NULL));
