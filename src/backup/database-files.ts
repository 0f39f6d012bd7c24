import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BackupError } from './backup-error.ts';

/** Which files of a data directory a backup has, as PostgreSQL's documentation of base backups lists them. */

export type DatabaseFile = { path: string; size: number };
export type DatabaseFiles = { folders: string[]; files: DatabaseFile[] };

/** A data directory that contains this file has been restored, and the service has not acted upon that yet. */
export const RESTORE_MARK = 'case-records-restored.json';

export const CONTROL_FILE = 'global/pg_control';

/** The server creates their contents again. The WAL of the backup is added at its end. */
const EMPTIED_FOLDERS = new Set([
  'pg_dynshmem',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
  'pg_wal',
]);
const REQUIRED_FOLDERS = ['pg_wal/archive_status', 'pg_wal/summaries'];

const EXCLUDED_FILES = new Set([
  'backup_label',
  'backup_label.old',
  'backup_manifest',
  'current_logfiles',
  'postmaster.opts',
  'postmaster.pid',
  'recovery.signal',
  'standby.signal',
  'tablespace_map',
  'tablespace_map.old',
  RESTORE_MARK,
]);
const isExcluded = (path: string, name: string): boolean =>
  EXCLUDED_FILES.has(path) ||
  name.startsWith('pgsql_tmp') ||
  name.startsWith('pg_internal.init') ||
  name.startsWith('.s.PGSQL');

/** Lists the files in the order in which they are copied: `pg_control` comes last. */
export async function listDatabaseFiles(directory: string): Promise<DatabaseFiles> {
  const folders: string[] = [];
  const files: DatabaseFile[] = [];
  const visit = async (folder: string): Promise<void> => {
    const entries = await readdir(join(directory, folder), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (isExcluded(path, entry.name)) continue;
      if (entry.isDirectory()) {
        folders.push(path);
        if (!EMPTIED_FOLDERS.has(path)) await visit(path);
      } else if (entry.isFile()) {
        const stats = await lstat(join(directory, path)).catch(ignoreMissing);
        if (stats) files.push({ path, size: stats.size });
      } else if (path === 'pg_wal') {
        folders.push(path);
      } else if (entry.isSymbolicLink()) {
        throw new BackupError(`${join(directory, path)} is a symbolic link, which a backup cannot contain. Remove it.`);
      }
    }
  };
  await visit('');
  const isControl = ({ path }: DatabaseFile) => path === CONTROL_FILE;
  return {
    folders: [...folders, ...REQUIRED_FOLDERS],
    files: [...files.filter((file) => !isControl(file)), ...files.filter(isControl)],
  };
}

/** Tables are dropped and temporary files disappear while a backup runs. Replaying the WAL does the same. */
export function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
