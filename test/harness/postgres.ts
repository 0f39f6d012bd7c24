import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { readMigrations } from '../../src/kernel/schema/migrations.ts';
import { SERVICE_ROLE } from '../../src/postgres/bundled-postgres.ts';
import { setUpDatabase } from '../../src/server/database-setup.ts';
import { startTestServer } from './own-postgres.ts';

/** One server for the whole run, with a migrated template database that each test file clones. */

let server: Awaited<ReturnType<typeof startTestServer>> | undefined;
let dataDir: string | undefined;
let compileCache: string | undefined;
let sharedFolders: string | undefined;

export async function globalSetup(): Promise<void> {
  dataDir = await mkdtemp(join(tmpdir(), 'case-records-test-'));
  // No data has to outlive the run. Tests of durability start their own servers.
  const durability = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };
  // Tests that need statistics make them. Meanwhile autovacuum would look into hundreds of databases.
  const settings = { ...durability, max_connections: '200', autovacuum: 'off' };
  server = await startTestServer(dataDir, settings);
  const { connection } = server;
  const client = new pg.Client(connection);
  await client.connect();
  await client.query('CREATE DATABASE template');
  await client.end();
  const owner = { ...connection, database: 'template' };
  await setUpDatabase({ owner, roleToCreate: SERVICE_ROLE }, await readMigrations());
  process.env.TEST_POSTGRES = JSON.stringify(connection);
  // Each test file is a process that loads the whole service: 1.0 s of processor time, 0.6 s with the cache.
  compileCache = await mkdtemp(join(tmpdir(), 'case-records-compile-cache-'));
  process.env.NODE_COMPILE_CACHE = compileCache;
  // Filled by test/harness/data-directory.ts.
  sharedFolders = await mkdtemp(join(tmpdir(), 'case-records-shared-'));
  process.env.TEST_SHARED_FOLDERS = sharedFolders;
}

export async function globalTeardown(): Promise<void> {
  await server?.stop();
  for (const folder of [dataDir, compileCache, sharedFolders]) {
    if (folder) await rm(folder, { recursive: true, force: true });
  }
}
