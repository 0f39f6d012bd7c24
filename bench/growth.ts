import { mkdir, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { readDataset } from './dataset.ts';
import { type Environment, openEnvironment } from './environment.ts';
import { measure, type Round, type Target } from './measure.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import { formatLoad } from './report/machine.ts';
import { Progress } from './report/progress.ts';
import { computeCpuRatio, ratioByRound, type Spread, summarise } from './report/summary.ts';
import { formatNumber, formatTable } from './report/table.ts';
import { seedCases } from './seed.ts';
import { type Server, startLoadGenerator, startService } from './servers.ts';

/**
 * Measures how throughput depends on the number of other cases and on the size of a case itself. The databases of all
 * sizes are in one server, each with its own service. They take turns, so that a slowdown of the machine affects all.
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
const defaults = values.quick ? { cases: 20, rounds: 3, seconds: 0.5 } : { cases: 1_000, rounds: 5, seconds: 2 };
const cases = Number(values.cases ?? defaults.cases);
const factors = values.factors.split(',').map(Number);
const settings = {
  rounds: Number(values.rounds ?? defaults.rounds),
  seconds: Number(values.seconds ?? defaults.seconds),
  // Long enough to load the pages of the measured cases again, which seeding the others has evicted from memory.
  warmUp: Number(values.seconds ?? defaults.seconds) * 2,
};
const RECORDS_PER_CASE = { people: 5, interactions: 100, invoices: 20, appointments: 20 };
const LISTS = OPERATIONS.filter(({ kind }) => kind === 'read');
/** A list of thousands keeps a connection busy for long; more connections would only wait. */
const GROWN_CASE_CONNECTIONS = 4;

type Row = {
  operation: string;
  factor: number;
  requestsPerSecond: number;
  p50: number;
  /** Throughput relative to the first size; for growing lists multiplied by the size. */
  ratio: Spread;
  /** The same ratio of the CPU time per request, which other work on the machine affects least. */
  cpuRatio: number | undefined;
};

const progress = new Progress((OPERATIONS.length + LISTS.length) * factors.length * (settings.rounds + 1));
const before = loadavg();
progress.say(`Seeding a database with ${cases} cases …`);
const environment = await openEnvironment({ companies: Math.min(20, cases), size: { cases, ...RECORDS_PER_CASE } });
try {
  const amongOtherCases = await measureAmongOtherCases(environment);
  const grownCases = await measureGrownCases(environment);
  progress.end();
  console.log(`Other cases: the same cases among 1 to ${factors.at(-1)} times as many. Ratio: to the first size.\n`);
  console.log(
    formatTable(
      ['Operation', 'size', 'req/s', 'p50 ms', 'ratio (min..max)', 'CPU ratio'],
      amongOtherCases.map(toCells),
    ),
  );
  console.log(
    '\nGrown cases: records per second should stay constant, so requests per second fall as the list grows.\n',
  );
  console.log(
    formatTable(
      ['Operation', 'size', 'req/s', 'p50 ms', 'ratio × size (min..max)', 'CPU ratio'],
      grownCases.map(toCells),
    ),
  );
  console.log(`\nLoad average before ${formatLoad(before)}, after ${formatLoad(loadavg())}.`);
  const out = resolve(values.out);
  await mkdir(dirname(out), { recursive: true });
  await writeFile(out, `${JSON.stringify({ cases, factors, ...settings, amongOtherCases, grownCases }, null, 2)}\n`);
} finally {
  await environment.close();
}

function toCells({ operation, factor, requestsPerSecond, p50, ratio, cpuRatio }: Row): string[] {
  const spread = `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}..${ratio.max.toFixed(2)})`;
  return [operation, `${factor}×`, requestsPerSecond.toFixed(0), p50.toFixed(1), spread, formatNumber(cpuRatio, 2)];
}

/** Measures the same cases while the number of other cases in the database grows. */
async function measureAmongOtherCases(environment: Environment): Promise<Row[]> {
  const { companies } = environment;
  const load = environment.use(await startLoadGenerator(await readDataset(environment.client, companies)));
  const targets: Record<string, Target> = {};
  for (const factor of factors) {
    progress.say(`Adding other cases, ${factor} × …`);
    const client = await copyDatabase(environment, `others_${factor}`);
    if (factor > 1) await seedCases(client, companies, { cases: cases * (factor - 1), ...RECORDS_PER_CASE });
    // Gigabytes of dirty pages would slow down the first measured commits.
    await client.query('CHECKPOINT');
    targets[factor] = { ...(await startServiceOn(environment, `others_${factor}`)), client, load };
  }
  return measureAll(environment, OPERATIONS, targets, Number(values.connections), () => 1);
}

/** Measures the lists of cases with 1 to 100 times the usual number of records. */
async function measureGrownCases(environment: Environment): Promise<Row[]> {
  const { companies } = environment;
  const client = await copyDatabase(environment, 'grown');
  const service = await startServiceOn(environment, 'grown');
  const targets: Record<string, Target> = {};
  for (const factor of factors) {
    progress.say(`Adding grown cases, ${factor} × …`);
    const { people, interactions, invoices } = RECORDS_PER_CASE;
    const records = { people: people * factor, interactions: interactions * factor, invoices: invoices * factor };
    const grown = await seedCases(client, companies, { cases: 8, ...records, appointments: 1 });
    const load = environment.use(await startLoadGenerator(await readDataset(client, companies, grown)));
    targets[factor] = { ...service, client, load };
  }
  return measureAll(environment, LISTS, targets, GROWN_CASE_CONNECTIONS, (factor) => factor / (factors[0] ?? 1));
}

async function measureAll(
  { databasePid }: Environment,
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
    rows.push(...toRows(operation.name, rounds, weight));
  }
  return rows;
}

function toRows(operation: string, rounds: Record<string, Round>[], weight: (factor: number) => number): Row[] {
  const roundsOf = (factor: number | undefined) => rounds.flatMap((round) => round[`${factor}`] ?? []);
  return factors.map((factor) => {
    const { median, min, max } = ratioByRound(roundsOf(factor), roundsOf(factors[0]), 'requestsPerSecond');
    const multiplier = weight(factor);
    const ratio = { median: median * multiplier, min: min * multiplier, max: max * multiplier };
    const summary = summarise(roundsOf(factor));
    const { requestsPerSecond, p50 } = summary;
    const cpu = computeCpuRatio(summarise(roundsOf(factors[0])), summary);
    return { operation, factor, requestsPerSecond, p50, ratio, cpuRatio: cpu && cpu * multiplier };
  });
}

/** Copies the seeded database, so that tokens and identifiers are the same in every copy. */
async function copyDatabase(environment: Environment, name: string): Promise<pg.Client> {
  const { connection, client } = environment;
  await client.query(`CREATE DATABASE ${name} TEMPLATE ${connection.database}`);
  const copy = new pg.Client({ ...connection, database: name });
  await copy.connect();
  environment.use({ stop: () => copy.end() });
  return copy;
}

async function startServiceOn(environment: Environment, database: string): Promise<Server> {
  const { connection, dataDir } = environment;
  return environment.use(await startService({ ...connection, database }, { dataDir }));
}
