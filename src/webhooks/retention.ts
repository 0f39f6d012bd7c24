import type { Logger } from 'pino';
import type { Database } from '../kernel/database.ts';
import { type Clock, toSql } from '../kernel/time.ts';
import { forgetDeliveries } from './deliveries.sql.ts';
import { forgetEndpoints } from './endpoints.sql.ts';
import { forgetNotices } from './notices.sql.ts';
import { forgetPreviousSecrets } from './secrets.sql.ts';

const KEPT = { hours: 30 * 24 };
const EVERY_MS = 3_600_000;
const BATCH = 500;

type Options = { db: Database; clock: Clock };

/** Now and every hour, what has ended 30 days ago, and secrets whose time is over. Gives the way to end it. */
export function keepForgettingDeliveries({ db, clock, logger }: Options & { logger: Logger }): () => Promise<void> {
  const forget = () =>
    forgetWhatEnded({ db, clock }).then(
      () => {},
      (error: unknown) => logger.warn({ err: error }, 'what webhooks have left behind could not be forgotten'),
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

export async function forgetWhatEnded({ db, clock }: Options): Promise<void> {
  await db.rows(forgetPreviousSecrets, [toSql(clock())]);
  await forgetOldDeliveries({ db, clock });
  await db.rows(forgetNotices, [toSql(clock().subtract(KEPT))]);
  await db.rows(forgetEndpoints, []);
}

/** In small steps; gives how many. What waits stays, however old it is. */
export async function forgetOldDeliveries({ db, clock }: Options): Promise<number> {
  const before = toSql(clock().subtract(KEPT));
  for (let all = 0; ; ) {
    const { forgotten = 0 } = (await db.first<{ forgotten: number }>(forgetDeliveries, [before, BATCH])) ?? {};
    all += forgotten;
    if (forgotten === 0) return all;
  }
}
