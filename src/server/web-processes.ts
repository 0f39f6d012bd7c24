import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { MetricObject } from 'prom-client';
import type { Web, WebOptions } from './web.ts';

/** What a process is told, and what it tells. Metrics are asked for by one and gathered from all. */
export type Told =
  | { begin: { sends: boolean; started: boolean } }
  | { started: true }
  | { stop: true }
  | { collect: number }
  | { gathered: number; metrics: MetricObject[][] };
export type Tells = { url: string } | { gather: number } | { collected: number; metrics: MetricObject[] };

const GATHER_MS = 2_000;
const AFTER_END_MS = [100, 1_000, 5_000, 15_000];
// One that has answered for as long as this was sound.
const SOUND_MS = 60_000;

/** As many processes as WEB_CONCURRENCY says, on one port. One that ends is replaced; the first also sends what is due. */
export async function startWebProcesses({ config, logger, sends }: WebOptions): Promise<Web> {
  // Each takes connections itself. Handed on by the first process, one that came to a process just killed was answered by nobody.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ exec: new URL('./web-process.ts', import.meta.url).pathname, args: [] });
  const running = new Map<number, Worker>();
  let stopping = false;
  let started = false;

  const start = async (place: number): Promise<string> => {
    const worker = cluster.fork();
    running.set(place, worker);
    worker.on('message', (message: Tells) => answer(worker, message));
    worker.send({ begin: { sends: sends && place === 0, started } } satisfies Told);
    return new Promise((resolve, reject) => {
      worker.on('message', (message: Tells) => 'url' in message && resolve(message.url));
      worker.once('exit', (code) => reject(new Error(`A process that answers requests ended with ${code}.`)));
    });
  };

  /** Until the service stops: whoever ends is replaced, at once the first time and later more slowly. */
  const keep = async (place: number): Promise<void> => {
    for (let ends = 0; ; ends++) {
      const begun = Date.now();
      const worker = running.get(place);
      if (worker && !worker.isDead()) await once(worker, 'exit');
      if (stopping) return;
      if (Date.now() - begun > SOUND_MS) ends = 0;
      logger.error({ place }, 'a process that answers requests ended and is replaced');
      await pause(AFTER_END_MS[Math.min(ends, AFTER_END_MS.length - 1)]);
      if (!stopping) await start(place).catch(() => {});
    }
  };

  const answer = (asker: Worker, message: Tells): void => {
    if ('gather' in message) void gatherFor(asker, message.gather);
  };

  /** Of all that answer in time. */
  const gatherFor = async (asker: Worker, id: number): Promise<void> => {
    const metrics: MetricObject[][] = [];
    const collectFrom = (worker: Worker) =>
      new Promise<void>((resolve) => {
        const take = (message: Tells) => {
          if (!('collected' in message) || message.collected !== id) return;
          metrics.push(message.metrics);
          worker.off('message', take);
          resolve();
        };
        worker.on('message', take);
        if (worker.isConnected()) worker.send({ collect: id } satisfies Told);
        setTimeout(() => {
          worker.off('message', take);
          resolve();
        }, GATHER_MS).unref();
      });
    await Promise.all([...running.values()].filter((worker) => worker.isConnected()).map(collectFrom));
    if (asker.isConnected()) asker.send({ gathered: id, metrics } satisfies Told);
  };

  const markStarted = () => {
    started = true;
    for (const worker of running.values()) if (worker.isConnected()) worker.send({ started } satisfies Told);
  };

  const stop = async () => {
    stopping = true;
    await Promise.all(
      [...running.values()].map(async (worker) => {
        if (worker.isDead()) return;
        const ended = once(worker, 'exit');
        if (worker.isConnected()) worker.send({ stop: true } satisfies Told);
        await ended;
      }),
    );
  };

  try {
    const urls = await Promise.all(Array.from({ length: config.WEB_CONCURRENCY }, (_, place) => start(place)));
    for (const place of running.keys()) void keep(place);
    return { url: urls[0] as string, markStarted, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
