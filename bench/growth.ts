import { mkdir, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { fillCases } from './fill.ts';
import { measure, type Round, type Target } from './measure.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import { loadText } from './report/machine.ts';
import { Progress } from './report/progress.ts';
import { cpuRatioOf, ratioOf, type Spread, summaryOf } from './report/summary.ts';
import { figure, table } from './report/table.ts';
import { type Server, startLoad, startService } from './servers.ts';
import { openStage, type Stage } from './stage.ts';
import { readWorld } from './world.ts';

/**
 * What the data of other cases costs, and what a case's own data costs. The databases of all sizes lie in one server,
 * and each has its service: rounds go from one to the next, so that what slows the machine down slows all of them.
 */

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    cases: { type: 'string' },
    factors: { type: 'string', default: '1,10,100' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    connections: { type: 'string', default: '32' },
    out: { type: 'string', default: 'bench/results/growth.json' },
  },
});
const usual = values.quick ? { cases: 20, rounds: 3, seconds: 0.5 } : { cases: 1_000, rounds: 5, seconds: 2 };
const cases = Number(values.cases ?? usual.cases);
const factors = values.factors.split(',').map(Number);
const settings = {
  rounds: Number(values.rounds ?? usual.rounds),
  seconds: Number(values.seconds ?? usual.seconds),
  // Long enough that the pages of what is asked for are in memory again, which filling the rest has pushed out.
  warmUp: Number(values.seconds ?? usual.seconds) * 2,
};
const PER_CASE = { people: 5, interactions: 100, invoices: 20, appointments: 20 };
const LISTS = OPERATIONS.filter(({ kind }) => kind === 'read');
/** A list of thousands keeps a connection busy for long; more of them only wait. */
const GROWN_CONNECTIONS = 4;

type Row = {
  operation: string;
  factor: number;
  requestsPerSecond: number;
  p50: number;
  /** Throughput by that at the first size, for lists that grow times the size. */
  ratio: Spread;
  /** The same of the CPU time of a request, which other work on the machine moves least. */
  cpuRatio: number | undefined;
};

const progress = new Progress((OPERATIONS.length + LISTS.length) * factors.length * (settings.rounds + 1));
const before = loadavg();
progress.say(`Filling a database with ${cases} cases …`);
const stage = await openStage({ companies: Math.min(20, cases), size: { cases, ...PER_CASE } });
try {
  const others = await withOthers(stage);
  const own = await withGrownCases(stage);
  progress.end();
  console.log(
    `Cases of others: the same cases among 1 to ${factors.at(-1)} times as many. Ratio: to the first size.\n`,
  );
  console.log(table(['Operation', 'size', 'req/s', 'p50 ms', 'ratio (min..max)', 'CPU ratio'], others.map(cellsOf)));
  console.log('\nA case of its own size: records per second should stay, so requests fall as the list grows.\n');
  console.log(
    table(['Operation', 'size', 'req/s', 'p50 ms', 'ratio × size (min..max)', 'CPU ratio'], own.map(cellsOf)),
  );
  console.log(`\nLoad average before ${loadText(before)}, after ${loadText(loadavg())}.`);
  const out = resolve(values.out);
  await mkdir(dirname(out), { recursive: true });
  await writeFile(out, `${JSON.stringify({ cases, factors, ...settings, others, own }, null, 2)}\n`);
} finally {
  await stage.close();
}

function cellsOf({ operation, factor, requestsPerSecond, p50, ratio, cpuRatio }: Row): string[] {
  const spread = `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}..${ratio.max.toFixed(2)})`;
  return [operation, `${factor}×`, requestsPerSecond.toFixed(0), p50.toFixed(1), spread, figure(cpuRatio, 2)];
}

/** The first cases stay as they are and are the ones that are asked for; the others multiply around them. */
async function withOthers(stage: Stage): Promise<Row[]> {
  const { companies } = stage;
  const load = stage.with(await startLoad(await readWorld(stage.client, companies)));
  const targets: Record<string, Target> = {};
  for (const factor of factors) {
    progress.say(`Adding other cases, ${factor} × …`);
    const client = await copyOf(stage, `others_${factor}`);
    if (factor > 1) await fillCases(client, companies, { cases: cases * (factor - 1), ...PER_CASE });
    // Gigabytes that are still to be written would slow down the first commits that are measured.
    await client.query('CHECKPOINT');
    targets[factor] = { ...(await serviceOn(stage, `others_${factor}`)), client, load };
  }
  return measureAll(stage, OPERATIONS, targets, Number(values.connections), () => 1);
}

/** The lists of a case with 1 to 100 times the usual records in it. */
async function withGrownCases(stage: Stage): Promise<Row[]> {
  const { companies } = stage;
  const client = await copyOf(stage, 'grown');
  const service = await serviceOn(stage, 'grown');
  const targets: Record<string, Target> = {};
  for (const factor of factors) {
    progress.say(`Adding grown cases, ${factor} × …`);
    const { people, interactions, invoices } = PER_CASE;
    const records = { people: people * factor, interactions: interactions * factor, invoices: invoices * factor };
    const grown = await fillCases(client, companies, { cases: 8, ...records, appointments: 1 });
    const load = stage.with(await startLoad(await readWorld(client, companies, grown)));
    targets[factor] = { ...service, client, load };
  }
  return measureAll(stage, LISTS, targets, GROWN_CONNECTIONS, (factor) => factor / (factors[0] ?? 1));
}

async function measureAll(
  { databasePid }: Stage,
  operations: readonly Operation[],
  targets: Record<string, Target>,
  connections: number,
  weight: (factor: number) => number,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const operation of operations) {
    const onRound = (_operation: Operation, size: string, round: number) =>
      progress.step(operation.name, `${size} ×, round ${round} of ${settings.rounds}`);
    const rounds = await measure({ databasePid, connections, ...settings, onRound }, operation, targets);
    rows.push(...rowsOf(operation.name, rounds, weight));
  }
  return rows;
}

function rowsOf(operation: string, rounds: Record<string, Round>[], weight: (factor: number) => number): Row[] {
  const of = (factor: number | undefined) => rounds.flatMap((round) => round[`${factor}`] ?? []);
  return factors.map((factor) => {
    const { median, min, max } = ratioOf(of(factor), of(factors[0]), 'requestsPerSecond');
    const times = weight(factor);
    const ratio = { median: median * times, min: min * times, max: max * times };
    const summary = summaryOf(of(factor));
    const { requestsPerSecond, p50 } = summary;
    const cpu = cpuRatioOf(summaryOf(of(factors[0])), summary);
    return { operation, factor, requestsPerSecond, p50, ratio, cpuRatio: cpu && cpu * times };
  });
}

/** Tokens and identifiers are the same in every copy. */
async function copyOf(stage: Stage, name: string): Promise<pg.Client> {
  const { connection, client } = stage;
  await client.query(`CREATE DATABASE ${name} TEMPLATE ${connection.database}`);
  const copy = new pg.Client({ ...connection, database: name });
  await copy.connect();
  stage.with({ stop: () => copy.end() });
  return copy;
}

async function serviceOn(stage: Stage, database: string): Promise<Server> {
  const { connection, dataDir } = stage;
  return stage.with(await startService({ ...connection, database }, { dataDir }));
}
