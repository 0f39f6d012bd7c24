import { unlink } from 'node:fs/promises';
import { removeBackup, walArchiveFolder, withBackupFolder } from './backup-folder.ts';
import { type ListedBackup, listBackups } from './list.ts';
import { archivedNames, archivedPath } from './wal-archive.ts';
import { parseSegment, type Segment } from './wal-names.ts';

export type PruneResult = { kept: string[]; removed: string[]; wal_removed: number };

/** Removes all but the newest `keep` backups of each database, and the WAL that none of them needs. */
export const pruneBackups = (
  folder: string,
  keep: number,
  onProgress: (text: string) => void = () => {},
): Promise<PruneResult> =>
  withBackupFolder(folder, async () => {
    const result: PruneResult = { kept: [], removed: [], wal_removed: 0 };
    const backups = Map.groupBy(await listBackups(folder), ({ manifest }) => manifest.system_identifier);
    for (const [systemIdentifier, ofDatabase] of backups) {
      const removed = ofDatabase.slice(0, Math.max(0, ofDatabase.length - keep));
      const kept = ofDatabase.slice(removed.length);
      for (const { name } of removed) {
        onProgress(`Removing ${name} …`);
        await removeBackup(folder, name);
      }
      result.removed.push(...removed.map(({ name }) => name));
      result.kept.push(...kept.map(({ name }) => name));
      result.wal_removed += await removeWalBefore(walArchiveFolder(folder, systemIdentifier), kept);
    }
    result.kept.sort();
    return result;
  });

/** Histories of timelines are kept: they are small, and say where a restored database went on. */
async function removeWalBefore(archive: string, kept: readonly ListedBackup[]): Promise<number> {
  const { first, segment_bytes } = (kept[0] as ListedBackup).manifest.wal;
  // After a restore the numbers go back, so the oldest backup need not have the lowest one.
  const oldest = Math.min(
    ...kept.map(({ manifest }) => (parseSegment(manifest.wal.first, segment_bytes) as Segment).number),
  );
  let removed = 0;
  for (const name of await archivedNames(archive)) {
    const segment = parseSegment(name.slice(0, first.length), segment_bytes);
    if (!segment || segment.number >= oldest) continue;
    await unlink(archivedPath(archive, name));
    removed++;
  }
  return removed;
}
