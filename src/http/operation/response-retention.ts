import type { Executor } from '../../kernel/database/database.ts';
import { type Clock, toSql } from '../../kernel/time/time.ts';
import { countPages, purgeResponses } from './idempotency.sql.ts';

/** How long a response is replayed. */
export const RETENTION = { hours: 24 };
// Small enough that no statement holds its locks for long.
const PURGED_PAGES = 1_000;

/** Deletes the responses that are no longer replayed, a part of the table at a time. */
export async function purgeExpiredResponses(db: Executor, clock: Clock, signal?: AbortSignal): Promise<void> {
  const expired_at = toSql(clock().subtract(RETENTION));
  const pages = (await db.queryFirst<{ pages: number }>(countPages({})))?.pages ?? 0;
  for (let page = 0; page < pages && !signal?.aborted; page += PURGED_PAGES) {
    await db.queryRows(purgeResponses({ expired_at, first_page: page, end_page: page + PURGED_PAGES }));
  }
}
