import { setTimeout as pause } from 'node:timers/promises';
import { openReceiver } from '../test/harness/receiver.ts';
import { isAlive } from '../test/harness/service.ts';
import { randomFrom } from '../test/harness/simulated-year.ts';
import { checkJobs } from './jobs.ts';
import { Ledger } from './ledger.ts';
import { Load } from './load.ts';
import { type Figures, fault, noFigures, type Proof, type ProofOptions, until } from './proof.ts';
import { childrenOf, commandOf, kill, processesIn, Site } from './site.ts';

/**
 * The service, the worker or the database is killed in the middle of writes of all kinds. Then what a supervisor does is
 * done, and everything that was acknowledged must be there once and whole.
 */

type Target = 'service' | 'worker' | 'postmaster' | 'backend' | 'everything' | 'web process' | 'first process';

const ALONE: Target[] = ['service', 'worker', 'postmaster', 'everything', 'backend'];
const TOGETHER: Target[] = ['web process', 'first process', 'postmaster', 'everything'];
const LANES = 6;
const AFTERWARDS_MS = 200;
const READY_S = 30;

export const crash: Proof = {
  name: 'crash',
  about: 'processes are killed under a load of all writes',
  async run({ seed, short, progress }: ProofOptions): Promise<Figures> {
    const figures = noFigures();
    const random = randomFrom(seed);
    const rounds = Number(process.env.ROUNDS ?? (short ? 6 : 100));
    const alone = Math.ceil(rounds * 0.6);
    const together = rounds - alone;
    const targets = [...cycle(ALONE, alone), ...cycle(TOGETHER, together)];
    const receiver = await openReceiver();
    const site = await Site.open({ WORKER_CONCURRENCY: '4' });
    const loads: Load[] = [];
    let slowest = { seconds: 0, target: '' };
    try {
      await site.start();
      await site.startWorker();
      const demo = await site.demo();
      const line = await site.line();
      const hook = { url: receiver.url, types: ['invoice.payment_recorded'] };
      const made = await line.send({ method: 'POST', path: '/webhooks/endpoints', body: hook });
      if (made.status !== 200) throw new Error(JSON.stringify(made));
      const ledger = new Ledger(site, line, demo, figures);

      for (const [round, target] of targets.entries()) {
        progress(
          `round ${round + 1} of ${targets.length}: ${target}, ${figures.acknowledged} writes acknowledged, ${figures.lost} lost, ${figures.twice} twice, ${figures.halfWritten} half written, ${figures.faults.length} faults`,
        );
        if (round === alone) {
          await stopInOrder(site, figures);
          await site.start({ WEB_CONCURRENCY: '2' });
          await site.startWorker();
        }
        const load = new Load(line, demo, figures, random, `p${seed.toString(36)}r${round}-`);
        loads.push(load);
        load.begin(LANES);
        await pause(150 + random() * 700);
        await strike(site, target, random);
        const struck = performance.now();
        await afterStrike(site, target, figures);
        await pause(AFTERWARDS_MS);
        await load.end();
        await until('the service is ready', READY_S, async () => {
          return (await line.send({ method: 'GET', path: '/readyz' })).status === 200;
        });
        const seconds = (performance.now() - struck) / 1000;
        if (seconds > slowest.seconds) slowest = { seconds, target };
        await ledger.check(load);
        figures.rounds++;
      }
      figures.notes.push(`at most ${slowest.seconds.toFixed(1)} s until it was ready again (${slowest.target})`);
      await ledger.checkAll(loads);
      await checkJobs(site, receiver.received, figures, short, progress);
      await stopInOrder(site, figures);
      await site.start();
      await ledger.checkAll(loads);
      await stopInOrder(site, figures);
      line.close();
    } catch (error) {
      fault(figures, (error as Error).stack ?? String(error));
    } finally {
      await site.remove();
      await receiver.close();
    }
    return figures;
  },
};

const cycle = <T>(items: T[], count: number): T[] =>
  Array.from({ length: count }, (_, i) => items[i % items.length] as T);

async function strike(site: Site, target: Target, random: () => number): Promise<void> {
  const service = site.service?.child.pid as number;
  const worker = site.worker?.child.pid as number;
  const postmaster = await site.databasePid();
  const pick = (pids: number[]) => pids[Math.floor(random() * pids.length)] as number;
  const webProcesses = () => childrenNamed(service, 'web-process');
  if (target === 'service' || target === 'first process') kill(service);
  else if (target === 'worker') kill(worker);
  else if (target === 'postmaster') kill(postmaster);
  else if (target === 'backend') kill(pick(await childrenNamed(postmaster, 'case_records_service')));
  else if (target === 'web process') kill(pick(await webProcesses()));
  else for (const pid of [service, worker, ...(await webProcesses()), ...(await processesIn(site.dataDir))]) kill(pid);
}

async function childrenNamed(parent: number, part: string): Promise<number[]> {
  const pids = await childrenOf(parent);
  const commands = await Promise.all(pids.map(commandOf));
  return pids.filter((_, i) => commands[i]?.includes(part));
}

/** What a supervisor does, and nothing more: starts again whatever has ended. */
async function afterStrike(site: Site, target: Target, figures: Figures): Promise<void> {
  const { service } = site;
  if (!service) return;
  const ended = () => service.child.exitCode !== null || service.child.signalCode !== null;
  if (!['worker', 'backend', 'web process'].includes(target)) {
    await until(`the service has ended after the ${target} was killed`, READY_S, ended);
    await site.start();
  } else if (ended()) fault(figures, `the service ended when a ${target} was killed`);
  const worker = site.worker?.child;
  const killed = target === 'worker' || target === 'everything';
  if (!killed && worker && !isAlive(worker.pid as number))
    fault(figures, `the worker ended when the ${target} was killed`);
  if (killed) {
    await site.worker?.ended;
    await site.startWorker();
  }
}

async function stopInOrder(site: Site, figures: Figures): Promise<void> {
  const code = await site.stop();
  if (code !== 0) fault(figures, `the service ended with ${code}: ${site.service?.output.slice(-5).join('\n')}`);
  const left = await processesIn(site.dataDir);
  if (left.length > 0) fault(figures, `database processes are left: ${await Promise.all(left.map(commandOf))}`);
}
