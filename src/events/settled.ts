import type { Database, Executor } from '../kernel/database.ts';
import { settledEvents } from './events.sql.ts';

const known = new WeakMap<Database, bigint>();

/**
 * Up to where the log can be read without missing anything. While somebody takes long to commit that is as far as it
 * was before: those who follow wait, and nothing is passed over.
 */
export async function settledPosition(db: Executor): Promise<bigint> {
  const before = known.get(db.database) ?? 0n;
  const row = await db.first<{ position: string | null }>(settledEvents, []);
  const position = BigInt(row?.position ?? before);
  const latest = position > before ? position : before;
  known.set(db.database, latest);
  return latest;
}
