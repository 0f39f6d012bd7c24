import type { Database } from '../../kernel/database/database.ts';
import type { Lease } from '../../kernel/jobs/job-queue.ts';
import { notifyWorkers } from '../../kernel/jobs/notify-workers.ts';
import { type Clock, toSql } from '../../kernel/time/time.ts';
import * as sql from './backlog.sql.ts';

const BATCH_SIZE = 1_000;
const NIL_ID = '00000000-0000-0000-0000-000000000000';

type Backlog = { backlog: sql.BacklogAction; epoch: number };
type EndpointKey = { company_id: string; endpoint_id: string };
type BatchEnd = { record_id: string; position: string; id: string; count: number };

/**
 * Works through the waiting deliveries of an endpoint that was resumed or removed. There may be many, so a worker does
 * it in batches instead of the request. Returns the finished backlog.
 */
export function backlogProcessor({ db, clock }: { db: Database; clock: Clock }) {
  return async (endpoint: EndpointKey, { signal }: Lease): Promise<Backlog | undefined> => {
    const found = await db.queryFirst<Backlog>(sql.findBacklog(endpoint));
    if (!found) return undefined;
    const discards = found.backlog === sql.BACKLOG_ACTIONS.discard;
    if (discards) await db.queryRows(sql.discardPing({ ...endpoint, now: toSql(clock()) }));
    const changeBatch = discards ? sql.discardBatch : sql.expediteBatch;
    let last: BatchEnd = { record_id: NIL_ID, position: '0', id: NIL_ID, count: BATCH_SIZE };
    while (last.count === BATCH_SIZE) {
      if (signal.aborted) return undefined;
      const next = await db.queryFirst<BatchEnd>(
        changeBatch({
          ...endpoint,
          now: toSql(clock()),
          batch_size: BATCH_SIZE,
          after_record_id: last.record_id,
          after_position: last.position,
          after_id: last.id,
        }),
      );
      if (!discards) notifyWorkers(db);
      last = next ?? { ...last, count: 0 };
    }
    return found;
  };
}
