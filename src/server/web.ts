import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { GatherMetrics } from '../http/plugins/metrics.ts';
import { type Connection, Database } from '../kernel/database/database.ts';
import { watchHalfSentTransactions } from '../kernel/database/half-sent-transactions.ts';
import { DeliveryCounters } from '../kernel/jobs/delivery-counters.ts';
import { readMigrations } from '../kernel/schema/migrations.ts';
import { SecretBox } from '../kernel/secret-box.ts';
import { systemClock } from '../kernel/time/time.ts';
import { buildApp } from './app.ts';
import { listenError } from './listen-error.ts';
import { runWorker } from './worker.ts';

export type WebServer = {
  url: string;
  /** Marks the start as complete, so that `/readyz` becomes ready. */
  markStarted(): void;
  /** Finishes the requests in progress, then closes the server. */
  stop(): Promise<void>;
};

export type WebOptions = {
  config: Config;
  connection: Connection;
  logger: Logger;
  /** Whether this process also runs a worker. */
  runsWorker: boolean;
  gatherMetrics?: GatherMetrics;
};

// After an uncaught error a database connection may never be returned to its pool, so stopping does not wait forever.
const MAX_STOP_MS = 40_000;
// A burst of 1,000 connections filled Node's default of 511; clients beyond it repeat their SYN after 1 and 3 seconds.
const LISTEN_BACKLOG = 4096;

/** Starts the HTTP server of this process, and a worker if asked to. The database must be running and migrated. */
export async function startWeb({
  config,
  connection,
  logger,
  runsWorker,
  gatherMetrics,
}: WebOptions): Promise<WebServer> {
  // Only the message is logged: the error object refers to the client and so to its session keys.
  const onError = (error: Error) => logger.warn({ reason: error.message }, 'database connection lost');
  const db = new Database({ connection, poolSize: config.DATABASE_POOL_SIZE, onError });
  const counters = new DeliveryCounters();
  let started = false;
  let stopWorker = async () => {};
  let closeApp = async () => {};
  const hasWorker = runsWorker && config.WORKER_CONCURRENCY > 0;
  // A worker in this process has its own watch.
  const stopTransactionWatch = hasWorker ? async () => {} : watchHalfSentTransactions(db, logger);
  const stop = async () => {
    const stopped = Promise.all([closeApp(), stopWorker(), stopTransactionWatch()]).then(() => db.close());
    await Promise.race([stopped, pause(MAX_STOP_MS, undefined, { ref: false })]);
  };
  try {
    const app = await buildApp({
      db,
      clock: systemClock,
      logger,
      migrations: await readMigrations(),
      isStarted: () => started,
      counters,
      gatherMetrics,
      secrets: config.SECRETS_KEY && new SecretBox(config.SECRETS_KEY),
      allowPrivateAddresses: config.WEBHOOK_ALLOW_PRIVATE_ADDRESSES,
      maxRequestsPerMinute: config.REQUESTS_PER_MINUTE,
      maxConcurrentRequests: config.MAX_CONCURRENT_REQUESTS,
      maxConnections: config.MAX_CONNECTIONS,
      publicUrl: config.PUBLIC_URL,
      trustedProxies: config.TRUSTED_PROXIES,
      corsOrigins: config.CORS_ORIGINS,
      tokenSeconds: config.OAUTH_TOKEN_SECONDS,
      docs: config.DOCS,
      backupFolder: config.BACKUP_DIR,
    });
    closeApp = () => app.close();
    const listening = app.listen({ host: config.HOST, port: config.PORT, backlog: LISTEN_BACKLOG });
    const url = callableUrl(await listening.catch((error) => Promise.reject(listenError(error, config))));
    if (hasWorker) {
      stopWorker = await runWorker({ config, connection, clock: systemClock, logger, counters });
    }
    const markStarted = () => {
      started = true;
    };
    return { url, markStarted, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Replaces a wildcard address, which clients cannot call, by the loopback address. */
const callableUrl = (url: string) => url.replace(/\/\/(0\.0\.0\.0|\[::\])/, '//127.0.0.1');
