import type { MetricObject } from 'prom-client';
import { readConfig } from '../config.ts';
import { findRunningDatabase } from './database-urls.ts';
import { openLog } from './log.ts';
import { onUncaughtError } from './uncaught-errors.ts';
import { startWeb, type WebServer } from './web.ts';
import type { FromWebProcess, StartOptions, ToWebProcess } from './web-processes.ts';

/** One of several web processes. It ends when the parent process tells it to, and when the parent has ended. */

const config = readConfig(process.env);
const logger = openLog(config);
const pendingMetrics = new Map<number, (metrics: MetricObject[][]) => void>();
let lastRequest = 0;
let collectOwn: () => Promise<MetricObject[]> = async () => [];
let starting: Promise<WebServer> | undefined;
let isEnding = false;

const send = (message: FromWebProcess) => process.send?.(message);

// A terminal signals the whole process group. Only the parent acts on the signal and then stops this process.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
process.once('disconnect', () => end(0));
onUncaughtError(logger, () => void end(1));
process.on('message', (message: ToWebProcess) => {
  if ('start' in message) void start(message.start);
  else if ('started' in message) void starting?.then((web) => web.markStarted()).catch(() => {});
  else if ('stop' in message) void end(0);
  else if ('collect' in message) void collectOwn().then((metrics) => send({ collected: message.collect, metrics }));
  else pendingMetrics.get(message.gathered)?.(message.metrics);
});

async function start({ runsWorker, started }: StartOptions): Promise<void> {
  const gatherMetrics = (collect: () => Promise<MetricObject[]>) => {
    collectOwn = collect;
    return gatherAll;
  };
  starting = findRunningDatabase(config).then((connection) =>
    startWeb({ config, connection, logger, runsWorker, gatherMetrics }),
  );
  try {
    const web = await starting;
    if (started) web.markStarted();
    send({ url: web.url });
  } catch (error) {
    // The parent reports the reason. The process ends when the message has been sent.
    process.send?.({ failed: (error as Error).message } satisfies FromWebProcess, () => process.exit(1));
  }
}

async function end(code: number): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  // `start` reports a start that failed.
  const web = await starting?.catch(() => undefined);
  await web?.stop().catch((error) => logger.error({ err: error }, 'stop failed'));
  process.exit(code);
}

/** Asks the parent for the metrics of all processes. The id contains the pid, so that it is unique among them. */
function gatherAll(): Promise<MetricObject[][]> {
  const id = process.pid * 1_000_000 + lastRequest++;
  return new Promise((resolve) => {
    pendingMetrics.set(id, (metrics) => {
      pendingMetrics.delete(id);
      resolve(metrics);
    });
    send({ gather: id });
  });
}
