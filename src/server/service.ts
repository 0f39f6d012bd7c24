import { join } from 'node:path';
import type { Logger } from 'pino';
import { ensureDemo } from '../company/demo.ts';
import type { Demo } from '../company/demo-file.ts';
import type { Config } from '../config.ts';
import { type Connection, Database } from '../kernel/database/database.ts';
import { readMigrations } from '../kernel/schema/migrations.ts';
import { nodeAdvice, postgresAdvice, postgresVersion } from '../kernel/schema/security-releases.ts';
import { requireSafeServer } from '../kernel/schema/server-requirements.ts';
import { systemClock } from '../kernel/time/time.ts';
import { startBundledPostgres } from '../postgres/bundled-postgres.ts';
import { type DatabaseSetup, setUpDatabase } from './database-setup.ts';
import { bundledDatabase, externalDatabase } from './database-urls.ts';
import { startWeb } from './web.ts';
import { startWebProcesses } from './web-processes.ts';

export type Service = {
  url: string;
  /** Made by this start, the first on its data. */
  demo: Demo | undefined;
  /** Resolves with the reason when the service cannot go on. */
  failed: Promise<Error>;
  /** Answers what is under way, then stops the database that came with the service. */
  stop(): Promise<void>;
};

/** The database, its schema, and whoever answers requests, in this order; undone in the reverse one. */
export async function startService(config: Config, logger: Logger): Promise<Service> {
  const undo: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const { connection, setup, failed } = await openDatabase(config, logger, undo);
    await requireSafeServer(setup.owner);
    for (const name of await setUpDatabase(setup, await readMigrations())) {
      logger.info({ migration: name }, 'migrated');
    }
    // Only now, because the set-up may have made the role.
    const version = postgresVersion(await requireSafeServer(connection));
    const bundled = config.DATABASE_URL === undefined;
    for (const advice of [postgresAdvice(version, { bundled }), nodeAdvice(process.versions.node)]) {
      if (advice) logger.warn({ advice }, 'security fixes are missing');
    }
    const start = config.WEB_CONCURRENCY > 1 ? startWebProcesses : startWeb;
    const web = await start({ config, connection, logger, sends: true });
    undo.push(() => web.stop());
    const demo = bundled ? await withDemo(config, connection, web.url, logger) : undefined;
    web.markStarted();
    return { url: web.url, demo, failed, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns the demonstration company if this start made it. */
async function withDemo(
  { DATA_DIR }: Config,
  connection: Connection,
  baseUrl: string,
  logger: Logger,
): Promise<Demo | undefined> {
  const file = join(DATA_DIR, 'demo.json');
  const db = new Database({ connection, poolSize: 1 });
  try {
    const { created, renewed } = await ensureDemo(db, systemClock, { baseUrl, file });
    if (renewed)
      logger.warn({ file }, 'the file of the demonstration company was lost: it has a new key, in a new file');
    return created;
  } finally {
    await db.close();
  }
}

type Opened = { connection: Connection; setup: DatabaseSetup; failed: Promise<Error> };

async function openDatabase(config: Config, logger: Logger, undo: (() => Promise<void>)[]): Promise<Opened> {
  const own = externalDatabase(config);
  if (own) return { ...own, failed: new Promise(() => {}) };
  const log = (line: string) => logger.info({ database: line }, 'database');
  const postgres = await startBundledPostgres({ dataDir: config.DATA_DIR, log });
  undo.push(() => postgres.stop());
  return { ...bundledDatabase(config, postgres.connection), failed: postgres.exited };
}
