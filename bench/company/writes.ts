import { loadavg } from 'node:os';
import pg from 'pg';
import { readDataset } from '../dataset.ts';
import { openEnvironment } from '../environment.ts';
import { measure, type Round } from '../measure.ts';
import { OPERATIONS } from '../operations.ts';
import { parseOptions } from '../options.ts';
import { formatLoad } from '../report/machine.ts';
import { Progress } from '../report/progress.ts';
import { ratioByRound, summarise, toSpread } from '../report/summary.ts';
import { formatNumber, formatTable } from '../report/table.ts';
import { startLoadGenerator, startService } from '../servers.ts';

/** Measures what the indexes of the lists of a company cost the writes: in two databases, of which one lacks them. */

const INDEXES = `SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indexrelid::regclass::text LIKE '%\\_of\\_company%'`;

const {
  companies,
  datasetSize,
  connections,
  rounds,
  seconds,
  warmUp,
  operations: selected,
} = parseOptions(process.argv.slice(2));
const operations = OPERATIONS.filter(({ id, kind }) => kind === 'write' && selected.includes(id));
const progress = new Progress(operations.length * 2 * (rounds + 1));
const before = loadavg();
progress.say(`Seeding a database with ${datasetSize.cases} cases …`);
const environment = await openEnvironment({ companies, size: datasetSize });
try {
  const { client, connection, dataDir, databasePid } = environment;
  await client.query(`CREATE DATABASE without TEMPLATE ${connection.database}`);
  const other = new pg.Client({ ...connection, database: 'without' });
  await other.connect();
  environment.use({ stop: () => other.end() });
  for (const { name } of (await other.query<{ name: string }>(INDEXES)).rows) await other.query(`DROP INDEX ${name}`);
  await client.query('CHECKPOINT');
  const load = environment.use(await startLoadGenerator(await readDataset(client, environment.companies)));
  const start = async (database: string) =>
    environment.use(await startService({ ...connection, database }, { dataDir }));
  const targets = {
    with: { ...(await start(connection.database)), client, load },
    without: { ...(await start('without')), client: other, load },
  };
  const rows: string[][] = [];
  for (const operation of operations) {
    const onRound = (_operation: unknown, server: string, round: number) =>
      progress.step(operation.name, `${server} ${round}`);
    const measured = await measure({ databasePid, connections, seconds, warmUp, rounds, onRound }, operation, targets);
    const [withIndexes, without] = [measured.map((round) => round.with), measured.map((round) => round.without)];
    const ratio = ratioByRound(withIndexes, without, 'requestsPerSecond');
    // Per round, so that a slowdown of the machine affects both sides. More than 1: the indexes cost nothing.
    const cpu = toSpread(measured.map((round) => cpuOf(round.without) / cpuOf(round.with)));
    rows.push([
      operation.name,
      `${ratio.median.toFixed(3)} (${ratio.min.toFixed(2)}..${ratio.max.toFixed(2)})`,
      `${cpu.median.toFixed(3)} (${cpu.min.toFixed(2)}..${cpu.max.toFixed(2)})`,
      formatNumber(summarise(withIndexes).requestsPerSecond, 0),
      formatNumber(summarise(without).requestsPerSecond, 0),
    ]);
  }
  progress.end();
  console.log(formatTable(['Operation', 'with / without (min..max)', 'CPU ratio', 'req/s', 'without'], rows));
  console.log(`\nLoad average before ${formatLoad(before)}, after ${formatLoad(loadavg())}.`);
} finally {
  await environment.close();
}

function cpuOf({ processCpu = Number.NaN, databaseCpu = Number.NaN }: Round): number {
  return processCpu + databaseCpu;
}
