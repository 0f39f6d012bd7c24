import type { Database, Executor } from '../kernel/database/database.ts';
import { CodedError } from '../kernel/errors.ts';
import { findWatermark } from './statements.sql.ts';

/** Up to where the log can be read without missing anything, and the last position that was ever given. */
export type Watermark = { position: bigint; lastIssued: bigint };

/**
 * `known`: up to where the log could last be read. It may be the position of an undone write, which a crash of the database
 * gives again, so it holds only while no connection breaks: `breaks` is how many had broken then.
 */
type WatermarkReads = {
  known: { position: bigint; connectionFailures: number } | undefined;
  running: Promise<Watermark> | undefined;
  next: Promise<Watermark> | undefined;
};
const readsByDatabase = new WeakMap<Database, WatermarkReads>();

const MAX_WAIT = '200 milliseconds';
// Where nothing is known yet there is nothing to fall back on.
const MAX_FIRST_WAIT = '5 seconds';

/**
 * While somebody takes long to commit, as far as it was before: those who follow wait, and nothing is passed over. Who
 * asks while it is being looked up shares the next look with all others that do.
 */
export function readWatermark({ database }: Executor): Promise<Watermark> {
  const reading = readsByDatabase.get(database) ?? { known: undefined, running: undefined, next: undefined };
  readsByDatabase.set(database, reading);
  if (!reading.running) {
    reading.running = queryWatermark(database, reading).finally(() => {
      reading.running = undefined;
    });
    return reading.running;
  }
  reading.next ??= reading.running
    .catch(() => {})
    .then(() => {
      reading.next = undefined;
      return readWatermark(database);
    });
  return reading.next;
}

async function queryWatermark(db: Database, reading: WatermarkReads): Promise<Watermark> {
  const before = reading.known?.connectionFailures === db.connectionFailures ? reading.known : undefined;
  const row = await db.queryFirst<{ settled: string | null; last: string }>(findWatermark, [
    before ? MAX_WAIT : MAX_FIRST_WAIT,
  ]);
  const { connectionFailures: breaks } = db;
  const known = before?.connectionFailures === breaks ? before.position : undefined;
  const found = row?.settled ? BigInt(row.settled) : known;
  if (found === undefined) throw new CodedError('unavailable', 'A change is taking long to be written. Try again.');
  const settled = known !== undefined && known > found ? known : found;
  reading.known = { position: settled, connectionFailures: breaks };
  return { position: settled, lastIssued: BigInt(row?.last ?? 0) };
}
