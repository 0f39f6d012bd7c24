-- How often a message was handed over whole and no answer came: it may have gone out, and is not tried for ever.
ALTER TABLE messages ADD doubts smallint NOT NULL DEFAULT 0;

-- Each channel is claimed by itself: a mail server that hangs keeps no SMS from going out.
DROP INDEX messages_open;
CREATE INDEX messages_open ON messages (company_id, channel, claim_at) WHERE state IN ('scheduled', 'sending');

-- To whom it goes: written when its sending begins, and for a cancellation when it is asked for. Each address that has the
-- entry in its calendar is told by a cancellation of its own.
ALTER TABLE messages ADD recipient text;
UPDATE messages SET recipient = sent_to WHERE state = 'sent';
UPDATE messages m
   SET recipient = (
     SELECT c.sent_to FROM messages c
      WHERE c.company_id = m.company_id AND c.case_id = m.case_id AND c.appointment_id = m.appointment_id
        AND c.channel = 'email' AND c.kind = 'confirmation' AND c.state = 'sent'
      ORDER BY c.sequence DESC NULLS LAST LIMIT 1)
 WHERE m.kind = 'cancellation' AND m.state IN ('scheduled', 'sending');
DROP INDEX messages_cancellation;
CREATE UNIQUE INDEX messages_cancellation ON messages (company_id, case_id, appointment_id, channel, recipient)
  WHERE kind = 'cancellation' AND state = 'scheduled';
