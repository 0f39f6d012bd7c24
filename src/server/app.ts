import type { IncomingMessage } from 'node:http';
import Fastify, { type FastifyInstance, LogController } from 'fastify';
import type { Logger } from 'pino';
import packageJson from '../../package.json' with { type: 'json' };
import { backupGauge } from '../backup/metrics.ts';
import { companyEntryRoutes } from '../cases/address-book/company-list/routes.ts';
import { entryExternalIdRoutes } from '../cases/address-book/external-ids.routes.ts';
import { entryLifecycleRoutes } from '../cases/address-book/lifecycle.routes.ts';
import { addressBookRoutes } from '../cases/address-book/routes.ts';
import { companyAppointmentRoutes } from '../cases/appointments/company-list/routes.ts';
import { appointmentExternalIdRoutes } from '../cases/appointments/external-ids.routes.ts';
import { appointmentLifecycleRoutes } from '../cases/appointments/lifecycle.routes.ts';
import { videoAccountRoutes } from '../cases/appointments/meetings/accounts/routes.ts';
import { meetingRoutes } from '../cases/appointments/meetings/routes.ts';
import { messageRoutes } from '../cases/appointments/messages/routes.ts';
import { templateRoutes } from '../cases/appointments/messages/templates/routes.ts';
import { APPOINTMENT_GAUGES } from '../cases/appointments/metrics.ts';
import { appointmentRoutes } from '../cases/appointments/routes.ts';
import { companyInteractionRoutes } from '../cases/interactions/company-list/routes.ts';
import { interactionExternalIdRoutes } from '../cases/interactions/external-ids.routes.ts';
import { interactionLifecycleRoutes } from '../cases/interactions/lifecycle.routes.ts';
import { interactionRoutes } from '../cases/interactions/routes.ts';
import { companyInvoiceRoutes } from '../cases/invoices/company-list/routes.ts';
import { invoiceExternalIdRoutes } from '../cases/invoices/external-ids.routes.ts';
import { invoiceLifecycleRoutes } from '../cases/invoices/lifecycle.routes.ts';
import { paymentRoutes } from '../cases/invoices/payments/routes.ts';
import { invoiceRoutes } from '../cases/invoices/routes.ts';
import { INVOICE_SUMS_GAUGE } from '../cases/invoices/sums/metrics.ts';
import { timelineRoutes } from '../cases/timeline/routes.ts';
import { companyCaseRoutes } from '../company/cases/company-list/routes.ts';
import { caseOverviewRoutes } from '../company/cases/overview.routes.ts';
import { createAuthenticator } from '../company/credentials/authenticate.ts';
import { recordLastUsed } from '../company/credentials/last-used.sql.ts';
import { LastUsedRecorder } from '../company/credentials/last-used.ts';
import { oauthRoutes } from '../company/credentials/oauth/routes.ts';
import { Challenges } from '../company/credentials/passkeys/challenges.ts';
import { createSessionAuthenticator } from '../company/credentials/sessions/authenticate.ts';
import { recordLastSeen } from '../company/credentials/sessions/statements.sql.ts';
import { Recoveries } from '../company/credentials/sign-in/links.ts';
import { signInPageRoutes } from '../company/credentials/sign-in/page.routes.ts';
import { signInRoutes } from '../company/credentials/sign-in/routes.ts';
import { manageRoutes } from '../company/manage.routes.ts';
import { consoleRoutes } from '../console/routes.ts';
import { eventTypes } from '../events/event-types.ts';
import { eventGauges } from '../events/metrics.ts';
import { eventRoutes } from '../events/routes.ts';
import { StallMonitor } from '../events/stall-monitor.ts';
import { httpServer } from '../http/http-server.ts';
import { docsPages } from '../http/openapi/docs-pages.ts';
import { openapi } from '../http/openapi/openapi.ts';
import { rawBodies } from '../http/operation/body.ts';
import { EtagRegistry } from '../http/operation/etag.ts';
import { Exports } from '../http/operation/exports.ts';
import { onClientError, onFrameworkError, problems } from '../http/operation/problems.ts';
import { authentication } from '../http/plugins/authentication.ts';
import { callerAddresses, type TrustedProxies } from '../http/plugins/caller-address.ts';
import { crossOrigin } from '../http/plugins/cors.ts';
import { Evictions } from '../http/plugins/evictions.ts';
import { FixedWindowCounter } from '../http/plugins/fixed-window-counter.ts';
import { gracefulShutdown } from '../http/plugins/graceful-shutdown.ts';
import { health, lastMigrationOf } from '../http/plugins/health.ts';
import { homePage } from '../http/plugins/home-page.ts';
import { limitConcurrency } from '../http/plugins/load-shedding.ts';
import { type GatherMetrics, metrics } from '../http/plugins/metrics.ts';
import { rateLimit } from '../http/plugins/rate-limit.ts';
import { requestId, requestLog, withoutChildLoggers } from '../http/plugins/request-log.ts';
import { routeConfig } from '../http/plugins/route-config.ts';
import { securityHeaders } from '../http/plugins/security-headers.ts';
import { siteFinder } from '../http/plugins/site.ts';
import { UnfinishedBodies } from '../http/plugins/unfinished-bodies.ts';
import { UnreadResponses } from '../http/plugins/unread-responses.ts';
import type { Database } from '../kernel/database/database.ts';
import { DeliveryCounters } from '../kernel/jobs/delivery-counters.ts';
import { type Migration, readMigrations } from '../kernel/schema/migrations.ts';
import type { SecretBox } from '../kernel/secret-box.ts';
import type { Clock } from '../kernel/time/time.ts';
import { phoneLibrary } from '../kernel/validation/phone.ts';
import { SEARCH_GAUGES } from '../search/metrics.ts';
import { searchRoutes } from '../search/routes.ts';
import { deliveryRoutes } from '../webhooks/deliveries/routes.ts';
import { endpointRoutes } from '../webhooks/endpoints/routes.ts';
import { WEBHOOK_GAUGES } from '../webhooks/metrics.ts';
import { AUDIT_LOGS } from './audit-logs.ts';

