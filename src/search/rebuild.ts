import type { Executor } from '../kernel/database/database.ts';
import { rebuild } from './indexing.sql.ts';

/** Has workers build the index of one company anew, or that of every company. Returns the number of companies. */
export async function rebuildIndex(db: Executor, companyId?: string): Promise<number> {
  const row = await db.queryFirst<{ companies: number }>(rebuild({ company_id: companyId }));
  return row?.companies ?? 0;
}
