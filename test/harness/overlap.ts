import pg from 'pg';
import type { TestApp } from './app.ts';
import { until } from './until.ts';

export type Holding = [text: string, values: unknown[]];

/** The statements on the database of the app that wait for a lock. */
export const blocked = (app: TestApp): Promise<{ pid: number }[]> =>
  app.sql("SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'");

/** Waits until a statement waits for a lock. */
export const untilBlocked = (app: TestApp) => until(async () => (await blocked(app)).length > 0, 'a blocked statement');

// The app has eight connections for short statements. Further requests wait for one instead of a lock.
const MAX_BLOCKED = 6;

/**
 * Runs the statements in a transaction, sends the requests one after the other, and ends the transaction once all are
 * blocked by it or answered. Each request has seen the state before the transaction and continues with the state after.
 */
export async function overlapping<T>(
  app: TestApp,
  held: Holding[],
  requests: (() => Promise<T>)[],
  end: 'COMMIT' | 'ROLLBACK' = 'COMMIT',
): Promise<T[]> {
  const holder = new pg.Client(app.connection);
  await holder.connect();
  try {
    await holder.query('BEGIN');
    for (const [text, values] of held) await holder.query(text, values);
    const answers: Promise<T>[] = [];
    let settled = 0;
    for (const request of requests) {
      answers.push(request().finally(() => (settled += 1)));
      const expected = Math.min(answers.length, MAX_BLOCKED);
      await until(async () => (await blocked(app)).length + settled >= expected, `${expected} blocked requests`);
    }
    await holder.query(end);
    return await Promise.all(answers);
  } finally {
    await holder.end();
  }
}
