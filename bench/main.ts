import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { dirname } from 'node:path';
import { type Dataset, readDataset, restoreAppointments } from './dataset.ts';
import { type Environment, openEnvironment } from './environment.ts';
import { assertBatchEquivalent, assertEquivalent, assertSameChanges, type RowChanges } from './equivalence.ts';
import { measure, type Round, type Target } from './measure.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import { type Options, parseOptions } from './options.ts';
import { startPgbench } from './pgbench/pgbench.ts';
import { writeDocs } from './report/docs.ts';
import { describeMachine, formatLoad } from './report/machine.ts';
import { Progress } from './report/progress.ts';
import { bySeries, type OperationReport, type Report } from './report/report.ts';
import { formatTable } from './report/table.ts';
import { tablesOf } from './report/tables.ts';
import { hasNestjs, type SeriesName, type StartedParts, targetsOf } from './series.ts';
import { type Server, startBaseline, startLoadGenerator, startNestjs, startService } from './servers.ts';
import { openTrace, type Trace } from './trace/trace.ts';
import { type MemoryMegabytes, readMemory } from './usage.ts';

/** Compares the twelve operations on the service and on the baselines. docs/benchmark.md explains the results. */

try {
  const options = parseOptions(process.argv.slice(2));
  const { results, out, docs } = options;
  const report: Report = results ? JSON.parse(await readFile(results, 'utf8')) : await run(options);
  for (const { title, head, rows } of tablesOf(report)) console.log(`\n${title}\n\n${formatTable(head, rows)}`);
  console.log(footer(report));
  if (!results) await writeText(out, JSON.stringify(report, null, 2));
  if (docs) await writeDocs(report);
} catch (error) {
  console.error(`\nbench: ${(error as Error).message}`);
  process.exitCode = 1;
}

async function run(options: Options): Promise<Report> {
  const { connections, rounds, seconds, starts, datasetSize } = options;
  const operations = OPERATIONS.filter(({ id }) => options.operations.includes(id));
  const progress = new Progress(starts * operations.length);
  const before = loadavg();
  const reports = operations.map(({ id, name, kind }): OperationReport => ({ id, name, kind, change: {}, starts: [] }));
  let last: StartResult | undefined;
  for (let start = 1; start <= starts; start++) {
    last = await runStart(options, operations, reports, progress, starts > 1 ? `start ${start} of ${starts}, ` : '');
  }
  progress.end();
  const { machine, memory, skipped } = last as StartResult;
  return {
    at: new Date().toISOString(),
    machine,
    load: { before, after: loadavg() },
    connections,
    rounds,
    seconds,
    starts,
    cases: datasetSize.cases,
    operations: reports,
    memory,
    skipped,
  };
}

type StartResult = Pick<Report, 'machine' | 'memory' | 'skipped'>;

/** Measures all operations once with new processes and a new database, and adds the rounds to the reports. */
async function runStart(
  options: Options,
  operations: Operation[],
  reports: OperationReport[],
  progress: Progress,
  label: string,
): Promise<StartResult> {
  const { companies, datasetSize, connections, rounds, seconds, warmUp, forms } = options;
  progress.say(`${label}seeding a database with ${datasetSize.cases} cases …`);
  const environment = await openEnvironment({ companies, size: datasetSize });
  try {
    const { client, databasePid } = environment;
    const dataset = await readDataset(client, environment.companies);
    const skipped: string[] = [];
    const trace = options.trace ? environment.use(await openTrace(environment)) : undefined;
    const parts = await startParts(options, environment, dataset, trace, skipped);
    for (const line of skipped) progress.say(line);
    const servers = [parts.service, parts.baseline, parts.bestBaseline, parts.nestjs].filter((server) => server);
    progress.say('Comparing the responses of the servers …');
    for (const [i, operation] of operations.entries()) {
      (reports[i] as OperationReport).change = await compare(operation, dataset, parts);
    }
    await restoreAppointments(client);
    for (const [i, operation] of operations.entries()) {
      const targets = targetsOf(operation, forms, parts) as Record<SeriesName, Target>;
      const weight = 1 / (Object.keys(targets).length * (rounds + 1));
      const onRound = (_operation: unknown, series: string, round: number) => {
        const detail = `${series}, ${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}`;
        progress.step(`${label}${operation.name}`, detail, weight);
      };
      const onSlowRequests = trace?.onSlowRequests(operation.name);
      const measureOptions = { databasePid, connections, seconds, warmUp, rounds, onRound, onSlowRequests };
      const measured: Partial<Record<SeriesName, Round>>[] = await measure(measureOptions, operation, targets);
      reports[i]?.starts.push(bySeries(measured));
    }
    if (trace) console.log(await trace.finish());
    const memory = servers.map((server) => [server?.name, readMemory(server?.pid ?? 0)] as const);
    return {
      machine: await describeMachine(client),
      memory: Object.fromEntries(memory.filter(([, megabytes]) => megabytes)) as Record<string, MemoryMegabytes>,
      skipped,
    };
  } finally {
    await environment.close();
  }
}

