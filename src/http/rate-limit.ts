import type { FastifyInstance } from 'fastify';
import { CodedError } from '../kernel/errors.ts';
import type { Clock } from '../kernel/time.ts';
import { WindowCounts } from './window-counts.ts';

/** At most so many requests per minute and credential in this process, told in the RateLimit headers. */
export function rateLimit(app: FastifyInstance, most: number, clock: Clock): void {
  const counts = new WindowCounts(clock);
  app.addHook('onRequest', async ({ caller }, reply) => {
    if (!caller) return;
    const { count, left } = counts.add(caller.credential.id);
    reply.header('ratelimit-limit', most);
    reply.header('ratelimit-remaining', Math.max(0, most - count));
    reply.header('ratelimit-reset', left);
    if (count <= most) return;
    reply.header('retry-after', left);
    throw new CodedError('rate_limited', `The credential may send ${most} requests per minute.`);
  });
}
