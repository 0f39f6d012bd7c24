import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { connectClient } from '../database/connect.ts';
import type { Connection } from '../database/database.ts';

export type Migration = { version: number; name: string; sql: string; sha256: string };

const FOLDER = new URL('../../../migrations/', import.meta.url);
// Arbitrary numbers that every process uses.
const LOCK = 7_226_001;
const LOCK_OUTSIDE_TRANSACTION = 7_226_005;
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

/** Applies the missing migrations. Of concurrent processes one applies each, and the others wait for it. */
export async function migrate(
  connection: Connection,
  migrations: Migration[],
  onMigration?: (name: string) => void,
): Promise<string[]> {
  const client = await connectClient(connection, 'migrate');
  const applied: string[] = [];
  try {
    while (await applyNext());
    return applied;
  } finally {
    await client.end();
  }

  /** Returns false if no migration is missing. */
  async function applyNext(): Promise<boolean> {
    const next = await inTransaction(client, async () => {
      // A lock of the transaction, because a pooler may give the next one another session.
      await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
      await client.query(CREATE_TABLE);
      const [missing] = missingFrom(migrations, await appliedMigrations(client));
      if (missing && !isOutsideTransaction(missing)) await apply(missing, [missing.sql]);
      return missing;
    });
    if (next && isOutsideTransaction(next)) await applyOutsideTransaction(next);
    return next !== undefined;
  }

  async function apply(migration: Migration, statements: string[]): Promise<void> {
    const { version, name, sha256 } = migration;
    onMigration?.(name);
    try {
      for (const statement of statements) await client.query(statement);
      await client.query('INSERT INTO migrations (version, name, sha256) VALUES ($1, $2, $3)', [version, name, sha256]);
    } catch (error) {
      throw new Error(`Migration ${name} failed: ${(error as Error).message}`, { cause: error });
    }
    applied.push(name);
  }

  /**
   * An interruption can leave some statements applied, so each of them can be repeated. The lock is that of a
   * transaction on a second connection. It is polled: CREATE INDEX CONCURRENTLY would wait for a process that waits for
   * the lock in a statement, and never end. Nor may the query have parameters: it would keep a snapshot open.
   */
  async function applyOutsideTransaction(migration: Migration): Promise<void> {
    const holder = await connectClient(connection, 'migrate');
    const lock = () => holder.query(`SELECT pg_try_advisory_xact_lock(${LOCK_OUTSIDE_TRANSACTION}) AS locked`);
    try {
      await holder.query('BEGIN');
      while (!(await lock()).rows[0].locked) await sleep(LOCK_POLL_MS);
      const isApplied = (await appliedMigrations(client)).some(({ version }) => version === migration.version);
      if (!isApplied) await apply(migration, migration.sql.split(/;$/m));
    } finally {
      await holder.end();
    }
  }
}

const isOutsideTransaction = ({ sql }: Migration) => sql.startsWith(OUTSIDE_TRANSACTION);

async function inTransaction<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  try {
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
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
