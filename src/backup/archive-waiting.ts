import { readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BackupError } from './backup-error.ts';
import { ignoreMissing } from './database-files.ts';
import { archiveWal } from './wal-archive.ts';
import { isHistory } from './wal-names.ts';

const READY = '.ready';
const DONE = '.done';
/** Below this share of free space on the disk of the database, and at most so much, WAL is given up. */
const MIN_FREE_SHARE = 0.05;
const MAX_MIN_FREE_BYTES = 1_000_000_000;

export type ArchivePass = {
  archived: number;
  /** The WAL files that were given up, because the database would have stopped on a full disk. */
  abandoned: string[];
  failure: Error | undefined;
};

/**
 * Archives the WAL files that the server has marked as ready, in their order, and marks them as done, after which the
 * server can remove them. With `archive_mode` on and no command of its own, the server leaves this to us. It happens
 * here and not in a command of the server because the server's user may reach neither this program nor the archive.
 */
export async function archiveWaiting(directory: string, archive: string): Promise<ArchivePass> {
  const wal = join(directory, 'pg_wal');
  const status = join(wal, 'archive_status');
  const pass: ArchivePass = { archived: 0, abandoned: [], failure: undefined };
  const ready = (await readdir(status))
    .filter((name) => name.endsWith(READY))
    .map((name) => name.slice(0, -READY.length));
  // A history goes first: without it, the segments of its timeline cannot be used.
  const ordered = [...ready.filter(isHistory), ...ready.filter((name) => !isHistory(name)).sort()];
  const isOnDiskOfDatabase = await areOnOneDisk(archive, wal);
  for (const name of ordered) {
    const mark = join(status, name);
    const source = join(wal, name);
    if (!(await stat(source).catch(ignoreMissing))) {
      // A crash can bring back the mark of a file that was removed.
      await rm(mark + READY, { force: true });
      continue;
    }
    try {
      if (isOnDiskOfDatabase && (await isAlmostFull(wal))) throw new BackupError('The disk is almost full.');
      await archiveWal(archive, name, source);
      pass.archived++;
    } catch (error) {
      pass.failure = error as Error;
      if (!(await isAlmostFull(wal))) return pass;
      pass.abandoned.push(name);
    }
    await rename(mark + READY, mark + DONE);
  }
  return pass;
}

const MAX_NAMES = 5;

/**
 * Returns what an operator has to know about a pass; undefined if all is well. `what` has no details, because a failure
 * that repeats is reported once an hour.
 */
export function failureOf({ abandoned, failure }: ArchivePass): { what: string; error: Error } | undefined {
  if (!failure) return undefined;
  if (abandoned.length === 0) return { what: 'Changes could not be archived', error: failure };
  const names = [...abandoned.slice(0, MAX_NAMES), ...(abandoned.length > MAX_NAMES ? ['…'] : [])].join(', ');
  return {
    what: 'The disk of the database is almost full, so WAL files were given up before they were archived. Make a backup',
    error: new Error(`${failure.message} (${names})`),
  };
}

async function areOnOneDisk(archive: string, wal: string): Promise<boolean> {
  const [target, source] = await Promise.all([stat(archive).catch(() => stat(dirname(archive))), stat(wal)]);
  return target.dev === source.dev;
}

async function isAlmostFull(folder: string): Promise<boolean> {
  const { bavail, bsize, blocks } = await statfs(folder);
  return bavail * bsize < Math.min(MAX_MIN_FREE_BYTES, blocks * bsize * MIN_FREE_SHARE);
}
