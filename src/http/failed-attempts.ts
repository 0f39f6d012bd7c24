import type { FastifyReply, FastifyRequest } from 'fastify';
import { CodedError } from '../kernel/errors.ts';
import type { WindowCounts } from './window-counts.ts';

const MOST_PER_MINUTE = 30;

/**
 * Counts a refusal against the address that it came from; throws where that has had too many. It never stands in the
 * way of a valid token: many callers may share an address with one that is set up wrongly.
 */
export function countFailure(attempts: WindowCounts, { ip }: FastifyRequest, reply: FastifyReply): void {
  const { count, left } = attempts.add(ip);
  if (count <= MOST_PER_MINUTE) return;
  reply.header('retry-after', String(left));
  throw new CodedError('too_many_attempts', 'Too many requests without valid credentials came from this address.');
}
