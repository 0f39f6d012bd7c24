-- The restores of this database from backups. After the state of a backup the event log had positions that are lost, and
-- followers may have seen them: positions after `last_position` up to `next_position` are never used again.
CREATE TABLE restores (
  id uuid PRIMARY KEY,
  state_at timestamptz NOT NULL,
  -- Work that was due by then may have been done before the restore, so it waits for an operator.
  restored_at timestamptz NOT NULL,
  last_position bigint NOT NULL,
  next_position bigint NOT NULL CHECK (next_position > last_position)
);
