import { setTimeout as pause } from 'node:timers/promises';
import { openReceiver } from '../test/harness/receiver.ts';
import { isAlive } from '../test/harness/service.ts';
import { randomFrom } from '../test/harness/simulated-year.ts';
import { addFault, type ChaosOptions, type ChaosTest, emptyResults, type Results, waitUntil } from './chaos-test.ts';
import { childrenOf, commandOf, Deployment, kill, processesIn } from './deployment.ts';
import { verifyJobs } from './job-verifier.ts';
import { WriteLoad } from './write-load.ts';
import { WriteVerifier } from './write-verifier.ts';

/**
 * The service, the worker or the database is killed during writes of all kinds. Ended processes are restarted, as a
 * supervisor does. Then every acknowledged write must exist exactly once and completely.
 */

type Target = 'service' | 'worker' | 'postmaster' | 'backend' | 'everything' | 'web process' | 'parent process';

const SINGLE_PROCESS_TARGETS: Target[] = ['service', 'worker', 'postmaster', 'everything', 'backend'];
const MULTI_PROCESS_TARGETS: Target[] = ['web process', 'parent process', 'postmaster', 'everything'];
const CALLERS = 6;
const LOAD_AFTER_RESTART_MS = 200;
const READY_TIMEOUT_S = 30;

export const crash: ChaosTest = {
  name: 'crash',
  description: 'processes are killed under a load of all writes',
  async run({ seed, short, progress }: ChaosOptions): Promise<Results> {
    const results = emptyResults();
    const random = randomFrom(seed);
    const rounds = Number(process.env.ROUNDS ?? (short ? 4 : 100));
    const singleProcessRounds = Math.ceil(rounds * 0.6);
    const multiProcessRounds = rounds - singleProcessRounds;
    const targets = [
      ...cycle(SINGLE_PROCESS_TARGETS, singleProcessRounds),
      ...cycle(MULTI_PROCESS_TARGETS, multiProcessRounds),
    ];
    const receiver = await openReceiver();
    const deployment = await Deployment.open({ WORKER_CONCURRENCY: '4' });
    const loads: WriteLoad[] = [];
    let slowest = { seconds: 0, target: '' };
    try {
      await deployment.start();
      await deployment.startWorker();
      const demo = await deployment.readDemo();
      const client = await deployment.openClient();
      const hook = { url: receiver.url, types: ['invoice.payment_recorded'] };
      const created = await client.send({ method: 'POST', path: '/webhooks/endpoints', body: hook });
      if (created.status !== 200) throw new Error(JSON.stringify(created));
      const verifier = new WriteVerifier(deployment, client, demo, results);

      for (const [round, target] of targets.entries()) {
        progress(
          `round ${round + 1} of ${targets.length}: ${target}, ${results.acknowledged} writes acknowledged, ` +
            `${results.lost} lost, ${results.duplicated} duplicated, ${results.halfWritten} half written, ` +
            `${results.faults.length} faults`,
        );
        if (round === singleProcessRounds) {
          await stopCleanly(deployment, results);
          await deployment.start({ WEB_CONCURRENCY: '2' });
          await deployment.startWorker();
        }
        const load = new WriteLoad(client, demo, results, random, `p${seed.toString(36)}r${round}-`);
        loads.push(load);
        load.start(CALLERS);
        await pause(150 + random() * 700);
        await killTarget(deployment, target, random);
        const killedAt = performance.now();
        await restartEnded(deployment, target, results);
        await pause(LOAD_AFTER_RESTART_MS);
        await load.stop();
        await waitUntil('the service is ready', READY_TIMEOUT_S, async () => {
          return (await client.send({ method: 'GET', path: '/readyz' })).status === 200;
        });
        const seconds = (performance.now() - killedAt) / 1000;
        if (seconds > slowest.seconds) slowest = { seconds, target };
        await verifier.check(load);
        results.rounds++;
      }
      results.notes.push(`ready again after at most ${slowest.seconds.toFixed(1)} s (${slowest.target})`);
      await verifier.checkAll(loads);
      await verifyJobs(deployment, receiver.received, results, short, progress);
      await stopCleanly(deployment, results);
      await deployment.start();
      await verifier.checkAll(loads);
      await stopCleanly(deployment, results);
      client.close();
    } catch (error) {
      addFault(results, (error as Error).stack ?? String(error));
    } finally {
      await deployment.remove();
      await receiver.close();
    }
    return results;
  },
};

const cycle = <T>(items: T[], count: number): T[] =>
  Array.from({ length: count }, (_, i) => items[i % items.length] as T);

async function killTarget(deployment: Deployment, target: Target, random: () => number): Promise<void> {
  const service = deployment.service?.child.pid as number;
  const worker = deployment.worker?.child.pid as number;
  const postmaster = await deployment.databasePid();
  const pick = (pids: number[]) => pids[Math.floor(random() * pids.length)] as number;
  const webProcesses = () => childrenNamed(service, 'web-process');
  if (target === 'service' || target === 'parent process') kill(service);
  else if (target === 'worker') kill(worker);
  else if (target === 'postmaster') kill(postmaster);
  else if (target === 'backend') kill(pick(await childrenNamed(postmaster, 'case_records_service')));
  else if (target === 'web process') kill(pick(await webProcesses()));
  else
    for (const pid of [service, worker, ...(await webProcesses()), ...(await processesIn(deployment.dataDir))])
      kill(pid);
}

async function childrenNamed(parent: number, fragment: string): Promise<number[]> {
  const pids = await childrenOf(parent);
  const commands = await Promise.all(pids.map(commandOf));
  return pids.filter((_, i) => commands[i]?.includes(fragment));
}

/** Restarts the processes that have ended, like a supervisor. Other processes must not have ended. */
async function restartEnded(deployment: Deployment, target: Target, results: Results): Promise<void> {
  const { service } = deployment;
  if (!service) return;
  const ended = () => service.child.exitCode !== null || service.child.signalCode !== null;
  if (!['worker', 'backend', 'web process'].includes(target)) {
    await waitUntil(`the service has ended after the ${target} was killed`, READY_TIMEOUT_S, ended);
    await deployment.start();
  } else if (ended()) addFault(results, `the service ended when a ${target} was killed`);
  const worker = deployment.worker?.child;
  const killed = target === 'worker' || target === 'everything';
  if (!killed && worker && !isAlive(worker.pid as number))
    addFault(results, `the worker ended when the ${target} was killed`);
  if (killed) {
    await deployment.worker?.ended;
    await deployment.startWorker();
  }
}

async function stopCleanly(deployment: Deployment, results: Results): Promise<void> {
  const code = await deployment.stop();
  if (code !== 0)
    addFault(results, `the service ended with exit code ${code}: ${deployment.service?.output.slice(-5).join('\n')}`);
  const remaining = await processesIn(deployment.dataDir);
  if (remaining.length > 0)
    addFault(results, `database processes are still running: ${await Promise.all(remaining.map(commandOf))}`);
}
