import type { Logger } from 'pino';

export const HOUR_MS = 3_600_000;

type Periodic = {
  everyMs: number;
  work: (signal: AbortSignal) => Promise<unknown>;
  logger: Logger;
  /** What the log says if the work fails. */
  failure: string;
};

/**
 * Does the work now and then periodically, never twice at the same time. Returns the function that ends it: work in
 * progress is told by its signal, and waited for.
 */
export function periodically({ everyMs, work, logger, failure }: Periodic): () => Promise<void> {
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
  }, everyMs).unref();
  return () => {
    clearInterval(timer);
    ending.abort();
    return running;
  };
}
