import assert from 'node:assert/strict';
import { test } from 'node:test';
import type pg from 'pg';
import { closeFullEventPartition } from '../src/events/partitions.ts';
import { purgeOldEvents } from '../src/events/retention.ts';
import { eventStatements } from '../src/events/statements.sql.ts';
import { connectClient } from '../src/kernel/database/connect.ts';
import { readMigrations } from '../src/kernel/schema/migrations.ts';
import { SERVICE_ROLE } from '../src/postgres/bundled-postgres.ts';
import { AUDIT_LOGS } from '../src/server/audit-logs.ts';
import { setUpDatabase } from '../src/server/database-setup.ts';
import { startApp, type TestApp, type TestCompany } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import { runCommand } from './harness/command-line.ts';
import { temporaryDirectory, urlOf } from './harness/service.ts';
import { until } from './harness/until.ts';

const app = await startApp();

type Event = { id: string; type: string; before: { notes: string } | null; after: { notes: string } | null };

const closePartition = (of: TestApp = app) => of.sql('SELECT close_event_partition(0)');
const partitions = async (of: TestApp = app) =>
  (await of.sql<{ name: string }>('SELECT partition::text AS name FROM event_partitions()')).map(({ name }) => name);

async function call(company: TestCompany, notes: string): Promise<string> {
  return (await ok(company.post(`${company.path}/interactions`, { type: 'phone', notes }))).id;
}
const read = (company: TestCompany, path: string): Promise<Event[]> => ok(company.get(path));
const notesOf = (events: Event[]) => events.map(({ before, after }) => [before?.notes, after?.notes]);

const setRetention = async (of: TestApp, retentionDays?: number) =>
  setUpDatabase({ owner: of.connection, roleToCreate: SERVICE_ROLE, retentionDays }, await readMigrations());
/** Makes calls that are as old, and closes their partition. */
async function callsInPartition(of: TestApp, company: TestCompany, ...days: number[]): Promise<void> {
  for (const age of days) {
    of.clock.set(
      Temporal.Now.instant()
        .subtract({ hours: age * 24 })
        .toString(),
    );
    await call(company, String(age));
  }
  await closePartition(of);
}
const agesOf = async (company: TestCompany) =>
  (await read(company, '/events?types=interaction.*')).map(({ after }) => after?.notes);

test('lists, histories and links go on in the next partition, and each change has its states', async () => {
  const company = await app.company();
  const id = await call(company, '0');
  const path = `${company.path}/interactions/${id}`;
  for (const notes of ['1', '2', '3']) {
    await closePartition();
    await ok(company.patch(path, { type: 'phone', notes }));
    await call(company, `other ${notes}`);
  }
  const expected = [
    [undefined, '0'],
    ['0', '1'],
    ['1', '2'],
    ['2', '3'],
  ];
  assert.deepEqual(notesOf(await read(company, `${path}/history`)), expected);
  for (const list of ['/events?types=interaction.*', `${company.path}/events?types=interaction.*`]) {
    const whole = await read(company, list);
    assert.equal(whole.length, 7);
    const paged: Event[] = [];
    for (let after = ''; ; ) {
      const page = await read(company, `${list}&limit=2${after}`);
      if (page.length === 0) break;
      paged.push(...page);
      after = `&after=${page.at(-1)?.id}`;
    }
    assert.deepEqual(paged, whole, list);
  }
  const latest = await company.get('/events?after=latest');
  await closePartition();
  await call(company, 'after the link');
  const link = /<([^>]+)>/.exec(String(latest.headers.link))?.[1] ?? '';
  assert.deepEqual(notesOf(await read(company, link)), [[undefined, 'after the link']]);
});

