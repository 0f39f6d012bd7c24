import { once } from 'node:events';
import { chown, lchown, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncFolder } from '../kernel/durable-file.ts';
import { BundledPostgresError } from './bundled-postgres-error.ts';
import { majorOf } from './major-upgrade.ts';
import { type Installation, runProgram } from './server-program.ts';
import type { ServerUser } from './server-user.ts';

const DRAFT_SUFFIX = '.new-';

/** The folder of a database that is being restored. It gets its final name when it is complete. */
export const restoringDirectory = (dataDir: string): string => join(dataDir, 'postgres.restoring');

/** An empty database in place of one that is being restored would be taken for it. */
export async function assertNoInterruptedRestore(dataDir: string): Promise<void> {
  const directory = restoringDirectory(dataDir);
  if (!(await stat(directory).catch(() => undefined))) return;
  throw new BundledPostgresError(
    `A restore into ${dataDir} was interrupted. Run "case-records restore" again, or remove ${directory}.`,
  );
}

const INITDB_OPTIONS = [
  '--username=postgres',
  '--auth-local=trust',
  '--auth-host=reject',
  '--encoding=UTF8',
  '--locale=C',
  // Unlike the C locale it maps the case of all letters, and unlike ICU and libc it does not depend on a library.
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--data-checksums',
  '--no-instructions',
];

/** Returns whether the directory contains a database. Throws if its major version or its owner does not fit. */
export async function isInitialised(directory: string, major: string): Promise<boolean> {
  const stats = await stat(directory).catch(() => undefined);
  if (!stats) return false;
  const uid = process.getuid?.();
  if (uid !== 0 && uid !== stats.uid) {
    throw new BundledPostgresError(
      `${directory} belongs to the user with id ${stats.uid}: start the service as that user or as root.`,
    );
  }
  const version = await majorOf(directory);
  if (version === major) return true;
  if (version) {
    throw new BundledPostgresError(
      Number(version) < Number(major)
        ? `${directory} holds data of PostgreSQL ${version}, and this version of the service has ${major}. Run ` +
            '"case-records upgrade": it moves the data and keeps the old folder. "case-records upgrade --check" says ' +
            'before what will happen.'
        : `${directory} holds data of PostgreSQL ${version}, and this version of the service has only ${major}. ` +
            'Run a newer version of the service.',
    );
  }
  if ((await readdir(directory)).length > 0) {
    throw new BundledPostgresError(
      `${directory} is not empty, but it is not the data directory of a PostgreSQL. Move its files, or set DATA_DIR.`,
    );
  }
  return false;
}

/** Runs initdb in a draft directory and renames it at the end, so that an incomplete database is never used. */
export async function initialise(directory: string, installation: Installation): Promise<void> {
  const { user, serverLog } = installation;
  await removeDrafts(directory);
  const draft = await mkdtemp(directory + DRAFT_SUFFIX);
  if (user) await chown(draft, user.uid, user.gid);
  const [code] = await once(runProgram('initdb', INITDB_OPTIONS, draft, installation), 'exit');
  if (code !== 0) {
    throw new BundledPostgresError(
      `The bundled PostgreSQL could not create ${directory}: ${await serverLog.lastError()}. See ${serverLog.path}.`,
    );
  }
  await rename(draft, directory);
  await syncFolder(dirname(directory));
}

async function removeDrafts(directory: string): Promise<void> {
  const parent = dirname(directory);
  for (const name of await readdir(parent)) {
    if (!name.startsWith(basename(directory) + DRAFT_SUFFIX)) continue;
    // An initdb that outlived its service may still be writing there.
    await rm(join(parent, name), { recursive: true, force: true, maxRetries: 20 });
  }
}

/** Gives the directory to the server's user. A backup that root has restored belongs to root. */
export async function changeOwner(user: ServerUser, directory: string): Promise<void> {
  if ((await stat(directory)).uid === user.uid) return;
  for (const name of await readdir(directory, { recursive: true })) {
    await lchown(join(directory, name), user.uid, user.gid);
  }
  await chown(directory, user.uid, user.gid);
}
