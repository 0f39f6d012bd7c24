import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { type Connection, Database } from '../kernel/database.ts';
import { pendingMigrations, readMigrations } from '../kernel/migrations.ts';
import { findBundledPostgres, startBundledPostgres } from '../postgres/bundled-postgres.ts';

export type Reached = { connection: Connection; leave(): Promise<void> };

/**
 * The database that the settings name: the operator's own, that of a running service, or the bundled one, started for
 * as long as the command takes. `create`: a bundled one is made where there is none.
 */
export async function reachDatabase(config: Config, { create }: { create: boolean }): Promise<Reached> {
  const leave = async () => {};
  if (config.DATABASE_URL !== undefined) return { connection: { connectionString: config.DATABASE_URL }, leave };
  const running = await findBundledPostgres(config.DATA_DIR);
  if (running) return { connection: running, leave };
  if (!create && !(await exists(join(config.DATA_DIR, 'postgres')))) {
    throw new Error(`There is no database in ${config.DATA_DIR} yet. Run "case-records migrate", or set DATABASE_URL.`);
  }
  const postgres = await startBundledPostgres({ dataDir: config.DATA_DIR, log: () => {} });
  return { connection: postgres.connection, leave: () => postgres.stop() };
}

/** The database of a service that may come and go: nothing is started for it. */
export async function runningDatabase(config: Config): Promise<Connection> {
  if (config.DATABASE_URL !== undefined) return { connectionString: config.DATABASE_URL };
  const running = await findBundledPostgres(config.DATA_DIR);
  if (!running)
    throw new Error(`No service runs on ${config.DATA_DIR}. Run "case-records serve", or set DATABASE_URL.`);
  return running;
}

export async function requireMigrated(connection: Connection): Promise<void> {
  const missing = await pendingMigrations(connection, await readMigrations());
  if (missing.length > 0) throw new Error(`The database lacks ${missing.join(', ')}. Run "case-records migrate".`);
}

/** Works on a database whose schema is the one of this version. */
export async function withDatabase<T>(config: Config, work: (db: Database) => Promise<T>): Promise<T> {
  const { connection, leave } = await reachDatabase(config, { create: false });
  try {
    await requireMigrated(connection);
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
