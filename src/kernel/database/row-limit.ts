import { invalidState } from '../errors.ts';
import type { RowLimit } from '../sql/statement.ts';
import type { Executor } from './database.ts';

/**
 * Throws if adding `more` rows would exceed the limit. Not exact: two concurrent inserts may both pass. It guards against
 * floods.
 */
export async function assertBelowLimit<Values>(
  db: Executor,
  { max, label, count }: RowLimit<Values>,
  values: Values,
  more = 1,
): Promise<void> {
  const row = await db.queryFirst<{ count: number }>(count(values));
  if ((row?.count ?? 0) + more > max) throw invalidState('body', `there can be at most ${max} ${label}`);
}
