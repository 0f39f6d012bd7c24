import { measure } from './measure.ts';
import { OPERATIONS } from './operations.ts';
import { readOptions } from './options.ts';
import { Progress } from './report/progress.ts';
import { ratioOf, summaryOf } from './report/summary.ts';
import { figure, table } from './report/table.ts';
import { startLoad, startService } from './servers.ts';
import { openStage } from './stage.ts';
import { readWorld } from './world.ts';

/** What the event log costs: the service as it is beside the same one that writes no events, in one run. */

const WITHOUT = new URL('./without-events.ts', import.meta.url).href;

const { companies, size, connections, rounds, seconds, warmUp, operations: asked } = readOptions(process.argv.slice(2));
const operations = OPERATIONS.filter(({ id, kind }) => kind === 'write' && asked.includes(id));
const progress = new Progress(operations.length * 2 * (rounds + 1));
progress.say(`Filling a database with ${size.cases} cases …`);
const stage = await openStage({ companies, size });
try {
  const { client, connection, dataDir, databasePid } = stage;
  const load = stage.with(await startLoad(await readWorld(client, stage.companies)));
  const logged = stage.with(await startService(connection, { dataDir }));
  const silent = stage.with(await startService(connection, { dataDir, flags: ['--import', WITHOUT] }));
  const targets = { logged: { ...logged, client, load }, silent: { ...silent, client, load } };
  const rows: string[][] = [];
  for (const operation of operations) {
    const onRound = (_operation: unknown, server: string, round: number) =>
      progress.step(operation.name, `${server} ${round}`);
    const bench = { databasePid, connections, seconds, warmUp, rounds, onRound };
    const before = await count();
    const found = await measure(bench, operation, targets);
    const requests = found.reduce((sum, { logged }) => sum + logged.requests, 0);
    if ((await count()) - before < requests) throw new Error(`${operation.name} did not write its events.`);
    const [ours, theirs] = [found.map(({ logged }) => logged), found.map(({ silent }) => silent)];
    const ratio = ratioOf(ours, theirs, 'requestsPerSecond');
    const [a, b] = [summaryOf(ours), summaryOf(theirs)];
    rows.push([
      operation.name,
      `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}..${ratio.max.toFixed(2)})`,
      figure(a.requestsPerSecond, 0),
      figure(b.requestsPerSecond, 0),
      figure(a.databaseCpu, 2),
      figure(b.databaseCpu, 2),
    ]);
  }
  progress.end();
  console.log(table(['Operation', 'ratio (min..max)', 'req/s', 'without', 'database ms', 'without'], rows));

  async function count(): Promise<number> {
    return (await client.query<{ count: number }>('SELECT count(*)::int AS count FROM events')).rows[0]?.count ?? 0;
  }
} finally {
  await stage.close();
}