test('a page reads the partitions that its events are in, and an event that of its position', async () => {
  const company = await app.company();
  for (let n = 0; n < 8; n++) {
    for (let i = 0; i < 3; i++) await call(company, `${n} ${i}`);
    await closePartition();
  }
  const rows = await app.sql<{ position: string; partition: string }>(
    `SELECT position::text, tableoid::regclass::text AS partition FROM events
      WHERE company_id = $1 AND type = 'interaction.created' ORDER BY position`,
    [company.companyId],
  );
  const { ofCompany, one } = eventStatements(AUDIT_LOGS);
  const page = { company_id: company.companyId, bound: String(2n ** 62n), limit: 3, types: null };
  const [second, third] = [rows[5], rows[6]];
  assert.ok(second && third && third.partition !== second.partition);
  const client = await connectClient(app.connection, 'test');
  try {
    for (const mode of ['force_generic_plan', 'force_custom_plan']) {
      await client.query(`SET plan_cache_mode = ${mode}; SET enable_seqscan = off`);
      const { statement, values } = ofCompany({ ...page, after: second.position });
      const scanned = await scannedBy(client, statement.text, values, 'scanned');
      assert.deepEqual(scanned, [second.partition, third.partition], mode);
      const found = one({ company_id: company.companyId, position: third.position });
      const reads = await scannedBy(client, found.statement.text, found.values, 'e');
      assert.deepEqual(reads, [third.partition], mode);
    }
  } finally {
    await client.end();
  }
});

type Plan = Record<string, unknown> & { Plans?: Plan[] };

/** The partitions that are read for the table expression, or for the alias `e` outside of any. */
async function scannedBy(
  client: { query(text: string): Promise<{ rows: Record<string, [{ Plan: Plan }]>[] }> },
  text: string,
  values: unknown[],
  part: string,
): Promise<unknown[]> {
  await client.query(`PREPARE page AS ${text}`);
  const literals = values.map((value) => (value === null ? 'NULL' : `'${value}'`)).join(', ');
  const { rows } = await client.query(`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE page(${literals})`);
  await client.query('DEALLOCATE page');
  const found = new Set<unknown>();
  const visit = (plan: Plan, isInside: boolean) => {
    const inside = isInside || plan['Subplan Name'] === `CTE ${part}`;
    const isPart = part === 'e' ? /^e(_\d+)?$/.test(String(plan.Alias)) : inside;
    if (isPart && plan['Relation Name'] && plan['Actual Loops'] !== 0) found.add(plan['Relation Name']);
    for (const child of plan.Plans ?? []) visit(child, inside);
  };
  const plan = rows[0]?.['QUERY PLAN']?.[0].Plan;
  assert.ok(plan);
  visit(plan, false);
  return [...found];
}

test('a partition is removed when all its events are older than the retention, and the others stay', async () => {
  const own = await startApp();
  const company = await own.company();
  await closePartition(own);
  await callsInPartition(own, company, 90, 80);
  await callsInPartition(own, company, 75, 70);
  await callsInPartition(own, company, 65, 40);
  await callsInPartition(own, company, 30);
  assert.deepEqual(await agesOf(company), ['90', '80', '75', '70', '65', '40', '30']);
  const count = (await partitions(own)).length;
  await purgeOldEvents(own.db);
  assert.equal((await partitions(own)).length, count, 'without a retention nothing is removed');
  await setRetention(own, 60);
  const before = await read(company, '/events?types=interaction.*');
  assert.equal(await purgeOldEvents(own.db), 1, 'of the partition that is needed its old events are deleted');
  assert.deepEqual(await read(company, '/events?types=interaction.*'), before.slice(5));
  assert.ok((await partitions(own)).length < count);
  const left = await partitions(own);
  await purgeOldEvents(own.db);
  assert.deepEqual(await partitions(own), left, 'there is nothing more to remove');
});

test('old events whose partition is removed within a thirtieth of the retention are not deleted one by one', async () => {
  const own = await startApp();
  const company = await own.company();
  await closePartition(own);
  await callsInPartition(own, company, 63, 59);
  await callsInPartition(own, company, 20);
  await setRetention(own, 60);
  assert.equal(await purgeOldEvents(own.db), 0);
  assert.deepEqual(await agesOf(company), ['63', '59', '20']);
  await setRetention(own, 58);
  assert.equal(await purgeOldEvents(own.db), 0);
  assert.deepEqual(await agesOf(company), ['20']);
});

