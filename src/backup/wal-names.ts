/** Names of WAL segments: timeline, and the number of the segment in two parts, as hexadecimal digits. */

const SEGMENT = /^[0-9A-F]{24}$/;

/** What PostgreSQL archives: segments, incomplete segments of an ended timeline, histories, and backup labels. */
export const ARCHIVED = /^(?:[0-9A-F]{24}(?:\.partial|\.[0-9A-F]{8}\.backup)?|[0-9A-F]{8}\.history)$/;

/** `bytes`: its compressed size. */
export type ArchivedFile = { name: string; modifiedAt: Temporal.Instant; bytes: number };

export type Segment = { timeline: number; number: number };

/** Returns a position of the WAL, such as 1/2A0000F8, as a number of bytes. */
export function parsePosition(text: string): bigint {
  const [high, low] = text.split('/') as [string, string];
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

export const isHistory = (name: string): boolean => name.endsWith('.history');

/** Returns the timeline of a segment or a history. */
export const timelineOf = (name: string): number => Number.parseInt(name.slice(0, 8), 16);

export function parseSegment(name: string, segmentBytes: number): Segment | undefined {
  if (!SEGMENT.test(name)) return undefined;
  const [timeline, high, low] = [0, 8, 16].map((from) => Number.parseInt(name.slice(from, from + 8), 16)) as [
    number,
    number,
    number,
  ];
  return { timeline, number: high * segmentsPerHigh(segmentBytes) + low };
}

export function segmentName({ timeline, number }: Segment, segmentBytes: number): string {
  const perHigh = segmentsPerHigh(segmentBytes);
  return [timeline, Math.floor(number / perHigh), number % perHigh]
    .map((part) => part.toString(16).toUpperCase().padStart(8, '0'))
    .join('');
}

const segmentsPerHigh = (segmentBytes: number): number => 0x1_0000_0000 / segmentBytes;

/** Returns the names from the first to the last segment, which are of one timeline. */
export function segmentsBetween(first: string, last: string, segmentBytes: number): string[] {
  const from = parseSegment(first, segmentBytes);
  const to = parseSegment(last, segmentBytes);
  if (!from || !to || from.timeline !== to.timeline || to.number < from.number) {
    throw new Error(`${first} and ${last} are not the ends of a row of WAL segments.`);
  }
  return Array.from({ length: to.number - from.number + 1 }, (_, i) =>
    segmentName({ ...from, number: from.number + i }, segmentBytes),
  );
}
