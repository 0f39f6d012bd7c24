-- How often a message was handed over whole and no answer came: it may have gone out, and is not tried for ever.
ALTER TABLE messages ADD doubts smallint NOT NULL DEFAULT 0;

-- Each channel is claimed by itself: a mail server that hangs keeps no SMS from going out.
DROP INDEX messages_open;
CREATE INDEX messages_open ON messages (company_id, channel, claim_at) WHERE state IN ('scheduled', 'sending');
