import { readdir, readFile, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import { writeDurably } from '../kernel/durable-file.ts';
import { BackupError, reasonOf } from './backup-error.ts';
import { ensureBackupFolder } from './backup-folder.ts';
import { ignoreMissing } from './database-files.ts';
import { ARCHIVED, isHistory, parseSegment, type Segment } from './wal-names.ts';

/** The archive of WAL files beside the backups. Each file is compressed, and has the time of its original. */

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);
const SUFFIX = '.zst';
const PARAMETERS = {
  params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 },
};

/**
 * Adds a file, which is on the disk then. Does nothing if the archive has the same file already. A different one of the
 * same name comes from another copy of the database; it is never overwritten.
 */
export async function archiveWal(archive: string, name: string, source: string): Promise<void> {
  if (!ARCHIVED.test(name)) throw new BackupError(`"${name}" is not the name of a WAL file.`);
  const [content, { mtime }] = await Promise.all([readFile(source), stat(source)]);
  const path = join(archive, name + SUFFIX);
  const existing = await readFile(path).catch(ignoreMissing);
  if (existing) {
    if ((await decompress(existing).catch(() => undefined))?.equals(content)) return;
    throw new BackupError(
      `${path} exists and is different: another copy of this database archives into the same folder. ` +
        'Give this service another BACKUP_DIR.',
    );
  }
  await ensureBackupFolder(archive);
  await writeDurably(path, await compress(content, PARAMETERS), { mode: 0o600 });
  await utimes(path, mtime, mtime);
}

export async function readArchivedWal(archive: string, name: string): Promise<Buffer> {
  const path = join(archive, name + SUFFIX);
  try {
    return await decompress(await readFile(path));
  } catch (error) {
    throw new BackupError(`${path} cannot be read: ${reasonOf(error)}. A restore can reach the time before it.`);
  }
}

/** Returns the names of the archived files, without the suffix. */
export async function archivedNames(archive: string): Promise<string[]> {
  const names = (await readdir(archive).catch(ignoreMissing)) ?? [];
  return names
    .filter((name) => name.endsWith(SUFFIX))
    .map((name) => name.slice(0, -SUFFIX.length))
    .filter((name) => ARCHIVED.test(name))
    .sort();
}

export const archivedPath = (archive: string, name: string): string => join(archive, name + SUFFIX);

type FollowingWal = {
  /** The later segments of all timelines, and the histories of timelines. The server chooses what it needs. */
  names: string[];
  /** The time up to which no segment is missing; undefined if the archive has none that follows. */
  until: Temporal.Instant | undefined;
};

/**
 * Returns the archived files with which a backup that ends with the segment `last` can be continued. A restored
 * database goes on with a new timeline, whose first segment has the number of the last one before it.
 */
export async function followingWal(archive: string, last: string, segmentBytes: number): Promise<FollowingWal> {
  const names = await archivedNames(archive);
  const { number: start } = parseSegment(last, segmentBytes) as Segment;
  const later = names.flatMap((name) => {
    const segment = parseSegment(name, segmentBytes);
    return segment && segment.number >= start && name !== last ? [{ ...segment, name }] : [];
  });
  const byNumber = Map.groupBy(later, ({ number }) => number);
  let newest: string | undefined;
  for (let number = start; number === start || byNumber.has(number); number++) {
    // Names sort by timeline.
    newest = byNumber.get(number)?.at(-1)?.name ?? newest;
  }
  const until = newest === undefined ? undefined : (await stat(archivedPath(archive, newest))).mtime;
  return {
    names: [...names.filter(isHistory), ...later.map(({ name }) => name)],
    until: until && Temporal.Instant.fromEpochMilliseconds(until.getTime()),
  };
}
