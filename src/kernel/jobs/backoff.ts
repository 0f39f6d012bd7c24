import type { Instant } from '../time/time.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;

export type BackoffSchedule = {
  /** The delay after each of the first attempts. */
  delaysSeconds: readonly number[];
  minDelaySeconds: number;
  /** The delay after all further attempts, and the longest one that a peer can request. */
  maxDelaySeconds: number;
  /** Each delay varies by this share in both directions, so that jobs that failed together are not retried together. */
  jitter: number;
  /**
   * `shrink`: the delay shrinks as the deadline comes closer, because a later attempt would be useless. `last-attempt`:
   * the last attempt is made at the deadline.
   */
  nearDeadline: 'shrink' | 'last-attempt';
  /** A job is not given up before this many attempts, even after the deadline. */
  minAttempts?: number;
};

/** For requests to mail, SMS and video providers. */
export const PROVIDER_SCHEDULE: BackoffSchedule = {
  delaysSeconds: [10, 30, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE],
  minDelaySeconds: 5,
  maxDelaySeconds: HOUR,
  jitter: 0.2,
  nearDeadline: 'shrink',
};

type FailedAttempt = {
  /** Counts from 1. */
  attempt: number;
  now: Instant;
  deadline: Instant;
  /** The delay that the peer requested, for example by Retry-After. */
  requestedSeconds?: number | undefined;
};

/** Returns the time of the next attempt, or undefined if the job is to be given up. */
export function nextAttemptAt(
  schedule: BackoffSchedule,
  { attempt, now, deadline, requestedSeconds }: FailedAttempt,
  random: () => number,
): Instant | undefined {
  const { delaysSeconds, minDelaySeconds, maxDelaySeconds, jitter, nearDeadline, minAttempts = 0 } = schedule;
  const secondsLeft = now.until(deadline).total('seconds');
  const scheduled = (delaysSeconds[attempt - 1] ?? maxDelaySeconds) * (1 - jitter + 2 * jitter * random());
  const delay =
    requestedSeconds === undefined ? scheduled : Math.min(Math.max(requestedSeconds, minDelaySeconds), maxDelaySeconds);
  if (nearDeadline === 'shrink') {
    const shrunk = Math.min(delay, secondsLeft / 2);
    return shrunk < minDelaySeconds ? undefined : after(now, shrunk);
  }
  if (secondsLeft <= 0) return attempt < minAttempts ? after(now, delay) : undefined;
  return delay < secondsLeft ? after(now, delay) : deadline;
}

const after = (now: Instant, seconds: number): Instant => now.add({ milliseconds: Math.round(seconds * 1000) });

/** Parses a Retry-After header, which holds a number of seconds or a date. */
export function retryAfterSeconds(header: string | undefined, now: Instant): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now.epochMilliseconds) / 1000);
}
