import { join, resolve } from 'node:path';
import { BackupError } from './backup-error.ts';
import { backupNames, backupTime, walArchiveFolder } from './backup-folder.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { followingWal } from './wal-archive.ts';

export type ListedBackup = {
  name: string;
  folder: string;
  manifest: Manifest;
  /** The last moment to which it can be restored, with the WAL that is archived beside it. */
  until: Temporal.Instant;
};

/** Returns the complete backups of a folder, oldest first. A backup whose manifest cannot be read is an error. */
export async function listBackups(folder: string): Promise<ListedBackup[]> {
  const backups: ListedBackup[] = [];
  for (const name of await backupNames(folder)) backups.push(await findBackup(folder, name));
  return backups;
}

async function findBackup(folder: string, name: string): Promise<ListedBackup> {
  const manifest = await readManifest(join(folder, name));
  const archive = walArchiveFolder(folder, manifest.system_identifier);
  const { until } = await followingWal(archive, manifest.wal.last, manifest.wal.segment_bytes);
  return { name, folder, manifest, until: until ?? Temporal.Instant.from(manifest.stopped_at) };
}

/**
 * Returns the backup to restore: `path` is one, or a folder of several. Of several it is the newest one that was
 * complete at the time. Throws with the times that can be reached if there is none.
 */
export async function chooseBackup(path: string, at: Temporal.Instant | undefined): Promise<ListedBackup> {
  const absolute = resolve(path);
  const name = absolute.split('/').at(-1) as string;
  const backups = backupTime(name) ? [await findBackup(resolve(absolute, '..'), name)] : await listBackups(absolute);
  if (backups.length === 0) throw new BackupError(`There is no backup in ${absolute}.`);
  if (!at) return backups.at(-1) as ListedBackup;
  const chosen = backups.findLast(({ manifest, until }) => isBefore(manifest.stopped_at, at) && isBefore(at, until));
  if (chosen) return chosen;
  throw new BackupError(
    `${format(at)} cannot be reached. ${backups
      .map(({ name, manifest, until }) => `${name}: from ${format(manifest.stopped_at)} to ${format(until)}.`)
      .join(' ')}`,
  );
}

type Moment = Temporal.Instant | string;
const isBefore = (a: Moment, b: Moment): boolean => Temporal.Instant.compare(a, b) <= 0;

/** Returns the moment with milliseconds, in UTC. */
export const format = (moment: Moment): string =>
  Temporal.Instant.from(moment).toString({ smallestUnit: 'millisecond' });
