import type { FastifyInstance } from 'fastify';

/** Responses must not be sniffed or cached. Strict-Transport-Security is up to the proxy that terminates TLS. */
export const SECURITY_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };

/** Only public responses may be cached. */
export function securityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-content-type-options', SECURITY_HEADERS['x-content-type-options']);
    if (request.route.access !== 'public') {
      reply.header('cache-control', SECURITY_HEADERS['cache-control']);
    }
    done();
  });
}
