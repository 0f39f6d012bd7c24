import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify';
import type { Scope } from '../../kernel/scopes.ts';

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
    route: Route;
  }
}

/** What a route declares, and its pattern, which is missing where no route was found. */
export type Route = FastifyContextConfig & { url?: string };

const NO_ROUTE: Route = {};

/** Fastify puts together anew what it says of a route each time it is asked: here that is once for each request. */
export function routes(app: FastifyInstance): void {
  app.decorateRequest('route', null as never);
  app.addHook('onRequest', (request, _reply, done) => {
    request.route = request.routeOptions.config ?? NO_ROUTE;
    done();
  });
}

/** What is made once for each method and route, and then found again. */
export function perRoute<T>(make: (method: string, url: string | undefined) => T): (request: FastifyRequest) => T {
  const made = new Map<string, Map<string | undefined, T>>();
  return ({ method, route: { url } }) => {
    const known = made.get(method)?.get(url);
    if (known !== undefined) return known;
    const one = make(method, url);
    made.set(method, (made.get(method) ?? new Map()).set(url, one));
    return one;
  };
}
