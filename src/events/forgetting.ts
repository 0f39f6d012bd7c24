import type { Logger } from 'pino';
import type { Database } from '../kernel/database.ts';
import { forgetEvents } from './events.sql.ts';

const EVERY_MS = 3_600_000;
// Each in a statement of its own: none holds anything for long.
const AT_ONCE = 5_000;

/** Now and every hour, what is older than the database has been told to keep. Gives the way to end it. */
export function keepForgetting(db: Database, logger: Logger): () => Promise<void> {
  const forget = () =>
    forgetOldEvents(db).then(
      () => {},
      (error: unknown) => logger.warn({ err: error }, 'old events could not be forgotten'),
    );
  let running = forget();
  const timer = setInterval(() => {
    running = forget();
  }, EVERY_MS).unref();
  return () => {
    clearInterval(timer);
    return running;
  };
}

export async function forgetOldEvents(db: Database): Promise<number> {
  for (let forgotten = 0; ; ) {
    const row = await db.first<{ forgotten: number }>(forgetEvents, [AT_ONCE]);
    forgotten += row?.forgotten ?? 0;
    if ((row?.forgotten ?? 0) < AT_ONCE) return forgotten;
  }
}
