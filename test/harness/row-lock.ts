import pg from 'pg';
import type { TestApp } from './app.ts';
import { until } from './until.ts';

/** A transaction of another process that holds rows, so that requests can be stopped halfway. */
export async function lockRows(app: TestApp, selection: string, values: unknown[] = []) {
  const client = new pg.Client(app.connection);
  await client.connect();
  await client.query('BEGIN');
  await client.query(`${selection} FOR NO KEY UPDATE`, values);
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  return {
    query: (text: string, parameters: unknown[] = []) => client.query(text, parameters),
    /** Waits until so many requests wait for a row. */
    waitedFor: (requests = 1) =>
      until(async () => (await app.sql(waiting)).length >= requests, 'requests that wait for a row'),
    async release(): Promise<void> {
      await client.query('COMMIT');
      await client.end();
    },
  };
}

export const lockUser = (app: TestApp, userId: string) => lockRows(app, 'SELECT 1 FROM users WHERE id = $1', [userId]);
