import { invalidState } from '../errors.ts';
import type { RowLimit } from '../sql/query.ts';
import type { RowLimit as LegacyRowLimit } from '../sql/statement.ts';
import type { Executor } from './database.ts';

/**
 * Throws if adding `more` rows would exceed the limit. Not exact: two concurrent inserts may both pass. It guards against
 * floods.
 */
export async function assertBelowLimit<Values>(
  db: Executor,
  { max, label, count }: RowLimit<Values> | LegacyRowLimit,
  values: Values,
  more = 1,
): Promise<void> {
  const query = typeof count === 'function' ? count(values) : count;
  const row = await db.queryFirst<{ count: number }>(query, values as unknown[]);
  if ((row?.count ?? 0) + more > max) throw invalidState('body', `there can be at most ${max} ${label}`);
}
