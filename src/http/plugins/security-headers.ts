import type { FastifyInstance } from 'fastify';

/** On every answer: it is what its type says, and nobody but who asked keeps it. That TLS is used is for the proxy to say. */
export const SECURITY_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };

/** Only what is the same for everybody may be kept. */
export function securityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-content-type-options', SECURITY_HEADERS['x-content-type-options']);
    if (request.route.access !== 'public') {
      reply.header('cache-control', SECURITY_HEADERS['cache-control']);
    }
    done();
  });
}
