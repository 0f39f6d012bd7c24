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
import { runWorker } from './worker.ts';

export type Web = {
  url: string;
  /** Tells it that the start is complete, so that `/readyz` can say so. */
  markStarted(): void;
  /** Answers what is under way. */
  stop(): Promise<void>;
};

export type WebOptions = {
  config: Config;
  connection: Connection;
  logger: Logger;
  /** Whether this process also sends what is due. */
  sends: boolean;
  gatherMetrics?: GatherMetrics;
};

// After an uncaught error a connection to the database may never be given back. The bundled database is stopped anyway.
const MAX_STOP_MS = 40_000;
// A burst of 1,000 connections filled Node's default of 511: a peer beyond it sends its SYN again after 1 and 3 seconds.
const BACKLOG = 4096;

/** One process that answers requests, on a database that is there and up to date. */
export async function startWeb({ config, connection, logger, sends, gatherMetrics }: WebOptions): Promise<Web> {
  // The error itself carries the whole client, with the keys of its session.
  const onError = (error: Error) => logger.warn({ reason: error.message }, 'a database connection broke');
  const db = new Database({ connection, poolSize: config.DATABASE_POOL_SIZE, onError });
  const outcomes = new DeliveryCounters();
  let started = false;
  let stopWorker = async () => {};
  let closeApp = async () => {};
  const works = sends && config.WORKER_CONCURRENCY > 0;
  // A worker in this process does that as well.
  const leaveTransactions = works ? async () => {} : watchHalfSentTransactions(db, logger);
  const stop = async () => {
    const stopped = Promise.all([closeApp(), stopWorker(), leaveTransactions()]).then(() => db.close());
    await Promise.race([stopped, pause(MAX_STOP_MS, undefined, { ref: false })]);
  };
  try {
    const app = await buildApp({
      db,
      clock: systemClock,
      logger,
      migrations: await readMigrations(),
      isStarted: () => started,
      outcomes,
      gatherMetrics,
      secrets: config.SECRETS_KEY && new SecretBox(config.SECRETS_KEY),
      privateAddresses: config.WEBHOOK_ALLOW_PRIVATE_ADDRESSES,
      requestsPerMinute: config.REQUESTS_PER_MINUTE,
      requestsAtOnce: config.MAX_CONCURRENT_REQUESTS,
      connectionsAtOnce: config.MAX_CONNECTIONS,
      corsOrigins: config.CORS_ORIGINS,
      tokenSeconds: config.OAUTH_TOKEN_SECONDS,
      docs: config.DOCS,
    });
    closeApp = () => app.close();
    const url = reachable(await app.listen({ host: config.HOST, port: config.PORT, backlog: BACKLOG }));
    if (works) {
      stopWorker = await runWorker({ config, connection, clock: systemClock, logger, outcomes });
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

/** An address that listens everywhere is no address to call. */
const reachable = (url: string) => url.replace(/\/\/(0\.0\.0\.0|\[::\])/, '//127.0.0.1');
