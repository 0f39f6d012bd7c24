import { join } from 'node:path';
import type { Logger } from 'pino';
import { linkAddress } from '../company/credentials/links/verbs.ts';
import { createDemoLink, ensureDemo } from '../company/demo.ts';
import type { Config } from '../config.ts';
import { type Connection, Database } from '../kernel/database/database.ts';
import { pendingMigrations, readMigrations } from '../kernel/schema/migrations.ts';
import { nodeAdvice, postgresAdvice, postgresVersion } from '../kernel/schema/security-releases.ts';
import { requireSafeServer } from '../kernel/schema/server-requirements.ts';
import { systemClock } from '../kernel/time/time.ts';
import { startBundledPostgres } from '../postgres/bundled-postgres.ts';
import { startBackups } from './backups.ts';
import { type DatabaseSetup, setUpDatabase } from './database-setup.ts';
import { bundledDatabase, bundledSettings, externalDatabase } from './database-urls.ts';
import { actUponRestore } from './restored-database.ts';
import { isShownToPerson, logServiceStart, type StartedService } from './start-summary.ts';
import { startWeb } from './web.ts';
import { startWebProcesses } from './web-processes.ts';

export type Service = {
  /** Resolves with the reason if the service cannot continue. */
  failed: Promise<Error>;
  /** Finishes the requests in progress, then stops the bundled database. */
  stop(): Promise<void>;
};

/** Starts the database, migrates it, then starts the web server. Stopping reverses the order. */
export async function startService(config: Config, logger: Logger): Promise<Service> {
  const cleanups: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
  };
  try {
    const bundled = config.DATABASE_URL === undefined;
    const { connection, setup, failed } = await openDatabase(config, logger, cleanups);
    await requireSafeServer(setup.owner);
    const known = await readMigrations();
    const migrations = await setUpDatabase({ ...setup, mayLackMigrations: true }, known, {
      onWait: (migration) => logger.warn({ migration }, 'a migration waits for a transaction: see pg_stat_activity'),
    });
    if (migrations.length > 0) logger.info({ migrations }, 'migrated');
    const missing = await pendingMigrations(setup.owner, known);
    if (missing.length > 0) logger.warn({ missing }, 'migrations are missing: run "case-records migrate"');
    if (bundled) {
      const restored = await actUponRestore({ dataDir: config.DATA_DIR, owner: setup.owner, clock: systemClock });
      if (restored) logger.warn(restored, 'restored from a backup; what was due waits: run "case-records held list"');
    }
    // Checked after the migrations, because they may have created the role of the service.
    const version = postgresVersion(await requireSafeServer(connection));
    for (const advice of [postgresAdvice(version, { bundled }), nodeAdvice(process.versions.node)]) {
      if (advice) logger.warn({ advice }, 'security fixes are missing');
    }
    if (bundled) cleanups.push(await startBackups({ config, owner: setup.owner, clock: systemClock, logger }));
    const start = config.WEB_CONCURRENCY > 1 ? startWebProcesses : startWeb;
    const web = await start({ config, connection, logger, runsWorker: true });
    cleanups.push(() => web.stop());
    const demo = bundled ? await prepareDemo(config, connection, config.PUBLIC_URL ?? web.url, logger) : undefined;
    web.markStarted();
    logServiceStart(logger, config, { url: web.url, demo });
    return { failed, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Creates the demonstration company on the first start. Returns it unless it was removed or its key revoked. */
async function prepareDemo(
  config: Config,
  connection: Connection,
  baseUrl: string,
  logger: Logger,
): Promise<StartedService['demo']> {
  const file = join(config.DATA_DIR, 'demo.json');
  // Browsers create passkeys for names only.
  const localUrl = config.PUBLIC_URL ?? baseUrl.replace('//127.0.0.1', '//localhost');
  const db = new Database({ connection, poolSize: 1 });
  try {
    const { created, renewed, kept } = await ensureDemo(db, systemClock, { baseUrl, file });
    if (renewed) logger.warn({ file }, 'the demo file was missing or damaged: wrote a new one with a new API key');
    const demo = created ?? renewed ?? kept;
    // Only a person at this machine can use the link, so it is made only if one is looking.
    const secret = created && isShownToPerson(config) && (await createDemoLink(db, systemClock, file));
    const signIn = secret ? linkAddress(localUrl, secret) : undefined;
    return demo && { token: demo.token, case_id: demo.case_id, isNew: created !== undefined, signIn };
  } finally {
    await db.close();
  }
}

type OpenedDatabase = { connection: Connection; setup: DatabaseSetup; failed: Promise<Error> };

async function openDatabase(
  config: Config,
  logger: Logger,
  cleanups: (() => Promise<void>)[],
): Promise<OpenedDatabase> {
  const external = externalDatabase(config);
  if (external) return { ...external, failed: new Promise(() => {}) };
  const log = (line: string) => logger.info(line);
  const postgres = await startBundledPostgres({ dataDir: config.DATA_DIR, log, settings: bundledSettings(config) });
  cleanups.push(() => postgres.stop());
  return { ...bundledDatabase(config, postgres.connection), failed: postgres.exited };
}
