import { isoTime } from '../kernel/sql/json.ts';
import { read, write } from '../kernel/sql/statement.ts';

/** Far more positions than can have been used between a backup and the end of its database. */
const SKIPPED_POSITIONS = 1_000_000_000;

/**
 * Records a restore, and moves the log's positions beyond all that can have been used after the state of the backup. If
 * it was recorded before, nothing changes. After the recovery of a database its sequences may be ahead of what was
 * used, so the last position is that of the last event.
 */
export const recordRestore = write('restores.record', {
  inputs: { id: 'uuid', state_at: 'timestamptz', now: 'timestamptz' },
  sql: (input) => `
    WITH r AS (
      INSERT INTO restores (id, state_at, restored_at, last_position, next_position)
      SELECT ${input.id}, ${input.state_at}, ${input.now}, coalesce(max(e.position), 0),
             (SELECT last_value FROM event_positions) + ${SKIPPED_POSITIONS}
        FROM companies c CROSS JOIN LATERAL (
          SELECT v.position FROM events v WHERE v.company_id = c.id ORDER BY v.position DESC LIMIT 1) e
      ON CONFLICT (id) DO NOTHING
      RETURNING next_position
    )
    SELECT setval('event_positions', r.next_position) FROM r`,
});

export const findRestore = read('restores.find', {
  inputs: { id: 'uuid' },
  sql: (input) => `
    SELECT ${isoTime('restored_at')} AS restored_at, last_position::text FROM restores WHERE id = ${input.id}`,
});
