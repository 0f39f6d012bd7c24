import { readdir } from 'node:fs/promises';
import { setPriority } from 'node:os';

/**
 * Between the lowest priority, 19, with which a backup on busy processors would take very long while the server keeps
 * its WAL, and 10, with which 32 writers on two busy processors kept 0.83 of their pace.
 */
const PRIORITY = 15;

/** Leaves the processors to other processes that need them. On Linux each thread has a priority. */
export async function lowerPriority(): Promise<void> {
  const threads = await readdir('/proc/self/task').catch(() => ['0']);
  for (const thread of threads) {
    try {
      setPriority(Number(thread), PRIORITY);
    } catch {
      // The thread has ended.
    }
  }
}
