import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { Database } from '../src/kernel/database/database.ts';
import { migrate, readMigrations } from '../src/kernel/schema/migrations.ts';
import { type ServerConnection, startBundledPostgres } from '../src/postgres/bundled-postgres.ts';
import { type FilledCompany, fillCases, makeCompanies, type Size } from './fill.ts';

/** A bundled database with the service's own settings, filled, in a folder that goes with it. */
export type Stage = {
  dataDir: string;
  connection: ServerConnection;
  databasePid: number;
  /** Without the time limit that the service's own connections have. */
  client: pg.Client;
  companies: FilledCompany[];
  /** Ends with the stage, in the reverse order. */
  with<T extends { stop(): Promise<void> }>(part: T): T;
  close(): Promise<void>;
};

export async function openStage({ companies: count, size }: { companies: number; size: Size }): Promise<Stage> {
  const undo: (() => Promise<unknown>)[] = [];
  let closing: Promise<void> | undefined;
  const undoAll = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  const close = () => {
    closing ??= undoAll();
    return closing;
  };
  // The bundled server outlives its parent, and nobody would come back for this one.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => close().finally(() => process.exit(1)));
  }
  try {
    const dataDir = await mkdtemp(join(tmpdir(), 'case-records-bench-'));
    undo.push(() => rm(dataDir, { recursive: true, force: true }));
    const postgres = await startBundledPostgres({ dataDir, log: () => {} });
    undo.push(() => postgres.stop());
    const { connection } = postgres;
    await migrate(connection, await readMigrations());
    const db = new Database({ connection, poolSize: 1 });
    const companies = await makeCompanies(db, count).finally(() => db.close());
    const client = new pg.Client(connection);
    await client.connect();
    undo.push(() => client.end());
    await fillCases(client, companies, size);
    return {
      dataDir,
      connection,
      databasePid: postgres.pid,
      client,
      companies,
      with: (part) => {
        undo.push(() => part.stop());
        return part;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
