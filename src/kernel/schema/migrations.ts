import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import { connectClient } from '../database/connect.ts';
import type { Connection } from '../database/database.ts';

export type Migration = { version: number; name: string; sql: string; sha256: string };

const FOLDER = new URL('../../../migrations/', import.meta.url);
// Any number will do, as long as every process takes the same one.
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

/** The names of those that the database lacks. Changes nothing. */
export async function pendingMigrations(connection: Connection, migrations: Migration[]): Promise<string[]> {
  const client = await connectClient(connection, 'migrate');
  try {
    const { rows } = await client.query("SELECT to_regclass('migrations') IS NOT NULL AS begun");
    return pendingOf(migrations, rows[0].begun ? await appliedOn(client) : []).map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/** Brings the schema up to date. Ten processes may call it at once: one works, the others wait and find it done. */
export async function migrate(connection: Connection, migrations: Migration[]): Promise<string[]> {
  const client = await connectClient(connection, 'migrate');
  try {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK]);
    await client.query(`CREATE TABLE IF NOT EXISTS migrations (
      version integer PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`);
    const pending = pendingOf(migrations, await appliedOn(client));
    for (const migration of pending) await apply(client, migration);
    return pending.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

const appliedOn = async (client: pg.Client) =>
  (await client.query<Applied>('SELECT version, name, sha256 FROM migrations')).rows;

type Applied = { version: number; name: string; sha256: string };

function pendingOf(migrations: Migration[], applied: Applied[]): Migration[] {
  const known = new Map(migrations.map((migration) => [migration.version, migration]));
  for (const { version, name, sha256 } of applied) {
    const migration = known.get(version);
    if (!migration)
      throw new Error(
        `The database has migration ${name}, which this version of the service does not know. Use a newer version.`,
      );
    if (migration.sha256 !== sha256) throw new Error(`Migration ${name} was changed after it had been applied.`);
  }
  const done = new Set(applied.map(({ version }) => version));
  return migrations.filter(({ version }) => !done.has(version));
}

/** All of a migration or nothing: an end in the middle leaves the database as it was before it. */
async function apply(client: pg.Client, { version, name, sql, sha256 }: Migration): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(sql);
    await client.query('INSERT INTO migrations (version, name, sha256) VALUES ($1, $2, $3)', [version, name, sha256]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw new Error(`Migration ${name} failed: ${(error as Error).message}`, { cause: error });
  }
}
