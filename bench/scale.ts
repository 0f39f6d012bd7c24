import { cpus } from 'node:os';
import { measure, type Round } from './measure.ts';
import { OPERATIONS, WITHOUT_DATABASE } from './operations.ts';
import { readOptions } from './options.ts';
import { Progress } from './report/progress.ts';
import { ratioOf, summaryOf } from './report/summary.ts';
import { table } from './report/table.ts';
import { startLoad, startService } from './servers.ts';
import { openStage } from './stage.ts';
import { readWorld } from './world.ts';

/** One and two processes of the service on one database, and who had the cores meanwhile. */

const USUAL = ['getCaseInteractions', 'createCaseInteraction', 'createCaseInvoice', 'getCaseInvoices'];

const options = readOptions(process.argv.slice(2));
const { companies, size, connections, rounds, seconds, warmUp } = options;
const asked = options.operations.length < OPERATIONS.length ? options.operations : USUAL;
const operations = [WITHOUT_DATABASE, ...OPERATIONS.filter(({ id }) => asked.includes(id))];
const progress = new Progress(operations.length * 2 * (rounds + 1));
progress.say(`Filling a database with ${size.cases} cases …`);
const stage = await openStage({ companies, size });
try {
  const { client, connection, dataDir, databasePid } = stage;
  const load = stage.with(await startLoad(await readWorld(client, stage.companies)));
  const start = async (processes: string) =>
    stage.with(await startService(connection, { dataDir, settings: { WEB_CONCURRENCY: processes } }));
  const [one, two] = [await start('1'), await start('2')];
  const targets = { one: { ...one, client, load }, two: { ...two, client, load } };
  const rows: string[][] = [];
  for (const operation of operations) {
    const onRound = (_operation: unknown, server: string, round: number) =>
      progress.step(operation.name, `${server} ${round}`);
    const bench = { databasePid, connections, seconds, warmUp, rounds, onRound };
    const found = await measure(bench, operation, targets);
    const [single, double] = [found.map((round) => round.one), found.map((round) => round.two)];
    const ratio = ratioOf(double, single, 'requestsPerSecond');
    rows.push([
      operation.name,
      `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}..${ratio.max.toFixed(2)})`,
      ...[single, double].flatMap((rounds) => [
        summaryOf(rounds).requestsPerSecond.toFixed(0),
        coresOf(rounds, 'processCpu').toFixed(2),
        coresOf(rounds, 'databaseCpu').toFixed(2),
      ]),
      limitOf(double),
    ]);
  }
  progress.end();
  const each = ['req/s', 'service', 'database'];
  console.log(
    table(['Operation', 'two by one (min..max)', ...each, ...each.map((name) => `two: ${name}`), 'limit'], rows),
  );
  console.log(
    `\nService and database in cores, of ${cpus().length}; what is left went to the load and to whatever else ran.`,
  );
} finally {
  await stage.close();
}

function coresOf(rounds: Round[], part: 'processCpu' | 'databaseCpu'): number {
  const { requestsPerSecond, ...rest } = summaryOf(rounds);
  return ((rest[part] ?? 0) * requestsPerSecond) / 1000;
}

/** Who had most of the cores when two processes were there. */
function limitOf(rounds: Round[]): string {
  const [service, database] = [coresOf(rounds, 'processCpu'), coresOf(rounds, 'databaseCpu')];
  const rest = cpus().length - service - database;
  return database >= service && database >= rest ? 'the database' : rest > service ? 'the load' : 'the service';
}
