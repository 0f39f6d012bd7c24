import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import type { Readable } from 'node:stream';
import { createZstdDecompress } from 'node:zlib';
import { BackupError, reasonOf } from './backup-error.ts';
import { ARCHIVE, type FileEntry, type Manifest } from './manifest.ts';
import { readTar, type TarEntry } from './tar.ts';

type ExtractOptions = {
  backup: string;
  manifest: Manifest;
  /** Where to write the files. If undefined, they are only checked. */
  target?: string;
  onProgress: (text: string) => void;
};

/** Reads the whole archive of a backup and compares everything with the manifest. Throws if anything differs. */
export async function extractBackup({ backup, manifest, target, onProgress }: ExtractOptions): Promise<void> {
  const path = join(backup, ARCHIVE);
  const expected = new Map(manifest.files.map((file) => [file.path, file]));
  const stats = await stat(path).catch((error) => {
    throw new BackupError(`${path} cannot be read: ${reasonOf(error)}. Use another backup.`);
  });
  if (stats.size !== manifest.archive.size) throw damaged(path, 'its size differs from the manifest');
  const source = createReadStream(path);
  const archiveHash = createHash('sha256');
  let read = 0;
  source.on('data', (chunk) => {
    archiveHash.update(chunk);
    read += chunk.length;
    onProgress(`${target ? 'Extracting' : 'Checking'}: ${Math.floor((100 * read) / stats.size)} %`);
  });
  const decompressed = source.pipe(createZstdDecompress());
  source.on('error', (error) => decompressed.destroy(error));
  try {
    await readTar(decompressed as Readable & AsyncIterable<Buffer>, async (entry, content) => {
      if (normalize(entry.name) !== entry.name || entry.name.startsWith('..')) {
        throw damaged(path, `it contains ${entry.name}, which is not a name within it`);
      }
      if (entry.isFolder) {
        if (target) await mkdir(join(target, entry.name), { recursive: true, mode: 0o700 });
        return;
      }
      const file = expected.get(entry.name);
      if (!file) {
        throw damaged(path, `it contains ${entry.name}, which the manifest does not have`);
      }
      expected.delete(entry.name);
      await extractFile(entry, content, file, target, path);
    });
  } catch (error) {
    if (error instanceof BackupError) throw error;
    if (['ENOSPC', 'EDQUOT', 'EACCES', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) {
      throw new BackupError(`The files cannot be written to ${target}: ${reasonOf(error)}.`);
    }
    throw damaged(path, reasonOf(error));
  } finally {
    source.destroy();
    decompressed.destroy();
  }
  const [missing] = expected.keys();
  if (missing !== undefined) throw damaged(path, `it lacks ${missing}`);
  if (archiveHash.digest('hex') !== manifest.archive.sha256) throw damaged(path, 'its checksum differs');
}

async function extractFile(
  { name, size }: TarEntry,
  content: AsyncIterable<Buffer>,
  expected: FileEntry,
  target: string | undefined,
  archive: string,
): Promise<void> {
  const hash = createHash('sha256');
  const path = target && join(target, name);
  if (path) await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = path ? await open(path, 'wx', 0o600) : undefined;
  try {
    for await (const chunk of content) {
      hash.update(chunk);
      await file?.writeFile(chunk);
    }
  } finally {
    await file?.close();
  }
  if (size !== expected.size || hash.digest('hex') !== expected.sha256) {
    throw damaged(archive, `the content of ${name} differs from its checksum`);
  }
}

const damaged = (path: string, how: string): BackupError =>
  new BackupError(`${path} is damaged: ${how}. Use another backup.`);
