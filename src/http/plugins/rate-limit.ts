import type { FastifyInstance, FastifyReply } from 'fastify';
import { RateLimitedError } from '../../kernel/errors.ts';
import type { Clock } from '../../kernel/time/time.ts';
import { FixedWindowCounter } from './fixed-window-counter.ts';

/** Counts a request of a credential, and throws if the credential has sent too many in this minute. */
export type LimitRate = (credentialId: string, reply: FastifyReply) => void;

/** Limits the requests per minute of each credential in this process, and reports the limit in RateLimit headers. */
export function rateLimit(app: FastifyInstance, maxPerMinute: number, clock: Clock): LimitRate {
  const counts = new FixedWindowCounter(clock);
  const limitRate: LimitRate = (credentialId, reply) => {
    const { count, secondsLeft } = counts.add(credentialId);
    reply.header('ratelimit-limit', maxPerMinute);
    reply.header('ratelimit-remaining', Math.max(0, maxPerMinute - count));
    reply.header('ratelimit-reset', secondsLeft);
    if (count <= maxPerMinute) return;
    reply.header('retry-after', secondsLeft);
    throw new RateLimitedError(`The credential may send ${maxPerMinute} requests per minute.`);
  };
  app.addHook('onRequest', async ({ caller }, reply) => {
    if (caller) limitRate(caller.credential.id, reply);
  });
  return limitRate;
}
