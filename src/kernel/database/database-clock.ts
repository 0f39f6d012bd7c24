import type { Logger } from 'pino';
import { read } from '../sql/statement.ts';
import type { Clock } from '../time/time.ts';
import type { Database } from './database.ts';

const SYNC_INTERVAL_MS = 60_000;
const MAX_DRIFT_MS = 2_000;

const readClock = read('database.clock', {
  inputs: {},
  sql: () => 'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms',
});

/**
 * Returns a clock that shows the time of the database. The difference to the local clock is measured every minute.
 * Workers on several machines then agree on when a lease expires.
 */
export async function databaseClock(
  db: Database,
  localClock: Clock,
  logger: Logger,
): Promise<{ clock: Clock; stop: () => void }> {
  let offsetMs = 0;
  const sync = async () => {
    const before = localClock().epochMilliseconds;
    const row = await db.queryFirst<{ ms: number }>(readClock({}));
    const measured = Math.round((row?.ms ?? before) - (before + localClock().epochMilliseconds) / 2);
    if (Math.abs(measured) > MAX_DRIFT_MS && Math.abs(measured - offsetMs) > MAX_DRIFT_MS) {
      logger.warn({ milliseconds: measured }, 'the clocks of this machine and of the database differ');
    }
    offsetMs = measured;
  };
  await sync();
  // While the database is away, the last offset stays in use.
  const timer = setInterval(() => sync().catch(() => {}), SYNC_INTERVAL_MS).unref();
  return { clock: () => localClock().add({ milliseconds: offsetMs }), stop: () => clearInterval(timer) };
}
