import type { FastifyReply, FastifyRequest } from 'fastify';
import { TooManyAttemptsError } from '../../kernel/errors.ts';
import type { Count, FixedWindowCounter } from './fixed-window-counter.ts';

const MOST_PER_MINUTE = 30;

/**
 * Counts a refusal against the address that it came from; throws where that has had too many. It never stands in the
 * way of a valid token: many callers may share an address with one that is set up wrongly.
 */
export function recordFailure(attempts: FixedWindowCounter, { ip }: FastifyRequest, reply: FastifyReply): void {
  refuseAbove(MOST_PER_MINUTE, attempts.add(ip), reply);
}

/** Throws if the address may not fail once more. Counts nothing. */
export function requireFewFailures(attempts: FixedWindowCounter, { ip }: FastifyRequest, reply: FastifyReply): void {
  refuseAbove(MOST_PER_MINUTE - 1, attempts.read(ip), reply);
}

function refuseAbove(max: number, { count, left }: Count, reply: FastifyReply): void {
  if (count <= max) return;
  reply.header('retry-after', String(left));
  throw new TooManyAttemptsError('Too many requests without valid credentials came from this address.');
}
