import pg from 'pg';
import type { World } from './app.ts';

export type Holding = [text: string, values: unknown[]];

/**
 * Runs the statements in a transaction, sends the requests, and commits once all of them wait for it: each has seen
 * what was there before, and goes on with what is there now.
 */
export async function overlapping<T>(world: World, held: Holding[], send: () => Promise<T>[]): Promise<T[]> {
  const holder = new pg.Client(world.connection);
  await holder.connect();
  try {
    await holder.query('BEGIN');
    for (const [text, values] of held) await holder.query(text, values);
    let settled = 0;
    const sent = send().map((answer) => answer.finally(() => (settled += 1)));
    while ((await waiting(world)) + settled < sent.length);
    await holder.query('COMMIT');
    return await Promise.all(sent);
  } finally {
    await holder.end();
  }
}

const waiting = async (world: World): Promise<number> =>
  (await world.sql("SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"))
    .length;
