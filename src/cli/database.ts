import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config.ts';
import { connectClient } from '../kernel/database/connect.ts';
import { type Connection, Database } from '../kernel/database/database.ts';
import { type MigrationProgress, pendingMigrations, readMigrations } from '../kernel/schema/migrations.ts';
import { requireUsablePooler } from '../kernel/schema/pooler-requirements.ts';
import { systemClock } from '../kernel/time/time.ts';
import {
  DataDirectoryInUse,
  findBundledPostgres,
  isSwitchUnfinished,
  startBundledPostgres,
} from '../postgres/bundled-postgres.ts';
import { bundledDatabase, bundledSettings, type DatabaseAccess, externalDatabase } from '../server/database-urls.ts';
import { actUponRestore } from '../server/restored-database.ts';
import type { Invocation } from './command.ts';
import type { Terminal } from './terminal.ts';

export const migrationProgress = ({ showProgress }: Terminal): MigrationProgress => ({
  onMigration: (name) => showProgress(`Applying ${name} …`),
  onWait: (name) => showProgress(`${name} waits for a transaction that uses its tables: see pg_stat_activity …`),
});

const START_TIMEOUT_MS = 30_000;
const RETRY_INTERVAL_MS = 100;

type DatabaseOptions = Pick<Invocation, 'config' | 'terminal'>;
export type AcquiredDatabase = DatabaseAccess & { release(): Promise<void> };

/**
 * Returns the database of the settings: the operator's own, the one of a running service, or the bundled one, which is
 * started until `release`. `create`: creates the bundled database if it does not exist.
 */
export async function acquireDatabase({
  config,
  terminal,
  create,
}: DatabaseOptions & { create: boolean }): Promise<AcquiredDatabase> {
  const release = async () => {};
  const external = externalDatabase(config);
  if (external) return { ...external, release };
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const running = await findBundledPostgres(config.DATA_DIR);
    if (running) return { ...bundledDatabase(config, running), release };
    if (!create && !(await exists(join(config.DATA_DIR, 'postgres'))) && !(await isSwitchUnfinished(config.DATA_DIR))) {
      throw new Error(
        `There is no database in ${config.DATA_DIR} yet. Run "case-records migrate", or set DATABASE_URL.`,
      );
    }
    terminal.showProgress('Starting the database …');
    try {
      return await startForCommand(config);
    } catch (error) {
      // A service that is starting or stopping holds the directory: its database will soon be reachable or free.
      if (!(error instanceof DataDirectoryInUse) || performance.now() > deadline) throw error;
      await delay(RETRY_INTERVAL_MS);
    }
  }
}

async function startForCommand(config: Config): Promise<AcquiredDatabase> {
  const settings = bundledSettings(config);
  const starting = startBundledPostgres({ dataDir: config.DATA_DIR, log: () => {}, role: 'command', settings });
  const stop = () => starting.then((postgres) => postgres.stop());
  startedServers.add(stop);
  try {
    const { connection } = await starting;
    return {
      ...bundledDatabase(config, connection),
      release: async () => {
        await stop();
        startedServers.delete(stop);
      },
    };
  } catch (error) {
    startedServers.delete(stop);
    throw error;
  }
}

const startedServers = new Set<() => Promise<void>>();

/** Has a server stopped when the process receives a signal. */
export const stopAtSignal = (stop: () => Promise<void>): void => void startedServers.add(stop);

/** Stops the database servers that commands of this process have started, when the process receives a signal. */
export async function stopStartedServers(): Promise<void> {
  await Promise.allSettled([...startedServers].map((stop) => stop()));
}

export async function assertMigrated(connection: Connection): Promise<void> {
  const missing = await pendingMigrations(connection, await readMigrations());
  if (missing.length > 0)
    throw new Error(`The database lacks the migrations ${missing.join(', ')}. Run "case-records migrate".`);
}

/** Runs `work` on the database of the settings. Throws if migrations are missing. */
export async function withDatabase<T>(
  options: DatabaseOptions,
  work: (db: Database, access: DatabaseAccess) => Promise<T>,
): Promise<T> {
  const { config } = options;
  const { connection, setup, release } = await acquireDatabase({ ...options, create: false });
  try {
    await assertMigrated(setup.owner);
    if (config.DATABASE_URL === undefined) {
      await actUponRestore({ dataDir: config.DATA_DIR, owner: setup.owner, clock: systemClock });
    }
    const db = new Database({ connection, poolSize: 1 });
    try {
      return await work(db, { connection, setup });
    } finally {
      await db.close();
    }
  } finally {
    await release();
  }
}

/** As `withDatabase`, for work of the owner of the tables on connections that keep their session. */
export const withOwner = <T>(
  options: DatabaseOptions,
  work: (db: Database, owner: Connection) => Promise<T>,
): Promise<T> =>
  withDatabase(options, async (db, { setup: { owner } }) => {
    const client = await connectClient(owner, 'command');
    try {
      await requireUsablePooler(owner, client);
    } finally {
      await client.end();
    }
    return work(db, owner);
  });

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
