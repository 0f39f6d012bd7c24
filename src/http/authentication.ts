import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type { Caller } from '../kernel/context.ts';
import { CodedError, invalidRequest } from '../kernel/errors.ts';
import type { Scope } from '../kernel/scopes.ts';
import { countFailure } from './failed-attempts.ts';
import type { WindowCounts } from './window-counts.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The scope a caller needs, or 'public'. A route that declares none does not start. */
    access?: Scope | 'public';
    /** One of the twelve: it asks for Content-Type even where it takes no body. */
    specified?: boolean;
    /** The path of the operation, in the specification's spelling. */
    path?: string;
  }
  interface FastifyRequest {
    caller: Caller | null;
  }
}

export type AuthenticationOptions = {
  findCaller: (token: string) => Promise<Caller | undefined>;
  attempts: WindowCounts;
};

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/** Judges in this order: credentials, scope, Content-Type. The route came first, the path and the body follow. */
export function authentication(app: FastifyInstance, { findCaller, attempts }: AuthenticationOptions): void {
  app.decorateRequest('caller', null);

  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => void routes.push(route));
  app.addHook('onReady', async () => {
    const open = routes.find(({ config }) => !config?.access);
    if (open) throw new Error(`The route ${open.method} ${open.url} declares no access.`);
  });

  app.addHook('onRequest', async (request, reply) => {
    const { access, specified } = request.routeOptions.config;
    if (access === undefined || access === 'public') return; // undefined: no route was found
    const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
    const caller = token && (await findCaller(token));
    if (!caller) {
      refuseCaller(request, reply, attempts);
      return;
    }
    request.caller = caller;
    if (!caller.scopes.has(access)) {
      reply.header('www-authenticate', `Bearer error="insufficient_scope", scope="${access}"`);
      throw new CodedError('insufficient_scope', `The token does not have the scope ${access}.`);
    }
    if ((specified || hasBody(request)) && !isJson(request.headers['content-type'])) throw invalidRequest([NOT_JSON]);
  });
}

function refuseCaller(request: FastifyRequest, reply: FastifyReply, attempts: WindowCounts): never {
  countFailure(attempts, request, reply);
  const sent = /^Bearer +\S/i.test(request.headers.authorization ?? '');
  reply.header('www-authenticate', sent ? 'Bearer error="invalid_token"' : 'Bearer');
  throw new CodedError('invalid_token', sent ? 'The access token is not valid.' : 'An access token is required.');
}

const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const isJson = (contentType = ''): boolean => contentType.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';

const NOT_JSON = {
  field: 'Content-Type',
  code: 'not_allowed',
  message: 'the header Content-Type must be application/json',
} as const;
