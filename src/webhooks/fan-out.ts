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
// Where there is more and nothing could be read, somebody is still writing below it.
const RECHECK_DELAY = { milliseconds: 100 };

/**
 * Endpoints as due work: what has happened since the position of one becomes deliveries, and the position moves, in one
 * transaction. Whoever dies before its end has done nothing, and whoever comes after it goes on from there.
 */
export function fanOutQueue({ db, clock }: { db: Database; clock: Clock }): JobQueue {
  const workBacklog = backlogProcessor({ db, clock });

  async function handle({ company_id: company, id }: JobKey, claim: Lease): Promise<void> {
    const done = await workBacklog(company, id as string, claim);
    let batch: FanOutBatch | undefined;
    let read = 0;
    do {
      batch = await retryWhileLocked(claim.signal, () => fanOutBatch(company, id as string, claim));
      read += batch?.read ?? 0;
      if (batch && batch.made > 0) notifyWorkers(db);
    } while (batch?.read === BATCH_SIZE && !claim.signal.aborted);
    const again = read > 0 || done ? null : toSql(clock().add(RECHECK_DELAY));
    const values = () => [company, id, claim.id, again, done?.backlog ?? null, done?.epoch ?? null];
    await retryWhileLocked(claim.signal, () => db.queryRows(sql.releaseEndpoint, values()));
  }

  /** Undefined where the claim has been lost, or the endpoint is no longer active. */
  async function fanOutBatch(company: string, id: string, claim: Lease): Promise<FanOutBatch | undefined> {
    // Before the endpoint is held: one of those who are waited for may be changing it.
    const { position: settled } = await readWatermark(db);
    return db.transaction(async (held) => {
      if (!(await held.queryFirst(sql.lockEndpointPosition, [company, id, claim.id]))) return undefined;
      return held.queryFirst<FanOutBatch>(sql.fanOut, [company, id, settled.toString(), BATCH_SIZE, toSql(clock())]);
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
