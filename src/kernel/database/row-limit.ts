import { invalidState } from '../errors.ts';
import type { RowLimit } from '../sql/statement.ts';
import type { Executor } from './database.ts';

/**
 * Throws where there are as many as there may be, or where `more` do not fit. Two who come at once may both be the
 * last: it is there against floods, and not for the count.
 */
export async function assertBelowLimit(
  db: Executor,
  { max: most, label: what, count }: RowLimit,
  values: unknown[],
  more = 1,
): Promise<void> {
  const row = await db.queryFirst<{ count: number }>(count, values);
  if ((row?.count ?? 0) + more > most) throw invalidState('body', `there can be at most ${most} ${what}`);
}
