import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { startBundledPostgres } from '../src/postgres/bundled-postgres.ts';
import { makeDataDirectory } from '../test/harness/data-directory.ts';
import { findPgbouncers, startPgbouncer } from '../test/harness/pgbouncer.ts';
import { openReceiver } from '../test/harness/receiver.ts';
import { printed, temporaryDirectory, urlOf } from '../test/harness/service.ts';
import { randomFrom } from '../test/harness/simulated-year.ts';
import { addFault, type ChaosTest, emptyResults, type Results, SkippedError, waitUntil } from './chaos-test.ts';
import { Deployment, kill } from './deployment.ts';
import { HttpClient } from './http-client.ts';
import { verifyJobs } from './job-verifier.ts';
import { WriteLoad } from './write-load.ts';
import { WriteVerifier } from './write-verifier.ts';

/**
 * Two services and a worker share few sessions through PgBouncer, which is killed, as is a server process behind it.
 * Nothing is restarted except PgBouncer. Then every acknowledged write must exist exactly once and completely.
 */

const TARGETS = ['pooler', 'server process', 'all sessions'] as const;
const CALLERS = 16;
const POOL_SIZE = 8;
const LOAD_BEFORE_FAULT_MS = 500;
const LOAD_AFTER_FAULT_MS = 500;
const READY_TIMEOUT_S = 60;

export const pooler: ChaosTest = {
  name: 'pooler',
  description: 'a pooler that shares sessions, and sessions behind it, are killed under a load of all writes',
  async run({ seed, short, progress }): Promise<Results> {
    const pgbouncer = (await findPgbouncers()).find(({ sharesPrepared }) => sharesPrepared);
    if (!pgbouncer) throw new SkippedError('needs PgBouncer 1.21 or later (test/slow/packages.sh)');
    const results = emptyResults();
    const random = randomFrom(seed);
    const rounds = Number(process.env.ROUNDS ?? (short ? 3 : 30));
    const home = await temporaryDirectory();
    const dataDir = join(home.path, 'database');
    await makeDataDirectory('initialised', dataDir);
    const server = await startBundledPostgres({ dataDir, log: () => {} });
    for (const folder of [home.path, dataDir]) await chmod(folder, 0o755);
    const address = { ...server.connection, host: join(dataDir, 'postgres') };
    const options = { poolMode: 'transaction', poolSize: POOL_SIZE } as const;
    let running = await startPgbouncer(pgbouncer, address, options);
    const urls = { DATABASE_URL: running.url, DATABASE_DIRECT_URL: urlOf(address) };
    const receiver = await openReceiver();
    const first = await Deployment.open({ ...urls, WORKER_CONCURRENCY: '4' });
    const second = await first.openSecond({ WORKER_CONCURRENCY: '0' });
    try {
      await first.start();
      await second.start();
      await printed(first.run('demo'), /was created/);
      await first.startWorker();
      const demo = await first.readDemo();
      const client = new HttpClient([first.url, second.url], demo.token);
      const hook = { url: receiver.url, types: ['invoice.payment_recorded'] };
      const created = await client.send({ method: 'POST', path: '/webhooks/endpoints', body: hook });
      if (created.status !== 200) throw new Error(JSON.stringify(created));
      const verifier = new WriteVerifier(first, client, demo, results);
      const loads: WriteLoad[] = [];
      for (let round = 0; round < rounds; round++) {
        const target = TARGETS[round % TARGETS.length] as (typeof TARGETS)[number];
        progress(`round ${round + 1} of ${rounds}: ${target}, ${results.acknowledged} writes, ${results.lost} lost`);
        const load = new WriteLoad(client, demo, results, random, `b${seed.toString(36)}r${round}-`);
        loads.push(load);
        load.start(CALLERS, { retry: true });
        await pause(LOAD_BEFORE_FAULT_MS + random() * LOAD_BEFORE_FAULT_MS);
        const pids = await sessionsOf(urls.DATABASE_DIRECT_URL);
        if (target === 'pooler') {
          await running.stop();
          running = await startPgbouncer(pgbouncer, address, { ...options, port: running.port });
        } else if (target === 'server process') kill(pids[Math.floor(random() * pids.length)] as number);
        else await terminateSessions(urls.DATABASE_DIRECT_URL);
        const healedAt = performance.now();
        await waitUntil(`writes are acknowledged again after the ${target} was killed`, READY_TIMEOUT_S, () => {
          return (load.acknowledgedAt.at(-1) ?? 0) > healedAt;
        });
        await pause(LOAD_AFTER_FAULT_MS);
        await load.stop();
        await waitUntil('the service is ready', READY_TIMEOUT_S, async () => {
          return (await client.send({ method: 'GET', path: '/readyz' })).status === 200;
        });
        await verifier.check(load);
        results.rounds++;
      }
      await verifier.checkAll(loads);
      await verifyJobs(first, receiver.received, results, short, progress);
      for (const deployment of [second, first]) {
        if ((await deployment.stop()) !== 0) addFault(results, 'a service did not stop cleanly');
      }
      results.notes.push(`PgBouncer ${pgbouncer.version}, ${POOL_SIZE} sessions for all`);
      client.close();
    } catch (error) {
      addFault(results, (error as Error).stack ?? String(error));
    } finally {
      await second.remove();
      await first.remove();
      await running.stop();
      await receiver.close();
      await server.stop();
      await home.remove();
    }
    return results;
  },
};

/** The sessions that serve the services; a listener has one of its own. */
const SESSIONS = `FROM pg_stat_activity WHERE application_name = 'case-records' AND pid <> pg_backend_pid()`;

async function query<Row extends pg.QueryResultRow>(connectionString: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

const sessionsOf = async (url: string) =>
  (await query<{ pid: number }>(url, `SELECT pid ${SESSIONS}`)).map(({ pid }) => pid);

const terminateSessions = (url: string) => query(url, `SELECT pg_terminate_backend(pid) ${SESSIONS}`);
