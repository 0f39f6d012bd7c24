import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config.ts';
import { type Connection, Database } from '../kernel/database/database.ts';
import { pendingMigrations, readMigrations } from '../kernel/schema/migrations.ts';
import { DataDirectoryInUse, findBundledPostgres, startBundledPostgres } from '../postgres/bundled-postgres.ts';
import { bundledDatabase, type Databases, ownDatabase } from '../server/database-urls.ts';

const START_MS = 30_000;
const LOOK_AGAIN_MS = 100;

export type Reached = Databases & { leave(): Promise<void> };

/**
 * The database that the settings name: the operator's own, that of a running service, or the bundled one, started for
 * as long as the command takes. `create`: a bundled one is made where there is none.
 */
export async function reachDatabase(config: Config, { create }: { create: boolean }): Promise<Reached> {
  const leave = async () => {};
  const own = ownDatabase(config);
  if (own) return { ...own, leave };
  const patience = performance.now() + START_MS;
  for (;;) {
    const running = await findBundledPostgres(config.DATA_DIR);
    if (running) return { ...bundledDatabase(config, running), leave };
    if (!create && !(await exists(join(config.DATA_DIR, 'postgres')))) {
      throw new Error(
        `There is no database in ${config.DATA_DIR} yet. Run "case-records migrate", or set DATABASE_URL.`,
      );
    }
    try {
      return await startForCommand(config);
    } catch (error) {
      // A service that is just starting, or stopping, has it: its database answers soon, or is free.
      if (!(error instanceof DataDirectoryInUse) || performance.now() > patience) throw error;
      await delay(LOOK_AGAIN_MS);
    }
  }
}

async function startForCommand(config: Config): Promise<Reached> {
  const starting = startBundledPostgres({ dataDir: config.DATA_DIR, log: () => {}, role: 'command' });
  const stop = () => starting.then((postgres) => postgres.stop());
  started.add(stop);
  try {
    const { connection } = await starting;
    return {
      ...bundledDatabase(config, connection),
      leave: async () => {
        await stop();
        started.delete(stop);
      },
    };
  } catch (error) {
    started.delete(stop);
    throw error;
  }
}

const started = new Set<() => Promise<void>>();

/** For a command that is told to end: what it has started ends with it. */
export async function stopStarted(): Promise<void> {
  await Promise.allSettled([...started].map((stop) => stop()));
}

export async function requireMigrated(connection: Connection): Promise<void> {
  const missing = await pendingMigrations(connection, await readMigrations());
  if (missing.length > 0) throw new Error(`The database lacks ${missing.join(', ')}. Run "case-records migrate".`);
}

/** Works on a database whose schema is the one of this version. */
export async function withDatabase<T>(config: Config, work: (db: Database) => Promise<T>): Promise<T> {
  const { connection, setup, leave } = await reachDatabase(config, { create: false });
  try {
    await requireMigrated(setup.owner);
    const db = new Database({ connection, poolSize: 1 });
    try {
      return await work(db);
    } finally {
      await db.close();
    }
  } finally {
    await leave();
  }
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
