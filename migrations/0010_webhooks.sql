-- Whom the company wants told when something needs a person.
ALTER TABLE companies ADD contact_email text;

-- Where a company has its events sent.
CREATE TABLE webhook_endpoints (
  company_id uuid NOT NULL REFERENCES companies,
  id uuid NOT NULL,
  url text NOT NULL,
  description text,
  -- As they were named: `*` and `invoice.*` mean what there is when an event happens.
  types text[] NOT NULL,
  -- Of events up to a position: [{"until", "types"}], as long as the endpoint has not come so far.
  earlier_types jsonb NOT NULL DEFAULT '[]',
  state text NOT NULL CHECK (state IN ('active', 'disabled', 'failing')),
  state_reason text,
  failing_since timestamptz,
  -- One more with each resumption: what was attempted before does not count any more.
  epoch integer NOT NULL DEFAULT 0,
  -- What workers are yet to do with all that waits: have it tried at once, or drop it.
  backlog text CHECK (backlog IN ('hasten', 'drop')),
  -- Whether the latest attempt failed, and until when the receiver wants nothing.
  faltering boolean NOT NULL DEFAULT false,
  paused_until timestamptz,
  -- Under SECRETS_KEY; never the secrets themselves. The previous one signs too until its end.
  sealed_secret text,
  sealed_previous_secret text,
  secret_rotated_at timestamptz,
  previous_secret_until timestamptz,
  -- How far the log of events has been turned into deliveries.
  position bigint NOT NULL,
  lease_until timestamptz,
  lease_by uuid,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  removed_at timestamptz,
  PRIMARY KEY (company_id, id)
);

-- One event on its way to one endpoint. Of those of one record only the first that waits is `ready`, whatever state the
-- endpoint is in. Who changes that holds or shares the endpoint's row, so that each has its turn, and none has it twice.
CREATE TABLE webhook_deliveries (
  company_id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  -- Of the event; a ping has none, and no record.
  position bigint,
  event_type text NOT NULL,
  record_id uuid,
  state text NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed', 'dropped')),
  ready boolean NOT NULL,
  due_at timestamptz NOT NULL,
  lease_until timestamptz,
  lease_by uuid,
  claim_at timestamptz NOT NULL GENERATED ALWAYS AS (greatest(due_at, lease_until)) STORED,
  -- In the endpoint's epoch: since it was queued, or since the endpoint was resumed.
  epoch integer NOT NULL DEFAULT 0,
  attempts integer NOT NULL DEFAULT 0,
  first_attempt_at timestamptz,
  -- Every attempt that was ever made: {"at", "status", "error", "ms", "answer"}
  tries jsonb NOT NULL DEFAULT '[]',
  ended_at timestamptz,
  replay_of uuid,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (company_id, endpoint_id, id),
  FOREIGN KEY (company_id, endpoint_id) REFERENCES webhook_endpoints (company_id, id),
  CHECK ((position IS NULL) = (record_id IS NULL)),
  CHECK ((state = 'waiting') = (ended_at IS NULL))
);
CREATE INDEX webhook_deliveries_ready ON webhook_deliveries (company_id, endpoint_id, claim_at)
  WHERE state = 'waiting' AND ready;
CREATE INDEX webhook_deliveries_order ON webhook_deliveries (company_id, endpoint_id, record_id, position, id)
  WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_held ON webhook_deliveries (company_id, endpoint_id)
  WHERE state = 'waiting' AND lease_by IS NOT NULL;
-- Of an endpoint one ping waits at most.
CREATE UNIQUE INDEX webhook_deliveries_ping ON webhook_deliveries (company_id, endpoint_id)
  WHERE state = 'waiting' AND position IS NULL;
CREATE INDEX webhook_deliveries_listed ON webhook_deliveries (company_id, endpoint_id, created_at, position, id);
CREATE INDEX webhook_deliveries_ended ON webhook_deliveries (company_id, endpoint_id, ended_at)
  WHERE ended_at IS NOT NULL;

-- What the company's contact is to be told of an endpoint, by email.
CREATE TABLE webhook_notices (
  company_id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('failing', 'delivery_failed', 'gone')),
  -- Untold: there was nobody to tell, or the mail was refused for three days.
  state text NOT NULL CHECK (state IN ('waiting', 'told', 'untold')),
  due_at timestamptz NOT NULL,
  lease_until timestamptz,
  lease_by uuid,
  claim_at timestamptz NOT NULL GENERATED ALWAYS AS (greatest(due_at, lease_until)) STORED,
  attempts integer NOT NULL DEFAULT 0,
  told_to text,
  last_error text,
  ended_at timestamptz,
  PRIMARY KEY (company_id, endpoint_id, id),
  FOREIGN KEY (company_id, endpoint_id) REFERENCES webhook_endpoints (company_id, id)
);
CREATE INDEX webhook_notices_open ON webhook_notices (company_id, claim_at) WHERE state = 'waiting';
