import type { Database } from '../../kernel/database/database.ts';
import type { Lease } from '../../kernel/jobs/job-queue.ts';
import { notifyWorkers } from '../../kernel/jobs/notify-workers.ts';
import { type Clock, toSql } from '../../kernel/time/time.ts';
import * as sql from './backlog.sql.ts';

const BATCH_SIZE = 1_000;
const NIL_ID = '00000000-0000-0000-0000-000000000000';

type Backlog = { backlog: 'hasten' | 'drop'; epoch: number };
type Last = { record_id: string; position: string; id: string; count: number };

/** However much waits: the request that resumed or removed the endpoint has not waited for it. Gives what is done. */
export function backlogProcessor({ db, clock }: { db: Database; clock: Clock }) {
  return async (company: string, id: string, { signal }: Lease): Promise<Backlog | undefined> => {
    const found = await db.queryFirst<Backlog>(sql.findBacklog, [company, id]);
    if (!found) return undefined;
    const drops = found.backlog === 'drop';
    if (drops) await db.queryRows(sql.discardPing, [company, id, toSql(clock())]);
    for (
      let last: Last = { record_id: NIL_ID, position: '0', id: NIL_ID, count: BATCH_SIZE };
      last.count === BATCH_SIZE;
    ) {
      if (signal.aborted) return undefined;
      const values = [company, id, toSql(clock()), BATCH_SIZE, last.record_id, last.position, last.id];
      const next = await db.queryFirst<Last>(drops ? sql.discardBatch : sql.expediteBatch, values);
      if (!drops) notifyWorkers(db);
      last = next ?? { ...last, count: 0 };
    }
    return found;
  };
}
