import { mkdir, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { dirname } from 'node:path';
import { measure } from './measure.ts';
import { OPERATIONS } from './operations.ts';
import { type Options, readOptions } from './options.ts';
import { chart } from './report/chart.ts';
import { describeMachine, loadText } from './report/machine.ts';
import { Progress } from './report/progress.ts';
import { HEAD, type OperationReport, operationReport, type Report, rowsOf } from './report/report.ts';
import { table } from './report/table.ts';
import { requireSameWork } from './same-work.ts';
import { startFloor, startLoad, startService } from './servers.ts';
import { openStage } from './stage.ts';
import { memoryOf } from './usage.ts';
import { readWorld, restoreAppointments } from './world.ts';

/** The twelve operations, on the service and on the floor in turn. docs/benchmark.md says how to read what comes out. */

try {
  const options = readOptions(process.argv.slice(2));
  const report = await run(options);
  console.log(table(HEAD, rowsOf(report)));
  console.log(below(report));
  await write(options.out, JSON.stringify(report, null, 2));
  if (options.chart) await write(options.chart, chart(report));
} catch (error) {
  console.error(`\nbench: ${(error as Error).message}`);
  process.exitCode = 1;
}

async function run(options: Options): Promise<Report> {
  const { companies, size, connections, rounds, seconds, warmUp, profile } = options;
  const operations = OPERATIONS.filter(({ id }) => options.operations.includes(id));
  const progress = new Progress(operations.length * 2 * (rounds + 1));
  const before = loadavg();
  progress.say(`Filling a database with ${size.cases} cases …`);
  const stage = await openStage({ companies, size });
  try {
    const { client, connection, dataDir } = stage;
    const world = await readWorld(client, stage.companies);
    const flags = profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : [];
    const service = stage.with(await startService(connection, { dataDir, flags }));
    const floor = stage.with(await startFloor(connection, stage.companies, options.gathers));
    const load = stage.with(await startLoad(world));
    const targets = { service: { ...service, client, load }, floor: { ...floor, client, load } };
    const measured: OperationReport[] = [];
    progress.say('Comparing the answers of the two …');
    const changes = new Map<string, Record<string, number>>();
    for (const operation of operations) {
      changes.set(operation.id, await requireSameWork(operation, world, client, [service, floor]));
    }
    await restoreAppointments(client);
    for (const operation of operations) {
      const onRound = (_operation: unknown, server: string, round: number) =>
        progress.step(operation.name, `${server}, ${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}`);
      const bench = { databasePid: stage.databasePid, connections, seconds, warmUp, rounds, onRound };
      const found = await measure(bench, operation, targets);
      measured.push(operationReport(operation, changes.get(operation.id) ?? {}, found));
    }
    const memory = { service: memoryOf(service.pid), floor: memoryOf(floor.pid) };
    return {
      at: new Date().toISOString(),
      machine: await describeMachine(client),
      load: { before, after: loadavg() },
      connections,
      rounds,
      seconds,
      cases: size.cases,
      operations: measured,
      memory: JSON.parse(JSON.stringify(memory)),
    };
  } finally {
    await stage.close();
    progress.end();
  }
}

function below({ machine, load, memory, connections, rounds, seconds }: Report): string {
  const { system, cores, processor, node, postgres } = machine;
  const used = (['service', 'floor'] as const)
    .map((name) => `${name} ${memory[name]?.resident ?? '–'} (at most ${memory[name]?.peak ?? '–'})`)
    .join(', ');
  return [
    '',
    `* below the goal. Medians of ${rounds} rounds of ${seconds} s with ${connections} connections; CPU time is per request.`,
    `Memory after the load, in MB: ${used}.`,
    `Node ${node}, PostgreSQL ${postgres}, ${system}, ${cores} cores (${processor}).`,
    `Load average before ${loadText(load.before)}, after ${loadText(load.after)}.`,
  ].join('\n');
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${text}\n`);
}
