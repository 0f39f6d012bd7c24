import type { Logger } from 'pino';

const HOUR_MS = 3_600_000;

/**
 * Works now and every hour, never twice at once. `failure`: what the log says where it fails. Gives the way to end it:
 * whoever has much to do is told by the signal, and waited for.
 */
export function hourly(
  work: (signal: AbortSignal) => Promise<unknown>,
  logger: Logger,
  failure: string,
): () => Promise<void> {
  const ending = new AbortController();
  const run = async () => {
    try {
      if (!ending.signal.aborted) await work(ending.signal);
    } catch (error) {
      logger.warn({ err: error }, failure);
    }
  };
  let running = run();
  const timer = setInterval(() => {
    running = running.then(run);
  }, HOUR_MS).unref();
  return () => {
    clearInterval(timer);
    ending.abort();
    return running;
  };
}
