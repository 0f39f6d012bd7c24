import { setTimeout as pause } from 'node:timers/promises';
import { addFault, type ChaosTest, emptyResults, type Results, waitUntil } from './chaos-test.ts';
import { kill, processesIn } from './deployment.ts';
import type { HttpClient, HttpResponse } from './http-client.ts';
import { withSingleService } from './single-service.ts';

/** The database responds slowly or not at all. Every request must end in bounded time, and the service recovers. */

// A request starts no statement after 17 s, and a statement takes at most 26 s.
const MAX_LATENCY_MS = 45_000;
const CALLERS = 100;
const RECOVERY_TIMEOUT_S = 10;

export const stalledDatabase: ChaosTest = {
  name: 'stalled-database',
  description: 'tables are locked, the pool is exhausted, the database is frozen',
  async run({ short, progress }): Promise<Results> {
    const results = emptyResults();
    await withSingleService(async ({ deployment, client, interactionsPath: path }) => {
      const stamps: { stamp: string; done: boolean }[] = [];
      const send = async (keyed: boolean) => {
        const write = { stamp: `s-${stamps.length}`, done: false };
        stamps.push(write);
        const headers = keyed ? { 'idempotency-key': write.stamp } : {};
        const body = { type: 'phone', notes: write.stamp };
        const outcome = await client.send({ method: 'POST', path, body, headers });
        write.done = outcome.status === 200;
        checkOutcome(results, outcome);
        return outcome;
      };
      const sendConcurrently = () => Array.from({ length: CALLERS }, (_, i) => send(i % 2 === 0));
      await Promise.all(sendConcurrently());

      progress('a table is locked for some seconds');
      const owner = await deployment.connect();
      await owner.query('BEGIN; LOCK TABLE interactions IN ACCESS EXCLUSIVE MODE');
      const locked = sendConcurrently();
      await pause(short ? 1_000 : 12_000);
      const others = await client.send({ method: 'GET', path: '/manage/company' });
      checkOutcome(results, others);
      await owner.query('ROLLBACK');
      await owner.end();
      const afterLock = await maxLatency(locked);
      await waitForRecovery(client, path);
      results.rounds++;

      if (!short) {
        progress('a table is locked for longer than a statement may take');
        const long = await deployment.connect();
        await long.query('BEGIN; LOCK TABLE interactions IN ACCESS EXCLUSIVE MODE');
        const behindLock = await maxLatency(sendConcurrently());
        if (behindLock > MAX_LATENCY_MS) results.timingFaults.push(`behind a lock a request took ${behindLock} ms`);
        await long.query('ROLLBACK');
        await long.end();
        await waitForRecovery(client, path);
        results.rounds++;
        results.notes.push(`behind a lasting lock: the longest response took ${behindLock} ms`);
      }

      progress('the database is frozen');
      const pids = await processesIn(deployment.dataDir);
      for (const pid of pids) kill(pid, 'SIGSTOP');
      const read = client.send({ method: 'GET', path });
      const duringFreeze = [...sendConcurrently(), read];
      const health = await client.send({ method: 'GET', path: '/healthz' });
      if (health.status !== 200 || health.ms > 1_000) results.timingFaults.push(`/healthz: ${JSON.stringify(health)}`);
      await (short ? pause(2_000) : Promise.all(duringFreeze));
      for (const pid of pids) kill(pid, 'SIGCONT');
      const afterFreeze = await maxLatency(duringFreeze);
      checkOutcome(results, await read);
      if (afterFreeze > MAX_LATENCY_MS)
        results.timingFaults.push(`a request took ${afterFreeze} ms while the database was frozen`);
      const resumedAt = performance.now();
      await waitForRecovery(client, path);
      results.rounds++;
      results.notes.push(
        `a lock of ${short ? 1 : 12} s: the longest response took ${afterLock} ms; ` +
          `a frozen database: ${afterFreeze} ms, then recovered after ${Math.round(performance.now() - resumedAt)} ms`,
      );

      await waitUntil('no statement is running', RECOVERY_TIMEOUT_S * 2, async () => {
        const selectActive = `SELECT count(*)::int FROM pg_stat_activity
          WHERE application_name = 'case-records' AND state <> 'idle'`;
        return (await deployment.sql<{ count: number }>(selectActive))[0]?.count === 0;
      }).catch((error) => addFault(results, error.message));
      const rows = await deployment.sql<{ notes: string }>(`SELECT notes FROM interactions`);
      const stored = rows.map(({ notes }) => notes);
      results.duplicated = stored.length - new Set(stored).size;
      results.lost = stamps.filter(({ stamp, done }) => done && !stored.includes(stamp)).length;
      results.requests = stamps.length;
      results.acknowledged = stamps.filter(({ done }) => done).length;
      if (deployment.service?.child.exitCode !== null) addFault(results, 'the service has ended');
    });
    return results;
  },
};

function checkOutcome(results: Results, outcome: Awaited<ReturnType<HttpClient['send']>>): void {
  if (outcome.status === 200) return;
  if (outcome.status === 503 && (outcome as HttpResponse).headers['retry-after'] !== undefined) return;
  if (outcome.status === 500) results.serverErrors++;
  addFault(results, `the outcome was ${JSON.stringify(outcome)}`);
}

const maxLatency = async (outcomes: Promise<{ ms: number }>[]): Promise<number> =>
  Math.round(Math.max(0, ...(await Promise.all(outcomes)).map(({ ms }) => ms)));

const waitForRecovery = (client: HttpClient, path: string): Promise<void> =>
  waitUntil(
    'the service responds again',
    RECOVERY_TIMEOUT_S,
    async () => (await client.send({ method: 'GET', path })).status === 200,
  );
