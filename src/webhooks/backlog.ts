import type { Database } from '../kernel/database.ts';
import { noticeDueWork } from '../kernel/due-notice.ts';
import type { Claim } from '../kernel/due-queue.ts';
import { type Clock, toSql } from '../kernel/time.ts';
import * as sql from './backlog.sql.ts';

const BATCH = 500;

type Backlog = { backlog: 'hasten' | 'drop'; epoch: number };

/** However much waits: the request that resumed or removed the endpoint has not waited for it. Gives what is done. */
export function backlogWork({ db, clock }: { db: Database; clock: Clock }) {
  return async (company: string, id: string, { signal }: Claim): Promise<Backlog | undefined> => {
    const found = await db.first<Backlog>(sql.backlogOf, [company, id]);
    if (!found) return undefined;
    const some = found.backlog === 'drop' ? sql.dropSome : sql.hastenSome;
    for (;;) {
      const rows = await db.rows(some, [company, id, toSql(clock()), BATCH]);
      if (found.backlog === 'hasten') noticeDueWork(db);
      if (rows.length < BATCH) return found;
      if (signal.aborted) return undefined;
    }
  };
}
