-- Which credential made an endpoint, and which one set the address that events go to now. As for keys and clients in 0006, all
-- three columns are null for the command line, and for what was made before.
ALTER TABLE webhook_endpoints
  ADD created_by_type text CHECK (created_by_type IN ('key', 'client')),
  ADD created_by_id uuid,
  ADD created_by_name text,
  ADD CONSTRAINT webhook_endpoints_created_by CHECK (num_nulls(created_by_type, created_by_id, created_by_name) IN (0, 3)),
  ADD url_set_by_type text CHECK (url_set_by_type IN ('key', 'client')),
  ADD url_set_by_id uuid,
  ADD url_set_by_name text,
  ADD CONSTRAINT webhook_endpoints_url_set_by CHECK (num_nulls(url_set_by_type, url_set_by_id, url_set_by_name) IN (0, 3));

-- Which credential last replaced the secret of a client.
ALTER TABLE clients
  ADD rotated_by_type text CHECK (rotated_by_type IN ('key', 'client')),
  ADD rotated_by_id uuid,
  ADD rotated_by_name text,
  ADD CONSTRAINT clients_rotated_by CHECK (num_nulls(rotated_by_type, rotated_by_id, rotated_by_name) IN (0, 3));

-- Every credential that has replaced the secret of a client knew a secret of it, and could get tokens of it that make and
-- change other things. The last one alone does not tell: a client can replace its own secret, and so cover up who did before.
CREATE TABLE client_rotations (
  company_id uuid NOT NULL,
  client_id uuid NOT NULL,
  rotated_by_type text NOT NULL CHECK (rotated_by_type IN ('key', 'client')),
  rotated_by_id uuid NOT NULL,
  PRIMARY KEY (company_id, client_id, rotated_by_id),
  FOREIGN KEY (company_id, client_id) REFERENCES clients (company_id, id)
);

-- What a credential made is found by its id, one step after the other. Without indexes a leaked key could make so much, and end
-- it again, that its own revocation would take too long. An operator's key makes keys of other companies, so the company comes
-- second. It has to be there: without it the planner reads all rows of the company beside. Access tokens have no maker.
CREATE INDEX tokens_created_by ON tokens (created_by_id, company_id) WHERE created_by_id IS NOT NULL;
CREATE INDEX clients_created_by ON clients (created_by_id, company_id) WHERE created_by_id IS NOT NULL;
CREATE INDEX client_rotations_rotated_by ON client_rotations (rotated_by_id, company_id);
CREATE INDEX webhook_endpoints_created_by ON webhook_endpoints (created_by_id, company_id) WHERE created_by_id IS NOT NULL;
CREATE INDEX webhook_endpoints_url_set_by ON webhook_endpoints (url_set_by_id, company_id) WHERE url_set_by_id IS NOT NULL;
