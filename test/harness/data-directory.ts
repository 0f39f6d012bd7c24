import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readMigrations } from '../../src/kernel/schema/migrations.ts';
import { SERVICE_ROLE, startBundledPostgres } from '../../src/postgres/bundled-postgres.ts';
import { setUpDatabase } from '../../src/server/database-setup.ts';
import { startProcess, temporaryDirectory } from './service.ts';
import { until } from './until.ts';

const MAX_MAKING_MS = 120_000;

/**
 * Data folders that are copied instead of made: `initdb`, the migrations and the demonstration company took 4 s of
 * processor time in each test file with a service. Tests of a first start start with an empty folder.
 */

const MAKERS = {
  /** The bundled database without a table. */
  initialised: async (dataDir: string) => {
    const server = await startBundledPostgres({ dataDir, log: () => {}, settings: { fsync: 'off' } });
    await server.stop();
  },
  /** The bundled database at today's schema, without a company. */
  migrated: async (dataDir: string) => {
    await makeDataDirectory('initialised', dataDir);
    const server = await startBundledPostgres({ dataDir, log: () => {}, settings: { fsync: 'off' } });
    await setUpDatabase({ owner: server.connection, roleToCreate: SERVICE_ROLE }, await readMigrations());
    await server.stop();
  },
  /** What the first start of the service leaves, with the demonstration company. */
  started: async (dataDir: string) => {
    const service = await startProcess({ DATA_DIR: dataDir, WORKER_CONCURRENCY: '0' });
    const code = await service.stop();
    if (code !== 0) throw new Error(`The service ended with ${code}: ${service.output.join('\n')}`);
  },
};

type Kind = keyof typeof MAKERS;

/** Makes a data folder at the path, whose parent exists. */
export async function makeDataDirectory(kind: Kind, path: string): Promise<void> {
  await copyFolder(await sharedFolder(kind, MAKERS[kind]), path);
}

/** Keeps the owners: as root, the database runs as another user. */
export async function copyFolder(source: string, target: string): Promise<void> {
  await mkdir(target, { mode: 0o700, recursive: true });
  await promisify(execFile)('cp', ['-a', `${source}/.`, target]);
}

/** A data folder in a temporary one. */
export async function temporaryDataDirectory(kind: Kind): ReturnType<typeof temporaryDirectory> {
  const folder = await temporaryDirectory();
  await makeDataDirectory(kind, folder.path);
  return folder;
}

/** A folder that the first process of the run makes that needs it, while others wait for it. Nobody may change it. */
export async function sharedFolder(name: string, make: (draft: string) => Promise<unknown>): Promise<string> {
  const folder = process.env.TEST_SHARED_FOLDERS;
  if (folder === undefined) throw new Error('Run the tests with npm test, which makes a folder for this.');
  const [path, draft] = [join(folder, name), join(folder, `${name}.draft`)];
  while (!existsSync(path)) {
    if (!(await isNew(draft))) {
      await until(() => !existsSync(draft), `another process to make ${path}`, MAX_MAKING_MS);
      continue;
    }
    try {
      // Another process may have ended in between.
      if (existsSync(path)) continue;
      await make(draft);
      await rename(draft, path);
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  }
  return path;
}

/** Creates the folder, and returns false if another process was faster. */
const isNew = (path: string): Promise<boolean> =>
  mkdir(path, { mode: 0o700 }).then(
    () => true,
    (error) => {
      if (error.code === 'EEXIST') return false;
      throw error;
    },
  );
