import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { perRoute } from './route-config.ts';

// Short and harmless in a log, whatever the caller's tracing uses.
const FOREIGN_ID = /^[A-Za-z0-9._-]{8,128}$/;

/** The caller's own id where it sends a usable one, so that both logs can be laid side by side. */
export function requestId({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && FOREIGN_ID.test(given) ? given : randomUUID();
}

/** Fastify asks for a logger for each request, which would cost more than its line: what is logged of one names it instead. */
export function withoutChildLoggers(logger: Logger): Logger {
  const itself: Logger = Object.create(logger, { child: { value: () => itself } });
  return itself;
}

/** One line per request: the route and not the address, no headers, no bodies, so no tokens and no personal data. */
export function requestLog(app: FastifyInstance, logger: Logger): void {
  const lineOf = perRoute((method, url) => logger.child({ method, route: url ?? null }));

  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });

  app.addHook('onResponse', (request, reply, done) => {
    lineOf(request).info(
      {
        reqId: request.id,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        company: request.caller?.company.id ?? null,
      },
      'request',
    );
    done();
  });
}
