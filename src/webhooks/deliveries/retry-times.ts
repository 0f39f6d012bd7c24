import type { Instant } from '../../kernel/time/time.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DELAYS_SECONDS = [30, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR];
const MIN_DELAY_SECONDS = 30;
const MAX_DELAY_SECONDS = 6 * HOUR;
const JITTER = 0.1;
const DEADLINE = { hours: 72 };
// Without it, workers that were down for three days would abandon a delivery after a single attempt.
const MIN_ATTEMPTS = 10;

type FailedAttempt = {
  /** From 1. */
  attemptNumber: number;
  firstAttemptAt: Instant;
  /** The delay that the receiver asked for, if it did. */
  requestedSeconds: number | undefined;
};

/**
 * Returns the time of the next attempt, or undefined if this was the last one. Delivery is abandoned after three days,
 * but never before ten attempts.
 */
export function nextAttemptAt(
  { attemptNumber, firstAttemptAt, requestedSeconds }: FailedAttempt,
  now: Instant,
  random: () => number,
): Instant | undefined {
  const deadline = firstAttemptAt.add(DEADLINE);
  const isOverdue = Temporal.Instant.compare(now, deadline) >= 0;
  if (isOverdue && attemptNumber >= MIN_ATTEMPTS) return undefined;
  const scheduled = (DELAYS_SECONDS[attemptNumber - 1] ?? MAX_DELAY_SECONDS) * (1 - JITTER + 2 * JITTER * random());
  const delay =
    requestedSeconds === undefined
      ? scheduled
      : Math.min(Math.max(requestedSeconds, MIN_DELAY_SECONDS), MAX_DELAY_SECONDS);
  const next = now.add({ milliseconds: Math.round(delay * 1000) });
  return isOverdue || Temporal.Instant.compare(next, deadline) < 0 ? next : deadline;
}

/** Parses a Retry-After header, which holds a number of seconds or a date. */
export function retryAfterSeconds(header: string | undefined, now: Instant): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now.epochMilliseconds) / 1000);
}
