import { join } from 'node:path';
import type { Logger } from 'pino';
import { buildApp } from './app.ts';
import { createFirstDemo, type Demo, refreshDemo } from './company/demo.ts';
import type { Config } from './config.ts';
import { bundledDatabase, ownDatabase } from './databases.ts';
import { type Connection, Database } from './kernel/database.ts';
import { type Setup, setUpDatabase } from './kernel/database-setup.ts';
import { readMigrations } from './kernel/migrations.ts';
import { Outcomes } from './kernel/outcomes.ts';
import { SecretBox } from './kernel/secret-box.ts';
import { requireSafeServer } from './kernel/server-requirements.ts';
import { systemClock } from './kernel/time.ts';
import { startBundledPostgres } from './postgres/bundled-postgres.ts';
import { runWorker } from './worker.ts';

export type Service = {
  url: string;
  /** Made by this start, the first on its data. */
  demo: Demo | undefined;
  /** Resolves with the reason when the service cannot go on. */
  failed: Promise<Error>;
  /** Answers what is under way, then stops the database that came with the service. */
  stop(): Promise<void>;
};

/** The database, its schema, the app and the port, in this order; undone in the reverse one. */
export async function startService(config: Config, logger: Logger): Promise<Service> {
  const undo: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const { connection, setup, failed } = await openDatabase(config, logger, undo);
    const migrations = await readMigrations();
    await requireSafeServer(setup.owner);
    for (const name of await setUpDatabase(setup, migrations)) logger.info({ migration: name }, 'migrated');

    // The error itself carries the whole client, with the keys of its session.
    const onError = (error: Error) => logger.warn({ reason: error.message }, 'a database connection broke');
    const db = new Database({ connection, poolSize: config.DATABASE_POOL_SIZE, onError });
    undo.push(() => db.close());
    const outcomes = new Outcomes();
    const secrets = config.SECRETS_KEY && new SecretBox(config.SECRETS_KEY);
    const app = await buildApp({
      db,
      clock: systemClock,
      logger,
      migrations,
      outcomes,
      secrets,
      privateAddresses: config.WEBHOOK_PRIVATE_ADDRESSES,
      requestsPerMinute: config.REQUESTS_PER_MINUTE,
      corsOrigins: config.CORS_ORIGINS,
      tokenSeconds: config.OAUTH_TOKEN_SECONDS,
    });
    let stopWorker = async () => {};
    undo.push(async () => {
      await Promise.all([app.close(), stopWorker()]);
    });
    const url = reachable(await app.listen({ host: config.HOST, port: config.PORT }));
    if (config.WORKER_CONCURRENCY > 0) {
      stopWorker = await runWorker({ config, connection, clock: systemClock, logger, outcomes });
    }

    const file = join(config.DATA_DIR, 'demo.json');
    const bundled = config.DATABASE_URL === undefined;
    const demo = bundled ? await createFirstDemo(db, systemClock, { baseUrl: url, file }) : undefined;
    if (bundled && !demo) await refreshDemo(file, url);
    return { url, demo, failed, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Opened = { connection: Connection; setup: Setup; failed: Promise<Error> };

async function openDatabase(config: Config, logger: Logger, undo: (() => Promise<void>)[]): Promise<Opened> {
  const own = ownDatabase(config);
  if (own) return { ...own, failed: new Promise(() => {}) };
  const log = (line: string) => logger.info({ database: line }, 'database');
  const postgres = await startBundledPostgres({ dataDir: config.DATA_DIR, log });
  undo.push(() => postgres.stop());
  return { ...bundledDatabase(config, postgres.connection), failed: postgres.exited };
}

/** An address that listens everywhere is no address to call. */
const reachable = (url: string) => url.replace(/\/\/(0\.0\.0\.0|\[::\])/, '//127.0.0.1');
