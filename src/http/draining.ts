import type { FastifyInstance } from 'fastify';

const PATIENCE_MS = 10_000;

/** While the app closes, requests on open connections are still answered, and each answer ends its connection. */
export function draining(app: FastifyInstance): void {
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
    // A peer that neither finishes nor leaves does not keep the service from stopping.
    setTimeout(() => app.server.closeAllConnections(), PATIENCE_MS).unref();
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) reply.header('connection', 'close');
    done(null, payload);
  });
}
