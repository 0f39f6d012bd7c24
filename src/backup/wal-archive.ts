import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import { syncFolder, writeDurably } from '../kernel/durable-file.ts';
import { BackupError, reasonOf } from './backup-error.ts';
import { ensureBackupFolder } from './backup-folder.ts';
import { ignoreMissing } from './database-files.ts';
import { ARCHIVED, type ArchivedFile } from './wal-names.ts';

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
    // A process that was killed may have renamed the file without syncing the folder.
    if ((await decompress(existing).catch(() => undefined))?.equals(content)) return syncFolder(archive);
    throw new BackupError(
      `${path} exists and is different: another copy of this database archives into the same folder. ` +
        'Give this service another BACKUP_DIR.',
    );
  }
  await ensureBackupFolder(archive);
  await writeDurably(path, await compress(content, PARAMETERS), { mode: 0o600, modifiedAt: mtime });
}

export async function readArchivedWal(archive: string, name: string): Promise<Buffer> {
  const path = join(archive, name + SUFFIX);
  try {
    return await decompress(await readFile(path));
  } catch (error) {
    throw new BackupError(`${path} cannot be read: ${reasonOf(error)}. A restore can reach the time before it.`);
  }
}

/** Returns the archived files in the order of their names, without the suffix. */
export async function archivedFiles(archive: string): Promise<ArchivedFile[]> {
  const files: ArchivedFile[] = [];
  for (const name of await archivedNames(archive)) {
    // A file may be pruned meanwhile.
    const stats = await stat(archivedPath(archive, name)).catch(ignoreMissing);
    if (!stats) continue;
    const modifiedAt = Temporal.Instant.fromEpochMilliseconds(Math.floor(stats.mtimeMs));
    files.push({ name, modifiedAt, bytes: stats.size });
  }
  return files;
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
