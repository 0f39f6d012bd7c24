import { setTimeout as pause } from 'node:timers/promises';
import { CodedError } from '../errors.ts';

// A hundred updates of one appointment at once: the last was written in round 15. Without a pause it took 48 rounds and
// half as long again, because those who come to nothing keep the others waiting.
const MAX_ATTEMPTS = 20;
const MAX_DELAY_STEP_MS = 20;

/**
 * Writes. Where nothing was written, `judge` throws the reason, or returns because somebody came between: then it is
 * tried again, though not for ever.
 */
export async function retryOnConflict(
  write: () => Promise<string | false | undefined>,
  judge: () => Promise<void> = async () => {},
): Promise<string> {
  for (let round = 1; round <= MAX_ATTEMPTS; round++) {
    const record = await write();
    if (record) return record;
    await judge();
    await pause(Math.random() * round * MAX_DELAY_STEP_MS);
  }
  throw new CodedError('unavailable', 'Others kept changing the same record. Try again.');
}
