import pg from 'pg';
import type { TestApp } from './app.ts';

export type Holding = [text: string, values: unknown[]];

/**
 * Runs the statements in a transaction, sends the requests, and commits once all of them wait for it: each has seen
 * what was there before, and goes on with what is there now.
 */
export async function overlapping<T>(app: TestApp, held: Holding[], send: () => Promise<T>[]): Promise<T[]> {
  const holder = new pg.Client(app.connection);
  await holder.connect();
  try {
    await holder.query('BEGIN');
    for (const [text, values] of held) await holder.query(text, values);
    let settled = 0;
    const sent = send().map((answer) => answer.finally(() => (settled += 1)));
    while ((await waiting(app)) + settled < sent.length);
    await holder.query('COMMIT');
    return await Promise.all(sent);
  } finally {
    await holder.end();
  }
}

const waiting = async (app: TestApp): Promise<number> =>
  (await app.sql("SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"))
    .length;
