import { loadavg } from 'node:os';
import { readDataset } from './dataset.ts';
import { openEnvironment } from './environment.ts';
import { measure, type Round } from './measure.ts';
import { OPERATIONS } from './operations.ts';
import { parseOptions } from './options.ts';
import { formatLoad } from './report/machine.ts';
import { Progress } from './report/progress.ts';
import { type Spread, toSpread } from './report/summary.ts';
import { formatNumber, formatTable } from './report/table.ts';
import { startLoadGenerator, startService } from './servers.ts';

/** Measures what sessions of people cost callers with a token: the service, and a copy without them, in turns. */

const WITHOUT_SESSIONS_MODULE = new URL('./without-sessions.ts', import.meta.url).href;

const {
  companies,
  datasetSize,
  connections,
  rounds,
  seconds,
  warmUp,
  starts,
  operations: selected,
} = parseOptions(process.argv.slice(2));
const operations = OPERATIONS.filter(({ id }) => selected.includes(id));
const progress = new Progress(starts * operations.length * 2 * (rounds + 1));
const before = loadavg();
progress.say(`Seeding a database with ${datasetSize.cases} cases …`);
const environment = await openEnvironment({ companies, size: datasetSize });
try {
  const { client, connection, dataDir, databasePid } = environment;
  const load = environment.use(await startLoadGenerator(await readDataset(client, environment.companies)));
  const measured = operations.map((): Record<'sessions' | 'none', Round>[] => []);
  for (let start = 1; start <= starts; start++) {
    const sessions = await startService(connection, { dataDir });
    const none = await startService(connection, { dataDir, flags: ['--import', WITHOUT_SESSIONS_MODULE] });
    const targets = { sessions: { ...sessions, client, load }, none: { ...none, client, load } };
    for (const [i, operation] of operations.entries()) {
      const onRound = (_operation: unknown, server: string, round: number) =>
        progress.step(operation.name, `start ${start} of ${starts}, ${server} ${round}`);
      const options = { databasePid, connections, seconds, warmUp, rounds, onRound };
      measured[i]?.push(...(await measure(options, operation, targets)));
    }
    await Promise.all([sessions.stop(), none.stop()]);
  }
  progress.end();
  const rows = operations.map(({ name }, i) => {
    const pairs = measured[i] ?? [];
    // Per round, so that a slowdown of the machine affects both sides. More than 1: sessions cost nothing.
    const ratio = (value: (round: Round) => number) =>
      toSpread(pairs.map((pair) => value(pair.sessions) / value(pair.none)));
    return [
      name,
      formatSpread(ratio(({ requestsPerSecond }) => requestsPerSecond)),
      formatSpread(ratio(({ processCpu = Number.NaN }) => 1 / processCpu)),
      formatNumber(toSpread(pairs.map(({ sessions }) => sessions.requestsPerSecond)).median, 0),
      String(pairs.length),
    ];
  });
  console.log(formatTable(['Operation', 'throughput (min..max)', 'CPU (min..max)', 'req/s', 'pairs'], rows));
  console.log(`\nLoad average before ${formatLoad(before)}, after ${formatLoad(loadavg())}.`);
} finally {
  await environment.close();
}

function formatSpread({ median, min, max }: Spread): string {
  return `${median.toFixed(3)} (${min.toFixed(2)}..${max.toFixed(2)})`;
}
