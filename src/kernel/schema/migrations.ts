import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { connectClient } from '../database/connect.ts';
import type { Connection } from '../database/database.ts';
import { isDeadlock } from '../database/postgres-errors.ts';

export type Migration = { version: number; name: string; sql: string; sha256: string };

const FOLDER = new URL('../../../migrations/', import.meta.url);
// An arbitrary number that every process uses.
const LOCK = 7_226_001;
const LOCK_POLL_MS = 50;
// Every request for a table queues behind a migration that waits for it, so the migration gives up soon, lets the requests
// through, and tries again until the transactions that use the table have ended.
const LOCK_TIMEOUT_MS = 2_000;
const LOCK_PAUSE_MS = 1_000;
const REPORT_INTERVAL_MS = 60_000;
/** The first line of a migration whose statements each commit on their own, because one of them is CONCURRENTLY. */
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

export type MigrationProgress = {
  /** Called before each missing migration is applied. */
  onMigration?: ((name: string) => void) | undefined;
  /** Called whenever a migration has waited for another minute, because transactions use the tables that it locks. */
  onWait?: ((name: string) => void) | undefined;
};

/** Applies the missing migrations. Concurrent processes wait for the first one and then find nothing to do. */
export async function migrate(
  connection: Connection,
  migrations: Migration[],
  progress: MigrationProgress = {},
): Promise<string[]> {
  const client = await connectClient(connection, 'migrate');
  try {
    // A role or a database may have limits, and a large table takes longer. The version may not know all of them.
    await client.query(`SELECT set_config(name, '0', false) FROM pg_settings
      WHERE name IN ('statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout', 'lock_timeout')`);
    await acquireLock(client);
    await client.query(`CREATE TABLE IF NOT EXISTS migrations (
      version integer PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now())`);
    const pending = missingFrom(migrations, await appliedMigrations(client));
    for (const migration of pending) {
      progress.onMigration?.(migration.name);
      await apply(client, migration, progress);
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

/** Waits for the transactions that use a table without a lock that others would queue behind. It may take hours. */
export const isConcurrent = (statement: string): boolean =>
  /\bCONCURRENTLY\b/.test(statement.replaceAll(/^ *--.*$/gm, ''));

/**
 * Applies a migration in one transaction, so that an interruption leaves the database unchanged. One outside of a
 * transaction can be interrupted between two statements, so each of them can be repeated.
 */
async function apply(client: pg.Client, migration: Migration, progress: MigrationProgress): Promise<void> {
  const { version, name, sql, sha256 } = migration;
  const statements = separateStatements(sql);
  const inTransaction = transactionsThatRetry(client, () => progress.onWait?.(name));
  try {
    for (const statement of statements ?? []) {
      if (isConcurrent(statement)) await client.query(statement);
      else await inTransaction(() => client.query(statement));
    }
    await inTransaction(async () => {
      if (!statements) await client.query(sql);
      await client.query('INSERT INTO migrations (version, name, sha256) VALUES ($1, $2, $3)', [version, name, sha256]);
    });
  } catch (error) {
    throw new Error(`Migration ${name} failed: ${(error as Error).message}`, { cause: error });
  }
}

/** Returns a function that works in a transaction, again and again until it gets its locks, and reports each minute. */
function transactionsThatRetry(client: pg.Client, onWait: () => void) {
  let waitedMs = 0;
  return async (work: () => Promise<unknown>): Promise<void> => {
    for (;;) {
      const startedAt = performance.now();
      try {
        await client.query(`BEGIN; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
        await work();
        await client.query('COMMIT');
        return;
      } catch (error) {
        await client.query('ROLLBACK');
        if (!isLockFailure(error)) throw error;
      }
      await sleep(LOCK_PAUSE_MS);
      const before = waitedMs;
      waitedMs += performance.now() - startedAt;
      if (Math.floor(before / REPORT_INTERVAL_MS) < Math.floor(waitedMs / REPORT_INTERVAL_MS)) onWait();
    }
  };
}

/** A lock could not be taken in time, or two transactions waited for each other. */
const isLockFailure = (error: unknown): boolean => isDeadlock(error) || (error as { code?: string }).code === '55P03';
