import { readWatermark } from '../events/watermark.ts';
import type { Database } from '../kernel/database/database.ts';
import { leaseStatements } from '../kernel/jobs/job-queue.sql.ts';
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

  async function handle({ company_id: companyId, id }: JobKey, lease: Lease): Promise<void> {
    const finished = await processBacklog(companyId, id as string, lease);
    let batch: FanOutBatch | undefined;
    let eventsRead = 0;
    do {
      batch = await retryWhileLocked(lease.signal, () => fanOutBatch(companyId, id as string, lease));
      eventsRead += batch?.read ?? 0;
      if (batch && batch.made > 0) notifyWorkers(db);
    } while (batch?.read === BATCH_SIZE && !lease.signal.aborted);
    const recheckAt = eventsRead > 0 || finished ? null : toSql(clock().add(RECHECK_DELAY));
    const values = [companyId, id, lease.id, recheckAt, finished?.backlog ?? null, finished?.epoch ?? null];
    await retryWhileLocked(lease.signal, () => db.queryRows(sql.releaseEndpoint, values));
  }

  /** Returns undefined if the lease was lost or the endpoint is no longer active. */
  async function fanOutBatch(companyId: string, id: string, lease: Lease): Promise<FanOutBatch | undefined> {
    // Before the endpoint is locked: the watermark waits for open transactions, and one of them may need the lock.
    const { position: watermark } = await readWatermark(db);
    return db.transaction(async (tx) => {
      if (!(await tx.queryFirst(sql.lockEndpointPosition, [companyId, id, lease.id]))) return undefined;
      const values = [companyId, id, watermark.toString(), BATCH_SIZE, toSql(clock())];
      return tx.queryFirst<FanOutBatch>(sql.fanOut, values);
    });
  }

  const statements = leaseStatements({ table: 'webhook_endpoints', key: sql.KEY, open: sql.OPEN });
  return {
    name: 'webhook_endpoints',
    key: sql.KEY,
    statements: { ...statements, claim: sql.claim, nextDue: sql.nextDue },
    handle,
  };
}

type FanOutBatch = { read: number; made: number };
