import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { Database } from '../src/kernel/database/database.ts';
import { migrate, readMigrations } from '../src/kernel/schema/migrations.ts';
import { type ServerConnection, startBundledPostgres } from '../src/postgres/bundled-postgres.ts';
import { createCompanies, type DatasetSize, type SeededCompany, seedCases } from './seed.ts';

/** A seeded bundled database in a temporary folder, and the processes that are stopped together with it. */
export type Environment = {
  dataDir: string;
  connection: ServerConnection;
  databasePid: number;
  /** A connection without the statement timeout of the service. */
  client: pg.Client;
  companies: SeededCompany[];
  /** Stops the part when the environment closes, in reverse order. */
  use<T extends { stop(): Promise<void> }>(part: T): T;
  close(): Promise<void>;
};

/** Several servers and pgbench share the database, which otherwise has the settings of the service. */
const MORE_CONNECTIONS = { max_connections: '200' };

type Seed = (client: pg.Client, companies: SeededCompany[], connection: ServerConnection) => Promise<unknown>;

type EnvironmentOptions = {
  companies: number;
  /** Keeps the database in this folder, and uses the one that is there. Otherwise the folder is removed at the end. */
  dir?: string | undefined;
} & ({ size: DatasetSize } | { seed: Seed });

export async function openEnvironment({ companies: count, dir, ...options }: EnvironmentOptions): Promise<Environment> {
  const seed: Seed =
    'seed' in options ? options.seed : (client, companies) => seedCases(client, companies, options.size);
  const cleanups: (() => Promise<unknown>)[] = [];
  let closing: Promise<void> | undefined;
  const cleanUp = async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  };
  const close = () => {
    closing ??= cleanUp();
    return closing;
  };
  // The bundled server outlives its parent, so it has to be stopped here.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => close().finally(() => process.exit(1)));
  }
  try {
    const dataDir = dir === undefined ? await mkdtemp(join(tmpdir(), 'case-records-bench-')) : resolve(dir);
    if (dir === undefined) cleanups.push(() => rm(dataDir, { recursive: true, force: true }));
    const postgres = await startBundledPostgres({ dataDir, log: () => {}, settings: MORE_CONNECTIONS });
    cleanups.push(() => postgres.stop());
    const { connection } = postgres;
    await migrate(connection, await readMigrations());
    const client = new pg.Client(connection);
    await client.connect();
    cleanups.push(() => client.end());
    // Written last, so a folder that was not filled to the end fails with the names of its companies.
    const file = join(dataDir, 'companies.json');
    const companies: SeededCompany[] = JSON.parse(await readFile(file, 'utf8').catch(() => '[]'));
    if (companies.length === 0) {
      const db = new Database({ connection, poolSize: 1 });
      companies.push(...(await createCompanies(db, count).finally(() => db.close())));
      await seed(client, companies, connection);
      await writeFile(file, JSON.stringify(companies));
    }
    return {
      dataDir,
      connection,
      databasePid: postgres.pid,
      client,
      companies,
      use: (part) => {
        cleanups.push(() => part.stop());
        return part;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
