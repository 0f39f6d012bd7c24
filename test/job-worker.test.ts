import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import pino from 'pino';
import { readConfig } from '../src/config.ts';
import { databaseClock } from '../src/kernel/database/database-clock.ts';
import { newId } from '../src/kernel/ids.ts';
import { batchCalls } from '../src/kernel/jobs/call-batcher.ts';
import { DeliveryCounters } from '../src/kernel/jobs/delivery-counters.ts';
import { queueStatements } from '../src/kernel/jobs/job-queue.sql.ts';
import type { JobKey, Lease } from '../src/kernel/jobs/job-queue.ts';
import { JobWorker } from '../src/kernel/jobs/job-worker.ts';
import { CHANNEL } from '../src/kernel/jobs/notify-workers.ts';
import { SERVICE_ROLE } from '../src/postgres/bundled-postgres.ts';
import { runWorker } from '../src/server/worker.ts';
import { startApp } from './harness/app.ts';
import { mailServer } from './harness/mail-server.ts';
import { messageWorker, Recorder } from './harness/message-worker.ts';
import { temporaryDirectory } from './harness/service.ts';
import { until } from './harness/until.ts';

const app = await startApp();

// A queue of the test's own: the worker knows no resource.
await app.sql(`
  CREATE TABLE errands (
    company_id uuid NOT NULL, id uuid NOT NULL, done boolean NOT NULL DEFAULT false, due_at timestamptz NOT NULL,
    lease_until timestamptz, lease_by uuid,
    claim_at timestamptz GENERATED ALWAYS AS (greatest(due_at, lease_until)) STORED, PRIMARY KEY (company_id, id));
  CREATE INDEX ON errands (company_id, claim_at) WHERE NOT done;
  GRANT ALL ON errands TO ${SERVICE_ROLE}`);
const key = ['company_id', 'id'];
const statements = queueStatements({ tenantTable: 'companies', table: 'errands', key, open: 'NOT done' });

beforeEach(async () => {
  app.clock.set('2026-06-01T09:00:00Z');
  await app.sql('DELETE FROM errands');
  await app.sql(`UPDATE messages SET state = 'cancelled' WHERE state IN ('scheduled', 'sending')`);
});

const newCompanyId = async () => (await app.company()).companyId;

async function add(companyId: string, count: number, due = '2026-06-01T09:00:00Z'): Promise<void> {
  const ids = Array.from({ length: count }, () => newId());
  await app.sql('INSERT INTO errands (company_id, id, due_at) SELECT $1, unnest($2::uuid[]), $3', [
    companyId,
    ids,
    due,
  ]);
}

function worker(
  handle: (key: JobKey, claim: Lease) => Promise<void>,
  slots = 8,
  slotsPerCompany = 4,
  pollMs = 20_000,
  db = app.db,
): JobWorker {
  const { connection, clock } = app;
  const queues = [{ name: 'errands', key, statements, handle }];
  const logger = pino({ level: 'silent' });
  return new JobWorker({ db, connection, clock: clock.read, logger, queues, slots, slotsPerCompany, pollMs });
}

const finish = async ({ id }: JobKey) => {
  await app.sql('UPDATE errands SET done = true WHERE id = $1', [id]);
};

test('a queue whose table has yet to be migrated does not keep another from working', async () => {
  const company = await newCompanyId();
  await add(company, 3);
  const later = queueStatements({ tenantTable: 'companies', table: 'errands_later', key, open: 'NOT done' });
  const queues = [
    { name: 'later', key, statements: later, handle: async () => {} },
    { name: 'errands', key, statements, handle: finish },
  ];
  const { connection, clock, db } = app;
  const logger = pino({ level: 'silent' });
  const running = new JobWorker({ db, connection, clock: clock.read, logger, queues, pollMs: 50 });
  await running.start();
  await until(async () => (await app.sql('SELECT 1 FROM errands WHERE NOT done')).length === 0);
  await add(company, 1);
  await until(async () => (await app.sql('SELECT 1 FROM errands WHERE NOT done')).length === 0);
  await running.stop();
});

