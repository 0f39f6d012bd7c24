import type { Logger } from 'pino';

export const HOUR_MS = 3_600_000;

type Periodic = {
  intervalMs: number;
  work: (signal: AbortSignal) => Promise<unknown>;
  logger: Logger;
  /** The line that is logged if the work fails. */
  failureMessage: string;
};

/**
 * Runs the work immediately and then at the interval, never twice concurrently. Returns a stop function that aborts
 * the signal and waits for the current run.
 */
export function periodically({ intervalMs, work, logger, failureMessage }: Periodic): () => Promise<void> {
  const ending = new AbortController();
  const run = async () => {
    try {
      if (!ending.signal.aborted) await work(ending.signal);
    } catch (error) {
      logger.warn({ err: error }, failureMessage);
    }
  };
  let running = run();
  const timer = setInterval(() => {
    running = running.then(run);
  }, intervalMs).unref();
  return () => {
    clearInterval(timer);
    ending.abort();
    return running;
  };
}
