import { setTimeout as pause } from 'node:timers/promises';
import { openReceiver } from '../test/harness/receiver.ts';
import { printed } from '../test/harness/service.ts';
import { randomFrom } from '../test/harness/simulated-year.ts';
import { addFault, type ChaosOptions, type ChaosTest, emptyResults, type Results, waitUntil } from './chaos-test.ts';
import { Cluster } from './cluster/cluster.ts';
import { CLUSTER_FAULTS, type ClusterFault, injectFault } from './cluster/faults.ts';
import { type Demo, Deployment } from './deployment.ts';
import { HttpClient, NO_RESPONSE } from './http-client.ts';
import { verifyJobs } from './job-verifier.ts';
import { WriteLoad } from './write-load.ts';
import { WriteVerifier } from './write-verifier.ts';

/**
 * The primary of three database servers is killed, disconnected, frozen or replaced during writes to two services,
 * which are not restarted. Then every acknowledged write must exist exactly once and completely.
 */

const CALLERS = 8;
const LOAD_BEFORE_FAULT_MS = 1_500;
const LOAD_AFTER_RECOVERY_MS = 1_000;
const READ_INTERVAL_MS = 50;
const READY_TIMEOUT_S = 60;
// 5 s to connect, 20 s until a silent server is given up, and one retry of reads.
const MAX_LATENCY_MS = 45_000;

/** Recognises the log line with the cause of a 500. */
const isFailureLine = (line: string) => line.includes('request failed');

type Round = { kind: ClusterFault; outageMs: number; maxLatencyMs: number };

export const failover: ChaosTest = {
  name: 'failover',
  description: 'the primary of three database servers fails under a load of all writes',
  async run({ seed, short, progress }: ChaosOptions): Promise<Results> {
    const results = emptyResults();
    const random = randomFrom(seed);
    const rounds = Number(process.env.ROUNDS ?? (short ? 2 : 20));
    progress('setting up three servers');
    const cluster = await Cluster.open({ synchronous: process.env.SYNCHRONOUS !== 'off' });
    const receiver = await openReceiver();
    const first = await Deployment.open({ DATABASE_URL: cluster.url, WORKER_CONCURRENCY: '4' });
    const second = await first.openSecond({ DATABASE_URL: cluster.otherUrl, WORKER_CONCURRENCY: '0' });
    const deployments = [first, second];
    try {
      for (const deployment of deployments) await deployment.start();
      await printed(first.run('demo'), /was created/);
      await first.startWorker();
      const demo = await first.readDemo();
      const urls = deployments.map(({ url }) => url);
      const client = new HttpClient(urls, demo.token);
      const hook = { url: receiver.url, types: ['invoice.payment_recorded'] };
      const created = await client.send({ method: 'POST', path: '/webhooks/endpoints', body: hook });
      if (created.status !== 200) throw new Error(JSON.stringify(created));
      const verifier = new WriteVerifier(first, client, demo, results);
      const loads: WriteLoad[] = [];
      const completedRounds: Round[] = [];

      for (let round = 0; round < rounds; round++) {
        const kind = CLUSTER_FAULTS[round % CLUSTER_FAULTS.length] as ClusterFault;
        progress(
          `round ${round + 1} of ${rounds}: ${kind}, ${results.acknowledged} writes acknowledged, ` +
            `${results.lost} lost, ${results.duplicated} duplicated, ${results.halfWritten} half written, ` +
            `${results.faults.length} faults`,
        );
        const load = new WriteLoad(client, demo, results, random, `f${seed.toString(36)}r${round}-`);
        loads.push(load);
        const primary = await cluster.waitUntilHealthy();
        load.start(CALLERS, { retry: true });
        const reading = new AbortController();
        const read = readContinuously(client, demo, results, reading.signal);
        await pause(LOAD_BEFORE_FAULT_MS + random() * LOAD_BEFORE_FAULT_MS);
        const injectedAt = performance.now();
        const heal = await injectFault(kind, primary, cluster, random);
        // Requests to a server that stays disconnected must end without its return.
        const staysDisconnected = kind === 'cut';
        if (!staysDisconnected) await heal();
        const healedAt = performance.now();
        await waitUntil(`writes are acknowledged again after ${kind}`, READY_TIMEOUT_S, () => {
          return (load.acknowledgedAt.at(-1) ?? 0) > healedAt;
        }).catch((error) => addFault(results, error.message));
        await pause(LOAD_AFTER_RECOVERY_MS);
        await load.stop();
        reading.abort();
        const maxLatencyMs = Math.max(load.maxLatencyMs, await read);
        if (staysDisconnected) await heal();
        await cluster.waitUntilHealthy();
        for (const url of urls) await waitUntilReady(url, demo.token);
        await verifier.check(load);
        completedRounds.push({ kind, outageMs: outageMs(load.acknowledgedAt, injectedAt), maxLatencyMs });
        if (maxLatencyMs > MAX_LATENCY_MS)
          results.timingFaults.push(`${kind}: a response took ${Math.round(maxLatencyMs)} ms`);
        for (const deployment of deployments) checkStillRunning(deployment, results);
        results.rounds++;
      }
      await verifier.checkAll(loads);
      await verifyJobs(first, receiver.received, results, short, progress);
      results.notes.push(...summarise(completedRounds));
      for (const deployment of deployments) {
        const code = await deployment.stop();
        if (code !== 0) addFault(results, `a service ended with exit code ${code}`);
      }
      client.close();
    } catch (error) {
      addFault(results, (error as Error).stack ?? String(error));
    } finally {
      if (results.serverErrors > 0)
        addFault(results, `the log: ${deployments.map(({ service }) => service?.output.find(isFailureLine))}`);
      for (const deployment of deployments.reverse()) await deployment.remove();
      await receiver.close();
      await cluster.remove();
    }
    return results;
  },
};

