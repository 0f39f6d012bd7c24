import type { IncomingMessage } from 'node:http';
import Fastify, { type FastifyInstance, LogController } from 'fastify';
import type { Logger } from 'pino';
import packageJson from '../../package.json' with { type: 'json' };
import { entryLifeRoutes } from '../cases/address-book/lifecycle.routes.ts';
import { addressBookRoutes } from '../cases/address-book/routes.ts';
import { appointmentLifecycleRoutes } from '../cases/appointments/lifecycle.routes.ts';
import { videoAccountRoutes } from '../cases/appointments/meetings/accounts/routes.ts';
import { meetingRoutes } from '../cases/appointments/meetings/routes.ts';
import { messageRoutes } from '../cases/appointments/messages/routes.ts';
import { appointmentRoutes } from '../cases/appointments/routes.ts';
import { interactionLifeRoutes } from '../cases/interactions/lifecycle.routes.ts';
import { interactionRoutes } from '../cases/interactions/routes.ts';
import { invoiceLifeRoutes } from '../cases/invoices/lifecycle.routes.ts';
import { paymentRoutes } from '../cases/invoices/payments/routes.ts';
import { invoiceRoutes } from '../cases/invoices/routes.ts';
import { callerFinder } from '../company/credentials/authenticate.ts';
import { KeyUses } from '../company/credentials/last-used.ts';
import { oauthRoutes } from '../company/credentials/oauth/routes.ts';
import { manageRoutes } from '../company/manage.routes.ts';
import { typesOf } from '../events/event-types.ts';
import { eventRoutes } from '../events/routes.ts';
import { StalledLog } from '../events/stalled-log.ts';
import { httpServer } from '../http/http-server.ts';
import { apiPages } from '../http/openapi/docs-pages.ts';
import { openapi } from '../http/openapi/openapi.ts';
import { rawBodies } from '../http/operation/body.ts';
import { EtagRegistry } from '../http/operation/etag.ts';
import { onClientError, onFrameworkError, problems } from '../http/operation/problems.ts';
import { authentication } from '../http/plugins/authentication.ts';
import { crossOrigin } from '../http/plugins/cors.ts';
import { Evictions } from '../http/plugins/evictions.ts';
import { FixedWindowCounter } from '../http/plugins/fixed-window-counter.ts';
import { draining } from '../http/plugins/graceful-shutdown.ts';
import { health } from '../http/plugins/health.ts';
import { limitConcurrency } from '../http/plugins/load-shedding.ts';
import { type GatherMetrics, metrics } from '../http/plugins/metrics.ts';
import { rateLimit } from '../http/plugins/rate-limit.ts';
import { requestId, requestLog, withoutChildLoggers } from '../http/plugins/request-log.ts';
import { routes } from '../http/plugins/route-config.ts';
import { securityHeaders } from '../http/plugins/security-headers.ts';
import { UnfinishedBodies } from '../http/plugins/unfinished-bodies.ts';
import { UnreadAnswers } from '../http/plugins/unread-responses.ts';
import type { Database } from '../kernel/database/database.ts';
import { DeliveryCounters } from '../kernel/jobs/delivery-counters.ts';
import { type Migration, readMigrations } from '../kernel/schema/migrations.ts';
import type { SecretBox } from '../kernel/secret-box.ts';
import type { Clock } from '../kernel/time/time.ts';
import { deliveryRoutes } from '../webhooks/deliveries/routes.ts';
import { endpointRoutes } from '../webhooks/endpoints/routes.ts';
import { AUDIT_LOGS } from './audit-logs.ts';

export type AppOptions = {
  db: Database;
  clock: Clock;
  logger: Logger;
  migrations?: Migration[];
  /** Whether the start is complete; `/readyz` waits for it. */
  isStarted?: () => boolean;
  /** Of the worker in the same process. */
  outcomes?: DeliveryCounters;
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
    loggerInstance: withoutChildLoggers(logger) as never,
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
  const attempts = new FixedWindowCounter(clock);
  const uses = new KeyUses(db, clock);
  app.addHook('onClose', () => uses.flush());
  authentication(app, { findCaller: callerFinder(db, clock, uses), attempts });
  const limitRate = requestsPerMinute === undefined ? undefined : rateLimit(app, requestsPerMinute, clock);
  limitConcurrency(app, requestsAtOnce);
  const stalledLog = new StalledLog(db, clock);
  const logStalledSeconds = () => stalledLog.seconds();
  metrics(app, {
    db,
    clock,
    outcomes: outcomes ?? new DeliveryCounters(),
    gatherMetrics,
    held: { bodies, answers, evictions },
    logStalledSeconds,
  });
  health(app, { db, migrations: migrations ?? (await readMigrations()), isStarted, logStalledSeconds });
  const records = new EtagRegistry();
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
    appointmentLifecycleRoutes(cases, services);
    messageRoutes(cases, services);
    meetingRoutes(cases, services);
    eventRoutes(cases, services, AUDIT_LOGS);
  });
  await app.register(manageRoutes, services);
  await app.register(async (manage) => videoAccountRoutes(manage, services, secrets));
  await app.register(async (webhooks) => {
    const settings = { secrets, privateAddresses, types: typesOf(AUDIT_LOGS) };
    endpointRoutes(webhooks, services, settings);
    deliveryRoutes(webhooks, services, settings);
  });
  await app.register(oauthRoutes, { ...services, attempts, bodies, limitRate, tokenSeconds });
  await app.register(apiPages, { docs, answers });
  return app;
}
