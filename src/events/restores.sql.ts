import { isoTime } from '../kernel/sql/json.ts';
import { read, write } from '../kernel/sql/statement.ts';

/**
 * A log goes on from a position that only depends on the time of the restore: it cannot know which positions were used after
 * the state of its backup, or after an earlier restore of the same backup. It uses fewer positions than this in a second, also
 * counting the 200 thousand million that it passes over when it begins a partition, unless it begins more than two a day
 * for long. They suffice until the year 2083 without exceeding what a number of JavaScript holds.
 */
const POSITIONS_PER_SECOND = 5_000_000;
const FIRST_SECOND = Date.UTC(2026, 0) / 1_000;
/** SQL: the position that a log goes on from if it is restored at this time. Few logs are ahead of it, and by little. */
export const positionAt = (time: string) =>
  `(extract(epoch FROM ${time})::bigint - ${FIRST_SECOND}) * ${POSITIONS_PER_SECOND}`;
/** For a clock that was set back. */
const MIN_SKIPPED_POSITIONS = 1_000_000_000;

/**
 * Records a restore, and returns the position that the log has to go on from. Returns no row if the restore was recorded
 * before. After the recovery of a database its sequences may be ahead of what was used, so the last position is that of the
 * last event.
 */
export const recordRestore = write('restores.record', {
  inputs: { id: 'uuid', state_at: 'timestamptz', now: 'timestamptz' },
  sql: (input) => `
    INSERT INTO restores (id, state_at, restored_at, last_position, next_position)
    SELECT ${input.id}, ${input.state_at}, ${input.now}, coalesce(max(e.position), 0),
           greatest(${positionAt(input.now)},
                    (SELECT last_value + ${MIN_SKIPPED_POSITIONS} FROM event_positions))
      FROM companies c CROSS JOIN LATERAL (
        SELECT v.position FROM events v WHERE v.company_id = c.id ORDER BY v.position DESC LIMIT 1) e
        ON CONFLICT (id) DO NOTHING
    RETURNING next_position::text`,
});

export const movePositions = write('restores.move_positions', {
  inputs: { next_position: 'bigint' },
  sql: (input) => `SELECT move_event_positions(${input.next_position})`,
});

export const findRestore = read('restores.find', {
  inputs: { id: 'uuid' },
  sql: (input) => `
    SELECT ${isoTime('restored_at')} AS restored_at, last_position::text FROM restores WHERE id = ${input.id}`,
});
