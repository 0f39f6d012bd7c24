import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BackupError, reasonOf } from './backup-error.ts';

export const MANIFEST = 'manifest.json';
export const ARCHIVE = 'base.tar.zst';

const FORMAT = 1;

export type FileEntry = { path: string; size: number; sha256: string };

/** What a backup contains. It is the last file that is written into the backup's folder. */
export type Manifest = {
  format: typeof FORMAT;
  service_version: string;
  /** Identifies the database from its creation on, also after restores. */
  system_identifier: string;
  postgres_major: string;
  /** The data of one processor architecture cannot be read on another. */
  architecture: string;
  started_at: string;
  /** From this moment on the database can be restored. */
  stopped_at: string;
  /** The first and the last segment that the backup contains, and the position at its end. */
  wal: { segment_bytes: number; timeline: number; first: string; last: string; end: string };
  archive: { size: number; sha256: string };
  /** Every file of the archive, with the checksum of its content. */
  files: FileEntry[];
};

export const newManifest = (fields: Omit<Manifest, 'format'>): Manifest => ({ format: FORMAT, ...fields });

export async function readManifest(backup: string): Promise<Manifest> {
  const path = join(backup, MANIFEST);
  let manifest: Partial<Manifest>;
  try {
    manifest = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new BackupError(`${backup} is not a backup: it has no ${MANIFEST}. "case-records backup list" lists them.`);
    }
    throw new BackupError(`${path} cannot be read: ${reasonOf(error)}. Use another backup.`);
  }
  if (manifest.format !== FORMAT) {
    throw new BackupError(`${path} has the format ${manifest.format}, which this version does not know.`);
  }
  return manifest as Manifest;
}
