import { readWatermark } from '../events/watermark.ts';
import type { Database } from '../kernel/database/database.ts';
import type { JobKey, JobQueue, Lease } from '../kernel/jobs/job-queue.ts';
import { notifyWorkers } from '../kernel/jobs/notify-workers.ts';
import { type Clock, toSql } from '../kernel/time/time.ts';
import { retryWhileLocked } from './deliveries/retry-on-lock.ts';
import { backlogProcessor } from './endpoints/backlog.ts';
import * as sql from './fan-out.sql.ts';

const BATCH_SIZE = 500;
// The endpoint has events above the watermark: a transaction that wrote below them is still open.
const RECHECK_DELAY = { milliseconds: 100 };

/**
 * Endpoints as jobs. The events after an endpoint's position become deliveries and the position advances in one
 * transaction, so a worker that dies leaves nothing half done and the next worker continues from the same position.
 */
export function fanOutQueue({ db, clock }: { db: Database; clock: Clock }): JobQueue {
  const processBacklog = backlogProcessor({ db, clock });

  async function handle(key: JobKey, lease: Lease): Promise<void> {
    const { company_id, id } = key as EndpointKey;
    const finished = await processBacklog({ company_id, endpoint_id: id }, lease);
    let batch: FanOutBatch | undefined;
    let eventsRead = 0;
    do {
      batch = await retryWhileLocked(lease.signal, () => fanOutBatch({ company_id, id }, lease));
      eventsRead += batch?.events_read ?? 0;
      if (batch && batch.deliveries_queued > 0) notifyWorkers(db);
    } while (batch?.events_read === BATCH_SIZE && !lease.signal.aborted);
    const recheckAt = eventsRead > 0 || finished ? null : toSql(clock().add(RECHECK_DELAY));
    const finishedBacklog = { finished_backlog: finished?.backlog, finished_epoch: finished?.epoch };
    // The worker may claim the endpoint again under another lease id meanwhile, so each attempt reads the id.
    await retryWhileLocked(lease.signal, () =>
      db.queryRows(sql.releaseEndpoint({ company_id, id, lease: lease.id, recheck_at: recheckAt, ...finishedBacklog })),
    );
  }

  /** Returns undefined if the lease was lost or the endpoint is no longer active. */
  async function fanOutBatch({ company_id, id }: EndpointKey, lease: Lease): Promise<FanOutBatch | undefined> {
    // Before the endpoint is locked: the watermark waits for open transactions, and one of them may need the lock.
    const { position: watermark } = await readWatermark(db);
    return db.transaction(async (tx) => {
      if (!(await tx.queryFirst(sql.lockEndpointPosition({ company_id, id, lease: lease.id })))) return undefined;
      return tx.queryFirst<FanOutBatch>(
        sql.fanOut({
          company_id,
          endpoint_id: id,
          watermark: watermark.toString(),
          max_events: BATCH_SIZE,
          now: toSql(clock()),
        }),
      );
    });
  }

  return { name: 'webhook_endpoints', key: sql.KEY, statements: sql.statements, handle };
}

type EndpointKey = Record<(typeof sql.KEY)[number], string>;
type FanOutBatch = { events_read: number; deliveries_queued: number };
