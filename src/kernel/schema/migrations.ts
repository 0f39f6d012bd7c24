import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import { connectClient } from '../database/connect.ts';
import type { Connection } from '../database/database.ts';

export type Migration = { version: number; name: string; sql: string; sha256: string };

const FOLDER = new URL('../../../migrations/', import.meta.url);
// An arbitrary number that every process uses.
const LOCK = 7_226_001;

export async function readMigrations(folder: URL = FOLDER): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{4}_.+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, folder), 'utf8');
      return { version: Number(name.slice(0, 4)), name, sql, sha256: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/** Returns the names of the migrations that the database lacks. Changes nothing. */
export async function pendingMigrations(connection: Connection, migrations: Migration[]): Promise<string[]> {
  const client = await connectClient(connection, 'migrate');
  try {
    const { rows } = await client.query("SELECT to_regclass('migrations') IS NOT NULL AS exists");
    return missingFrom(migrations, rows[0].exists ? await appliedMigrations(client) : []).map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/** Applies the missing migrations. Of concurrent processes one applies each, and the others wait for it. */
export async function migrate(
  connection: Connection,
  migrations: Migration[],
  onMigration?: (name: string) => void,
): Promise<string[]> {
  const client = await connectClient(connection, 'migrate');
  const applied: string[] = [];
  try {
    for (let name = await applyNext(); name !== undefined; name = await applyNext()) applied.push(name);
    return applied;
  } finally {
    await client.end();
  }

  /** Applies a migration in one transaction, so that an interruption leaves the database unchanged. */
  async function applyNext(): Promise<string | undefined> {
    await client.query('BEGIN');
    let next: Migration | undefined;
    try {
      // A lock of the transaction, because a pooler may give the next one another session.
      await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
      await client.query(CREATE_TABLE);
      [next] = missingFrom(migrations, await appliedMigrations(client));
      if (next) {
        const { version, name, sql, sha256 } = next;
        onMigration?.(name);
        await client.query(sql);
        await client.query('INSERT INTO migrations (version, name, sha256) VALUES ($1, $2, $3)', [
          version,
          name,
          sha256,
        ]);
      }
      await client.query('COMMIT');
      return next?.name;
    } catch (error) {
      await client.query('ROLLBACK');
      if (!next) throw error;
      throw new Error(`Migration ${next.name} failed: ${(error as Error).message}`, { cause: error });
    }
  }
}

const CREATE_TABLE = `CREATE TABLE IF NOT EXISTS migrations (
  version integer PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`;

const appliedMigrations = async (client: pg.Client) =>
  (await client.query<Applied>('SELECT version, name, sha256 FROM migrations')).rows;

type Applied = { version: number; name: string; sha256: string };

function missingFrom(migrations: Migration[], applied: Applied[]): Migration[] {
  const known = new Map(migrations.map((migration) => [migration.version, migration]));
  for (const { version, name, sha256 } of applied) {
    const migration = known.get(version);
    if (!migration)
      throw new Error(
        `The database has migration ${name}, which this version of the service does not know. Run a newer version.`,
      );
    if (migration.sha256 !== sha256)
      throw new Error(`Migration ${name} was changed after it had been applied. Restore the original file.`);
  }
  const done = new Set(applied.map(({ version }) => version));
  return migrations.filter(({ version }) => !done.has(version));
}
