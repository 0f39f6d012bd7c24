import cluster, { type Worker as ClusterWorker } from 'node:cluster';
import { once } from 'node:events';
import { extname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { MetricObject } from 'prom-client';
import type { WebOptions, WebServer } from './web.ts';

export type StartOptions = { runsWorker: boolean; started: boolean };

/**
 * The messages between the parent and its web processes. A process that serves `/metrics` sends `gather`; the parent
 * then sends `collect` to all, waits for their `collected`, and answers with `gathered`. The numbers identify the request.
 */
export type ToWebProcess =
  | { start: StartOptions }
  | { started: true }
  | { stop: true }
  | { collect: number }
  | { gathered: number; metrics: MetricObject[][] };
export type FromWebProcess =
  | { url: string }
  | { failed: string }
  | { gather: number }
  | { collected: number; metrics: MetricObject[] };

/** A source in a checkout, and JavaScript in the package. */
const WEB_PROCESS = join(import.meta.dirname, `web-process${extname(import.meta.filename)}`);
const COLLECT_TIMEOUT_MS = 2_000;
const RESTART_DELAYS_MS = [100, 1_000, 5_000, 15_000];
// A process that ran for this long was healthy, so the delays start over.
const MIN_STABLE_MS = 60_000;

/** Starts WEB_CONCURRENCY processes on one port and replaces those that end. The first one also runs the worker. */
export async function startWebProcesses({ config, logger, runsWorker }: WebOptions): Promise<WebServer> {
  // Each process accepts its own connections. With round-robin scheduling, a connection handed to a process that had
  // just been killed was never answered.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ exec: WEB_PROCESS, args: [] });
  const processes = new Map<number, ClusterWorker>();
  let stopping = false;
  let started = false;

  const start = async (slot: number): Promise<string> => {
    const webProcess = cluster.fork();
    processes.set(slot, webProcess);
    webProcess.on('message', (message: FromWebProcess) => handleMessage(webProcess, message));
    webProcess.send({ start: { runsWorker: runsWorker && slot === 0, started } } satisfies ToWebProcess);
    return new Promise((resolve, reject) => {
      webProcess.on('message', (message: FromWebProcess) => {
        if ('url' in message) resolve(message.url);
        if ('failed' in message) reject(new Error(message.failed));
      });
      webProcess.once('exit', (code) => reject(new Error(`A web process ended with exit code ${code}.`)));
    });
  };

  /** Replaces the process of a slot whenever it ends, with growing delays, until the service stops. */
  const supervise = async (slot: number): Promise<void> => {
    for (let restarts = 0; ; restarts++) {
      const startedAt = Date.now();
      const webProcess = processes.get(slot);
      if (webProcess && !webProcess.isDead()) await once(webProcess, 'exit');
      if (stopping) return;
      if (Date.now() - startedAt > MIN_STABLE_MS) restarts = 0;
      logger.error({ slot }, 'a web process ended; starting a new one');
      await pause(RESTART_DELAYS_MS[Math.min(restarts, RESTART_DELAYS_MS.length - 1)]);
      const logFailure = ({ message }: Error) =>
        logger.error({ slot, reason: message }, 'failed to start a web process');
      if (!stopping) await start(slot).catch(logFailure);
    }
  };

  const handleMessage = (requester: ClusterWorker, message: FromWebProcess): void => {
    if ('gather' in message) void sendMetricsTo(requester, message.gather);
  };

  /** Collects metrics from all processes that answer within the timeout. */
  const sendMetricsTo = async (requester: ClusterWorker, id: number): Promise<void> => {
    const metrics: MetricObject[][] = [];
    const collectFrom = (webProcess: ClusterWorker) =>
      new Promise<void>((resolve) => {
        const onMessage = (message: FromWebProcess) => {
          if (!('collected' in message) || message.collected !== id) return;
          metrics.push(message.metrics);
          webProcess.off('message', onMessage);
          resolve();
        };
        webProcess.on('message', onMessage);
        if (webProcess.isConnected()) webProcess.send({ collect: id } satisfies ToWebProcess);
        setTimeout(() => {
          webProcess.off('message', onMessage);
          resolve();
        }, COLLECT_TIMEOUT_MS).unref();
      });
    await Promise.all([...processes.values()].filter((webProcess) => webProcess.isConnected()).map(collectFrom));
    if (requester.isConnected()) requester.send({ gathered: id, metrics } satisfies ToWebProcess);
  };

  const markStarted = () => {
    started = true;
    for (const webProcess of processes.values())
      if (webProcess.isConnected()) webProcess.send({ started } satisfies ToWebProcess);
  };

  const stop = async () => {
    stopping = true;
    await Promise.all(
      [...processes.values()].map(async (webProcess) => {
        if (webProcess.isDead()) return;
        const ended = once(webProcess, 'exit');
        if (webProcess.isConnected()) webProcess.send({ stop: true } satisfies ToWebProcess);
        await ended;
      }),
    );
  };

  try {
    const urls = await Promise.all(Array.from({ length: config.WEB_CONCURRENCY }, (_, slot) => start(slot)));
    for (const slot of processes.keys()) void supervise(slot);
    return { url: urls[0] as string, markStarted, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
