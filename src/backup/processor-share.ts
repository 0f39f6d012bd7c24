import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

const MIN_PAUSE_MS = 5;

/**
 * Returns a function that waits until this process has used no more than a share of the machine's processors. Time in
 * which it used less is not made up for later. A low priority alone did not help: Linux divides the processors between
 * sessions first, and each connection of the database server is a session of its own.
 */
export function limitProcessorUse(share: number): () => Promise<void> {
  const processors = share * availableParallelism();
  let [used, at] = [process.cpuUsage(), performance.now()];
  let owedMs = 0;
  return async () => {
    const [previous, previousAt] = [used, at];
    [used, at] = [process.cpuUsage(), performance.now()];
    const usedMs = (used.user + used.system - previous.user - previous.system) / 1000;
    owedMs = Math.max(0, owedMs + usedMs / processors - (at - previousAt));
    if (owedMs > MIN_PAUSE_MS) await pause(owedMs);
  };
}
