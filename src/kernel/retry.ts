import { setTimeout as sleep } from 'node:timers/promises';

type RetryOptions = {
  /** Whether the error allows another attempt. The number of the failed attempt counts from 1. */
  while: (error: unknown, attempt: number) => boolean;
  /** Returns the milliseconds to wait after the failed attempt. */
  delayMs: (attempt: number) => number;
  maxAttempts?: number;
  /** Once it is aborted, the next failure is final. Also ends the wait. */
  signal?: AbortSignal;
  onRetry?: (error: unknown) => void;
};

/** Calls `work` until it succeeds. Throws the error of the last attempt if there is to be no other. */
export async function retry<T>(options: RetryOptions, work: () => Promise<T>): Promise<T> {
  const { delayMs, maxAttempts = Infinity, signal, onRetry = () => {} } = options;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (signal?.aborted || attempt >= maxAttempts || !options.while(error, attempt)) throw error;
      onRetry(error);
      await sleep(delayMs(attempt), undefined, { signal }).catch(() => {});
    }
  }
}