const waitUntilReady = (url: string, token: string): Promise<void> =>
  waitUntil(`${url} is ready`, READY_TIMEOUT_S, async () => {
    const client = new HttpClient(url, token);
    const { status } = await client.send({ method: 'GET', path: '/readyz' });
    client.close();
    return status === 200;
  });

/** Reads streamed lists and pages until the signal aborts. Returns the maximum latency in milliseconds. */
async function readContinuously(
  client: HttpClient,
  { case_id }: Demo,
  results: Results,
  signal: AbortSignal,
): Promise<number> {
  let maxMs = 0;
  for (let n = 0; !signal.aborted; n++) {
    const path = `/cases/${case_id}/interactions${n % 2 === 0 ? '' : '?per_page=20'}`;
    const outcome = await client.send({ method: 'GET', path });
    results.requests++;
    maxMs = Math.max(maxMs, outcome.ms);
    // A streamed list that has started can only be cut off.
    const acceptable = 'headers' in outcome ? [200, 503].includes(outcome.status) : outcome.error !== NO_RESPONSE;
    if (!acceptable) addFault(results, `GET ${path}: ${JSON.stringify(outcome)}`);
    if (outcome.status === 500) results.serverErrors++;
    await pause(READ_INTERVAL_MS);
  }
  return maxMs;
}

/** The processes must survive every fault, because nothing restarts them. */
function checkStillRunning({ service, worker }: Deployment, results: Results): void {
  for (const { child, output } of [service, worker].filter((running) => running !== undefined)) {
    if (child.exitCode !== null || child.signalCode !== null)
      addFault(results, `a process has ended: ${output.slice(-5)}`);
  }
}

/** Returns the longest time without an acknowledged write since the fault was injected. */
function outageMs(acknowledgedAt: number[], injectedAt: number): number {
  const times = [injectedAt, ...acknowledgedAt.filter((at) => at > injectedAt)];
  return Math.max(0, ...times.slice(1).map((at, i) => at - (times[i] as number)));
}

function summarise(rounds: Round[]): string[] {
  return CLUSTER_FAULTS.filter((kind) => rounds.some((round) => round.kind === kind)).map((kind) => {
    const sameFault = rounds.filter((round) => round.kind === kind);
    const outages = sameFault.map((round) => round.outageMs).sort((a, b) => a - b);
    const seconds = (ms: number) => (ms / 1000).toFixed(1);
    const [median, worst] = [outages[Math.floor(outages.length / 2)] as number, outages.at(-1) as number];
    const maxLatency = Math.max(...sameFault.map((round) => round.maxLatencyMs));
    return (
      `${kind}, ${sameFault.length} ×: no write was acknowledged for ${seconds(median)} s (median), ` +
      `${seconds(worst)} s (worst); the longest response took ${seconds(maxLatency)} s`
    );
  });
}
