import { randomBytes } from 'node:crypto';

/**
 * Statements write a wall time as this mark, the zone and the seconds since 1970; `showWallTimes` turns it into text.
 * So one time zone database, that of Temporal, reads and shows: PostgreSQL's own may be older, and an hour off.
 * The mark is random, so no text of a caller can be taken for one.
 */
export const WALL_MARK = `wall-${randomBytes(12).toString('hex')}|`;

const MARKED = new RegExp(`"${WALL_MARK.replace('|', '\\|')}([^"|]+)\\|(-?\\d+)"`, 'g');

/** <YYYY-MM-DD HH:mm:ss> for every marked time of the JSON text. */
export function showWallTimes(json: string): string {
  return json.replace(MARKED, (_, zone: string, seconds: string) => `"${wallText(Number(seconds), zone)}"`);
}

function wallText(seconds: number, zone: string): string {
  const text = new Date((seconds + offsetAt(seconds, zone)) * 1000).toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, 19)}`;
}

/** Seconds from one change of a zone's clock to the next, and what the clock is ahead of UTC in between. */
type Span = { from: number; to: number; offset: number };

// Temporal takes microseconds for a time, a known span next to nothing. Most lists lie in one or two of them.
const spansByZone = new Map<string, Span[]>();
const MOST_SPANS = 500;

function offsetAt(seconds: number, zone: string): number {
  const spans = spansByZone.get(zone) ?? [];
  let span = spans.find(({ from, to }) => from <= seconds && seconds < to);
  if (!span) {
    span = spanAt(seconds, zone);
    spansByZone.set(zone, [span, ...spans].slice(0, MOST_SPANS));
  }
  return span.offset;
}

function spanAt(seconds: number, zone: string): Span {
  const time = Temporal.Instant.fromEpochMilliseconds(seconds * 1000).toZonedDateTimeISO(zone);
  const edge = (change: Temporal.ZonedDateTime | null) => change && change.epochMilliseconds / 1000;
  // 'previous' looks before the time itself, which may be the very second of the change.
  const from = edge(time.add({ seconds: 1 }).getTimeZoneTransition('previous')) ?? -Infinity;
  const to = edge(time.getTimeZoneTransition('next')) ?? Infinity;
  return { from, to, offset: time.offsetNanoseconds / 1e9 };
}
