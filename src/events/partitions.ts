import type { Database } from '../kernel/database/database.ts';
import { closeFullPartition } from './statements.sql.ts';

/** Begins the next partition of the event log if the present one is full. Returns whether it was. */
export const closeFullEventPartition = async (db: Database): Promise<boolean> =>
  (await db.queryFirst<{ closed: boolean }>(closeFullPartition({})))?.closed === true;
