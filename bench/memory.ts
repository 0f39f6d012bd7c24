import { measure } from './measure.ts';
import { OPERATIONS } from './operations.ts';
import { readOptions } from './options.ts';
import { table } from './report/table.ts';
import { startLoad, startService } from './servers.ts';
import { openStage } from './stage.ts';
import { memoryOf } from './usage.ts';
import { readWorld, restoreAppointments } from './world.ts';

/** The memory of the service over a long run of all operations: `npm run bench:memory -- --minutes 10`. */

const args = process.argv.slice(2);
const at = args.indexOf('--minutes');
const minutes = at < 0 ? 10 : Number(args.splice(at, 2)[1]);
if (!(minutes > 0)) throw new Error('--minutes must be a number above 0.');
const { companies, size, connections, seconds, operations: asked } = readOptions(args);
const operations = OPERATIONS.filter(({ id }) => asked.includes(id));

const stage = await openStage({ companies, size });
try {
  const { client, connection, dataDir, databasePid } = stage;
  const load = stage.with(await startLoad(await readWorld(client, stage.companies)));
  const service = stage.with(await startService(connection, { dataDir }));
  const bench = { databasePid, connections, seconds, warmUp: 0.1, rounds: 1, onRound: () => {} };
  const begun = Date.now();
  const samples: { minute: number; resident: number }[] = [];
  let requests = 0;
  for (let i = 0; Date.now() - begun < minutes * 60_000; i++) {
    const operation = operations[i % operations.length] as (typeof operations)[number];
    const [round] = await measure(bench, operation, { service: { ...service, client, load } });
    if (operation.once) await restoreAppointments(client);
    requests += round?.service.requests ?? 0;
    samples.push({ minute: (Date.now() - begun) / 60_000, resident: memoryOf(service.pid)?.resident ?? 0 });
    process.stderr.write(`\r${samples.at(-1)?.minute.toFixed(1)} of ${minutes} min, ${samples.at(-1)?.resident} MB   `);
  }
  const most = (from: number, to: number) =>
    Math.max(
      ...samples.filter(({ minute }) => minute >= from * minutes && minute < to * minutes).map((one) => one.resident),
    );
  const parts = [0, 1, 2, 3, 4].map((fifth) => [`fifth ${fifth + 1}`, String(most(fifth / 5, (fifth + 1) / 5))]);
  console.log(`\n${table(['Part of the run', 'most MB'], parts)}`);
  console.log(
    `${requests} requests in ${minutes} minutes; at the end ${samples.at(-1)?.resident} MB, at most ${memoryOf(service.pid)?.peak} MB.`,
  );
} finally {
  await stage.close();
}
