import { cpus } from 'node:os';
import { readDataset } from './dataset.ts';
import { openEnvironment } from './environment.ts';
import { measure, type Round } from './measure.ts';
import { OPERATIONS, WITHOUT_DATABASE } from './operations.ts';
import { parseOptions } from './options.ts';
import { Progress } from './report/progress.ts';
import { ratioByRound, summarise } from './report/summary.ts';
import { formatTable } from './report/table.ts';
import { startLoadGenerator, startService } from './servers.ts';

/** Compares one and two web processes on one database, and shows how the cores were shared. */

const DEFAULT_OPERATIONS = ['getCaseInteractions', 'createCaseInteraction', 'createCaseInvoice', 'getCaseInvoices'];

const options = parseOptions(process.argv.slice(2));
const { companies, datasetSize, connections, rounds, seconds, warmUp } = options;
const selected = options.operations.length < OPERATIONS.length ? options.operations : DEFAULT_OPERATIONS;
const operations = [WITHOUT_DATABASE, ...OPERATIONS.filter(({ id }) => selected.includes(id))];
const progress = new Progress(operations.length * 2 * (rounds + 1));
progress.say(`Seeding a database with ${datasetSize.cases} cases …`);
const environment = await openEnvironment({ companies, size: datasetSize });
try {
  const { client, connection, dataDir, databasePid } = environment;
  const load = environment.use(await startLoadGenerator(await readDataset(client, environment.companies)));
  const start = async (processes: string) =>
    environment.use(await startService(connection, { dataDir, settings: { WEB_CONCURRENCY: processes } }));
  const [one, two] = [await start('1'), await start('2')];
  const targets = { one: { ...one, client, load }, two: { ...two, client, load } };
  const rows: string[][] = [];
  for (const operation of operations) {
    const onRound = (_operation: unknown, server: string, round: number) =>
      progress.step(operation.name, `${server} ${round}`);
    const measureOptions = { databasePid, connections, seconds, warmUp, rounds, onRound };
    const measured = await measure(measureOptions, operation, targets);
    const [single, double] = [measured.map((round) => round.one), measured.map((round) => round.two)];
    const ratio = ratioByRound(double, single, 'requestsPerSecond');
    rows.push([
      operation.name,
      `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}..${ratio.max.toFixed(2)})`,
      ...[single, double].flatMap((rounds) => [
        summarise(rounds).requestsPerSecond.toFixed(0),
        coresUsed(rounds, 'processCpu').toFixed(2),
        coresUsed(rounds, 'databaseCpu').toFixed(2),
      ]),
      bottleneck(double),
    ]);
  }
  progress.end();
  const each = ['req/s', 'service', 'database'];
  console.log(
    formatTable(
      ['Operation', 'two / one (min..max)', ...each, ...each.map((name) => `two: ${name}`), 'bottleneck'],
      rows,
    ),
  );
  console.log(
    `\nService and database in cores, of ${cpus().length}; the load generator and other programs used the rest.`,
  );
} finally {
  await environment.close();
}

function coresUsed(rounds: Round[], part: 'processCpu' | 'databaseCpu'): number {
  const { requestsPerSecond, ...rest } = summarise(rounds);
  return ((rest[part] ?? 0) * requestsPerSecond) / 1000;
}

/** Returns which part used most of the cores with two processes. */
function bottleneck(rounds: Round[]): string {
  const [service, database] = [coresUsed(rounds, 'processCpu'), coresUsed(rounds, 'databaseCpu')];
  const rest = cpus().length - service - database;
  return database >= service && database >= rest ? 'the database' : rest > service ? 'the load' : 'the service';
}
