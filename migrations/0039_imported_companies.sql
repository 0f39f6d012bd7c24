-- When the company came from another database. Its accounts count as active since then, so that a file with an early time
-- takes over no address.
ALTER TABLE companies ADD imported_at timestamptz;
