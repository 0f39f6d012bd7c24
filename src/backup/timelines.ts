import { readArchivedWal } from './wal-archive.ts';
import { type ArchivedFile, isHistory, parsePosition, parseSegment, type Segment, timelineOf } from './wal-names.ts';

/**
 * Timelines of a database. Each restore begins a new one: it leaves an older timeline at some position, and goes on with
 * WAL of its own, while the older one keeps what was written after that position.
 */

export type Timeline = {
  id: number;
  /** When the restore began it. The first timeline, and one whose history is not archived, has no such time. */
  begunAt: Temporal.Instant | undefined;
  /** Where it left each older timeline that it goes back to. */
  leftAt: ReadonlyMap<number, bigint>;
};

/** Returns the timelines of the archive, oldest first. `known` are others that backups were made on. */
export async function readTimelines(
  archive: string,
  files: readonly ArchivedFile[],
  known: readonly number[],
): Promise<Timeline[]> {
  const timelines = new Map<number, Timeline>();
  for (const id of [1, ...known]) timelines.set(id, { id, begunAt: undefined, leftAt: new Map() });
  for (const { name, modifiedAt } of files) {
    if (!isHistory(name)) continue;
    const id = timelineOf(name);
    const history = (await readArchivedWal(archive, name)).toString();
    timelines.set(id, { id, begunAt: modifiedAt, leftAt: parseHistory(history) });
  }
  return [...timelines.values()].sort((a, b) => a.id - b.id);
}

/** Each line of a history has a timeline, the position where it was left, and a reason for people. */
function parseHistory(text: string): Map<number, bigint> {
  const leftAt = new Map<number, bigint>();
  for (const line of text.split('\n')) {
    const [id = '', position = ''] = line.trim().split(/\s+/, 2);
    if (/^\d+$/.test(id)) leftAt.set(Number(id), parsePosition(position));
  }
  return leftAt;
}

/** Whether a backup that ends at this position of its timeline belongs to the past of another one. */
export function isPastOf({ id, leftAt }: Timeline, backup: { timeline: number; end: string }): boolean {
  if (backup.timeline === id) return true;
  const left = leftAt.get(backup.timeline);
  return left !== undefined && parsePosition(backup.end) <= left;
}

export type FollowingWal = {
  /** The segments that a backup needs to reach the end of a timeline, in their order. */
  files: ArchivedFile[];
  /** The time of the last change before the first missing segment; undefined if the archive has none that follows. */
  until: Temporal.Instant | undefined;
};

/**
 * Returns the archived segments with which a backup that ends with the segment `last` is continued on a timeline. The
 * first segment of a timeline has the number of the one in which it left the older timeline, and begins with a copy of
 * it. Without that copy, the older one leads to the beginning of the timeline and no further.
 */
export function followingWal(
  files: readonly ArchivedFile[],
  { id, leftAt }: Timeline,
  last: string,
  segmentBytes: number,
): FollowingWal {
  const { number: start, timeline: ownTimeline } = parseSegment(last, segmentBytes) as Segment;
  const lastNumber = (timeline: number): number => {
    const left = leftAt.get(timeline);
    if (left === undefined) return timeline === id ? Number.POSITIVE_INFINITY : -1;
    return Number(left / BigInt(segmentBytes));
  };
  // A timeline without WAL of its own before the next one began has no segment.
  const older = [...leftAt.keys()].sort((a, b) => a - b);
  const timelineOf = (number: number): number => older.find((timeline) => number < lastNumber(timeline)) ?? id;
  const byNumber = Map.groupBy(
    files.flatMap((file) => {
      const segment = parseSegment(file.name, segmentBytes);
      const isNeeded = segment && segment.number >= start && segment.number <= lastNumber(segment.timeline);
      return isNeeded && file.name !== last ? [{ ...file, ...segment }] : [];
    }),
    ({ number }) => number,
  );
  const following: ArchivedFile[] = [];
  for (let number = start; ; number++) {
    // Names sort by timeline.
    const found = byNumber.get(number) ?? [];
    following.push(...found);
    const needed = timelineOf(number);
    const hasNeeded = found.some(({ timeline }) => timeline === needed) || (number === start && needed === ownTimeline);
    if (!hasNeeded) break;
  }
  return { files: following, until: following.at(-1)?.modifiedAt };
}
