import type { Database } from '../../kernel/database/database.ts';
import { type Clock, toSql } from '../../kernel/time/time.ts';
import { forgetNotices } from '../endpoints/alerts.sql.ts';
import { forgetPreviousSecrets } from '../endpoints/secrets.sql.ts';
import { forgetEndpoints } from '../endpoints/statements.sql.ts';
import { forgetDeliveries } from './statements.sql.ts';

const KEPT = { hours: 30 * 24 };
const BATCH = 500;

type Options = { db: Database; clock: Clock; signal?: AbortSignal | undefined };

/** What has ended 30 days ago, and secrets whose time is over. */
export async function forgetWhatEnded({ db, clock, signal }: Options): Promise<void> {
  await db.queryRows(forgetPreviousSecrets, [toSql(clock())]);
  await forgetOldDeliveries({ db, clock, signal });
  await db.queryRows(forgetNotices, [toSql(clock().subtract(KEPT))]);
  await db.queryRows(forgetEndpoints, []);
}

/** In small steps; gives how many. What waits stays, however old it is. */
export async function forgetOldDeliveries({ db, clock, signal }: Options): Promise<number> {
  const before = toSql(clock().subtract(KEPT));
  for (let all = 0; ; ) {
    const { forgotten = 0 } = (await db.queryFirst<{ forgotten: number }>(forgetDeliveries, [before, BATCH])) ?? {};
    all += forgotten;
    if (forgotten === 0 || signal?.aborted) return all;
  }
}
