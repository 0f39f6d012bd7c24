import type { FastifyInstance, FastifyRequest } from 'fastify';
import { UnavailableError } from '../../kernel/errors.ts';
import { sendProblem } from '../operation/problems.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether it is one of those that are being worked on. */
    underWay: boolean;
  }
}

/** Whoever watches must see a service that is full. */
const ALWAYS: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);
const FULL = new UnavailableError('Too many requests are under way. Send it again later.');
const TOLD_EVERY_MS = 10_000;

/**
 * At most so many requests are worked on at once; what comes beyond is refused before it costs anything, so that those
 * who are let in are answered in time. A peer that is slow to send or to read takes nobody's place.
 */
export function limitConcurrency(app: FastifyInstance, most: number): void {
  let underWay = 0;
  let refused = 0;
  let toldAt = -Infinity;
  app.decorateRequest('underWay', false);

  app.addHook('preValidation', (request, reply, done) => {
    if (ALWAYS.has(request.route.url ?? '')) return done();
    if (underWay >= most) {
      tell(request);
      reply.header('retry-after', '1');
      sendProblem(request, reply, FULL);
      return;
    }
    underWay++;
    request.underWay = true;
    done();
  });
  app.addHook('onSend', (request, _reply, payload, done) => {
    if (request.underWay) underWay--;
    request.underWay = false;
    done(null, payload);
  });

  /** Of many requests and of none in particular: a line for each would only be more work. */
  function tell(request: FastifyRequest): void {
    refused++;
    const now = performance.now();
    if (now - toldAt < TOLD_EVERY_MS) return;
    request.log.warn({ refused, most }, 'too many requests at once: some are refused');
    toldAt = now;
    refused = 0;
  }
}
