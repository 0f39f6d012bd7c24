import { readWatermark } from '../events/watermark.ts';
import type { Database } from '../kernel/database/database.ts';
import { DROPPED } from '../kernel/jobs/held-jobs.sql.ts';
import { countOf, type HeldJobs, heldJobs, inBatches } from '../kernel/jobs/held-jobs.ts';
import { type Instant, toSql } from '../kernel/time/time.ts';
import { fanOut } from './fan-out.sql.ts';
import * as sql from './held.sql.ts';

type Endpoint = { company_id: string; id: string };
type Dropped = { count: number; record_ids: string[] | null };

const dropDeliveries: HeldJobs['drop'] = async (db, { companyId, ...size }, now) => {
  const dropBatch = ({ company_id, id: endpoint_id }: Endpoint, batch_size: number) =>
    db.transaction(async (tx) => {
      await tx.queryRows(sql.lockEndpoint({ company_id, id: endpoint_id }));
      const drop = sql.dropDeliveries({ company_id, endpoint_id, batch_size, now: toSql(now) });
      const { count = 0, record_ids = null } = (await tx.queryFirst<Dropped>(drop)) ?? {};
      await tx.queryRows(sql.readyFirstDeliveries({ company_id, endpoint_id, record_ids: record_ids ?? [] }));
      return count;
    });
  let total = 0;
  for (const endpoint of await db.queryRows<Endpoint>(sql.listEndpointsWithHeld({ company_id: companyId }))) {
    total += await inBatches(size, (batchSize) => dropBatch(endpoint, batchSize));
  }
  return total;
};

/** Webhooks, mails about them, and imported endpoints that wait for an operator. */
export const WEBHOOK_HELD_JOBS: readonly HeldJobs[] = [
  heldJobs('webhooks', sql.deliveries, dropDeliveries),
  heldJobs('alerts', sql.alerts, (db, { companyId, ...size }, now) => {
    const inputs = { company_id: companyId, reason: DROPPED, now: toSql(now) };
    return inBatches(size, (batch_size) => countOf(db, sql.dropAlerts({ ...inputs, batch_size })));
  }),
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
  const endpoints = await db.queryRows<Endpoint>(sql.findEndpointsBehind({}));
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
