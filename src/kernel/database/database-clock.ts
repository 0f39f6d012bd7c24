import type { Logger } from 'pino';
import { statement } from '../sql/statement.ts';
import type { Clock } from '../time/time.ts';
import type { Database } from './database.ts';

const ASK_AGAIN_MS = 60_000;
const WORTH_A_WORD_MS = 2_000;

const now = statement('database.clock', 'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms');

/**
 * The time of the database, asked for every minute and counted on by one's own clock in between. Workers on many
 * machines then mean the same by a lease, whatever their own clocks say.
 */
export async function databaseClock(
  db: Database,
  own: Clock,
  logger: Logger,
): Promise<{ clock: Clock; stop: () => void }> {
  let ahead = 0;
  const ask = async () => {
    const before = own().epochMilliseconds;
    const row = await db.queryFirst<{ ms: number }>(now, []);
    const measured = Math.round((row?.ms ?? before) - (before + own().epochMilliseconds) / 2);
    if (Math.abs(measured) > WORTH_A_WORD_MS && Math.abs(measured - ahead) > WORTH_A_WORD_MS) {
      logger.warn({ milliseconds: measured }, 'the clock of this machine and that of the database are apart');
    }
    ahead = measured;
  };
  await ask();
  // Where the database is away, what was measured last is as good as anything.
  const timer = setInterval(() => ask().catch(() => {}), ASK_AGAIN_MS).unref();
  return { clock: () => own().add({ milliseconds: ahead }), stop: () => clearInterval(timer) };
}
