-- People of a company. What they may do follows from their role, in the code.
CREATE TABLE users (
  company_id uuid NOT NULL REFERENCES companies,
  id uuid NOT NULL,
  email text NOT NULL,
  name text NOT NULL,
  role text NOT NULL CHECK (role IN ('owner', 'adviser', 'bookkeeper', 'reader')),
  adviser_id uuid,
  state text NOT NULL CHECK (state IN ('invited', 'active', 'disabled')),
  -- When the user first had the factors to sign in; null again after these were reset.
  activated_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  created_by_type text CHECK (created_by_type IN ('key', 'client', 'user')),
  created_by_id uuid,
  created_by_name text,
  PRIMARY KEY (company_id, id),
  FOREIGN KEY (company_id, adviser_id) REFERENCES advisers (company_id, id),
  CONSTRAINT users_created_by CHECK (num_nulls(created_by_type, created_by_id, created_by_name) IN (0, 3)),
  CONSTRAINT users_active CHECK (state <> 'active' OR activated_at IS NOT NULL)
);
-- An address may belong to users of several companies: refusing it would tell a company about another one.
CREATE UNIQUE INDEX users_email ON users (company_id, lower(email));
CREATE INDEX users_found_by_email ON users (lower(email));
CREATE INDEX users_created_by ON users (created_by_id, company_id) WHERE created_by_id IS NOT NULL;
CREATE INDEX users_adviser ON users (company_id, adviser_id) WHERE adviser_id IS NOT NULL;

-- Users create keys, clients and endpoints too. These tables have few rows, so the checks are made within the lock.
ALTER TABLE tokens
  DROP CONSTRAINT tokens_created_by_type_check,
  ADD CONSTRAINT tokens_created_by_type_check CHECK (created_by_type IN ('key', 'client', 'user'));
ALTER TABLE clients
  DROP CONSTRAINT clients_created_by_type_check,
  ADD CONSTRAINT clients_created_by_type_check CHECK (created_by_type IN ('key', 'client', 'user')),
  DROP CONSTRAINT clients_rotated_by_type_check,
  ADD CONSTRAINT clients_rotated_by_type_check CHECK (rotated_by_type IN ('key', 'client', 'user'));
ALTER TABLE client_rotations
  DROP CONSTRAINT client_rotations_rotated_by_type_check,
  ADD CONSTRAINT client_rotations_rotated_by_type_check CHECK (rotated_by_type IN ('key', 'client', 'user'));
ALTER TABLE webhook_endpoints
  DROP CONSTRAINT webhook_endpoints_created_by_type_check,
  ADD CONSTRAINT webhook_endpoints_created_by_type_check CHECK (created_by_type IN ('key', 'client', 'user')),
  DROP CONSTRAINT webhook_endpoints_url_set_by_type_check,
  ADD CONSTRAINT webhook_endpoints_url_set_by_type_check CHECK (url_set_by_type IN ('key', 'client', 'user'));
