import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { perRoute } from './route-config.ts';

// Short and harmless in a log.
const CALLER_ID = /^[A-Za-z0-9._-]{8,128}$/;

/** Returns the caller's request id if it is usable, so that the logs of both sides can be compared. */
export function requestId({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && CALLER_ID.test(sent) ? sent : randomUUID();
}

/** Fastify creates a child logger per request, which costs more than the line. Lines contain the request id instead. */
export function withoutChildLoggers(logger: Logger): Logger {
  const self: Logger = Object.create(logger, { child: { value: () => self } });
  return self;
}

/** The caller was refused, not only its input. Its address is logged, so that the operator can find or block it. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 429, 503]);

/** Logs one line per request with its route. Without URLs, headers and bodies it has no tokens, and no names of people. */
export function requestLog(app: FastifyInstance, logger: Logger): void {
  const loggerOf = perRoute((method, url) => logger.child({ method, route: url ?? null }));

  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });

  app.addHook('onResponse', (request, reply, done) => {
    const line = {
      reqId: request.id,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      company: request.caller?.company.id ?? null,
    };
    const isRefusal = REFUSALS.has(reply.statusCode);
    loggerOf(request).info(isRefusal ? { ...line, ip: request.callerAddress } : line, 'request');
    done();
  });
}
