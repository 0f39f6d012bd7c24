import type { IncomingMessage } from 'node:http';
import Fastify, { type FastifyInstance, LogController } from 'fastify';
import type { Logger } from 'pino';
import packageJson from '../package.json' with { type: 'json' };
import { addressBookRoutes } from './cases/address-book/address-book.routes.ts';
import { entryLifeRoutes } from './cases/address-book/entry-life.routes.ts';
import { appointmentLifeRoutes } from './cases/appointments/appointment-life.routes.ts';
import { appointmentRoutes } from './cases/appointments/appointments.routes.ts';
import { interactionLifeRoutes } from './cases/interactions/interaction-life.routes.ts';
import { interactionRoutes } from './cases/interactions/interactions.routes.ts';
import { invoiceLifeRoutes } from './cases/invoices/invoice-life.routes.ts';
import { invoiceRoutes } from './cases/invoices/invoices.routes.ts';
import { paymentRoutes } from './cases/invoices/payments.routes.ts';
import { callerFinder } from './company/credentials/callers.ts';
import { KeyUses } from './company/credentials/key-uses.ts';
import { oauthRoutes } from './company/credentials/oauth.routes.ts';
import { manageRoutes } from './company/manage.routes.ts';
import { typesOf } from './events/event-types.ts';
import { eventRoutes } from './events/events.routes.ts';
import { StalledLog } from './events/stalled-log.ts';
import { apiPages } from './http/api-pages.ts';
import { authentication } from './http/authentication.ts';
import { rawBodies } from './http/body.ts';
import { crossOrigin } from './http/cors.ts';
import { draining } from './http/draining.ts';
import { Records } from './http/entity-tags.ts';
import { Evictions } from './http/evictions.ts';
import { health } from './http/health.ts';
import { httpServer } from './http/http-server.ts';
import { type GatherMetrics, metrics } from './http/metrics.ts';
import { openapi } from './http/openapi.ts';
import { overload } from './http/overload.ts';
import { onClientError, onFrameworkError, problems } from './http/problems.ts';
import { rateLimit } from './http/rate-limit.ts';
import { requestId, requestLog, shared } from './http/request-log.ts';
import { routes } from './http/route.ts';
import { securityHeaders } from './http/security-headers.ts';
import { UnfinishedBodies } from './http/unfinished-bodies.ts';
import { UnreadAnswers } from './http/unread-answers.ts';
import { WindowCounts } from './http/window-counts.ts';
import type { Database } from './kernel/database.ts';
import { type Migration, readMigrations } from './kernel/migrations.ts';
import { Outcomes } from './kernel/outcomes.ts';
import type { SecretBox } from './kernel/secret-box.ts';
import type { Clock } from './kernel/time.ts';
import { messageRoutes } from './messages/messages.routes.ts';
import { RECORD_LOGS } from './record-logs.ts';
import { videoAccountRoutes } from './video/accounts.routes.ts';
import { meetingRoutes } from './video/meetings.routes.ts';
import { deliveryRoutes } from './webhooks/deliveries.routes.ts';
import { endpointRoutes } from './webhooks/endpoints.routes.ts';

export type AppOptions = {
  db: Database;
  clock: Clock;
  logger: Logger;
  migrations?: Migration[];
  /** Whether the start is complete; `/readyz` waits for it. */
  isStarted?: () => boolean;
  /** Of the worker in the same process. */
  outcomes?: Outcomes;
  /** Where this is one of several processes. */
  gatherMetrics?: GatherMetrics | undefined;
  /** Most requests of a credential; without it there is no limit. */
  requestsPerMinute?: number | undefined;
  /** Most requests that are worked on at once. */
  requestsAtOnce?: number;
  /** Most connections of callers; one more is closed. */
  connectionsAtOnce?: number;
  /** Whose pages may call from a browser. */
  corsOrigins?: readonly string[];
  /** Where there is a key to keep secrets with. */
  secrets?: SecretBox | undefined;
  /** Whether webhooks may go to private addresses, and over plain http. */
  privateAddresses?: boolean;
  /** How long an access token works. */
  tokenSeconds?: number;
  /** Whether the API reference is served at /docs. */
  docs?: boolean;
  /** Most bytes of request bodies that have not arrived completely. */
  maxUnfinishedBytes?: number;
  /** Most bytes of answers that peers have not taken. */
  maxUnreadBytes?: number;
};

