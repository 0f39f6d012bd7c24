import { readDataset } from './dataset.ts';
import { openEnvironment } from './environment.ts';
import { measure } from './measure.ts';
import { OPERATIONS } from './operations.ts';
import { parseOptions } from './options.ts';
import { Progress } from './report/progress.ts';
import { ratioByRound, summarise } from './report/summary.ts';
import { formatNumber, formatTable } from './report/table.ts';
import { startLoadGenerator, startService } from './servers.ts';

/** Measures the cost of the event log: the service, and the service without the insert of events, in one run. */

const WITHOUT_EVENTS_MODULE = new URL('./without-events.ts', import.meta.url).href;

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
progress.say(`Seeding a database with ${datasetSize.cases} cases …`);
const environment = await openEnvironment({ companies, size: datasetSize });
try {
  const { client, connection, dataDir, databasePid } = environment;
  const load = environment.use(await startLoadGenerator(await readDataset(client, environment.companies)));
  const logged = environment.use(await startService(connection, { dataDir }));
  const silent = environment.use(
    await startService(connection, { dataDir, flags: ['--import', WITHOUT_EVENTS_MODULE] }),
  );
  const targets = { logged: { ...logged, client, load }, silent: { ...silent, client, load } };
  const rows: string[][] = [];
  for (const operation of operations) {
    const onRound = (_operation: unknown, server: string, round: number) =>
      progress.step(operation.name, `${server} ${round}`);
    const measureOptions = { databasePid, connections, seconds, warmUp, rounds, onRound };
    const before = await countEvents();
    await load.drive({ operation: operation.id, port: silent.port, connections: 1, seconds: 0.1 });
    if ((await countEvents()) !== before) throw new Error(`${operation.name} still writes events in both services.`);
    const measured = await measure(measureOptions, operation, targets);
    const requests = measured.reduce((sum, { logged }) => sum + logged.requests, 0);
    if ((await countEvents()) - before < requests) throw new Error(`${operation.name} did not write its events.`);
    const [loggedRounds, silentRounds] = [measured.map(({ logged }) => logged), measured.map(({ silent }) => silent)];
    const ratio = ratioByRound(loggedRounds, silentRounds, 'requestsPerSecond');
    const [withEvents, withoutEvents] = [summarise(loggedRounds), summarise(silentRounds)];
    rows.push([
      operation.name,
      `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}..${ratio.max.toFixed(2)})`,
      formatNumber(withEvents.requestsPerSecond, 0),
      formatNumber(withoutEvents.requestsPerSecond, 0),
      formatNumber(withEvents.databaseCpu, 2),
      formatNumber(withoutEvents.databaseCpu, 2),
    ]);
  }
  progress.end();
  console.log(formatTable(['Operation', 'ratio (min..max)', 'req/s', 'without', 'database ms', 'without'], rows));

  async function countEvents(): Promise<number> {
    return (await client.query<{ count: number }>('SELECT count(*)::int AS count FROM events')).rows[0]?.count ?? 0;
  }
} finally {
  await environment.close();
}
