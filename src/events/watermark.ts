import type { Database, Executor } from '../kernel/database/database.ts';
import { UnavailableError } from '../kernel/errors.ts';
import { findWatermark } from './statements.sql.ts';

/** The position up to which the log is complete, the last one that was ever issued, and whether it was ever restored. */
type Watermark = { position: bigint; lastIssued: bigint; isRestored: boolean };

type WatermarkReads = {
  /**
   * The last watermark. It may be the position of a rolled-back write, which a crash of the database issues again, so
   * it is valid only until a connection fails, and not at all if failures go unnoticed.
   */
  known: { position: bigint; connectionFailures: number } | undefined;
  running: Promise<Watermark> | undefined;
  next: Promise<Watermark> | undefined;
};
const readsByDatabase = new WeakMap<Database, WatermarkReads>();

const MAX_WAIT = '200 milliseconds';
// Without a known watermark there is nothing to fall back on, so it waits longer.
const MAX_FIRST_WAIT = '5 seconds';

/**
 * A transaction that takes long to commit may still write below newer events, so the watermark stays until it ends and
 * no reader misses an event. Calls during a running query share the next one, which has the deadline of the first call.
 */
export function readWatermark(db: Executor): Promise<Watermark> {
  const { database } = db;
  const reads = readsByDatabase.get(database) ?? { known: undefined, running: undefined, next: undefined };
  readsByDatabase.set(database, reads);
  if (!reads.running) {
    reads.running = queryWatermark(db, reads).finally(() => {
      reads.running = undefined;
    });
    return reads.running;
  }
  reads.next ??= reads.running
    .catch(() => {})
    .then(() => {
      reads.next = undefined;
      return readWatermark(db);
    });
  return reads.next;
}

type WatermarkRow = { position: string | null; last_issued: string; is_restored: boolean };

async function queryWatermark(db: Executor, reads: WatermarkReads): Promise<Watermark> {
  const { database } = db;
  const previous = reads.known?.connectionFailures === database.connectionFailures ? reads.known : undefined;
  const query = findWatermark({ max_wait: previous ? MAX_WAIT : MAX_FIRST_WAIT });
  const row = await db.queryFirst<WatermarkRow>(query);
  const { connectionFailures } = database;
  const known = previous?.connectionFailures === connectionFailures ? previous.position : undefined;
  const found = row?.position ? BigInt(row.position) : known;
  if (found === undefined) throw new UnavailableError('A change is taking long to be written. Try again later.');
  const position = known !== undefined && known > found ? known : found;
  reads.known = database.noticesFailures ? { position, connectionFailures } : undefined;
  return { position, lastIssued: BigInt(row?.last_issued ?? 0), isRestored: row?.is_restored === true };
}
