import { readdir } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';

/**
 * Leaves the processors to other processes that need them. On Linux each thread has a priority. With the lowest one a
 * backup beside 32 writers would take minutes, and the server would keep the WAL for so long.
 */
export async function lowerPriority(): Promise<void> {
  const threads = await readdir('/proc/self/task').catch(() => ['0']);
  for (const thread of threads) {
    try {
      setPriority(Number(thread), constants.priority.PRIORITY_BELOW_NORMAL);
    } catch {
      // The thread has ended.
    }
  }
}