test('what is due is worked once by any number of workers, what is not due stays', async () => {
  const [one, two] = [await newCompanyId(), await newCompanyId()];
  await add(one, 30);
  await add(two, 5);
  await add(two, 1, '2026-06-01T09:00:00.000001Z');
  const seen: string[] = [];
  const handle = async (row: JobKey) => {
    seen.push(row.id ?? '');
    await finish(row);
  };
  await Promise.all(Array.from({ length: 4 }, () => worker(handle).runOnce()));
  assert.equal(seen.length, 35);
  assert.equal(new Set(seen).size, 35);
});

test('two claims at the same instant never take the same row, and neither waits for the other', async () => {
  const id = await newCompanyId();
  await add(id, 3);
  const [first, second] = await Promise.all([app.db.pool.connect(), app.db.pool.connect()]);
  try {
    const claim = () => {
      const lease = { now: '2026-06-01T09:00:00Z', lease: newId(), lease_until: '2026-06-01T09:00:45Z', limit: 2 };
      const load = { busy_companies: [], busy_counts: [], max_per_company: 4, reserved: 0 };
      const { statement, values } = statements.claim({ ...lease, ...load });
      return { name: statement.name, text: statement.text, values };
    };
    await first.query('BEGIN');
    const a = await first.query<JobKey>(claim());
    const b = await second.query<JobKey>(claim());
    await first.query('COMMIT');
    assert.deepEqual([a.rowCount, b.rowCount], [2, 1]);
    assert.equal(new Set([...a.rows, ...b.rows].map((row) => row.id)).size, 3);
  } finally {
    first.release();
    second.release();
  }
});

test('a company has at most its share of the slots, and another company is served immediately', async () => {
  const [busy, other] = [await newCompanyId(), await newCompanyId()];
  await add(busy, 50, '2026-05-01T09:00:00Z');
  await add(other, 2);
  const order: string[] = [];
  let most = 0;
  const counts = new Map<string, number>();
  await worker(async (row) => {
    order.push(row.company_id);
    counts.set(row.company_id, (counts.get(row.company_id) ?? 0) + 1);
    most = Math.max(most, counts.get(row.company_id) ?? 0);
    await finish(row);
    counts.set(row.company_id, (counts.get(row.company_id) ?? 0) - 1);
  }).runOnce();
  assert.equal(most, 4);
  assert.equal(order.length, 52);
  assert.ok(order.slice(0, 6).includes(other), 'the first claim has room for both');
});

test('companies whose work hangs leave slots to those that have nothing in progress, one each', async () => {
  const stuck = [await newCompanyId(), await newCompanyId(), await newCompanyId()];
  for (const id of stuck) await add(id, 10, '2026-05-01T09:00:00Z');
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const done: string[] = [];
  let hanging = 0;
  const running = worker(async (row) => {
    if (stuck.includes(row.company_id)) {
      hanging++;
      await held;
    }
    await finish(row);
    done.push(row.company_id);
  });
  await running.start();
  await until(() => hanging === 6);
  const others = [await newCompanyId(), await newCompanyId()];
  for (const id of others) await add(id, 5);
  running.wake();
  await until(() => done.length === 10);
  assert.deepEqual([...new Set(done)].sort(), others.sort());
  assert.equal(hanging, 6, 'three quarters of the slots');
  release();
  await running.stop();
});

test('with fewer slots than waits, the companies take turns', async () => {
  const companies = [await newCompanyId(), await newCompanyId(), await newCompanyId()];
  for (const id of companies) await add(id, 5);
  const order: string[] = [];
  await worker(
    async (row) => {
      order.push(row.company_id);
      await finish(row);
    },
    3,
    3,
  ).runOnce();
  assert.equal(new Set(order.slice(0, 3)).size, 3);
});