/** Throws if one of the parts does other work than the service. Returns the row changes of one request. */
async function compare(operation: Operation, dataset: Dataset, parts: StartedParts): Promise<RowChanges> {
  const { client, service, baseline, bestBaseline, nestjs, pgbench } = parts;
  const others = [baseline, bestBaseline, hasNestjs(operation) ? nestjs : undefined].flatMap((server) => server ?? []);
  let changes: RowChanges = {};
  for (const other of others) changes = await assertEquivalent(operation, dataset, client, [service, other]);
  if (others.length === 0) return changes;
  if (bestBaseline) await assertBatchEquivalent(operation, changes, dataset, client);
  if (pgbench) await assertSameChanges(operation, changes, client, pgbench);
  return changes;
}

/** Starts what the options select. Adds a line to `skipped` for what is selected and not installed. */
async function startParts(
  { against, profile, operations, connections }: Options,
  environment: Environment,
  dataset: Dataset,
  trace: Trace | undefined,
  skipped: string[],
): Promise<StartedParts> {
  const { client, connection, dataDir, companies } = environment;
  const use = <T extends { stop(): Promise<void> } | undefined>(part: T): T => (part ? environment.use(part) : part);
  const flags = [...(profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : []), ...(trace?.serviceFlags ?? [])];
  const baseline = async (batching: boolean): Promise<Server> =>
    use(await startBaseline(connection, companies, { batching }));
  const service = use(await startService(connection, { dataDir, flags, settings: trace?.serviceSettings ?? {} }));
  const pgbench = against.includes('pgbench')
    ? use(await startPgbench(environment, dataset, { operations, connections }))
    : undefined;
  const nestjs = against.includes('nestjs') ? use(await startNestjs(connection, companies)) : undefined;
  if (against.includes('pgbench') && !pgbench) skipped.push('Skipped pgbench: the program is not installed.');
  if (against.includes('nestjs') && !nestjs) {
    skipped.push('Skipped NestJS: run `npm run bench:peers:install` to install it.');
  }
  return {
    client,
    service,
    load: use(await startLoadGenerator(dataset)),
    baseline: against.includes('baseline') ? await baseline(false) : undefined,
    bestBaseline: against.includes('best-baseline') ? await baseline(true) : undefined,
    pgbench,
    nestjs,
  };
}

function footer({ machine, load, memory, connections, rounds, seconds, starts, skipped }: Report): string {
  const { system, cores, processor, node, postgres } = machine;
  const memoryText = Object.entries(memory).map(([name, { resident, peak }]) => `${name} ${resident} (peak ${peak})`);
  return [
    '',
    `* misses its goal. Medians of ${rounds} rounds of ${seconds} s and ${starts} starts, ${connections} connections; ` +
      'in brackets the range. CPU time is in ms per request.',
    `Memory after the load, in MB: ${memoryText.join(', ')}.`,
    `Node ${node}, PostgreSQL ${postgres}, ${system}, ${cores} cores (${processor}).`,
    `Load average before ${formatLoad(load.before)}, after ${formatLoad(load.after)}.`,
    ...skipped,
  ].join('\n');
}

async function writeText(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${text}\n`);
}
