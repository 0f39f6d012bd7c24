import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { connectClient } from '../../src/kernel/database/connect.ts';
import { migrate, readMigrations } from '../../src/kernel/schema/migrations.ts';
import { SERVICE_ROLE } from '../../src/postgres/bundled-postgres.ts';
import { setUpDatabase } from '../../src/server/database-setup.ts';
import { until } from '../harness/until.ts';

/** A database of the previous release is moved to partitions while four connections of that release write and read. */

const server = JSON.parse(process.env.TEST_POSTGRES ?? 'null');
const EVENTS = 300_000;
const WRITERS = 4;
/** Attempts to get the lock take 300 ms each. The rest is for a loaded machine. */
const MAX_WAIT_MS = 3_000;
const INSERT = `INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
  SELECT $1::uuid, $1::uuid, $2::uuid, 'interaction.updated', now(), '{}', json_build_object('n', $3::int)`;
const READ = `SELECT position::text, (was ->> 'n')::int AS n FROM events
  WHERE company_id = $1::uuid AND case_id = $1::uuid AND record_id = $2::uuid AND position > $3::bigint ORDER BY position`;

test('the log is moved to partitions while it is written to, also if that is interrupted', async (t) => {
  const database = `before_partitions_${process.pid}`;
  const admin = await connectClient(server, 'test');
  await admin.query(`CREATE DATABASE ${database}`);
  const client = await connectClient({ ...server, database }, 'test');
  t.after(async () => {
    await client.end();
    await admin.query(`DROP DATABASE ${database} WITH (FORCE)`);
    await admin.end();
  });
  const owner = { ...server, database };
  const migrations = await readMigrations();
  await migrate(
    owner,
    migrations.filter(({ version }) => version < 24),
  );
  await client.query(
    `GRANT SELECT, INSERT ON events TO ${SERVICE_ROLE}; GRANT USAGE, SELECT ON SEQUENCE event_positions TO ${SERVICE_ROLE}`,
  );
  await client.query(
    `INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'interaction.updated', now(), '{}', '{"n": 0}'
       FROM generate_series(1, $1)`,
    [EVENTS],
  );
  const contents = async () =>
    (
      await client.query(`SELECT count(*) AS count, md5(string_agg(e::text, ',' ORDER BY position)) AS hash FROM events e
      WHERE position <= ${EVENTS}`)
    ).rows[0];
  const before = await contents();

  const stop = new AbortController();
  const writers = Array.from({ length: WRITERS }, (_, i) =>
    writeAndRead({ ...owner, user: SERVICE_ROLE }, i + 1, stop.signal),
  );
  // A writer that fails before the end fails the test at the end.
  for (const writer of writers) writer.catch(() => {});
  const waitsFor = (lock: string) =>
    until(
      async () =>
        (
          await client.query(
            `SELECT 1 FROM pg_locks l JOIN pg_stat_activity a USING (pid)
              WHERE a.application_name = 'case-records migrate' AND a.datname = $1 AND NOT l.granted AND l.mode = $2`,
            [database, lock],
          )
        ).rowCount,
      `the migration waits for ${lock}`,
    );
  const isPartitioned = async () =>
    (await client.query(`SELECT relkind = 'p' AS yes FROM pg_class WHERE oid = 'events'::regclass`)).rows[0].yes;
  /** Keeps the migration waiting for a lock, and cancels it there. */
  const interrupt = async (blocking: string, lock: string) => {
    const blocker = await connectClient(owner, 'test');
    await blocker.query(`BEGIN; ${blocking}`);
    const migrating = assert.rejects(migrate(owner, migrations));
    let hasEnded = false;
    void migrating.then(() => {
      hasEnded = true;
    });
    await waitsFor(lock);
    // Between two attempts there is nothing to cancel.
    await until(async () => {
      await client.query(
        `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'case-records migrate' AND datname = $1`,
        [database],
      );
      return hasEnded;
    }, 'the cancelled migration to end');
    await migrating;
    await blocker.end();
  };

  await interrupt('SELECT 1 FROM events LIMIT 1', 'AccessExclusiveLock');
  assert.equal(await isPartitioned(), false);
  await migrate(
    owner,
    migrations.filter(({ version }) => version < 25),
  );
  assert.equal(await isPartitioned(), true);
  await interrupt('LOCK TABLE ONLY events_0 IN SHARE UPDATE EXCLUSIVE MODE', 'ShareUpdateExclusiveLock');
  await interrupt('SELECT 1 FROM events LIMIT 1', 'AccessExclusiveLock');
  const { rows: proven } = await client.query(`SELECT convalidated FROM pg_constraint WHERE conname = 'events_until'`);
  assert.deepEqual(proven, [{ convalidated: false }]);

  await setUpDatabase({ owner, roleToCreate: SERVICE_ROLE }, migrations);
  await client.query('SELECT close_event_partition(0)');
  stop.abort();
  const waits = await Promise.all(writers);
  const written = waits.reduce((sum, { count }) => sum + count, 0);
  const longest = Math.max(...waits.map(({ longestMs }) => longestMs));
  t.diagnostic(`${written} events were written meanwhile; the longest statement took ${Math.round(longest)} ms`);
  assert.ok(longest < MAX_WAIT_MS, `a statement took ${longest} ms`);
  assert.deepEqual(await contents(), before);
  const { rows } = await client.query(`SELECT count(*)::int AS count FROM events WHERE position > ${EVENTS}`);
  assert.equal(rows[0].count, written);
  const { rows: settled } = await client.query(
    'SELECT settled_events() >= (SELECT max(position) FROM events) AS complete',
  );
  assert.deepEqual(settled, [{ complete: true }]);
});

/** Writes as the previous release does, with statements that were prepared before. Each write must be there to be read. */
async function writeAndRead(connection: pg.ClientConfig, writer: number, signal: AbortSignal) {
  const client = new pg.Client(connection);
  await client.connect();
  const company = `00000000-0000-7000-8000-00000000000${writer}`;
  const record = `00000000-0000-7000-8000-0000000000a${writer}`;
  let longestMs = 0;
  let after = '0';
  let count = 0;
  try {
    while (!signal.aborted) {
      const startedAt = performance.now();
      await client.query({ name: 'write', text: INSERT, values: [company, record, count] });
      const { rows } = await client.query({ name: 'read', text: READ, values: [company, record, after] });
      longestMs = Math.max(longestMs, performance.now() - startedAt);
      assert.deepEqual(
        rows.map(({ n }) => n),
        [count],
      );
      after = rows[0].position;
      count++;
    }
    return { count, longestMs };
  } finally {
    await client.end();
  }
}
