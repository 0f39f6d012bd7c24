import { basename, dirname, join, resolve } from 'node:path';
import { BackupError } from './backup-error.ts';
import { backupNames, backupTime, walArchiveFolder } from './backup-folder.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { followingWal, isPastOf, readTimelines, type Timeline } from './timelines.ts';
import { archivedFiles, archivedNames } from './wal-archive.ts';
import { type ArchivedFile, parseSegment } from './wal-names.ts';

const MAX_NAMES = 5;

export type ListedBackup = {
  name: string;
  folder: string;
  manifest: Manifest;
  /** The timeline on which the archived WAL continues it. */
  timeline: Timeline;
  /** The archived segments that continue it. */
  following: readonly ArchivedFile[];
  /** The first and the last moment that can be restored with them. */
  from: Temporal.Instant;
  until: Temporal.Instant;
};

/** Returns the complete backups of a folder, oldest first. A backup whose manifest cannot be read is an error. */
export async function listBackups(folder: string): Promise<ListedBackup[]> {
  const names = await backupNames(folder);
  const reached = await findReach(folder, names);
  // The newest timeline comes last.
  return names.map((name) => reached.findLast((backup) => backup.name === name) as ListedBackup);
}

/** Returns the times that can be restored: a backup has several if the database was restored since. */
export const listReach = async (folder: string): Promise<ListedBackup[]> =>
  (await findReach(folder, await backupNames(folder))).filter(({ from, until }) => isBefore(from, until));

/** Whether archived WAL is out of reach of the newest backup, because a file between both is missing. */
export async function hasGap(folder: string): Promise<boolean> {
  const newest = (await findReach(folder, (await backupNames(folder)).slice(-1))).at(-1);
  if (!newest) return false;
  const { manifest, timeline, following } = newest;
  const { last, segment_bytes } = manifest.wal;
  const numberOf = (name: string): number => parseSegment(name, segment_bytes)?.number ?? -1;
  const names = await archivedNames(walArchiveFolder(folder, manifest.system_identifier));
  return names.some(
    (name) =>
      parseSegment(name, segment_bytes)?.timeline === timeline.id &&
      numberOf(name) > numberOf(following.at(-1)?.name ?? last),
  );
}

/**
 * Returns what can be restored from the backups: each one on every timeline that it belongs to the past of, during the
 * time in which the service wrote to that timeline. Ordered by timeline, then by age.
 */
async function findReach(folder: string, names: readonly string[]): Promise<ListedBackup[]> {
  const backups: { name: string; manifest: Manifest }[] = [];
  for (const name of names) backups.push({ name, manifest: await readManifest(join(folder, name)) });
  const reached: ListedBackup[] = [];
  for (const [systemIdentifier, ofDatabase] of Map.groupBy(backups, ({ manifest }) => manifest.system_identifier)) {
    const archive = walArchiveFolder(folder, systemIdentifier);
    const files = await archivedFiles(archive);
    const timelines = (
      await readTimelines(
        archive,
        files,
        ofDatabase.map(({ manifest }) => manifest.wal.timeline),
      )
    ).filter((timeline) => ofDatabase.some(({ manifest }) => isPastOf(timeline, manifest.wal)));
    for (const [i, timeline] of timelines.entries()) {
      for (const { name, manifest } of ofDatabase) {
        if (!isPastOf(timeline, manifest.wal)) continue;
        const { last, segment_bytes } = manifest.wal;
        const stoppedAt = Temporal.Instant.from(manifest.stopped_at);
        const { files: following, until = stoppedAt } = followingWal(files, timeline, last, segment_bytes);
        const [from, leftAt] = [latest(stoppedAt, timeline.begunAt), timelines[i + 1]?.begunAt];
        reached.push({
          name,
          folder,
          manifest,
          timeline,
          following,
          from,
          until: leftAt && isBefore(leftAt, until) ? leftAt : until,
        });
      }
    }
  }
  return reached;
}

/**
 * Returns the backup to restore: `path` is one, or a folder of several. Of several it is the newest one that was
 * complete at the time. Throws with the nearest times that can be reached if there is none.
 */
export async function chooseBackup(path: string, at: Temporal.Instant | undefined): Promise<ListedBackup> {
  const absolute = resolve(path);
  const isOne = backupTime(basename(absolute)) !== undefined;
  const folder = isOne ? dirname(absolute) : absolute;
  const reached = await findReach(folder, isOne ? [basename(absolute)] : await backupNames(folder));
  if (reached.length === 0) throw new BackupError(`There is no backup in ${absolute}.`);
  if (new Set(reached.map(({ manifest }) => manifest.system_identifier)).size > 1) {
    throw new BackupError(`${absolute} has backups of several databases. Name one backup: ${describeNames(reached)}.`);
  }
  if (!at) return reached.at(-1) as ListedBackup;
  const chosen = reached.filter(({ from, until }) => isBefore(from, at) && isBefore(at, until));
  if (chosen.length > 0) return chosen.reduce((a, b) => (a.name < b.name ? b : a));
  throw new BackupError(`${format(at)} cannot be restored: ${describeNearest(reached, at)}`);
}

const describeNames = (backups: readonly ListedBackup[]): string => {
  const names = [...new Set(backups.map(({ name }) => name))].sort();
  return [...names.slice(0, MAX_NAMES), ...(names.length > MAX_NAMES ? ['…'] : [])].join(', ');
};

function describeNearest(reached: readonly ListedBackup[], at: Temporal.Instant): string {
  const real = reached.filter(({ from, until }) => isBefore(from, until));
  const earlier = real.map(({ until }) => until).filter((until) => isBefore(until, at));
  const later = real.map(({ from }) => from).filter((from) => isBefore(at, from));
  const last = earlier.sort(Temporal.Instant.compare).at(-1);
  const [first] = later.sort(Temporal.Instant.compare);
  if (!last) return `it is before the first backup, with which ${format(first as Temporal.Instant)} can be restored.`;
  if (!first) return `the last archived change is of ${format(last)}. Without --at, that state is restored.`;
  return `the nearest times that can are ${format(last)} and ${format(first)}.`;
}

const latest = (a: Temporal.Instant, b: Temporal.Instant | undefined): Temporal.Instant =>
  b && isBefore(a, b) ? b : a;

const isBefore = (a: Temporal.Instant, b: Temporal.Instant): boolean => Temporal.Instant.compare(a, b) <= 0;

/** Returns the moment with milliseconds, in UTC. */
export const format = (moment: Temporal.Instant | string): string =>
  Temporal.Instant.from(moment).toString({ smallestUnit: 'millisecond' });