const HOUR = 3_600;

/** The whole service as one value: the plugins, then the slices. Who serves it, and when it ends, is main's affair. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const {
    db,
    clock,
    logger,
    migrations,
    isStarted = () => true,
    outcomes,
    secrets,
    privateAddresses = false,
    requestsPerMinute,
    requestsAtOnce = Infinity,
    connectionsAtOnce,
    corsOrigins = [],
    tokenSeconds = HOUR,
    gatherMetrics,
    docs = true,
    maxUnfinishedBytes,
    maxUnreadBytes,
  } = options;
  const evictions = new Evictions(logger);
  const bodies = new UnfinishedBodies(evictions, maxUnfinishedBytes);
  const answers = new UnreadAnswers(evictions, maxUnreadBytes);
  const app = Fastify({
    loggerInstance: shared(logger) as never,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: (request) => requestId(request as IncomingMessage),
    return503OnClosing: false,
    clientErrorHandler: onClientError,
    frameworkErrors: onFrameworkError as never,
    serverFactory: httpServer({ answers, maxConnections: connectionsAtOnce }) as never,
    routerOptions: { maxParamLength: 16_384 },
  }) as unknown as FastifyInstance;
  // Bodies are judged by the forms (all faults at once, after the path), answers are JSON text from the database.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);

  app.addHook('onClose', async () => answers.stop());
  routes(app);
  requestLog(app, logger);
  securityHeaders(app);
  problems(app);
  rawBodies(app, bodies);
  draining(app, answers);
  if (corsOrigins.length > 0) await crossOrigin(app, corsOrigins);
  const attempts = new WindowCounts(clock);
  const uses = new KeyUses(db, clock);
  app.addHook('onClose', () => uses.flush());
  authentication(app, { findCaller: callerFinder(db, clock, uses), attempts });
  const limitRate = requestsPerMinute === undefined ? undefined : rateLimit(app, requestsPerMinute, clock);
  overload(app, requestsAtOnce);
  const stalledLog = new StalledLog(db, clock);
  const logStalledSeconds = () => stalledLog.seconds();
  metrics(app, {
    db,
    clock,
    outcomes: outcomes ?? new Outcomes(),
    gatherMetrics,
    held: { bodies, answers, evictions },
    logStalledSeconds,
  });
  health(app, { db, migrations: migrations ?? (await readMigrations()), isStarted, logStalledSeconds });
  const records = new Records();
  await openapi(app, packageJson.version, records);

  const services = { db, clock, records };
  await app.register(async (cases) => {
    addressBookRoutes(cases, services);
    entryLifeRoutes(cases, services);
    interactionRoutes(cases, services);
    interactionLifeRoutes(cases, services);
    invoiceRoutes(cases, services);
    invoiceLifeRoutes(cases, services);
    paymentRoutes(cases, services);
    appointmentRoutes(cases, services);
    appointmentLifeRoutes(cases, services);
    messageRoutes(cases, services);
    meetingRoutes(cases, services);
    eventRoutes(cases, services, RECORD_LOGS);
  });
  await app.register(manageRoutes, services);
  await app.register(async (manage) => videoAccountRoutes(manage, services, secrets));
  await app.register(async (webhooks) => {
    const settings = { secrets, privateAddresses, types: typesOf(RECORD_LOGS) };
    endpointRoutes(webhooks, services, settings);
    deliveryRoutes(webhooks, services, settings);
  });
  await app.register(oauthRoutes, { ...services, attempts, bodies, limitRate, tokenSeconds });
  await app.register(apiPages, { docs, answers });
  return app;
}
