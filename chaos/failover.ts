import { setTimeout as pause } from 'node:timers/promises';
import { openReceiver } from '../test/harness/receiver.ts';
import { printed } from '../test/harness/service.ts';
import { randomFrom } from '../test/harness/simulated-year.ts';
import { Cluster } from './cluster/cluster.ts';
import { KINDS, type Strike, strike } from './cluster/strikes.ts';
import { HUNG, Line } from './exchange.ts';
import { checkJobs } from './jobs.ts';
import { Ledger } from './ledger.ts';
import { Load } from './load.ts';
import { type Figures, fault, noFigures, type Proof, type ProofOptions, until } from './proof.ts';
import { type Demo, Site } from './site.ts';

/**
 * The primary of three database servers is killed, cut off, frozen or replaced under writes of all kinds to two
 * services, which nobody restarts. Everything that was acknowledged must be there once and whole.
 */

const LANES = 8;
const BEFORE_MS = 1_500;
const AFTERWARDS_MS = 1_000;
const READ_EVERY_MS = 50;
const READY_S = 60;
// Five seconds for a connection, twenty for a server that is silent, and one more try of what only reads.
const BOUND_MS = 45_000;

/** Why something was answered with 500. */
const FAILED = (line: string) => line.includes('request failed');

type Round = { kind: Strike; refusedMs: number; longest: number };

export const failover: Proof = {
  name: 'failover',
  about: 'the primary of three database servers fails under a load of all writes',
  async run({ seed, short, progress }: ProofOptions): Promise<Figures> {
    const figures = noFigures();
    const random = randomFrom(seed);
    const rounds = Number(process.env.ROUNDS ?? (short ? 2 : 20));
    progress('three servers are set up');
    const cluster = await Cluster.open({ synchronous: process.env.SYNCHRONOUS !== 'off' });
    const receiver = await openReceiver();
    const first = await Site.open({ DATABASE_URL: cluster.url, WORKER_CONCURRENCY: '4' });
    const second = await first.beside({ DATABASE_URL: cluster.otherUrl, WORKER_CONCURRENCY: '0' });
    const sites = [first, second];
    try {
      for (const site of sites) await site.start();
      await printed(first.run('demo'), /was made/);
      await first.startWorker();
      const demo = await first.demo();
      const urls = sites.map(({ url }) => url);
      const line = new Line(urls, demo.token);
      const hook = { url: receiver.url, types: ['invoice.payment_recorded'] };
      const made = await line.send({ method: 'POST', path: '/webhooks/endpoints', body: hook });
      if (made.status !== 200) throw new Error(JSON.stringify(made));
      const ledger = new Ledger(first, line, demo, figures);
      const loads: Load[] = [];
      const seen: Round[] = [];

      for (let round = 0; round < rounds; round++) {
        const kind = KINDS[round % KINDS.length] as Strike;
        progress(
          `round ${round + 1} of ${rounds}: ${kind}, ${figures.acknowledged} writes acknowledged, ${figures.lost} lost, ${figures.twice} twice, ${figures.halfWritten} half written, ${figures.faults.length} faults`,
        );
        const load = new Load(line, demo, figures, random, `f${seed.toString(36)}r${round}-`);
        loads.push(load);
        const primary = await cluster.whole();
        load.begin(LANES, { patient: true });
        const reading = new AbortController();
        const read = readOn(line, demo, figures, reading.signal);
        await pause(BEFORE_MS + random() * BEFORE_MS);
        const struckAt = performance.now();
        const heal = await strike(kind, primary, cluster, random);
        // What hangs on a server that stays away must end by itself.
        const staysAway = kind === 'cut';
        if (!staysAway) await heal();
        const healedAt = performance.now();
        await until(`writes are acknowledged again after ${kind}`, READY_S, () => {
          return (load.acknowledgedAt.at(-1) ?? 0) > healedAt;
        }).catch((error) => fault(figures, error.message));
        await pause(AFTERWARDS_MS);
        await load.end();
        reading.abort();
        const longest = Math.max(load.longest, await read);
        if (staysAway) await heal();
        await cluster.whole();
        for (const url of urls) await ready(url, demo.token);
        await ledger.check(load);
        seen.push({ kind, refusedMs: refusedFor(load.acknowledgedAt, struckAt), longest });
        if (longest > BOUND_MS) figures.late.push(`${kind}: an answer took ${Math.round(longest)} ms`);
        for (const site of sites) stillRuns(site, figures);
        figures.rounds++;
      }
      await ledger.checkAll(loads);
      await checkJobs(first, receiver.received, figures, short, progress);
      figures.notes.push(...summary(seen));
      for (const site of sites) {
        const code = await site.stop();
        if (code !== 0) fault(figures, `a service ended with ${code}`);
      }
      line.close();
    } catch (error) {
      fault(figures, (error as Error).stack ?? String(error));
    } finally {
      if (figures.errors > 0) fault(figures, `the log: ${sites.map(({ service }) => service?.output.find(FAILED))}`);
      for (const site of sites.reverse()) await site.remove();
      await receiver.close();
      await cluster.remove();
    }
    return figures;
  },
};

const ready = (url: string, token: string): Promise<void> =>
  until(`${url} is ready`, READY_S, async () => {
    const line = new Line(url, token);
    const { status } = await line.send({ method: 'GET', path: '/readyz' });
    line.close();
    return status === 200;
  });

/** Lists, which come row by row, and pages of them. Gives how long the slowest took, in milliseconds. */
async function readOn(line: Line, { case_id }: Demo, figures: Figures, signal: AbortSignal): Promise<number> {
  let longest = 0;
  for (let n = 0; !signal.aborted; n++) {
    const path = `/cases/${case_id}/interactions${n % 2 === 0 ? '' : '?per_page=20'}`;
    const outcome = await line.send({ method: 'GET', path });
    figures.requests++;
    longest = Math.max(longest, outcome.ms);
    // A list that has begun can only break off.
    const right = 'headers' in outcome ? [200, 503].includes(outcome.status) : outcome.error !== HUNG;
    if (!right) fault(figures, `GET ${path}: ${JSON.stringify(outcome)}`);
    if (outcome.status === 500) figures.errors++;
    await pause(READ_EVERY_MS);
  }
  return longest;
}

/** Nobody restarts anything. */
function stillRuns({ service, worker }: Site, figures: Figures): void {
  for (const { child, output } of [service, worker].filter((one) => one !== undefined)) {
    if (child.exitCode !== null || child.signalCode !== null) fault(figures, `it has ended: ${output.slice(-5)}`);
  }
}

/** The longest time without an acknowledged write, from the strike on. */
function refusedFor(acknowledgedAt: number[], struckAt: number): number {
  const times = [struckAt, ...acknowledgedAt.filter((at) => at > struckAt)];
  return Math.max(0, ...times.slice(1).map((at, i) => at - (times[i] as number)));
}

function summary(seen: Round[]): string[] {
  return KINDS.filter((kind) => seen.some((round) => round.kind === kind)).map((kind) => {
    const of = seen.filter((round) => round.kind === kind);
    const refused = of.map(({ refusedMs }) => refusedMs).sort((a, b) => a - b);
    const seconds = (ms: number) => (ms / 1000).toFixed(1);
    const [median, worst] = [refused[Math.floor(refused.length / 2)] as number, refused.at(-1) as number];
    const longest = Math.max(...of.map((round) => round.longest));
    return `${kind}, ${of.length} ×: no write was acknowledged for ${seconds(median)} s (median), ${seconds(worst)} s (worst); the longest answer took ${seconds(longest)} s`;
  });
}
