import { setTimeout as pause } from 'node:timers/promises';

const LOCKED = '55P03';
const LOCKED_MS = [5, 10, 20, 50, 100, 200];

const isLocked = (error: unknown): boolean => (error as { code?: string }).code === LOCKED;

/**
 * Asks again until nobody else holds the rows that `work` fails on at once, outside of any transaction: nobody keeps a
 * connection while it waits for somebody.
 */
export async function retryWhileLocked<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !isLocked(error)) throw error;
      const most = LOCKED_MS[attempt] ?? 200;
      await pause(most / 2 + (Math.random() * most) / 2, undefined, { signal }).catch(() => {});
    }
  }
}
