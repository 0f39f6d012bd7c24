import { setTimeout as sleep } from 'node:timers/promises';

const LOCK_NOT_AVAILABLE = '55P03';
const MAX_DELAYS_MS = [5, 10, 20, 50, 100, 200];

const isLocked = (error: unknown): boolean => (error as { code?: string }).code === LOCK_NOT_AVAILABLE;

/**
 * Retries `work` while it fails with lock_not_available (NOWAIT). The wait happens outside the transaction, so no
 * connection is held.
 */
export async function retryWhileLocked<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !isLocked(error)) throw error;
      const maxDelay = MAX_DELAYS_MS[attempt] ?? 200;
      await sleep(maxDelay / 2 + (Math.random() * maxDelay) / 2, undefined, { signal }).catch(() => {});
    }
  }
}
