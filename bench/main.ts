import { mkdir, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { dirname } from 'node:path';
import { readDataset, restoreAppointments } from './dataset.ts';
import { openEnvironment } from './environment.ts';
import { assertEquivalent } from './equivalence.ts';
import { measure } from './measure.ts';
import { OPERATIONS } from './operations.ts';
import { type Options, parseOptions } from './options.ts';
import { drawChart } from './report/chart.ts';
import { describeMachine, formatLoad } from './report/machine.ts';
import { Progress } from './report/progress.ts';
import { createOperationReport, type OperationReport, type Report, TABLE_HEAD, tableRows } from './report/report.ts';
import { formatTable } from './report/table.ts';
import { startBaseline, startLoadGenerator, startService } from './servers.ts';
import { readMemory } from './usage.ts';

/** Compares the twelve operations on the service and on the baseline. docs/benchmark.md explains the results. */

try {
  const options = parseOptions(process.argv.slice(2));
  const report = await run(options);
  console.log(formatTable(TABLE_HEAD, tableRows(report)));
  console.log(footer(report));
  await writeText(options.out, JSON.stringify(report, null, 2));
  if (options.chart) await writeText(options.chart, drawChart(report));
} catch (error) {
  console.error(`\nbench: ${(error as Error).message}`);
  process.exitCode = 1;
}

async function run(options: Options): Promise<Report> {
  const { companies, datasetSize, connections, rounds, seconds, warmUp, profile } = options;
  const operations = OPERATIONS.filter(({ id }) => options.operations.includes(id));
  const progress = new Progress(operations.length * 2 * (rounds + 1));
  const before = loadavg();
  progress.say(`Seeding a database with ${datasetSize.cases} cases …`);
  const environment = await openEnvironment({ companies, size: datasetSize });
  try {
    const { client, connection, dataDir } = environment;
    const dataset = await readDataset(client, environment.companies);
    const flags = profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : [];
    const service = environment.use(await startService(connection, { dataDir, flags }));
    const baseline = environment.use(await startBaseline(connection, environment.companies, options.batchingBaseline));
    const load = environment.use(await startLoadGenerator(dataset));
    const targets = { service: { ...service, client, load }, baseline: { ...baseline, client, load } };
    const reports: OperationReport[] = [];
    progress.say('Comparing the responses of both servers …');
    const changes = new Map<string, Record<string, number>>();
    for (const operation of operations) {
      changes.set(operation.id, await assertEquivalent(operation, dataset, client, [service, baseline]));
    }
    await restoreAppointments(client);
    for (const operation of operations) {
      const onRound = (_operation: unknown, server: string, round: number) =>
        progress.step(operation.name, `${server}, ${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}`);
      const measureOptions = { databasePid: environment.databasePid, connections, seconds, warmUp, rounds, onRound };
      const measured = await measure(measureOptions, operation, targets);
      reports.push(createOperationReport(operation, changes.get(operation.id) ?? {}, measured));
    }
    const memory = { service: readMemory(service.pid), baseline: readMemory(baseline.pid) };
    return {
      at: new Date().toISOString(),
      machine: await describeMachine(client),
      load: { before, after: loadavg() },
      connections,
      rounds,
      seconds,
      cases: datasetSize.cases,
      operations: reports,
      memory: JSON.parse(JSON.stringify(memory)),
    };
  } finally {
    await environment.close();
    progress.end();
  }
}

function footer({ machine, load, memory, connections, rounds, seconds }: Report): string {
  const { system, cores, processor, node, postgres } = machine;
  const memoryText = (['service', 'baseline'] as const)
    .map((name) => `${name} ${memory[name]?.resident ?? '–'} (peak ${memory[name]?.peak ?? '–'})`)
    .join(', ');
  return [
    '',
    `* below the target. Medians of ${rounds} rounds of ${seconds} s with ${connections} connections; ` +
      'CPU time is per request.',
    `Memory after the load, in MB: ${memoryText}.`,
    `Node ${node}, PostgreSQL ${postgres}, ${system}, ${cores} cores (${processor}).`,
    `Load average before ${formatLoad(load.before)}, after ${formatLoad(load.after)}.`,
  ].join('\n');
}

async function writeText(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${text}\n`);
}
