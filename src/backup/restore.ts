import { randomUUID } from 'node:crypto';
import { chown, mkdir, open, readdir, readFile, realpath, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDurableFolder, syncFolder, syncTree, writeDurably } from '../kernel/durable-file.ts';
import {
  type CopyServer,
  installedRelease,
  lockFolder,
  restoringDirectory,
  startCopy,
  stopLeftoverCopy,
} from '../postgres/bundled-postgres.ts';
import { BackupError, reasonOf } from './backup-error.ts';
import { walArchiveFolder } from './backup-folder.ts';
import { ignoreMissing, RESTORE_MARK } from './database-files.ts';
import { extractBackup } from './extract.ts';
import { chooseBackup, type ListedBackup } from './list.ts';
import type { Manifest } from './manifest.ts';
import { archivedNames, readArchivedWal } from './wal-archive.ts';
import { type ArchivedFile, isHistory, parsePosition, parseSegment } from './wal-names.ts';

type RestoreOptions = {
  /** A backup, or a folder of backups. */
  path: string;
  at: Temporal.Instant | undefined;
  dataDir: string;
  onProgress: (text: string) => void;
  /** Called with what stops the server of the copy, in case that the process receives a signal. */
  onServer: (stop: () => Promise<void>) => void;
};

export type RestoredDatabase = {
  backup: string;
  /** The chosen time, or that of the last archived change. */
  state_at: string;
  directory: string;
};

/** Without a command for it, the server reads all WAL from its own folder, where it has been put before. */
const NO_ARCHIVE = 'false';
const UNREACHED = 'recovery ended before configured recovery target was reached';

/** Restores a database into a data directory that has none. If it is interrupted, it starts from the beginning. */
export async function restoreDatabase(options: RestoreOptions): Promise<RestoredDatabase> {
  const { path, at, onProgress } = options;
  const chosen = await chooseBackup(path, at);
  const { manifest, folder, name } = chosen;
  await assertRunsHere(manifest);
  await makeDurableFolder(options.dataDir, { mode: 0o700 });
  const dataDir = await realpath(options.dataDir);
  const lock = await lockFolder(dataDir, 'command');
  const directory = join(dataDir, 'postgres');
  const draft = restoringDirectory(dataDir);
  try {
    await assertEmpty(directory);
    await stopLeftoverCopy(draft);
    options.onServer(() => stopLeftoverCopy(draft));
    await rm(draft, { recursive: true, force: true });
    const needed = neededWal(chosen.following, at);
    await assertSpace(dataDir, manifest, needed);
    await mkdir(draft, { mode: 0o700 });
    await extractBackup({ backup: join(folder, name), manifest, target: draft, onProgress });
    await addHistories(chosen, draft);
    await addWal(chosen, needed, { draft, onProgress });
    await recover({ dataDir, draft, backup: chosen, needed, at, onProgress });
    const mark = { id: randomUUID(), state_at: (at ?? chosen.until).toString() };
    const owner = await stat(draft);
    await writeDurably(join(draft, RESTORE_MARK), `${JSON.stringify(mark)}\n`, { mode: 0o600 });
    await chown(join(draft, RESTORE_MARK), owner.uid, owner.gid);
    onProgress('Writing everything to the disk …');
    await syncTree(draft);
    await rm(directory, { recursive: true, force: true });
    await rename(draft, directory);
    await syncFolder(dataDir);
    return { backup: join(folder, name), state_at: mark.state_at, directory };
  } catch (error) {
    await stopLeftoverCopy(draft);
    await rm(draft, { recursive: true, force: true });
    throw error;
  } finally {
    lock.release();
  }
}

async function assertRunsHere({ postgres_major, architecture }: Manifest): Promise<void> {
  const { major } = await installedRelease();
  if (postgres_major !== major) {
    throw new BackupError(
      `The backup is of PostgreSQL ${postgres_major}, and this version of the service has ${major}. ` +
        'Restore it with a version of the service that has the same.',
    );
  }
  if (architecture !== process.arch) {
    throw new BackupError(`The backup was made on ${architecture}, and this machine is ${process.arch}. Use the same.`);
  }
}

