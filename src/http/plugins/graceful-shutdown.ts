import type { FastifyInstance } from 'fastify';
import { sendRawProblem } from '../operation/problems.ts';
import type { UnreadResponses } from './unread-responses.ts';

const PATIENCE_MS = 10_000;
const LAST_ANSWERS_MS = 1_000;

/** While the app closes, requests on open connections are still answered, and each answer ends its connection. */
export function draining(app: FastifyInstance, answers: UnreadResponses): void {
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
    // A peer that neither finishes nor leaves does not keep the service from stopping, and neither does a request whose
    // answer was lost with an uncaught error.
    setTimeout(() => {
      for (const answer of answers.unanswered()) sendRawProblem(answer, 'internal', STOPPED);
      setTimeout(() => app.server.closeAllConnections(), LAST_ANSWERS_MS).unref();
    }, PATIENCE_MS).unref();
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) reply.header('connection', 'close');
    done(null, payload);
  });
}

const STOPPED = 'The service stopped before the request was answered. What it asked for may have been done.';
