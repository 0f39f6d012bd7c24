import type { Database } from '../kernel/database/database.ts';
import { purgeEvents } from './statements.sql.ts';

// Each in a statement of its own: none holds anything for long.
const BATCH_SIZE = 5_000;

/** What is older than the database has been told to keep; gives how many. */
export async function purgeOldEvents(db: Database, signal?: AbortSignal): Promise<number> {
  for (let forgotten = 0; ; ) {
    const row = await db.queryFirst<{ forgotten: number }>(purgeEvents, [BATCH_SIZE]);
    forgotten += row?.forgotten ?? 0;
    if ((row?.forgotten ?? 0) < BATCH_SIZE || signal?.aborted) return forgotten;
  }
}
