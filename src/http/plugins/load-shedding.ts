import type { FastifyInstance, FastifyRequest } from 'fastify';
import { UnavailableError } from '../../kernel/errors.ts';
import { sendProblem } from '../operation/problems.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the request counts towards the limit of concurrent requests. */
    admitted: boolean;
  }
}

/** Monitoring must work while the service is full. */
const EXEMPT_ROUTES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);
const FULL = new UnavailableError('Too many requests are in progress. Try again later.');
const LOG_INTERVAL_MS = 10_000;

/**
 * Serves at most `maxConcurrent` requests concurrently. Further requests are rejected early, so that the admitted ones
 * are served in time. A request counts only while it is served, not while its peer sends or reads slowly.
 */
export function limitConcurrency(app: FastifyInstance, maxConcurrent: number): void {
  let admittedCount = 0;
  let rejectedCount = 0;
  let loggedAt = -Infinity;
  app.decorateRequest('admitted', false);

  app.addHook('preValidation', (request, reply, done) => {
    if (EXEMPT_ROUTES.has(request.route.url ?? '')) return done();
    if (admittedCount >= maxConcurrent) {
      logRejection(request);
      reply.header('retry-after', '1');
      sendProblem(request, reply, FULL);
      return;
    }
    admittedCount++;
    request.admitted = true;
    done();
  });
  app.addHook('onSend', (request, _reply, payload, done) => {
    if (request.admitted) admittedCount--;
    request.admitted = false;
    done(null, payload);
  });

  /** Logs at most one line per interval: a line for each request would add to the load. */
  function logRejection(request: FastifyRequest): void {
    rejectedCount++;
    const now = performance.now();
    if (now - loggedAt < LOG_INTERVAL_MS) return;
    request.log.warn(
      { rejected: rejectedCount, maxConcurrent },
      'too many concurrent requests; rejecting some of them',
    );
    loggedAt = now;
    rejectedCount = 0;
  }
}
