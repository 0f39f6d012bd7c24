import type { FastifyRequest } from 'fastify';
import { TooManyAttemptsError } from '../../kernel/errors.ts';
import type { Count, FixedWindowCounter } from './fixed-window-counter.ts';

const MAX_PER_MINUTE = 30;

/**
 * Counts a failed authentication for the IP address of the request, and throws if there were too many. Valid tokens are
 * never throttled, because many callers may share an address with one that is misconfigured.
 */
export function recordFailure(failures: FixedWindowCounter, { callerAddress }: FastifyRequest): void {
  assertAtMost(MAX_PER_MINUTE, failures.add(callerAddress));
}

/** Throws if another failure would exceed the limit. Counts nothing. */
export function assertFewFailures(failures: FixedWindowCounter, { callerAddress }: FastifyRequest): void {
  assertAtMost(MAX_PER_MINUTE - 1, failures.read(callerAddress));
}

function assertAtMost(max: number, { count, secondsLeft }: Count): void {
  if (count <= max) return;
  throw new TooManyAttemptsError(
    'Too many requests without valid credentials were sent from this IP address. Try again later.',
    secondsLeft,
  );
}
