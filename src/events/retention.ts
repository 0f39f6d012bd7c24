import type { Database } from '../kernel/database/database.ts';
import { dropOldEventPartitions } from './partitions.ts';
import { purgeEvents } from './statements.sql.ts';

// Small enough that no statement holds its locks for long.
const BATCH_SIZE = 5_000;

/**
 * Removes the events that are older than the retention set in the database: whole partitions, then events of the first
 * partition that remains. Returns the number of events that were deleted one by one.
 */
export async function purgeOldEvents(db: Database, signal?: AbortSignal): Promise<number> {
  await dropOldEventPartitions(db);
  for (let total = 0; ; ) {
    const deleted = (await db.queryFirst<{ deleted: number }>(purgeEvents({ max: BATCH_SIZE })))?.deleted ?? 0;
    total += deleted;
    if (deleted < BATCH_SIZE || signal?.aborted) return total;
  }
}
