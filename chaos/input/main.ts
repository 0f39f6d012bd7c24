import { randomInt } from 'node:crypto';
import { after } from 'node:test';
import { parseArgs } from 'node:util';
import { globalSetup, globalTeardown } from '../../test/harness/postgres.ts';
import { sendInput } from './input.ts';
import { openInputWorld } from './input-world.ts';

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
const { world, log } = await openInputWorld();
after(globalTeardown);

console.log(`${requests} requests, seed ${seed}`);
let shown = 0;
const onProgress = (sent: number) => {
  if (sent < shown + requests / 20) return;
  shown = sent;
  console.log(`${sent} requests …`);
};
const { tally, faults, seconds } = await sendInput(world, { requests, seed, only: values.only, onProgress });
for (const { operation, seed: own, path, shrunk } of faults) {
  console.error(`\n${operation} (seed ${own}, path ${path})\n${shrunk}`);
}
for (const line of log.odd.slice(0, 10)) console.error(`\nin the log: ${line}`);
console.table([Object.fromEntries([...tally.statuses].toSorted())]);
console.table([
  {
    ...{
      seed,
      requests: tally.requests,
      seconds: Math.round(seconds),
      'read back': tally.readBack,
      listed: tally.listed,
    },
    ...{ 'lines of the log': log.lines, faults: faults.length },
  },
]);
if (faults.length + log.odd.length > 0) process.exitCode = 1;