export type AppOptions = {
  db: Database;
  clock: Clock;
  logger: Logger;
  /** The migrations of this release, and the last one that it cannot do without. */
  migrations?: Migration[];
  requiredMigration?: number | undefined;
  /** Whether the service has finished its start; until then `/readyz` is not ready. */
  isStarted?: () => boolean;
  /** Counters of the worker in the same process. */
  counters?: DeliveryCounters;
  /** Collects the metrics of all processes, if there are several. */
  gatherMetrics?: GatherMetrics | undefined;
  /** Maximum requests per minute of one credential; unlimited by default. */
  maxRequestsPerMinute?: number | undefined;
  /** Maximum concurrent requests; unlimited by default. */
  maxConcurrentRequests?: number;
  /** Maximum client connections; further ones are closed. */
  maxConnections?: number;
  /** URL at which callers reach the service; by default the address of each request. */
  publicUrl?: string | undefined;
  /** Proxies whose forwarding headers are believed. */
  trustedProxies?: TrustedProxies;
  /** Origins that may call from a browser. */
  corsOrigins?: readonly string[];
  /** Encrypts secrets; undefined if SECRETS_KEY is not set. */
  secrets?: SecretBox | undefined;
  /** Whether webhooks may go to private addresses and over plain http. */
  allowPrivateAddresses?: boolean;
  /** Lifetime of an access token. */
  tokenSeconds?: number;
  /** Whether the API reference is served at /docs. */
  docs?: boolean;
  /** The folder of the backups that the service makes by itself. */
  backupFolder?: string | undefined;
  /** Maximum bytes of request bodies that have not arrived completely. */
  maxUnfinishedBytes?: number;
  /** Maximum bytes of responses that clients have not read yet. */
  maxUnreadBytes?: number;
};

/** For how long after migrations a missing table counts as one that is still to come. */
const MIGRATED_AGO_MS = 10_000;
const DEFAULT_TOKEN_SECONDS = 3_600;

