import { loadavg } from 'node:os';
import pg from 'pg';
import { readDataset } from './dataset.ts';
import { openEnvironment } from './environment.ts';
import { measure, type Round } from './measure.ts';
import { OPERATIONS } from './operations.ts';
import { parseOptions } from './options.ts';
import { formatLoad } from './report/machine.ts';
import { Progress } from './report/progress.ts';
import { ratioByRound, summarise } from './report/summary.ts';
import { formatNumber, formatTable } from './report/table.ts';
import { startLoadGenerator, startService } from './servers.ts';

/** Measures what the partitions of the event log cost a write: the same service on a log with 41 partitions and on a plain table. */

const CLOSED_PARTITIONS = 40;
const PLAIN_TABLE = `
  ALTER TABLE events DETACH PARTITION events_0;
  DROP TABLE events;
  ALTER TABLE events_0 RENAME TO events`;

const options = parseOptions(process.argv.slice(2));
const operations = OPERATIONS.filter(({ id, kind }) => kind === 'write' && options.operations.includes(id));
const progress = new Progress(operations.length * 2 * (options.rounds + 1));
const before = loadavg();
progress.say(`Seeding a database with ${options.datasetSize.cases} cases …`);
const environment = await openEnvironment({ companies: options.companies, size: options.datasetSize });
try {
  const { connection, dataDir, databasePid, companies } = environment;
  const open = async (name: string, change: string) => {
    await environment.client.query(`CREATE DATABASE ${name} TEMPLATE ${connection.database}`);
    const client = new pg.Client({ ...connection, database: name });
    await client.connect();
    environment.use({ stop: () => client.end() });
    await client.query(change);
    const load = environment.use(await startLoadGenerator(await readDataset(client, companies)));
    const service = environment.use(await startService({ ...connection, database: name }, { dataDir }));
    return { ...service, client, load };
  };
  const partitions = `DO $$ BEGIN FOR n IN 1..${CLOSED_PARTITIONS} LOOP PERFORM close_event_partition(0); END LOOP; END $$`;
  const targets = { partitioned: await open('partitioned', partitions), plain: await open('plain', PLAIN_TABLE) };
  const rows: string[][] = [];
  for (const operation of operations) {
    const onRound = (_operation: unknown, server: string, round: number) =>
      progress.step(operation.name, `${server} ${round}`);
    const measured = await measure({ databasePid, ...options, onRound }, operation, targets);
    const [first, second] = [measured.map(({ partitioned }) => partitioned), measured.map(({ plain }) => plain)];
    const ratio = ratioByRound(first, second, 'requestsPerSecond');
    const cpu = (round: Round | undefined) => round?.databaseCpu ?? Number.NaN;
    const cpuRatios = first.map((round, i) => cpu(second[i]) / cpu(round)).sort((a, b) => a - b);
    rows.push([
      operation.name,
      `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}..${ratio.max.toFixed(2)})`,
      formatNumber(cpuRatios[Math.floor(cpuRatios.length / 2)], 3),
      formatNumber(summarise(first).databaseCpu, 3),
      formatNumber(summarise(second).databaseCpu, 3),
    ]);
  }
  progress.end();
  console.log(formatTable(['Operation', 'ratio (min..max)', 'CPU ratio', 'database ms', 'plain'], rows));
  console.log(`Load average before ${formatLoad(before)}, after ${formatLoad(loadavg())}.`);
} finally {
  await environment.close();
}
