-- Documents that are stored one after the other lie side by side, so a search asks for the block of the newest ones first.
-- This counts those that have been stored; the worker gives each document the word of its block.
ALTER TABLE search_progress ADD COLUMN documents bigint NOT NULL DEFAULT 0;
