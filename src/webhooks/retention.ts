import type { Executor } from '../kernel/database.ts';
import { type Clock, toSql } from '../kernel/time.ts';
import { forgetDeliveries } from './deliveries.sql.ts';

const KEPT = { hours: 30 * 24 };
const BATCH = 500;

/** Forgets what has ended 30 days ago, in small steps; gives how many. What waits stays, however old it is. */
export async function forgetOldDeliveries({ db, clock }: { db: Executor; clock: Clock }): Promise<number> {
  const before = toSql(clock().subtract(KEPT));
  for (let all = 0; ; ) {
    const { forgotten = 0 } = (await db.first<{ forgotten: number }>(forgetDeliveries, [before, BATCH])) ?? {};
    all += forgotten;
    if (forgotten === 0) return all;
  }
}
