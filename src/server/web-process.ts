import type { MetricObject } from 'prom-client';
import { readConfig } from '../config.ts';
import { findRunningDatabase } from './database-urls.ts';
import { openLog } from './log.ts';
import { onUncaughtError } from './uncaught-errors.ts';
import { startWeb, type Web } from './web.ts';
import type { Tells, Told } from './web-processes.ts';

/** One of several processes that answer requests. It ends when it is told to, and when whoever started it is gone. */

const config = readConfig(process.env);
const logger = openLog(config);
const gathering = new Map<number, (metrics: MetricObject[][]) => void>();
let asked = 0;
let collect: () => Promise<MetricObject[]> = async () => [];
let starting: Promise<Web> | undefined;
let ending = false;

const tell = (message: Tells) => process.send?.(message);

// A signal to the whole group, as from a terminal, is for the first process: it tells the others.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
process.once('disconnect', () => end(0));
onUncaughtError(logger, () => void end(1));
process.on('message', (message: Told) => {
  if ('begin' in message) void begin(message.begin);
  else if ('started' in message) void starting?.then((web) => web.markStarted()).catch(() => {});
  else if ('stop' in message) void end(0);
  else if ('collect' in message) void collect().then((metrics) => tell({ collected: message.collect, metrics }));
  else gathering.get(message.gathered)?.(message.metrics);
});

async function begin({ sends, started }: { sends: boolean; started: boolean }): Promise<void> {
  const gatherMetrics = (own: () => Promise<MetricObject[]>) => {
    collect = own;
    return gather;
  };
  starting = findRunningDatabase(config).then((connection) =>
    startWeb({ config, connection, logger, sends, gatherMetrics }),
  );
  try {
    const web = await starting;
    if (started) web.markStarted();
    tell({ url: web.url });
  } catch (error) {
    logger.error({ err: error }, 'a process that answers requests could not start');
    process.exit(1);
  }
}

async function end(code: number): Promise<void> {
  if (ending) return;
  ending = true;
  await starting?.then((web) => web.stop()).catch((error) => logger.error({ err: error }, 'stop failed'));
  process.exit(code);
}

/** The ids of different processes must differ: the answer goes to whoever asked. */
function gather(): Promise<MetricObject[][]> {
  const id = process.pid * 1_000_000 + asked++;
  return new Promise((resolve) => {
    gathering.set(id, (metrics) => {
      gathering.delete(id);
      resolve(metrics);
    });
    tell({ gather: id });
  });
}