test('a position below all partitions that remain has one: imports bring such events', async () => {
  const own = await startApp();
  const company = await own.company();
  await closePartition(own);
  await callsInPartition(own, company, 100);
  await setRetention(own, 60);
  await purgeOldEvents(own.db);
  await own.sql(
    `INSERT INTO events (company_id, position, case_id, record_id, type, at, origin)
     SELECT $1, p, $2, gen_random_uuid(), 'interaction.deleted', now(), '{"actor":{"type":"worker"}}' FROM unnest(ARRAY[1, 2, 7]) p`,
    [company.companyId, company.caseId],
  );
  assert.equal((await read(company, '/events?types=interaction.deleted')).length, 3);
});

const OWNER_ONLY = [
  'SELECT close_event_partition(0)',
  `SELECT create_event_partition('events_x', 'DEFAULT')`,
  `SELECT keep_event_partition_private('companies')`,
];

for (const text of OWNER_ONLY) {
  test(`the service's own role is refused: ${text}`, async () => {
    await assert.rejects(app.db.pool.query(text), { code: '42501', message: /^permission denied/ });
  });
}

test("the service's own role has no rights on a partition, whatever new tables give it", async () => {
  await app.sql(`ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON TABLES TO ${SERVICE_ROLE}, PUBLIC`);
  try {
    await closePartition();
  } finally {
    await app.sql(`ALTER DEFAULT PRIVILEGES IN SCHEMA public REVOKE ALL ON TABLES FROM ${SERVICE_ROLE}, PUBLIC`);
  }
  for (const name of await partitions()) {
    await assert.rejects(app.db.pool.query(`SELECT 1 FROM ${name}`), { code: '42501' }, name);
    await assert.rejects(app.sql(`TRUNCATE ${name}`), /cannot be changed/, name);
  }
});

test('the service cannot have partitions removed with a retention of its own', async () => {
  const own = await startApp();
  const company = await own.company();
  await closePartition(own);
  await callsInPartition(own, company, 1);
  const client = await own.db.pool.connect();
  try {
    await client.query('CREATE TEMP TABLE event_retention (days integer)');
    await client.query('INSERT INTO event_retention VALUES (-1000); GRANT SELECT ON event_retention TO PUBLIC');
    const { rows } = await client.query('SELECT drop_old_event_partitions() AS dropped');
    assert.equal(rows[0].dropped, false);
  } finally {
    client.release(true);
  }
  assert.deepEqual(await agesOf(company), ['1']);
});

test('a partition is closed when it is full or its end comes near, and not before', async () => {
  const count = (await partitions()).length;
  assert.equal(await closeFullEventPartition(app.db), false);
  assert.equal((await partitions()).length, count);
  const [limits] = await app.sql(
    `SELECT full_event_partition_bytes(1, false)::float8 AS first, full_event_partition_bytes(1e12, false)::float8 AS large,
            full_event_partition_bytes(1, true)::float8 AS kept_first, full_event_partition_bytes(1e12, true)::float8 AS kept_large`,
  );
  assert.deepEqual(limits, { first: 8e9, large: 1.25e11, kept_first: 1e9, kept_large: 31_250_000_000 });
  await app.sql(`SELECT setval('event_positions', max(until_position) - 40000000000) FROM event_partitions()`);
  const company = await app.company();
  assert.equal(await closeFullEventPartition(app.db), true);
  assert.equal((await partitions()).length, count + 1);
  assert.equal(await closeFullEventPartition(app.db), false);
  await call(company, 'in the next partition');
  assert.deepEqual(await agesOf(company), ['in the next partition']);
});

test('two workers that find the same partition full close one', async () => {
  await app.sql(`SELECT setval('event_positions', max(until_position) - 40000000000) FROM event_partitions()`);
  const count = (await partitions()).length;
  const client = await connectClient(app.connection, 'test');
  try {
    await client.query('BEGIN');
    const { rows } = await client.query('SELECT close_full_event_partition() AS done');
    assert.equal(rows[0].done, true);
    const other = closeFullEventPartition(app.db).catch((error: Error) => error.message);
    const isDecided = Promise.race([other, until(() => isWaitingForLock(client), 'the other worker to wait')]);
    await isDecided;
    await client.query('COMMIT');
    assert.equal(await other, false);
  } finally {
    await client.end();
  }
  assert.equal((await partitions()).length, count + 1);
});

