import type { Instant } from '../time/time.ts';

const SECONDS = [10, 30, 120, 600, 1_800];
const HOUR = 3_600;
// Closer to the end than this another attempt would come too late.
const LEAST_SECONDS = 5;

/**
 * When to try again after attempt number `attempt`, from 1: after growing pauses, up to a fifth longer or shorter so
 * that what failed together does not come back together. Near the end of its sense something is tried more often
 * rather than given up; undefined when that end has come.
 */
export function nextAttempt(
  attempt: number,
  now: Instant,
  deadline: Instant,
  random: () => number,
): Instant | undefined {
  const left = now.until(deadline).total('seconds');
  const pause = Math.min((SECONDS[attempt - 1] ?? HOUR) * (0.8 + 0.4 * random()), left / 2);
  return pause < LEAST_SECONDS ? undefined : now.add({ milliseconds: Math.round(pause * 1000) });
}
