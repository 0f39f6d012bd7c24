import { retry } from '../../kernel/retry.ts';

const LOCK_NOT_AVAILABLE = '55P03';
const DELAYS_MS = [5, 10, 20, 50, 100];
const MAX_DELAY_MS = 200;

/**
 * Retries `work` while it fails with lock_not_available (NOWAIT). The wait happens outside the transaction, so no
 * connection is held.
 */
export const retryWhileLocked = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
  retry(
    {
      while: (error) => (error as { code?: string }).code === LOCK_NOT_AVAILABLE,
      delayMs: (attempt) => (DELAYS_MS[attempt - 1] ?? MAX_DELAY_MS) * (0.5 + 0.5 * Math.random()),
      signal,
    },
    work,
  );
