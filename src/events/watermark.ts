import type { Database, Executor } from '../kernel/database/database.ts';
import { CodedError } from '../kernel/errors.ts';
import { settledEvents } from './statements.sql.ts';

/** Up to where the log can be read without missing anything, and the last position that was ever given. */
export type Settled = { settled: bigint; last: bigint };

/**
 * `known`: up to where the log could last be read. It may be the position of an undone write, which a crash of the database
 * gives again, so it holds only while no connection breaks: `breaks` is how many had broken then.
 */
type Reading = {
  known: { position: bigint; breaks: number } | undefined;
  running: Promise<Settled> | undefined;
  next: Promise<Settled> | undefined;
};
const readings = new WeakMap<Database, Reading>();

const PATIENCE = '200 milliseconds';
// Where nothing is known yet there is nothing to fall back on.
const FIRST_PATIENCE = '5 seconds';

/**
 * While somebody takes long to commit, as far as it was before: those who follow wait, and nothing is passed over. Who
 * asks while it is being looked up shares the next look with all others that do.
 */
export function readWatermark({ database }: Executor): Promise<Settled> {
  const reading = readings.get(database) ?? { known: undefined, running: undefined, next: undefined };
  readings.set(database, reading);
  if (!reading.running) {
    reading.running = look(database, reading).finally(() => {
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

async function look(db: Database, reading: Reading): Promise<Settled> {
  const before = reading.known?.breaks === db.connectionFailures ? reading.known : undefined;
  const row = await db.queryFirst<{ settled: string | null; last: string }>(settledEvents, [
    before ? PATIENCE : FIRST_PATIENCE,
  ]);
  const { connectionFailures: breaks } = db;
  const known = before?.breaks === breaks ? before.position : undefined;
  const found = row?.settled ? BigInt(row.settled) : known;
  if (found === undefined) throw new CodedError('unavailable', 'A change is taking long to be written. Try again.');
  const settled = known !== undefined && known > found ? known : found;
  reading.known = { position: settled, breaks };
  return { settled, last: BigInt(row?.last ?? 0) };
}
