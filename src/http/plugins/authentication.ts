import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type { Caller } from '../../kernel/context.ts';
import {
  CrossOriginError,
  InsufficientScopeError,
  InvalidTokenError,
  invalidRequest,
  UnsupportedMediaTypeError,
} from '../../kernel/errors.ts';
import { assertRecentSignIn } from '../../kernel/recent-sign-in.ts';
import type { Clock } from '../../kernel/time/time.ts';
import { recordFailure } from './auth-throttle.ts';
import type { FixedWindowCounter } from './fixed-window-counter.ts';
import type { RouteAccess } from './route-config.ts';
import { isSameOrigin, type SiteOf, secretCookie } from './site.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
    /** How long the database took to find the caller. Not the start of the request, because a body may arrive slowly. */
    authenticationMs: number;
  }
}

/** Returns the caller of a token: synchronously if it is cached, undefined if the token is not valid. */
export type Authenticate = (token: string) => Caller | Promise<Caller | undefined>;

type AuthenticationOptions = {
  authenticate: Authenticate;
  /** The same for the secret of a session. */
  authenticateSession: Authenticate;
  /** Called when a person uses a session. */
  onSessionUse: (session: Caller['token']) => void;
  siteOf: SiteOf;
  clock: Clock;
  failures: FixedWindowCounter;
};

/** A page that asks for news by itself says so, because a person who has gone away would otherwise stay signed in. */
const BACKGROUND = 'background';

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/**
 * Checks credentials, scope, Content-Type and Content-Encoding, in this order. The route is checked before, the path
 * parameters and the body afterwards.
 */
export function authentication(app: FastifyInstance, options: AuthenticationOptions): void {
  const { authenticate, onSessionUse, failures, clock } = options;
  app.decorateRequest('caller', null);
  app.decorateRequest('authenticationMs', 0);

  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => void routes.push(route));
  app.addHook('onReady', async () => {
    const undeclared = routes.find(({ config }) => !config?.access);
    if (undeclared) throw new Error(`The route ${undeclared.method} ${undeclared.url} declares no access.`);
  });

  // Every request passes here, so a cached caller is admitted without a promise.
  app.addHook('onRequest', (request, reply, done) => {
    const { access } = request.route;
    if (access === undefined || access === 'public') return done(); // undefined: no route was found
    const proceed = (caller: Caller | undefined) => {
      try {
        admit(request, reply, access, caller ?? rejectCaller(request, reply, failures));
        if (request.route.needsRecentSignIn) assertRecentSignIn(caller?.session, clock);
        if (caller?.session && request.headers['session-use'] !== BACKGROUND) onSessionUse(caller.token);
      } catch (error) {
        return done(error as Error);
      }
      done();
    };
    const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
    let found: ReturnType<Authenticate> | undefined;
    try {
      found = token === undefined ? findSession(request, options) : authenticate(token);
    } catch (error) {
      return done(error as Error);
    }
    if (!(found instanceof Promise)) return proceed(found);
    const start = performance.now();
    found.then((caller) => {
      request.authenticationMs = performance.now() - start;
      proceed(caller);
    }, done);
  });
}

/** A request with an Authorization header is never that of a session, so bearer callers pay nothing for cookies. */
function findSession(request: FastifyRequest, { authenticateSession, siteOf }: AuthenticationOptions) {
  const { authorization, cookie } = request.headers;
  if (authorization !== undefined || cookie === undefined) return undefined;
  const site = siteOf(request);
  const secret = site && secretCookie(request, site.cookies.session);
  if (!site || secret === undefined) return undefined;
  if (!isSameOrigin(request, site)) throw new CrossOriginError(`Only pages of ${site.origin} may use its cookies.`);
  return authenticateSession(secret);
}

type CallerAccess = Exclude<RouteAccess, 'public'>;

function admit(request: FastifyRequest, reply: FastifyReply, access: CallerAccess, caller: Caller): void {
  request.caller = caller;
  if (access === 'user' || access === 'enrolment') {
    if (caller.session?.purpose !== 'full' && (!caller.session || access === 'user'))
      throw new InsufficientScopeError(NOT_SIGNED_IN);
  } else if (
    typeof access === 'string' ? !caller.scopes.has(access) : !access.some((scope) => caller.scopes.has(scope))
  ) {
    const scopes = [access].flat();
    reply.header('www-authenticate', `Bearer error="insufficient_scope", scope="${scopes.join(' ')}"`);
    const what = scopes.length > 1 ? 'has none of the scopes' : 'does not have the scope';
    throw new InsufficientScopeError(`The ${caller.session ? 'role' : 'token'} ${what} ${scopes.join(', ')}.`);
  }
  const body = hasBody(request);
  if ((request.route.specified || body) && !isJson(request.headers['content-type'])) throw invalidRequest([NOT_JSON]);
  if (body) assertUncompressed(request, reply);
}

function rejectCaller(request: FastifyRequest, reply: FastifyReply, failures: FixedWindowCounter): never {
  recordFailure(failures, request);
  const sent = /^Bearer +\S/i.test(request.headers.authorization ?? '');
  reply.header('www-authenticate', sent ? 'Bearer error="invalid_token"' : 'Bearer');
  throw new InvalidTokenError(sent ? 'The access token is not valid.' : 'An access token is required.');
}

const NOT_SIGNED_IN = 'Only a person who has signed in may do this.';

const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Throws if the body is compressed: a few compressed bytes could expand to gigabytes. */
export function assertUncompressed({ headers }: FastifyRequest, reply: FastifyReply): void {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding.trim().toLowerCase() === 'identity') return;
  reply.header('accept-encoding', 'identity');
  throw new UnsupportedMediaTypeError('The body must be sent without Content-Encoding.');
}

const JSON_TYPE = 'application/json';
const isJson = (contentType = ''): boolean =>
  contentType === JSON_TYPE || contentType.split(';', 1)[0]?.trim().toLowerCase() === JSON_TYPE;

const NOT_JSON = {
  field: 'Content-Type',
  code: 'not_allowed',
  message: 'the header Content-Type must be application/json',
} as const;
