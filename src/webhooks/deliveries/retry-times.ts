import type { Instant } from '../../kernel/time/time.ts';

/** When a delivery is tried again. Pure. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const PAUSES = [30, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR];
const LONGEST = 6 * HOUR;
const SHORTEST = 30;
const JITTER = 0.1;
const PATIENCE = { hours: 72 };
// Also where no worker was there for three days.
const FEWEST = 10;

/** Three days after its first attempt a delivery is tried for the last time, unless it was tried too seldom. */
const lastAttempt = (first: Instant): Instant => first.add(PATIENCE);

/**
 * After attempt number `attempt`, from 1; undefined when that was the last one. Who asks for a pause of its own gets it,
 * as far as it lies between the shortest and the longest here.
 */
export function nextAttemptAt(
  { attempt, first, asked }: { attempt: number; first: Instant; asked: number | undefined },
  now: Instant,
  random: () => number,
): Instant | undefined {
  const last = lastAttempt(first);
  const late = Temporal.Instant.compare(now, last) >= 0;
  if (late && attempt >= FEWEST) return undefined;
  const usual = (PAUSES[attempt - 1] ?? LONGEST) * (1 - JITTER + 2 * JITTER * random());
  const pause = asked === undefined ? usual : Math.min(Math.max(asked, SHORTEST), LONGEST);
  const next = now.add({ milliseconds: Math.round(pause * 1000) });
  return late || Temporal.Instant.compare(next, last) < 0 ? next : last;
}

/** The seconds that a Retry-After asks for: a number of them, or a date. */
export function retryAfterSeconds(header: string | undefined, now: Instant): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now.epochMilliseconds) / 1000);
}
