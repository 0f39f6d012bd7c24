-- Only tokens of clients are forgotten; keys that ended stay, and are in nobody's way here.
DROP INDEX tokens_ended;
CREATE INDEX tokens_ended ON tokens (company_id, least(expires_at, revoked_at)) WHERE client_id IS NOT NULL;
