import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { connectClient } from '../database/connect.ts';
import type { Connection } from '../database/database.ts';

export type Migration = { version: number; name: string; sql: string; sha256: string };

const FOLDER = new URL('../../../migrations/', import.meta.url);
// An arbitrary number that every process uses.
const LOCK = 7_226_001;
const LOCK_POLL_MS = 50;
/** The first line of a migration whose statements each commit on their own, for example to build an index. */
const OUTSIDE_TRANSACTION = '-- outside of a transaction\n';

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

/** Applies the missing migrations. Concurrent processes wait for the first one and then find nothing to do. */
export async function migrate(
  connection: Connection,
  migrations: Migration[],
  onMigration?: (name: string) => void,
): Promise<string[]> {
  const client = await connectClient(connection, 'migrate');
  try {
    await acquireLock(client);
    await client.query(`CREATE TABLE IF NOT EXISTS migrations (
      version integer PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now())`);
    const pending = missingFrom(migrations, await appliedMigrations(client));
    for (const migration of pending) {
      onMigration?.(migration.name);
      await apply(client, migration);
    }
    return pending.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/** Polls: CREATE INDEX CONCURRENTLY would wait for a process that waits for the lock in a statement, and never end. */
async function acquireLock(client: pg.Client): Promise<void> {
  const isLocked = async () => (await client.query('SELECT pg_try_advisory_lock($1) AS locked', [LOCK])).rows[0].locked;
  while (!(await isLocked())) await sleep(LOCK_POLL_MS);
}

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

/** Returns the statements of a migration that runs outside of a transaction; undefined if it runs in one. */
export const separateStatements = (sql: string): string[] | undefined =>
  sql.startsWith(OUTSIDE_TRANSACTION) ? sql.split(/;$/m) : undefined;

/**
 * Applies a migration in one transaction, so that an interruption leaves the database unchanged. One outside of a
 * transaction can be interrupted between two statements, so each of them can be repeated.
 */
async function apply(client: pg.Client, { version, name, sql, sha256 }: Migration): Promise<void> {
  const record = () =>
    client.query('INSERT INTO migrations (version, name, sha256) VALUES ($1, $2, $3)', [version, name, sha256]);
  try {
    const statements = separateStatements(sql);
    if (statements) {
      for (const statement of statements) await client.query(statement);
      await record();
      return;
    }
    await client.query('BEGIN');
    await client.query(sql);
    await record();
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw new Error(`Migration ${name} failed: ${(error as Error).message}`, { cause: error });
  }
}
