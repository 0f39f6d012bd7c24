import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify';
import type { Access } from '../../kernel/scopes.ts';

/**
 * A scope that the caller needs; `user`: a signed-in person with any role; `enrolment`: also a person who is only setting
 * up ways to sign in; `public`: everybody.
 */
export type RouteAccess = Access | 'user' | 'enrolment' | 'public';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call. The service does not start if a route declares nothing. */
    access?: RouteAccess;
    /** Whether a signed-in person must have signed in during the last minutes. Other callers are not affected. */
    needsRecentSignIn?: boolean;
    /** One of the twelve specified operations, which require Content-Type even without a body. */
    specified?: boolean;
    /** The path of the operation as the specification writes it. */
    path?: string;
  }
  interface FastifyRequest {
    route: Route;
  }
}

/** The configuration of a route and its pattern; empty if no route was found. */
export type Route = FastifyContextConfig & { url?: string };

const NO_ROUTE: Route = {};

/** Fastify builds `routeOptions` at each access, so it is read once per request. */
export function routeConfig(app: FastifyInstance): void {
  app.decorateRequest('route', null as never);
  app.addHook('onRequest', (request, _reply, done) => {
    request.route = request.routeOptions.config ?? NO_ROUTE;
    done();
  });
}

/** Returns a function that creates a value once for each method and route. */
export function perRoute<T>(create: (method: string, url: string | undefined) => T): (request: FastifyRequest) => T {
  const created = new Map<string, Map<string | undefined, T>>();
  return ({ method, route: { url } }) => {
    const known = created.get(method)?.get(url);
    if (known !== undefined) return known;
    const value = create(method, url);
    created.set(method, (created.get(method) ?? new Map()).set(url, value));
    return value;
  };
}