test('what a handler throws leaves the row for later, when its lease has run out', async () => {
  await add(await newCompanyId(), 1);
  let calls = 0;
  const failing = worker(async () => {
    calls++;
    throw new Error('no');
  });
  assert.equal(await failing.runOnce(), 1);
  app.clock.advance({ seconds: 44 });
  assert.equal(await failing.runOnce(), 0);
  app.clock.advance({ seconds: 1 });
  assert.equal(await failing.runOnce(), 1);
  assert.equal(calls, 2);
});

test('a lease is renewed only by the claim that holds it', async () => {
  const id = await newCompanyId();
  await add(id, 1);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  let claim = '';
  let row: JobKey | undefined;
  const running = worker(async (taken, { id: by }) => {
    row = taken;
    claim = by;
    await held;
    await finish(taken);
  }).runOnce();
  await until(() => row !== undefined);
  const renew = (by: string, time: string) =>
    app.db.queryRows(statements.renew(time, [{ id: by, key: row ?? assert.fail() }]));
  const lease = async () =>
    (await app.sql<{ at: string }>(`SELECT to_json(lease_until AT TIME ZONE 'UTC')#>>'{}' AS at FROM errands`))[0]?.at;
  await renew(newId(), '2026-06-01T09:09:00Z');
  assert.equal(await lease(), '2026-06-01T09:00:45');
  await renew(claim, '2026-06-01T09:05:00Z');
  assert.equal(await lease(), '2026-06-01T09:05:00');
  release();
  await running;
});

test('what is still in progress when its lease has run out is not begun a second time by the same worker', async () => {
  await add(await newCompanyId(), 1);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const claims: Lease[] = [];
  const same = worker(async (taken, claim) => {
    claims.push(claim);
    await held;
    await finish(taken);
  });
  const running = same.runOnce();
  await until(() => claims.length === 1);
  const before = claims[0]?.id;
  app.clock.advance({ minutes: 1 });
  const again = same.runOnce();
  await until(() => claims[0]?.id !== before);
  const [row] = await app.sql<{ lease_by: string }>('SELECT lease_by FROM errands');
  assert.equal(row?.lease_by, claims[0]?.id, 'it holds the new lease');
  release();
  await Promise.all([running, again]);
  assert.equal(claims.length, 1);
});

test('a job that falls due again while its handler ends is handled again immediately', async () => {
  await add(await newCompanyId(), 1);
  const claims: Lease[] = [];
  let dueAgain = false;
  const same = worker(async (taken, claim) => {
    claims.push(claim);
    if (claims.length > 1) return finish(taken);
    const before = claim.id;
    await app.sql('UPDATE errands SET lease_by = NULL, lease_until = NULL');
    dueAgain = true;
    await until(() => claim.id !== before);
  });
  const running = same.runOnce();
  await until(() => dueAgain);
  await Promise.all([running, same.runOnce()]);
  assert.equal(claims.length, 2);
  assert.deepEqual(await app.sql('SELECT done FROM errands'), [{ done: true }]);
});

test('what is taken once more while it is being given back is given back too', async () => {
  await add(await newCompanyId(), 1);
  const claims: Lease[] = [];
  const running: Promise<number>[] = [];
  const takenAgain = async (work: () => Promise<unknown>) => {
    const before = claims[0]?.id;
    await work();
    running.push(same.runOnce());
    await until(() => claims[0]?.id !== before);
  };
  const makeDue = () => app.sql('UPDATE errands SET lease_by = NULL, lease_until = NULL');
  let givenBack = 0;
  const rows: typeof app.db.queryRows = async (query) => {
    const isRelease = query.statement.name === 'errands.release_lease';
    if (!isRelease || givenBack++ > 0) return app.db.queryRows(query) as never;
    await takenAgain(() => app.db.queryRows(query));
    return [];
  };
  const handle = async (taken: JobKey, claim: Lease) => {
    claims.push(claim);
    await (claims.length > 1 ? finish(taken) : takenAgain(makeDue));
  };
  const same = worker(handle, 8, 4, 20_000, Object.assign(Object.create(app.db), { queryRows: rows }));
  await same.runOnce();
  await Promise.all(running);
  assert.deepEqual(await app.sql('SELECT done FROM errands'), [{ done: true }]);
});

