import type { Database } from '../kernel/database/database.ts';
import { forgetEvents } from './statements.sql.ts';

// Each in a statement of its own: none holds anything for long.
const AT_ONCE = 5_000;

/** What is older than the database has been told to keep; gives how many. */
export async function forgetOldEvents(db: Database, signal?: AbortSignal): Promise<number> {
  for (let forgotten = 0; ; ) {
    const row = await db.queryFirst<{ forgotten: number }>(forgetEvents, [AT_ONCE]);
    forgotten += row?.forgotten ?? 0;
    if ((row?.forgotten ?? 0) < AT_ONCE || signal?.aborted) return forgotten;
  }
}
