-- A company's own words for its messages to clients. A text that is null is the default one.
CREATE TABLE message_templates (
  company_id uuid NOT NULL REFERENCES companies (id),
  message text NOT NULL CHECK (message IN ('confirmation', 'change', 'reminder', 'cancellation')),
  subject text,
  email_text text,
  sms_text text,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (company_id, message)
);

-- Messages that the company sends to try out its words, as they were composed. They are about no appointment.
CREATE TABLE test_messages (
  company_id uuid NOT NULL REFERENCES companies (id),
  id uuid NOT NULL,
  message text NOT NULL,
  channel text NOT NULL CHECK (channel IN ('email', 'sms')),
  recipient text NOT NULL,
  -- Null for an SMS.
  subject text,
  content text NOT NULL,
  state text NOT NULL CHECK (state IN ('scheduled', 'sent', 'failed')),
  due_at timestamptz NOT NULL,
  lease_until timestamptz,
  lease_by uuid,
  claim_at timestamptz NOT NULL GENERATED ALWAYS AS (greatest(due_at, lease_until)) STORED,
  attempts integer NOT NULL DEFAULT 0,
  last_error text,
  ended_at timestamptz,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (company_id, id)
);
CREATE INDEX test_messages_open ON test_messages (company_id, claim_at) WHERE state = 'scheduled';
CREATE INDEX test_messages_listed ON test_messages (company_id, created_at, id);
CREATE INDEX test_messages_ended ON test_messages (ended_at);
