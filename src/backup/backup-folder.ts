import { readdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { makeDurableFolder, syncFolder } from '../kernel/durable-file.ts';
import { DataDirectoryInUse, lockFolder } from '../postgres/bundled-postgres.ts';
import { BackupError, reasonOf } from './backup-error.ts';

/**
 * The folder that holds backups. A backup is a folder named after the time at which it was begun. While it is written
 * or removed it has another name, so an incomplete backup is never taken for a complete one.
 */

const BACKUP_NAME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;
const DRAFT_PREFIX = '.new-';
const REMOVED_PREFIX = '.removed-';
/** Folders in which `verify` starts a copy. */
export const TRIAL_PREFIX = '.verify-';

export const walArchiveFolder = (folder: string, systemIdentifier: string): string =>
  join(folder, `wal-${systemIdentifier}`);

export const draftName = (name: string): string => `${DRAFT_PREFIX}${name}`;

export const backupName = (at: Temporal.Instant): string =>
  at.round({ smallestUnit: 'second', roundingMode: 'trunc' }).toString().replaceAll(/[-:]/g, '');

/** Returns when the backup was begun; undefined if this is not the name of a backup. */
export function backupTime(name: string): Temporal.Instant | undefined {
  const [, year, month, day, hour, minute, second] = BACKUP_NAME.exec(name) ?? [];
  return year === undefined ? undefined : Temporal.Instant.from(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

/** Returns the names of the complete backups, oldest first. */
export async function backupNames(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => BACKUP_NAME.test(name)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new BackupError(`The folder ${folder} cannot be read: ${reasonOf(error)}.`);
  }
}

/** Throws if the folder does not exist, for commands that work on existing backups. */
export async function assertFolder(folder: string): Promise<void> {
  await readdir(folder).catch((error) => {
    throw new BackupError(`The folder ${folder} cannot be read: ${reasonOf(error)}.`);
  });
}

export async function ensureBackupFolder(folder: string): Promise<void> {
  try {
    await makeDurableFolder(folder, { mode: 0o700 });
  } catch (error) {
    throw new BackupError(`The folder ${folder} cannot be used for backups: ${reasonOf(error)}.`);
  }
}

/** Runs work that changes the folder, one process at a time, and removes what an interrupted process has left. */
export async function withBackupFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  await ensureBackupFolder(folder);
  const lock = await lockFolder(folder, 'command').catch((error: Error) => {
    if (!(error instanceof DataDirectoryInUse)) throw error;
    throw new BackupError(`Another backup or pruning works in ${folder}. Wait until it has ended, then try again.`);
  });
  try {
    for (const name of await readdir(folder)) {
      if (name.startsWith(DRAFT_PREFIX) || name.startsWith(REMOVED_PREFIX)) {
        await rm(join(folder, name), { recursive: true, force: true });
      }
    }
    return await work();
  } finally {
    lock.release();
  }
}

/** Removes a backup. If it is interrupted, what remains has a name that is not one of a backup. */
export async function removeBackup(folder: string, name: string): Promise<void> {
  const removed = join(folder, REMOVED_PREFIX + basename(name));
  await rename(join(folder, name), removed);
  await syncFolder(folder);
  await rm(removed, { recursive: true, force: true });
}
