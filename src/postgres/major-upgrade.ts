import { hash } from 'node:crypto';
import { access, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { syncFolder, writeDurably } from '../kernel/durable-file.ts';
import { BundledPostgresError, errorCode } from './bundled-postgres-error.ts';

/**
 * The folders of an upgrade to another major version. The new database is built in `postgres.upgrading`. When it is
 * complete and on the disk it gets a mark, `postgres` becomes `postgres.old-17`, and then the new one `postgres`. A
 * process that is killed before the first renaming leaves the old database in use; after it, the next start does the
 * second one. So no older version of the service can write to a database that has been copied already.
 */

const OLD_PREFIX = 'postgres.old-';
const COMPLETE_MARK = 'case-records-complete.json';

const databaseDirectory = (dataDir: string): string => join(dataDir, 'postgres');
export const upgradingDirectory = (dataDir: string): string => join(dataDir, 'postgres.upgrading');
export const keptDirectory = (dataDir: string, major: string): string => join(dataDir, OLD_PREFIX + major);

/** Returns the names of the old databases that upgrades have kept. */
export const keptDirectories = async (dataDir: string): Promise<string[]> =>
  (await readdir(dataDir)).filter((name) => name.startsWith(OLD_PREFIX)).sort();

/** Removes an old database, and the programs that npm has fetched for it. */
export async function removeKept(dataDir: string, name: string): Promise<void> {
  const programs = `postgresql-${name.slice(OLD_PREFIX.length)}.`;
  for (const entry of await readdir(dataDir)) {
    if (entry === name || entry.startsWith(programs)) await rm(join(dataDir, entry), { recursive: true, force: true });
  }
}

/** Returns the major version of the database; undefined if there is none. */
export async function majorOf(directory: string): Promise<string | undefined> {
  try {
    return (await readFile(join(directory, 'PG_VERSION'), 'utf8')).trim();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Puts the new database in the place of the old one. Everything in it must be on the disk, and both servers stopped. */
export async function switchDirectories(dataDir: string, oldMajor: string): Promise<void> {
  await setOldAside(dataDir, oldMajor);
  await finishSwitch(dataDir);
}

/** Marks the new database as complete, and does the first renaming. */
export async function setOldAside(dataDir: string, oldMajor: string): Promise<void> {
  const kept = keptDirectory(dataDir, oldMajor);
  const mark: Mark = { kept: basename(kept), state: await stateOf(databaseDirectory(dataDir)) };
  await writeDurably(join(upgradingDirectory(dataDir), COMPLETE_MARK), `${JSON.stringify(mark)}\n`, { mode: 0o600 });
  await rename(databaseDirectory(dataDir), kept);
  await syncFolder(dataDir);
}

/** The name and the state of the database that was copied. */
type Mark = { kept: string; state: string };

/** Every start of a server changes this file, so an old database that was used again after the copy is noticed. */
const stateOf = async (directory: string): Promise<string> =>
  hash('sha256', await readFile(join(directory, 'global', 'pg_control')));

/** Whether the new database is a complete copy of the old one that was set aside. */
export async function isCopyOfKept(dataDir: string): Promise<boolean> {
  try {
    const { kept, state }: Partial<Mark> = JSON.parse(
      await readFile(join(upgradingDirectory(dataDir), COMPLETE_MARK), 'utf8'),
    );
    if (kept === undefined) return false;
    return (await stateOf(join(dataDir, kept))) === state;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Whether a process was killed between the two renamings. */
export const isSwitchUnfinished = async (dataDir: string): Promise<boolean> =>
  !(await exists(databaseDirectory(dataDir))) && (await isCopyOfKept(dataDir));

/** Does the second renaming if a process was killed between the two. Returns whether it did. */
export async function finishSwitch(dataDir: string): Promise<boolean> {
  if (!(await isSwitchUnfinished(dataDir))) return false;
  const current = databaseDirectory(dataDir);
  await rename(upgradingDirectory(dataDir), current);
  await syncFolder(dataDir);
  await rm(join(current, COMPLETE_MARK));
  return true;
}

/** An empty database must not take the place of one that an upgrade has set aside. */
export async function assertNotSetAside(dataDir: string): Promise<void> {
  const left = [...(await keptDirectories(dataDir)).map((name) => join(dataDir, name)), upgradingDirectory(dataDir)];
  for (const directory of left) {
    if (!(await exists(directory))) continue;
    throw new BundledPostgresError(
      `There is no database in ${databaseDirectory(dataDir)}, but an upgrade has left ${directory}. If that is your ` +
        'database, rename it back. Otherwise move it away.',
    );
  }
}

/** Returns the bytes of all files of a folder. Files of a running server may disappear meanwhile. */
export async function sizeOf(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  let bytes = 0;
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    bytes += (await stat(join(entry.parentPath, entry.name)).catch(() => undefined))?.size ?? 0;
  }
  return bytes;
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
