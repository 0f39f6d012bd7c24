-- How long people stay signed in. Constant defaults, so that no row is rewritten.
ALTER TABLE companies
  ADD session_idle_minutes integer NOT NULL DEFAULT 30 CHECK (session_idle_minutes BETWEEN 5 AND 120),
  ADD session_hours integer NOT NULL DEFAULT 12 CHECK (session_hours BETWEEN 1 AND 24);

CREATE TABLE sessions (
  company_id uuid NOT NULL,
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  secret_sha256 bytea NOT NULL UNIQUE CHECK (octet_length(secret_sha256) = 32),
  -- A cookie that outlives the session: a later attempt to sign in from this browser is not delayed by strangers.
  browser_sha256 bytea NOT NULL CHECK (octet_length(browser_sha256) = 32),
  -- A session that a link of a mail began may only set up factors.
  purpose text NOT NULL CHECK (purpose IN ('full', 'enrolment')),
  method text NOT NULL CHECK (method IN ('passkey', 'password', 'link')),
  address text NOT NULL,
  user_agent text NOT NULL,
  created_at timestamptz NOT NULL,
  last_seen_at timestamptz NOT NULL,
  ended_at timestamptz,
  PRIMARY KEY (company_id, id),
  FOREIGN KEY (company_id, user_id) REFERENCES users (company_id, id)
);
CREATE INDEX sessions_of_user ON sessions (company_id, user_id, created_at DESC, id DESC);
CREATE INDEX sessions_of_browser ON sessions (browser_sha256);