async function assertEmpty(directory: string): Promise<void> {
  const content = await readdir(directory).catch(ignoreMissing);
  if (content === undefined || content.length === 0) return;
  throw new BackupError(
    `There is a database in ${directory}. Stop the service and move that folder away, or set DATA_DIR to an empty one.`,
  );
}

/** A WAL file is stored without its empty end, and seldom compressed to less than this share of the rest. */
const COMPRESSED_SHARE = 0.25;

async function assertSpace(dataDir: string, { files, wal }: Manifest, added: readonly ArchivedFile[]): Promise<void> {
  const ofDatabase = files.reduce((sum, { size }) => sum + size, 0);
  const needed = added.reduce(
    (sum, { bytes }) => sum + Math.min(wal.segment_bytes, bytes / COMPRESSED_SHARE),
    ofDatabase,
  );
  const { bavail, bsize } = await statfs(dataDir);
  if (bavail * bsize > needed) return;
  const megabytes = (bytes: number) => `${Math.ceil(bytes / 1e6)} MB`;
  throw new BackupError(
    `${dataDir} has ${megabytes(bavail * bsize)} free, and the database needs ${megabytes(needed)}. Free some space.`,
  );
}

/**
 * Returns the WAL files that lead to the time: up to the first one that was written after it, and one more, because the
 * first need not have a transaction after the time.
 */
function neededWal(following: readonly ArchivedFile[], at: Temporal.Instant | undefined): readonly ArchivedFile[] {
  const isAfter = ({ modifiedAt }: ArchivedFile) => at !== undefined && Temporal.Instant.compare(modifiedAt, at) > 0;
  const passed = following.findIndex(isAfter);
  return passed < 0 ? following : following.slice(0, passed + 2);
}

/** Adds all histories, so that the server finds a number for its new timeline that none had before. */
async function addHistories({ manifest, folder }: ListedBackup, draft: string): Promise<void> {
  const archive = walArchiveFolder(folder, manifest.system_identifier);
  for (const name of (await archivedNames(archive)).filter(isHistory)) {
    await writeWal(draft, name, await readArchivedWal(archive, name));
  }
}

type AddOptions = { draft: string; onProgress: (text: string) => void };

/**
 * Puts archived WAL where the server reads it. Most segments end with zeros, which become a hole in the file. A server
 * that has run already may have reused the name for an old file.
 */
async function addWal(
  { manifest, folder }: ListedBackup,
  files: readonly ArchivedFile[],
  { draft, onProgress }: AddOptions,
): Promise<void> {
  const archive = walArchiveFolder(folder, manifest.system_identifier);
  for (const [i, { name }] of files.entries()) {
    onProgress(`Adding WAL: ${i + 1} of ${files.length}`);
    const content = await readArchivedWal(archive, name);
    await writeWal(draft, name, withoutEmptyEnd(content), content.length);
  }
}

async function writeWal(draft: string, name: string, content: Buffer, bytes = content.length): Promise<void> {
  const path = join(draft, 'pg_wal', name);
  await rm(path, { force: true });
  const file = await open(path, 'wx', 0o600).catch((error) => {
    throw new BackupError(`${path} cannot be written: ${reasonOf(error)}.`);
  });
  try {
    await file.writeFile(content);
    await file.truncate(bytes);
    // The server may have run already, as a user of its own.
    const { uid, gid } = await stat(join(draft, 'pg_wal'));
    await file.chown(uid, gid);
  } finally {
    await file.close();
  }
}

const PAGE_BYTES = 8_192;
const EMPTY_PAGE = Buffer.alloc(PAGE_BYTES);

function withoutEmptyEnd(content: Buffer): Buffer {
  let end = content.length;
  while (end >= PAGE_BYTES && content.subarray(end - PAGE_BYTES, end).equals(EMPTY_PAGE)) end -= PAGE_BYTES;
  return content.subarray(0, end);
}