/** Builds the HTTP application: the plugins, then the routes of each feature. The caller listens and closes it. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  // The first request with a phone number would otherwise wait for it.
  phoneLibrary();
  const {
    db,
    clock,
    logger,
    migrations = await readMigrations(),
    requiredMigration,
    isStarted = () => true,
    counters,
    secrets,
    allowPrivateAddresses = false,
    maxRequestsPerMinute,
    maxConcurrentRequests = Infinity,
    maxConnections,
    publicUrl,
    trustedProxies = [],
    corsOrigins = [],
    tokenSeconds = DEFAULT_TOKEN_SECONDS,
    gatherMetrics,
    docs = true,
    backupFolder,
    maxUnfinishedBytes,
    maxUnreadBytes,
  } = options;
  const evictions = new Evictions(logger);
  const bodies = new UnfinishedBodies(evictions, maxUnfinishedBytes);
  const responses = new UnreadResponses(evictions, maxUnreadBytes);
  const app = Fastify({
    loggerInstance: withoutChildLoggers(logger) as never,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: (request) => requestId(request as IncomingMessage),
    return503OnClosing: false,
    clientErrorHandler: onClientError,
    frameworkErrors: onFrameworkError as never,
    serverFactory: httpServer({ responses, maxConnections, publicPath: publicPathOf(publicUrl) }) as never,
    routerOptions: { maxParamLength: 16_384 },
  }) as unknown as FastifyInstance;
  // Verbs validate request bodies through forms, which report all faults together; responses are JSON text from SQL.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);

  app.addHook('onClose', async () => responses.stop());
  callerAddresses(app, trustedProxies);
  routeConfig(app);
  requestLog(app, logger);
  securityHeaders(app);
  const lastMigration = migrations.at(-1)?.version ?? 0;
  let lackedAt = -Infinity;
  const findLastMigration = async () => {
    const found = await lastMigrationOf(db);
    if (found < lastMigration) lackedAt = clock().epochMilliseconds;
    return found;
  };
  problems(app, async () => {
    await findLastMigration();
    // A statement that failed may be older than the last migration.
    return clock().epochMilliseconds - lackedAt < MIGRATED_AGO_MS;
  });
  rawBodies(app, bodies);
  gracefulShutdown(app, responses);
  if (corsOrigins.length > 0) await crossOrigin(app, corsOrigins);
  const failedAttempts = new FixedWindowCounter(clock);
  const lastUsed = new LastUsedRecorder(db, clock, recordLastUsed);
  const lastSeen = new LastUsedRecorder(db, clock, recordLastSeen);
  app.addHook('onClose', () => Promise.all([lastUsed.flush(), lastSeen.flush()]));
  const siteOf = siteFinder(publicUrl);
  authentication(app, {
    authenticate: createAuthenticator(db, clock, lastUsed),
    authenticateSession: createSessionAuthenticator(db, clock),
    onSessionUse: ({ companyId, id }) => lastSeen.record(companyId, id),
    siteOf,
    clock,
    failures: failedAttempts,
  });
  const limitRate = maxRequestsPerMinute === undefined ? undefined : rateLimit(app, maxRequestsPerMinute, clock);
  limitConcurrency(app, maxConcurrentRequests);
  const stallMonitor = new StallMonitor(db, clock);
  const logStalledSeconds = () => stallMonitor.stalledSeconds();
  metrics(app, {
    db,
    clock,
    deliveryCounters: counters ?? new DeliveryCounters(),
    gatherMetrics,
    held: { bodies, responses, evictions },
    gauges: [
      ...APPOINTMENT_GAUGES,
      ...SEARCH_GAUGES,
      INVOICE_SUMS_GAUGE,
      ...WEBHOOK_GAUGES,
      ...eventGauges(stallMonitor),
      backupGauge(backupFolder),
    ],
  });
  const isReady = health(app, { findLastMigration, clock, requiredMigration, isStarted, logStalledSeconds });
  homePage(app, { version: packageJson.version, docs, publicUrl, isReady });
  const records = new EtagRegistry();
  await openapi(app, packageJson.version, records);

  const services = { db, clock, records, exports: new Exports() };
  await app.register(async (cases) => {
    addressBookRoutes(cases, services);
    entryLifecycleRoutes(cases, services);
    entryExternalIdRoutes(cases, services);
    companyEntryRoutes(cases, services);
    interactionRoutes(cases, services);
    interactionLifecycleRoutes(cases, services);
    interactionExternalIdRoutes(cases, services);
    companyInteractionRoutes(cases, services);
    invoiceRoutes(cases, services);
    invoiceLifecycleRoutes(cases, services);
    invoiceExternalIdRoutes(cases, services);
    companyInvoiceRoutes(cases, services);
    paymentRoutes(cases, services);
    appointmentRoutes(cases, services);
    appointmentLifecycleRoutes(cases, services);
    appointmentExternalIdRoutes(cases, services);
    companyAppointmentRoutes(cases, services);
    messageRoutes(cases, services);
    meetingRoutes(cases, services);
    eventRoutes(cases, services, AUDIT_LOGS);
    caseOverviewRoutes(cases, services);
    companyCaseRoutes(cases, services);
    timelineRoutes(cases, services);
  });
  await app.register(async (search) => searchRoutes(search, services));
  const recoveries = new Recoveries(db, clock, logger);
  app.addHook('onClose', () => recoveries.settled());
  const people = { ...services, siteOf, secrets, challenges: new Challenges(db, clock) };
  await app.register(manageRoutes, people);
  await app.register(signInRoutes, { ...people, bodies, failures: failedAttempts, recoveries });
  await app.register(async (manage) => {
    videoAccountRoutes(manage, services, secrets);
    templateRoutes(manage, services);
  });
  await app.register(async (webhooks) => {
    const settings = { secrets, allowPrivateAddresses, eventTypes: eventTypes(AUDIT_LOGS) };
    endpointRoutes(webhooks, services, settings);
    deliveryRoutes(webhooks, services, settings);
  });
  await app.register(oauthRoutes, { ...services, attempts: failedAttempts, bodies, limitRate, tokenSeconds });
  await app.register(signInPageRoutes, { responses });
  await app.register(consoleRoutes, { responses });
  await app.register(docsPages, { docs, publicUrl, responses });
  return app;
}

/** Returns the path of the URL without a trailing slash; empty if there is none. */
const publicPathOf = (publicUrl = 'http://localhost') => new URL(publicUrl).pathname.replace(/\/$/, '');
