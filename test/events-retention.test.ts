import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMigrations } from '../src/kernel/schema/migrations.ts';
import { SERVICE_ROLE } from '../src/postgres/bundled-postgres.ts';
import { setUpDatabase } from '../src/server/database-setup.ts';
import { startApp } from './harness/app.ts';

const app = await startApp();
const EVENTS = 40_000;
const OLD_EVENTS = 1_000;

/** Runs the hourly statement and returns how many pages it read. */
async function forget(max: number): Promise<number> {
  const [row] = await app.sql<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT forget_events(${max})`,
  );
  const plan = row?.['QUERY PLAN'][0].Plan ?? {};
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
}

const remaining = async () => Number((await app.sql<{ count: string }>('SELECT count(*) FROM events'))[0]?.count);

test('the hourly end of old events reads as much as there is to delete, however long the log', async () => {
  // No ANALYZE: the tables of a new installation have none either, and event_retention never has one.
  await app.sql('ALTER TABLE events_0 SET (autovacuum_enabled = false)');
  await app.sql(
    `INSERT INTO events (company_id, case_id, record_id, type, at, origin)
     SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'interaction.created',
            now() - CASE WHEN n <= $1 THEN interval '100 days' ELSE interval '10 days' END, '{}'
       FROM generate_series(1, $2) n`,
    [OLD_EVENTS, EVENTS],
  );
  await app.sql("SELECT brin_summarize_new_values('events_0_age')");
  const [size] = await app.sql<{ pages: number }>(
    `SELECT (pg_relation_size('events_0') / current_setting('block_size')::int)::int AS pages`,
  );
  const allPages = size?.pages ?? 0;
  await setUpDatabase({ owner: app.connection, roleToCreate: SERVICE_ROLE, retentionDays: 60 }, await readMigrations());

  const pagesRead = await forget(OLD_EVENTS * 2);
  assert.equal(await remaining(), EVENTS - OLD_EVENTS);
  assert.ok(pagesRead < OLD_EVENTS * 20, `${pagesRead} pages were read to delete ${OLD_EVENTS} events`);
  const pagesReadInVain = await forget(OLD_EVENTS * 2);
  assert.equal(await remaining(), EVENTS - OLD_EVENTS);
  assert.ok(pagesReadInVain < allPages / 5, `${pagesReadInVain} pages of ${allPages} were read, and no event is old`);
});