/** The server reads neither `T` nor `Z` in this setting. */
const postgresTime = (at: Temporal.Instant): string => at.toString().replace('T', ' ').replace('Z', '+00');

type Recovery = Pick<RestoreOptions, 'dataDir' | 'at' | 'onProgress'> & {
  draft: string;
  backup: ListedBackup;
  /** The WAL files that were added. */
  needed: readonly ArchivedFile[];
};

/** Lets a server replay the WAL up to the time, and makes the result the current state. */
async function recover({ dataDir, draft, backup, needed, at, onProgress }: Recovery): Promise<void> {
  onProgress('Replaying changes …');
  await writeFile(join(draft, 'recovery.signal'), '', { mode: 0o600 });
  const log = join(dataDir, 'postgres.log');
  const logStart = (await stat(log).catch(ignoreMissing))?.size ?? 0;
  const { wal } = backup.manifest;
  const newestOf = (files: readonly ArchivedFile[]) => files.at(-1)?.name ?? wal.last;
  let newest = newestOf(needed);
  const start = (target: Record<string, string>): Promise<CopyServer> =>
    startCopy({
      logFolder: dataDir,
      directory: draft,
      // Archiving marks the history of the new timeline, so that the service archives it.
      settings: {
        restore_command: NO_ARCHIVE,
        archive_mode: 'on',
        recovery_target_timeline: backup.timeline.id === wal.timeline ? 'current' : String(backup.timeline.id),
        ...target,
      },
      onWait: async () => onProgress(`Replaying changes: ${replayedShare(await textFrom(log, logStart), wal, newest)}`),
    });
  const isUnreached = (error: Error) => error.message.includes(UNREACHED);
  let isTargetReached = at !== undefined;
  const target = at && { recovery_target_time: postgresTime(at), recovery_target_action: 'promote' };
  const server = await start(target ?? {})
    .catch(async (error: Error) => {
      const rest = backup.following.slice(needed.length);
      if (!target || !isUnreached(error) || rest.length === 0) throw error;
      await addWal(backup, rest, { draft, onProgress });
      newest = newestOf(rest);
      return start(target);
    })
    .catch((error: Error) => {
      if (!target || !isUnreached(error)) throw error;
      // The archive goes on beyond the time, but without a change: the last state is that of the time.
      isTargetReached = false;
      return start({});
    });
  await server.stop();
  if (!isTargetReached) assertAllReplayed(await textFrom(log, logStart), backup, newest);
}

/** The server takes a segment that it cannot read for the end of the WAL. */
function assertAllReplayed(log: string, { name, manifest: { wal } }: ListedBackup, newest: string): void {
  const [, done] = [...log.matchAll(/redo done at ([0-9A-F]+\/[0-9A-F]+)/g)].at(-1) ?? [];
  const reached = done && Number(parsePosition(done) / BigInt(wal.segment_bytes));
  if (reached === parseSegment(newest, wal.segment_bytes)?.number) return;
  const [, last = 'the backup'] = [...log.matchAll(/last completed transaction was at log time (.*)$/gm)].at(-1) ?? [];
  throw new BackupError(
    `The WAL of ${name} up to ${newest} cannot be read beyond the change of ${last}. ` +
      'Restore with --at a time before that one, or use another backup.',
  );
}

/** Returns the part of the server's log that it has written meanwhile. */
const textFrom = async (path: string, start: number): Promise<string> =>
  (await readFile(path)).subarray(start).toString();

/** Returns how much of the WAL has been replayed, from the server's reports of its progress. */
function replayedShare(log: string, { first, segment_bytes }: Manifest['wal'], newest: string): string {
  const [, position = '0/0'] = [...log.matchAll(/current LSN: ([0-9A-F]+\/[0-9A-F]+)/g)].at(-1) ?? [];
  const reached = Number(parsePosition(position) / BigInt(segment_bytes));
  const [from, to] = [first, newest].map((name) => parseSegment(name, segment_bytes)?.number ?? 0) as [number, number];
  return `${Math.max(0, reached - from)} of ${to - from + 1} WAL files`;
}
