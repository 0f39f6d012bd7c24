-- How messages go out. While `meeting_pending` is true a confirmation waits: the link is still being made. Whoever makes
-- meetings sets it at booking, and clears it when the meeting is there or has been given up.
ALTER TABLE appointments ADD meeting_pending boolean NOT NULL DEFAULT false;

-- `sending` stands between the intent to send and what became of it. Nobody claims a row before `claim_at`: its due
-- time, or later the end of a worker's lease, or of the pause after a fault.
ALTER TABLE messages
  ADD lease_until timestamptz,
  ADD lease_by uuid,
  ADD claim_at timestamptz NOT NULL GENERATED ALWAYS AS (greatest(due_at, lease_until)) STORED,
  ADD attempts integer NOT NULL DEFAULT 0,
  -- Called off while it was being sent: should that fail, it is not tried again.
  ADD withdrawn boolean NOT NULL DEFAULT false,
  -- The version of the appointment that it spoke of when it was last sent: the SEQUENCE of its calendar entry.
  ADD sequence integer,
  ADD last_error text,
  ADD sent_at timestamptz,
  ADD sent_to text,
  ADD provider_id text,
  -- Sent once more by hand: the message that it repeats.
  ADD resend_of uuid,
  ADD FOREIGN KEY (company_id, case_id, appointment_id, resend_of)
    REFERENCES messages (company_id, case_id, appointment_id, id),
  DROP CONSTRAINT messages_state_check,
  ADD CONSTRAINT messages_state_check
    CHECK (state IN ('scheduled', 'sending', 'sent', 'failed', 'cancelled', 'skipped')),
  DROP CONSTRAINT messages_kind_check,
  ADD CONSTRAINT messages_kind_check CHECK (kind IN ('confirmation', 'reminder', 'cancellation'));

DROP INDEX messages_reminder;
CREATE UNIQUE INDEX messages_reminder ON messages (company_id, case_id, appointment_id, channel, start_at)
  WHERE kind = 'reminder' AND resend_of IS NULL;
CREATE UNIQUE INDEX messages_cancellation ON messages (company_id, case_id, appointment_id, channel)
  WHERE kind = 'cancellation' AND state = 'scheduled';
CREATE UNIQUE INDEX messages_resend ON messages (company_id, case_id, appointment_id, channel, kind)
  WHERE resend_of IS NOT NULL AND state = 'scheduled';

-- Claims go company by company, so that what one has waiting is never in the way of another's.
DROP INDEX messages_due;
CREATE INDEX messages_open ON messages (company_id, claim_at) WHERE state IN ('scheduled', 'sending');
