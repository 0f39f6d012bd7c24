import type { FastifyInstance } from 'fastify';
import { sendRawProblem } from '../operation/problems.ts';
import type { UnreadResponses } from './unread-responses.ts';

const SHUTDOWN_TIMEOUT_MS = 10_000;
const LAST_RESPONSES_MS = 1_000;

/** While the app closes, requests on open connections are still served, and each response closes its connection. */
export function gracefulShutdown(app: FastifyInstance, responses: UnreadResponses): void {
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
    // Neither a peer that stays connected nor a request whose response was lost with an uncaught error may keep the
    // service from stopping.
    setTimeout(() => {
      for (const response of responses.unsent()) sendRawProblem(response, 'internal', STOPPED);
      setTimeout(() => app.server.closeAllConnections(), LAST_RESPONSES_MS).unref();
    }, SHUTDOWN_TIMEOUT_MS).unref();
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) reply.header('connection', 'close');
    done(null, payload);
  });
}

const STOPPED = 'The service stopped before it could respond. The request may have been performed.';
