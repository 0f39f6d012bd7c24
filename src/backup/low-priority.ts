import { readdir } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';

/** Lets the threads of this process work only when others do not need the processors. On Linux each has a priority. */
export async function lowerPriority(): Promise<void> {
  const threads = await readdir('/proc/self/task').catch(() => ['0']);
  for (const thread of threads) {
    try {
      setPriority(Number(thread), constants.priority.PRIORITY_LOW);
    } catch {
      // The thread has ended.
    }
  }
}
