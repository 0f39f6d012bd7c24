import pg from 'pg';
import type { TestApp } from './app.ts';
import { until } from './until.ts';

/** A transaction of another process that holds the row of a user, so that a request can be stopped halfway. */
export async function lockUser(app: TestApp, userId: string) {
  const client = new pg.Client(app.connection);
  await client.connect();
  await client.query('BEGIN');
  await client.query('SELECT 1 FROM users WHERE id = $1 FOR NO KEY UPDATE', [userId]);
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  return {
    query: (text: string, values: unknown[] = []) => client.query(text, values),
    /** Waits until a request wants the row. */
    waitedFor: () => until(async () => (await app.sql(waiting)).length > 0, 'a request that waits for the user'),
    async release(): Promise<void> {
      await client.query('COMMIT');
      await client.end();
    },
  };
}