test('a job that its handler leaves due is claimed again, although its notification came while it was being handled', {
  // Less than a lease: a job that no worker claimed is found when the lease expires.
  timeout: 40_000,
}, async () => {
  await add(await newCompanyId(), 1);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  let calls = 0;
  const never = 1_000_000_000; // between two polls
  const running = worker(
    async (taken) => {
      calls++;
      if (calls > 1) return finish(taken);
      await held;
      await app.sql('UPDATE errands SET lease_by = NULL, lease_until = NULL');
    },
    8,
    4,
    never,
  );
  await running.start();
  await until(() => calls === 1);
  await app.sql(`NOTIFY ${CHANNEL}`);
  // Long enough for a poll that finds the job leased.
  await app.sql('SELECT pg_sleep(0.2)');
  release();
  await until(() => calls === 2);
  await running.stop();
});

test('a worker that has started is woken by a notice, and again after its connection was broken', async () => {
  const id = await newCompanyId();
  const running = worker(finish);
  await running.start();
  const open = async () => (await app.sql('SELECT 1 FROM errands WHERE NOT done')).length;
  await add(id, 1);
  await app.sql(`NOTIFY ${CHANNEL}`);
  await until(async () => (await open()) === 0);
  const others = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                   WHERE application_name = 'case-records listen' AND datname = current_database()`;
  assert.equal((await app.sql(others)).length, 1);
  await add(id, 1);
  await until(async () => (await open()) === 0);
  await running.stop();
});

test('stopping waits for what is in progress, and for no longer than it is told', async () => {
  await add(await newCompanyId(), 1);
  let ended = false;
  let taken = false;
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const patient = worker(async (row) => {
    taken = true;
    await held;
    await finish(row);
    ended = true;
  });
  await patient.start();
  await until(() => taken);
  const stopped = patient.stop();
  release();
  await stopped;
  assert.ok(ended);

  await add(await newCompanyId(), 1);
  let aborted = false;
  taken = false;
  const stuck = worker(async (_row, { signal }) => {
    taken = true;
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    aborted = true;
  });
  await stuck.start();
  await until(() => taken);
  await stuck.stop(10);
  assert.ok(aborted);
});

test('calls that come while one is in progress go together with the next', async () => {
  const batches: number[][] = [];
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const call = batchCalls<number, number>(
    async (items) => {
      batches.push(items);
      if (batches.length === 1) await held;
      return items.map((item) => item * 2);
    },
    () => assert.fail('none goes alone'),
  );
  const first = [call(1), call(2)];
  await until(() => batches.length === 1);
  const second = [call(3), call(4), call(5)];
  release();
  assert.deepEqual(await Promise.all([...first, ...second]), [2, 4, 6, 8, 10]);
  assert.deepEqual(batches, [
    [1, 2],
    [3, 4, 5],
  ]);
});

test('what a gathering passes over goes alone, and so do all when it fails', async () => {
  const alone: number[] = [];
  const call = batchCalls<number, string>(
    async (items) => {
      if (items.includes(0)) throw new Error('no');
      return items.map((item) => (item === 2 ? undefined : 'together'));
    },
    async (item) => {
      alone.push(item);
      if (item === 0) throw new Error('never');
      return 'alone';
    },
  );
  assert.deepEqual(await Promise.all([call(1), call(2), call(3)]), ['together', 'alone', 'together']);
  const [poison, other] = await Promise.allSettled([call(0), call(4)]);
  assert.equal(poison.status, 'rejected');
  assert.deepEqual(other, { status: 'fulfilled', value: 'alone' });
  assert.deepEqual(alone, [2, 0, 4]);
});

test("a mail server that hangs for one company's clients holds up no request and no other company's messages", async () => {
  const server = await mailServer();
  const [stuck, other] = [await app.company(), await app.company()];
  const stuckAddress = stuck.customers[0].email;
  let hanging = 0;
  server.onRecipient = (to) => {
    if (to !== stuckAddress) return undefined;
    hanging++;
    return { hang: true };
  };
  const book = async (company: typeof stuck) => {
    const answer = await company.post(`${company.path}/appointments`, {
      adviser_email: company.adviser,
      start_time: '2026-06-29 14:30:00',
      end_time: '2026-06-29 15:30:00',
      email_recipient: company.customers[0].email,
      email_confirmation: true,
    });
    assert.equal(answer.status, 200, answer.text);
  };
  for (let i = 0; i < 20; i++) await book(stuck);
  const worker = messageWorker(app, { mail: { smtpUrl: server.url }, slots: 8 });
  await worker.start();
  await until(() => hanging === 2);
  for (let i = 0; i < 10; i++) await book(other);
  await until(() => server.mails.length === 10);
  assert.equal(hanging, 2, 'no more than its share of the slots');
  await worker.stop(10);
  await server.close();
});

test('a mail server that hangs holds up no SMS, not even of the same company', async () => {
  const company = await app.company();
  let hanging = 0;
  const email = new Recorder();
  email.during = () => {
    hanging++;
    return held;
  };
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const sms = new Recorder();
  const book = async (more: Record<string, unknown>) => {
    const answer = await company.post(`${company.path}/appointments`, {
      adviser_email: company.adviser,
      start_time: '2026-06-29 14:30:00',
      end_time: '2026-06-29 15:30:00',
      ...more,
    });
    assert.equal(answer.status, 200, answer.text);
  };
  const worker = messageWorker(app, { email, sms, slots: 8 });
  await worker.start();
  for (let i = 0; i < 5; i++) await book({ email_recipient: company.customers[0].email, email_confirmation: true });
  await until(() => hanging === 2);
  for (let i = 0; i < 5; i++) await book({ sms_recipient: '07400 123456', sms_confirmation: true });
  await until(() => sms.sent.length === 5);
  assert.equal(hanging, 2);
  release();
  await worker.stop();
});

test('a worker goes by the time of the database, whatever its own clock says', async () => {
  const wrong = () => Temporal.Now.instant().add({ seconds: 46 });
  const { clock, stop } = await databaseClock(app.db, wrong, pino({ level: 'silent' }));
  stop();
  const [row] = await app.sql(
    'SELECT to_char(clock_timestamp() AT TIME ZONE \'UTC\', \'YYYY-MM-DD"T"HH24:MI:SS.US"Z"\') AS now',
  );
  const apart = Math.abs(clock().until(Temporal.Instant.from(row?.now)).total('seconds'));
  assert.ok(apart < 10, `${apart} s`);
});

test('so does the worker of a service: what is due in half an hour stays, though its own clock is ahead of that', async (t) => {
  const home = await temporaryDirectory();
  t.after(home.remove);
  app.clock.set(Temporal.Now.instant().toString());
  const company = await app.company();
  const start = app.clock.read().add({ minutes: 90 });
  const answer = await company.post(`${company.path}/appointments`, {
    ...{ adviser_email: company.adviser, start_time: start.toString(), end_time: start.add({ hours: 1 }).toString() },
    ...{ email_recipient: company.customers[0].email, email_confirmation: true, email_notification: true },
  });
  assert.equal(answer.status, 200, answer.text);
  const states = async () =>
    Object.fromEntries(
      (await company.get('/messages')).body.map((one: Record<string, string>) => [one.kind, one.state]),
    );
  const stop = await runWorker({
    config: readConfig({ DATA_DIR: home.path }),
    connection: app.connection,
    clock: () => Temporal.Now.instant().add({ minutes: 45 }),
    logger: pino({ level: 'silent' }),
    counters: new DeliveryCounters(),
  });
  await until(async () => (await states()).confirmation === 'sent');
  await stop();
  assert.deepEqual(await states(), { confirmation: 'sent', reminder: 'scheduled' });
});
