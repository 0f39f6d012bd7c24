import pino from 'pino';
import { readConfig } from '../src/config.ts';
import { DeliveryCounters } from '../src/kernel/jobs/delivery-counters.ts';
import { systemClock } from '../src/kernel/time/time.ts';
import { runWorker } from '../src/server/worker.ts';

/** The worker process of the benchmark. It reports memory and CPU time after each tenth of the messages. */

const { connection, settings, total } = JSON.parse(process.argv[2] ?? '');
const counters = new DeliveryCounters();
const logger = pino({ level: 'info' }, pino.destination('/dev/null'));
const megabytes = (bytes: number) => Math.round(bytes / 1024 / 1024);
let ended = 0;

counters.onMessage = () => {
  if (++ended % Math.ceil(total / 10) !== 0 && ended !== total) return;
  const { heapUsed, rss } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  process.send?.({ ended, heap: megabytes(heapUsed), rss: megabytes(rss), cpu: (user + system) / 1e6 });
};
const stop = await runWorker({
  config: readConfig(settings),
  connection,
  clock: systemClock,
  logger,
  counters,
});
process.once('message', async () => {
  await stop();
  process.disconnect?.();
});
