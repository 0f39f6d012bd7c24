-- How often a message was handed over whole and no answer came: it may have gone out, and is not tried for ever.
ALTER TABLE messages ADD doubts smallint NOT NULL DEFAULT 0;
