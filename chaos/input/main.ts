import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { globalSetup, globalTeardown } from '../../test/harness/postgres.ts';
import { sendInput } from './input.ts';
import { startInputApp } from './input-app.ts';

/** `npm run chaos:input [-- --short] [-- --seed 7] [-- --only 'POST /cases'] [-- --requests 1000]` */

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(randomInt(2 ** 30)) },
    only: { type: 'string' },
    requests: { type: 'string' },
  },
});
const requests = Number(values.requests ?? (values.short ? 3_000 : 100_000));
const seed = Number(values.seed);

await globalSetup();
const { app, log } = await startInputApp();

console.log(`${requests} requests, seed ${seed}`);
let printed = 0;
const onProgress = (sent: number) => {
  if (sent < printed + requests / 20) return;
  printed = sent;
  console.log(`${sent} requests …`);
};
const { counts, faults, seconds } = await sendInput(app, { requests, seed, only: values.only, onProgress });
for (const { operation, seed: faultSeed, path, shrunk } of faults) {
  console.error(`\n${operation} (seed ${faultSeed}, path ${path})\n${shrunk}`);
}
for (const line of log.unexpected.slice(0, 10)) console.error(`\nin the log: ${line}`);
console.table([Object.fromEntries([...counts.statuses].toSorted())]);
console.table([
  {
    ...{
      seed,
      requests: counts.requests,
      seconds: Math.round(seconds),
      'read back': counts.readBack,
      listed: counts.listed,
    },
    ...{ 'log lines': log.lines, faults: faults.length },
  },
]);
if (faults.length + log.unexpected.length > 0) process.exitCode = 1;
// The app of the tests closes only at the end of a test run.
await globalTeardown();
process.exit();
