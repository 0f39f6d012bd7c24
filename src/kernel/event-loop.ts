import { setImmediate } from 'node:timers/promises';

const MAX_TURN_MS = 10;

/**
 * Returns a function to await between the parts of long work. If the parts since the last pause have taken long, it lets
 * the event loop serve others first, such as requests and the answers of the database.
 */
export function eventLoopPauses(): () => Promise<void> {
  let startedAt = performance.now();
  return async () => {
    if (performance.now() - startedAt < MAX_TURN_MS) return;
    await setImmediate();
    startedAt = performance.now();
  };
}
