import { loadavg } from 'node:os';
import pg from 'pg';
import { readDataset, restoreAppointments } from '../dataset.ts';
import { openEnvironment } from '../environment.ts';
import { measure, type Round } from '../measure.ts';
import { OPERATIONS } from '../operations.ts';
import { parseOptions } from '../options.ts';
import { formatLoad } from '../report/machine.ts';
import { Progress } from '../report/progress.ts';
import { ratioByRound, summarise, toSpread } from '../report/summary.ts';
import { formatNumber, formatTable } from '../report/table.ts';
import { startLoadGenerator, startService } from '../servers.ts';

/**
 * Measures what the lists of a company and the external ids cost the writes: in two databases, of which one is as it was
 * before them. With `--earlier <folder>` the service of an earlier revision serves that one, so that what became cheaper
 * meanwhile counts too. Processes of the same code differ by up to 10 %, so everything is repeated with new ones.
 */

const INDEXES = `SELECT indexrelid::regclass::text AS name FROM pg_index
  WHERE indexrelid::regclass::text LIKE '%\\_of\\_company%' OR indexrelid::regclass::text LIKE '%external\\_id%'`;
/** Migration 0046 removed it. */
const REMOVED_KEY = 'ALTER TABLE people ADD FOREIGN KEY (company_id, case_id) REFERENCES cases (company_id, id)';

const {
  companies,
  datasetSize,
  connections,
  rounds,
  seconds,
  warmUp,
  starts,
  operations: selected,
  earlier,
} = parseOptions(process.argv.slice(2));
const operations = OPERATIONS.filter(({ id, kind }) => kind === 'write' && selected.includes(id));
const progress = new Progress(starts * operations.length * 2 * (rounds + 1));
const loadBefore = loadavg();
progress.say(`Seeding a database with ${datasetSize.cases} cases …`);
const environment = await openEnvironment({ companies, size: datasetSize });
try {
  const { client, connection, dataDir, databasePid } = environment;
  await client.query(`CREATE DATABASE before TEMPLATE ${connection.database}`);
  const other = new pg.Client({ ...connection, database: 'before' });
  await other.connect();
  environment.use({ stop: () => other.end() });
  for (const { name } of (await other.query<{ name: string }>(INDEXES)).rows) await other.query(`DROP INDEX ${name}`);
  await other.query(REMOVED_KEY);
  await client.query('CHECKPOINT');
  const load = environment.use(await startLoadGenerator(await readDataset(client, environment.companies)));
  const results = new Map(operations.map((operation) => [operation, [] as Record<'now' | 'before', Round>[]]));
  for (let start = 1; start <= starts; start++) {
    const now = environment.use(await startService(connection, { dataDir }));
    const before = environment.use(
      await startService({ ...connection, database: 'before' }, { dataDir, folder: earlier }),
    );
    // The start before has deleted some.
    for (const one of [client, other]) await restoreAppointments(one);
    const targets = { now: { ...now, client, load }, before: { ...before, client: other, load } };
    for (const [operation, measured] of results) {
      const onRound = (_operation: unknown, server: string, round: number) =>
        progress.step(operation.name, `${server} ${round} of start ${start}`);
      const options = { databasePid, connections, seconds, warmUp, rounds, onRound };
      measured.push(...(await measure(options, operation, targets)));
    }
    await now.stop();
    await before.stop();
  }
  const rows: string[][] = [];
  for (const [operation, measured] of results) {
    const [now, before] = [measured.map((round) => round.now), measured.map((round) => round.before)];
    const ratio = ratioByRound(now, before, 'requestsPerSecond');
    // Per round, so that a slowdown of the machine affects both sides. More than 1: it is cheaper now.
    const cpu = toSpread(measured.map((round) => cpuOf(round.before) / cpuOf(round.now)));
    rows.push([
      operation.name,
      `${ratio.median.toFixed(3)} (${ratio.min.toFixed(2)}..${ratio.max.toFixed(2)})`,
      `${cpu.median.toFixed(3)} (${cpu.min.toFixed(2)}..${cpu.max.toFixed(2)})`,
      formatNumber(summarise(now).requestsPerSecond, 0),
      formatNumber(summarise(before).requestsPerSecond, 0),
    ]);
  }
  progress.end();
  console.log(formatTable(['Operation', 'now / before (min..max)', 'CPU ratio', 'req/s', 'before'], rows));
  console.log(`\nLoad average before ${formatLoad(loadBefore)}, after ${formatLoad(loadavg())}.`);
} finally {
  await environment.close();
}

function cpuOf({ processCpu = Number.NaN, databaseCpu = Number.NaN }: Round): number {
  return processCpu + databaseCpu;
}
