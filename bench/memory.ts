import { readDataset, restoreAppointments } from './dataset.ts';
import { openEnvironment } from './environment.ts';
import { measure } from './measure.ts';
import { OPERATIONS } from './operations.ts';
import { parseOptions } from './options.ts';
import { formatTable } from './report/table.ts';
import { startLoadGenerator, startService } from './servers.ts';
import { readMemory } from './usage.ts';

/** Measures the memory of the service over a long run of all operations: `npm run bench:memory -- --minutes 10`. */

const args = process.argv.slice(2);
const flagIndex = args.indexOf('--minutes');
const minutes = flagIndex < 0 ? 10 : Number(args.splice(flagIndex, 2)[1]);
if (!(minutes > 0)) throw new Error('--minutes must be a number above 0.');
const { companies, datasetSize, connections, seconds, operations: selected } = parseOptions(args);
const operations = OPERATIONS.filter(({ id }) => selected.includes(id));

const environment = await openEnvironment({ companies, size: datasetSize });
try {
  const { client, connection, dataDir, databasePid } = environment;
  const load = environment.use(await startLoadGenerator(await readDataset(client, environment.companies)));
  const service = environment.use(await startService(connection, { dataDir }));
  const measureOptions = { databasePid, connections, seconds, warmUp: 0.1, rounds: 1, onRound: () => {} };
  const startedAt = Date.now();
  const samples: { minute: number; resident: number }[] = [];
  let requests = 0;
  for (let i = 0; Date.now() - startedAt < minutes * 60_000; i++) {
    const operation = operations[i % operations.length] as (typeof operations)[number];
    const [round] = await measure(measureOptions, operation, { service: { ...service, client, load } });
    if (operation.consumes) await restoreAppointments(client);
    requests += round?.service.requests ?? 0;
    samples.push({ minute: (Date.now() - startedAt) / 60_000, resident: readMemory(service.pid)?.resident ?? 0 });
    process.stderr.write(`\r${samples.at(-1)?.minute.toFixed(1)} of ${minutes} min, ${samples.at(-1)?.resident} MB   `);
  }
  const peak = (from: number, to: number) =>
    Math.max(
      ...samples
        .filter(({ minute }) => minute >= from * minutes && minute < to * minutes)
        .map((sample) => sample.resident),
    );
  const parts = [0, 1, 2, 3, 4].map((fifth) => [`fifth ${fifth + 1}`, String(peak(fifth / 5, (fifth + 1) / 5))]);
  console.log(`\n${formatTable(['Part of the run', 'peak MB'], parts)}`);
  console.log(
    `${requests} requests in ${minutes} minutes; at the end ${samples.at(-1)?.resident} MB, ` +
      `peak ${readMemory(service.pid)?.peak} MB.`,
  );
} finally {
  await environment.close();
}
