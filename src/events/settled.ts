import type { Database, Executor } from '../kernel/database.ts';
import { CodedError } from '../kernel/errors.ts';
import { settledEvents } from './events.sql.ts';

/** Up to where the log can be read without missing anything, and the last position that was ever given. */
export type Settled = { settled: bigint; last: bigint };

type Reading = { known: bigint | undefined; running: Promise<Settled> | undefined; next: Promise<Settled> | undefined };
const readings = new WeakMap<Database, Reading>();

const PATIENCE = '200 milliseconds';
// Where nothing is known yet there is nothing to fall back on.
const FIRST_PATIENCE = '5 seconds';

/**
 * While somebody takes long to commit, as far as it was before: those who follow wait, and nothing is passed over. Who
 * asks while it is being looked up shares the next look with all others that do.
 */
export function readSettled({ database }: Executor): Promise<Settled> {
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
      return readSettled(database);
    });
  return reading.next;
}

async function look(db: Database, reading: Reading): Promise<Settled> {
  const patience = reading.known === undefined ? FIRST_PATIENCE : PATIENCE;
  const row = await db.first<{ settled: string | null; last: string }>(settledEvents, [patience]);
  const settled = row?.settled ? BigInt(row.settled) : reading.known;
  if (settled === undefined) throw new CodedError('unavailable', 'A change is taking long to be written. Try again.');
  reading.known = reading.known !== undefined && reading.known > settled ? reading.known : settled;
  return { settled: reading.known, last: BigInt(row?.last ?? 0) };
}
