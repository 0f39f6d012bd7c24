-- How people prove who they are. A passkey is enough; otherwise a password together with a one-time code.
ALTER TABLE users
  ADD password_hash text,
  ADD password_set_at timestamptz,
  -- The secret of one-time codes, encrypted under SECRETS_KEY.
  ADD sealed_secret text,
  -- The time step of the last code that was accepted: a code works once.
  ADD code_step bigint,
  ADD recovery_sha256s bytea[] NOT NULL DEFAULT '{}';

CREATE TABLE passkeys (
  company_id uuid NOT NULL,
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  name text NOT NULL,
  -- Chosen by the authenticator. It finds the user, so that nobody types an address.
  credential_id bytea NOT NULL UNIQUE CHECK (octet_length(credential_id) BETWEEN 16 AND 1023),
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  transports text[] NOT NULL,
  backed_up boolean NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  PRIMARY KEY (company_id, id),
  FOREIGN KEY (company_id, user_id) REFERENCES users (company_id, id)
);
CREATE INDEX passkeys_of_user ON passkeys (company_id, user_id, created_at);

-- Links that invite people or let them recover. A row is also the job that sends the mail: its secret is made when the
-- mail is sent, and only a hash of it is stored.
CREATE TABLE user_links (
  company_id uuid NOT NULL,
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('invitation', 'recovery', 'local')),
  email text NOT NULL,
  secret_sha256 bytea UNIQUE CHECK (octet_length(secret_sha256) = 32),
  expires_at timestamptz NOT NULL,
  used_at timestamptz,
  -- `given`: the command line printed it.
  state text NOT NULL CHECK (state IN ('waiting', 'sent', 'failed', 'given')),
  due_at timestamptz NOT NULL,
  lease_until timestamptz,
  lease_by uuid,
  claim_at timestamptz NOT NULL GENERATED ALWAYS AS (greatest(due_at, lease_until)) STORED,
  attempts integer NOT NULL DEFAULT 0,
  last_error text,
  ended_at timestamptz,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (company_id, id),
  FOREIGN KEY (company_id, user_id) REFERENCES users (company_id, id)
);
CREATE INDEX user_links_open ON user_links (company_id, claim_at) WHERE state = 'waiting';
CREATE INDEX user_links_of_user ON user_links (company_id, user_id, created_at);
CREATE INDEX user_links_created ON user_links (company_id, created_at);
CREATE INDEX user_links_expired ON user_links (expires_at);

-- Recent attempts to sign in, by account, address or browser. The key is a hash, and may belong to no account at all.
CREATE TABLE sign_in_attempts (
  key_sha256 bytea PRIMARY KEY CHECK (octet_length(key_sha256) = 32),
  kind text NOT NULL,
  failures integer NOT NULL,
  failed_at timestamptz NOT NULL
);
CREATE INDEX sign_in_attempts_old ON sign_in_attempts (failed_at);

-- Challenges that a passkey has answered: each is accepted once.
CREATE TABLE used_challenges (
  challenge_sha256 bytea PRIMARY KEY CHECK (octet_length(challenge_sha256) = 32),
  expires_at timestamptz NOT NULL
);
CREATE INDEX used_challenges_old ON used_challenges (expires_at);

-- Signs challenges, so that a challenge that nobody answers needs no row. The same for all processes.
CREATE TABLE challenge_keys (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  key bytea NOT NULL DEFAULT uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
);
INSERT INTO challenge_keys DEFAULT VALUES;
