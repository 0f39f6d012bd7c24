import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { connectClient } from '../../src/kernel/database/connect.ts';
import { migrate, readMigrations } from '../../src/kernel/schema/migrations.ts';

/** Databases that earlier releases have written: scripts/earlier-database.ts. */

export type Fixture = {
  commit: string;
  token: string;
  case_id: string;
  answers: { path: string; body: Record<string, unknown>[] }[];
  migrations: { version: number; name: string; sha256: string }[];
  tables: Record<string, { columns: string; rows: string }>;
  sequences: Record<string, string>;
};

const FOLDER = new URL('../fixtures/', import.meta.url);
const server = JSON.parse(process.env.TEST_POSTGRES ?? 'null');

export const FIXTURES = readdirSync(FOLDER).filter((name) => name.startsWith('earlier-'));

export const readFixture = async (name: string): Promise<Fixture> =>
  JSON.parse(gunzipSync(await readFile(new URL(name, FOLDER))).toString());

/** Makes a database with the schema and the rows of the fixture. Returns its name. */
export async function restoreFixture(fixture: Fixture): Promise<string> {
  const database = `earlier_${randomBytes(6).toString('hex')}`;
  const admin = await connectClient(server, 'test');
  await admin.query(`CREATE DATABASE ${database}`);
  await admin.end();
  const connection = { ...server, database };
  const known = (await readMigrations()).slice(0, fixture.migrations.length);
  assert.deepEqual(
    known.map(({ version, name, sha256 }) => ({ version, name, sha256 })),
    fixture.migrations,
    'migrations that have landed do not change',
  );
  await migrate(connection, known);
  const client = await connectClient(connection, 'test');
  try {
    await client.query('SET session_replication_role = replica');
    await client.query('TRUNCATE default_tags');
    for (const [table, { columns, rows }] of Object.entries(fixture.tables)) {
      await client.query(
        `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM json_populate_recordset(NULL::${table}, $1)`,
        [rows],
      );
    }
    for (const [name, value] of Object.entries(fixture.sequences)) {
      if (value !== null) await client.query('SELECT setval($1, $2)', [name, value]);
    }
  } finally {
    await client.end();
  }
  return database;
}
