import type { Executor } from './database.ts';
import { notPossible } from '../errors.ts';
import type { Limit } from '../sql/statement.ts';

/**
 * Throws where there are as many as there may be, or where `more` do not fit. Two who come at once may both be the
 * last: it is there against floods, and not for the count.
 */
export async function requireRoom(
  db: Executor,
  { most, what, count }: Limit,
  values: unknown[],
  more = 1,
): Promise<void> {
  const row = await db.first<{ count: number }>(count, values);
  if ((row?.count ?? 0) + more > most) throw notPossible('body', `there can be at most ${most} ${what}`);
}
