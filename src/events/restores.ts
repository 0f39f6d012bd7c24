import type { Database } from '../kernel/database/database.ts';
import { type Instant, toSql } from '../kernel/time/time.ts';
import * as sql from './restores.sql.ts';

type Restore = { id: string; stateAt: Instant };

/** When the restore was first recorded, and the position of the last event that it brought back. */
export type RecordedRestore = { restoredAt: Instant; lastPosition: bigint };

/** Records a restore and moves the positions of the event log on. Changes nothing if it was recorded before. */
export async function recordRestore(db: Database, { id, stateAt }: Restore, now: Instant): Promise<RecordedRestore> {
  await db.transaction(async (tx) => {
    const recorded = sql.recordRestore({ id, state_at: toSql(stateAt), now: toSql(now) });
    const moved = await tx.queryFirst<{ next_position: string }>(recorded);
    if (moved) await tx.queryRows(sql.movePositions(moved));
  });
  const row = await db.queryFirst<{ restored_at: string; last_position: string }>(sql.findRestore({ id }));
  if (!row) throw new Error(`The restore ${id} was not recorded.`);
  return { restoredAt: Temporal.Instant.from(row.restored_at), lastPosition: BigInt(row.last_position) };
}