const isWaitingForLock = async (client: pg.Client): Promise<boolean> =>
  (await client.query('SELECT FROM pg_locks WHERE NOT granted')).rowCount !== 0;

test('a log that is in use is not held up: the partition is closed another time', async () => {
  const company = await app.company();
  const reader = await connectClient(app.connection, 'test');
  const count = (await partitions()).length;
  try {
    await reader.query('BEGIN; SELECT count(*) FROM events');
    const closing = assert.rejects(closePartition(), { code: '55P03' });
    const id = await call(company, 'meanwhile');
    await closing;
    assert.ok(id);
    assert.equal((await partitions()).length, count);
  } finally {
    await reader.end();
  }
  await closePartition();
  assert.equal((await partitions()).length, count + 1);
});

test('closing a partition gives up soon if the log is in use, because writers wait behind it', async () => {
  const reader = await connectClient(app.connection, 'test');
  const closer = await connectClient(app.connection, 'test');
  try {
    await reader.query('BEGIN; SELECT count(*) FROM events');
    await closer.query(`SET statement_timeout = '10s'`);
    const { rows } = await closer.query('SELECT clock_timestamp() AS at');
    await assert.rejects(closer.query('SELECT close_event_partition(0)'), { code: '55P03' });
    const { rows: after } = await closer.query('SELECT clock_timestamp() AS at');
    // It waits 300 ms. Without a limit of its own, the function would wait for 3 s.
    const waitedMs = after[0].at - rows[0].at;
    assert.ok(waitedMs < 2_000, `${waitedMs} ms`);
  } finally {
    await reader.end();
    await closer.end();
  }
});

test('a position that nobody foresaw has a partition, and following goes on', async () => {
  const other = await startApp();
  const company = await other.company();
  await call(company, 'before');
  await other.sql(`SELECT setval('event_positions', 7000000000000000)`);
  await call(company, 'far away');
  assert.deepEqual(
    notesOf(await read(company, '/events?types=interaction.*')).map(([, after]) => after),
    ['before', 'far away'],
  );
  await assert.rejects(closePartition(other), /cannot be closed/);
  await call(company, 'and on');
});

test('the removal of a company takes no event of another company, in any partition', async () => {
  const [removed, kept] = [await app.company(), await app.company()];
  for (let n = 0; n < 3; n++) {
    await closePartition();
    for (const company of n % 2 === 0 ? [removed, kept] : [kept, removed]) await call(company, String(n));
  }
  const before = await read(kept, '/events');
  const [{ name } = { name: '' }] = await app.sql<{ name: string }>('SELECT name FROM companies WHERE id = $1', [
    removed.companyId,
  ]);
  const env = { DATABASE_URL: urlOf(app.connection) };
  const { code, err } = await runCommand(env, 'company', 'remove', removed.companyId, '--confirm', name);
  assert.equal(code, 0, err);
  assert.deepEqual(await app.sql('SELECT 1 FROM events WHERE company_id = $1', [removed.companyId]), []);
  assert.deepEqual(await read(kept, '/events'), before);
});

test('a company of a log with more partitions is imported, and the log can be written afterwards', async (t) => {
  const [source, target] = [await startApp(), await startApp()];
  const home = await temporaryDirectory();
  t.after(home.remove);
  const company = await source.company();
  await call(company, 'first');
  for (let n = 0; n < 3; n++) await closePartition(source);
  await call(company, 'last');
  const file = `${home.path}/company.zip`;
  for (const [of, args] of [
    [source, ['export', company.companyId, file, '--without-secrets']],
    [target, ['import', file]],
  ] as const) {
    const { code, err } = await runCommand({ DATABASE_URL: urlOf(of.connection) }, 'company', ...args);
    assert.equal(code, 0, err);
  }
  const events = 'SELECT e::text FROM events e WHERE company_id = $1 ORDER BY position';
  assert.deepEqual(await target.sql(events, [company.companyId]), await source.sql(events, [company.companyId]));
  const here = await target.company();
  await call(here, 'after the import');
  assert.equal((await read(here, '/events?types=interaction.*')).length, 1);
  await closePartition(target);
});
