import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type pg from 'pg';
import { connectClient } from '../kernel/database/connect.ts';
import { lockFolder, startCopy, stopLeftoverCopy } from '../postgres/bundled-postgres.ts';
import { BackupError } from './backup-error.ts';
import { TRIAL_PREFIX } from './backup-folder.ts';
import { extractBackup } from './extract.ts';
import { readManifest } from './manifest.ts';

type VerifyOptions = {
  backup: string;
  /** Migrations that this version knows. */
  knownMigrations: readonly string[];
  onProgress: (text: string) => void;
  /** Called with what stops the server of the copy, in case that the process receives a signal. */
  onServer: (stop: () => Promise<void>) => void;
};

export type VerifiedBackup = {
  files: number;
  bytes: number;
  last_migration: string;
  tables_checked: number;
  indexes_checked: number;
  rows: Record<string, number>;
};

const COUNTED_TABLES = [
  'companies',
  'cases',
  'people',
  'interactions',
  'invoices',
  'payments',
  'appointments',
  'messages',
  'events',
] as const;

/** Checks every checksum, starts a server on a copy beside the backup, checks the database there, and removes it. */
export async function verifyBackup(options: VerifyOptions): Promise<VerifiedBackup> {
  const { backup, knownMigrations, onProgress, onServer } = options;
  const manifest = await readManifest(backup);
  const folder = dirname(resolve(backup));
  const lock = await lockFolder(`${folder}/verify`, 'command');
  try {
    for (const name of await readdir(folder)) {
      if (!name.startsWith(TRIAL_PREFIX)) continue;
      await stopLeftoverCopy(join(folder, name, 'postgres'));
      await rm(join(folder, name), { recursive: true, force: true });
    }
    const trial = await mkdtemp(join(folder, TRIAL_PREFIX));
    const directory = join(trial, 'postgres');
    onServer(() => stopLeftoverCopy(directory));
    try {
      await extractBackup({ backup, manifest, target: directory, onProgress });
      onProgress('Starting the copy …');
      const server = await startCopy({ logFolder: trial, directory, settings: {} });
      try {
        const client = await connectClient(server.connection, 'verify');
        try {
          const checked = await checkDatabase(client, knownMigrations, onProgress);
          const bytes = manifest.files.reduce((sum, { size }) => sum + size, 0);
          return { files: manifest.files.length, bytes, ...checked };
        } finally {
          await client.end();
        }
      } finally {
        await server.stop();
      }
    } finally {
      await stopLeftoverCopy(directory);
      await rm(trial, { recursive: true, force: true });
    }
  } finally {
    lock.release();
  }
}

async function checkDatabase(
  client: pg.Client,
  knownMigrations: readonly string[],
  onProgress: (text: string) => void,
): Promise<Omit<VerifiedBackup, 'files' | 'bytes'>> {
  const { rows: migrations } = await client.query('SELECT name FROM migrations ORDER BY version');
  const unknown = migrations.find(({ name }) => !knownMigrations.includes(name));
  if (unknown) throw new BackupError(`The backup has the migration ${unknown.name}: verify it with a newer version.`);
  await client.query('CREATE EXTENSION amcheck');
  await client.query('CREATE EXTENSION pg_prewarm');
  const { rows: relations } = await client.query<{ oid: number; name: string; kind: string; method: string | null }>(
    `SELECT c.oid, c.oid::regclass::text AS name, c.relkind AS kind, a.amname AS method
       FROM pg_class c LEFT JOIN pg_am a ON a.oid = c.relam
      WHERE c.relkind IN ('r', 't', 'i', 'm') AND c.relpersistence = 'p' ORDER BY c.oid`,
  );
  let tables = 0;
  let indexes = 0;
  for (const [i, { oid, name, kind, method }] of relations.entries()) {
    onProgress(`Checking ${name} (${i + 1} of ${relations.length})`);
    // Reading a page checks its checksum.
    await client.query("SELECT pg_prewarm($1::oid::regclass, 'buffer')", [oid]);
    const faults = await checkRelation(client, oid, kind === 'i' ? method : 'heap').catch((error: Error) => [
      error.message,
    ]);
    if (faults.length > 0) throw new BackupError(`${name} is damaged: ${faults[0]}. Use another backup.`);
    if (kind === 'i') indexes++;
    else tables++;
  }
  const rows: Record<string, number> = {};
  for (const table of COUNTED_TABLES) {
    const { rows: counted } = await client.query(`SELECT count(*)::float8 AS count FROM ${table}`);
    rows[table] = counted[0].count;
  }
  return {
    last_migration: migrations.at(-1)?.name ?? 'none',
    tables_checked: tables,
    indexes_checked: indexes,
    rows,
  };
}

/** Returns descriptions of damage. Throws as well, for damage of an index. */
async function checkRelation(client: pg.Client, oid: number, method: string | null): Promise<string[]> {
  if (method === 'btree') await client.query('SELECT bt_index_check($1::oid::regclass, heapallindexed => true)', [oid]);
  if (method === 'gin') await client.query('SELECT gin_index_check($1::oid::regclass)', [oid]);
  if (method !== 'heap') return [];
  const { rows } = await client.query('SELECT msg FROM verify_heapam($1::oid::regclass, check_toast => true)', [oid]);
  return rows.map(({ msg }) => msg);
}
