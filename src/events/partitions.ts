import type { Database } from '../kernel/database/database.ts';
import { isMissingObject } from '../kernel/database/postgres-errors.ts';
import type { Query } from '../kernel/sql/statement.ts';
import { closeFullPartition, dropOldPartitions } from './statements.sql.ts';

/** Begins the next partition of the event log if the present one is full. Returns whether it was. */
export const closeFullEventPartition = (db: Database): Promise<boolean> => isDone(db, closeFullPartition({}));

/** Removes the partitions whose events are all older than the retention. Returns whether there were any. */
export const dropOldEventPartitions = (db: Database): Promise<boolean> => isDone(db, dropOldPartitions({}));

/** On the schema of the previous release there are no partitions. */
async function isDone(db: Database, query: Query): Promise<boolean> {
  try {
    return (await db.queryFirst<{ done: boolean }>(query))?.done === true;
  } catch (error) {
    if (!isMissingObject(error)) throw error;
    return false;
  }
}
