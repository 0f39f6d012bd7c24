import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { type BundledPostgres, startBundledPostgres } from '../../src/postgres/bundled-postgres.ts';
import { releaseIn } from '../../src/postgres/release.ts';
import { startOldDatabase } from './old-database.ts';

type TestServer = Pick<BundledPostgres, 'connection' | 'stop'>;

/**
 * Starts the bundled PostgreSQL in a folder, or the one whose programs are in TEST_POSTGRES_PROGRAMS, such as
 * /usr/lib/postgresql/15/bin, as an operator may have it.
 */
export async function startTestServer(dataDir: string, settings: Record<string, string>): Promise<TestServer> {
  const programs = process.env.TEST_POSTGRES_PROGRAMS;
  if (!programs) return startBundledPostgres({ dataDir, log: () => {}, settings });
  // As root, the programs before version 16 return to their folder by its path, as another user.
  await chmod(dataDir, 0o755);
  const folder = join(programs, '..');
  return startOldDatabase(dataDir, releaseIn(folder, folder.slice(folder.lastIndexOf('/') + 1)), settings);
}
