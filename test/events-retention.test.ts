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

test('in a log of several partitions it reads no more, and their indexes by age summarize as they grow', async () => {
  for (let n = 0; n < 6; n++) {
    await app.sql('SELECT close_event_partition(0)');
    await app.sql(
      `INSERT INTO events (company_id, case_id, record_id, type, at, origin)
       SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'interaction.created',
              now() - CASE WHEN $1 AND n <= $2 THEN interval '100 days' ELSE interval '10 days' END, '{}'
         FROM generate_series(1, 8000) n`,
      [n === 2, OLD_EVENTS],
    );
  }
  const ages = await app.sql<{ name: string; options: string[] }>(
    `SELECT indexrelid::regclass::text AS name, c.reloptions AS options FROM event_partitions(), pg_index i
       JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = c.relam WHERE indrelid = partition AND amname = 'brin'`,
  );
  for (const { name, options } of ages) {
    assert.deepEqual(options.sort(), ['autosummarize=on', 'pages_per_range=32'], name);
    await app.sql('SELECT brin_summarize_new_values($1::regclass)', [name]);
  }
  const before = await remaining();
  const pagesRead = await forget(OLD_EVENTS * 2);
  assert.equal(await remaining(), before - OLD_EVENTS);
  assert.ok(pagesRead < OLD_EVENTS * 30, `${pagesRead} pages were read to delete ${OLD_EVENTS} events`);
});
