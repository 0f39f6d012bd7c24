import type { Database } from '../kernel/database/database.ts';
import { type Clock, toSql } from '../kernel/time/time.ts';
import * as deliveries from './deliveries/statements.sql.ts';
import { purgeAlerts } from './endpoints/alerts.sql.ts';
import { purgePreviousSecrets } from './endpoints/secrets.sql.ts';
import { purgeEndpoints } from './endpoints/statements.sql.ts';

const RETENTION = { hours: 30 * 24 };
// Deliveries per endpoint and statement, so that no statement holds its locks for long.
const BATCH_SIZE = 500;

type Options = { db: Database; clock: Clock; signal?: AbortSignal | undefined };

/** Deletes expired secrets, deliveries and alerts that ended 30 days ago, and removed endpoints without any of them. */
export async function purgeEnded({ db, clock, signal }: Options): Promise<void> {
  await db.queryRows(purgePreviousSecrets({ now: toSql(clock()) }));
  await purgeDeliveries({ db, clock, signal });
  await db.queryRows(purgeAlerts({ ended_before: toSql(clock().subtract(RETENTION)) }));
  await db.queryRows(purgeEndpoints({}));
}

/** Returns the number of deleted deliveries. A waiting delivery is kept, whatever its age. */
export async function purgeDeliveries({ db, clock, signal }: Options): Promise<number> {
  const query = deliveries.purgeDeliveries({
    ended_before: toSql(clock().subtract(RETENTION)),
    max_per_endpoint: BATCH_SIZE,
  });
  for (let total = 0; ; ) {
    const deleted = (await db.queryFirst<{ deleted: number }>(query))?.deleted ?? 0;
    total += deleted;
    if (deleted === 0 || signal?.aborted) return total;
  }
}
