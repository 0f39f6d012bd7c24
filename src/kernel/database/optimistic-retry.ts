import { setTimeout as pause } from 'node:timers/promises';
import { CodedError } from '../errors.ts';

// A hundred updates of one appointment at once: the last was written in round 15. Without a pause it took 48 rounds and
// half as long again, because those who come to nothing keep the others waiting.
const MOST_ROUNDS = 20;
const PAUSE_MS = 20;

/**
 * Writes. Where nothing was written, `judge` throws the reason, or returns because somebody came between: then it is
 * tried again, though not for ever.
 */
export async function untilWritten(
  write: () => Promise<string | false | undefined>,
  judge: () => Promise<void> = async () => {},
): Promise<string> {
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    const record = await write();
    if (record) return record;
    await judge();
    await pause(Math.random() * round * PAUSE_MS);
  }
  throw new CodedError('unavailable', 'Others kept changing the same record. Try again.');
}
