import { readWatermark } from '../events/watermark.ts';
import type { Database } from '../kernel/database/database.ts';
import { countOf, DROPPED, type HeldJobs, heldJobs } from '../kernel/jobs/held-jobs.ts';
import { type Instant, toSql } from '../kernel/time/time.ts';
import { fanOut } from './fan-out.sql.ts';
import * as sql from './held.sql.ts';

/** Webhooks, mails about them, and imported endpoints that wait for an operator. */
export const WEBHOOK_HELD_JOBS: readonly HeldJobs[] = [
  heldJobs('webhooks', sql.deliveries, (db, { companyId }, now) =>
    db.transaction(async (tx) => {
      await tx.queryRows(sql.lockEndpointsWithHeld({ company_id: companyId }));
      const dropped = await countOf(tx, sql.dropDeliveries({ company_id: companyId, now: toSql(now) }));
      await tx.queryRows(sql.readyFirstDeliveries({ company_id: companyId }));
      return dropped;
    }),
  ),
  heldJobs('alerts', sql.alerts, (db, { companyId }, now) =>
    countOf(db, sql.dropAlerts({ company_id: companyId, reason: DROPPED, now: toSql(now) })),
  ),
  {
    ...heldJobs('endpoints', sql.endpoints, async (db, { companyId }) => {
      const { position } = await readWatermark(db);
      return countOf(db, sql.dropEndpoints({ company_id: companyId, watermark: position.toString() }));
    }),
    // Their events became deliveries, which wait instead; new events are delivered.
    hold: async () => 0,
  },
];

const BATCH_SIZE = 500;

/**
 * Turns the events of a restored database into deliveries, so that they can be held: they may have been delivered
 * already. `until` is the last position. Nothing may write events meanwhile.
 */
export async function queueRestoredEvents(db: Database, until: bigint, now: Instant): Promise<void> {
  const endpoints = await db.queryRows<{ company_id: string; id: string }>(sql.findEndpointsBehind({}));
  for (const { company_id, id } of endpoints) {
    let read: number;
    do {
      read = await db.transaction(async (tx) => {
        await tx.queryRows(sql.lockEndpoint({ company_id, id }));
        const batch = await tx.queryFirst<{ events_read: number }>(
          fanOut({
            company_id,
            endpoint_id: id,
            watermark: until.toString(),
            max_events: BATCH_SIZE,
            now: toSql(now),
          }),
        );
        return batch?.events_read ?? 0;
      });
    } while (read === BATCH_SIZE);
  }
}
