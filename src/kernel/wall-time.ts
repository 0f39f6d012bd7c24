import { randomBytes } from 'node:crypto';

/**
 * Statements write a wall time as the mark of its zone, which is a parameter, and the seconds since 1970; it is turned
 * into text here. So one time zone database, that of Temporal, reads and shows: PostgreSQL's own may be older, and an
 * hour off. A mark is random, so no text of a caller can be taken for one, and as long as what takes its place.
 */
const RANDOM = randomBytes(6).toString('base64url').slice(0, 5);
const QUOTED = `"${RANDOM}`;
const MARK_LENGTH = 7;
const DIGITS = 12;
const LENGTH = MARK_LENGTH + DIGITS;
/** Makes every second from the year 1000 on a positive number. */
export const EPOCH_SHIFT = 40_000_000_000;

const zones: string[] = [];
const marks = new Map<string, string>();

/** What a statement is given for a zone. */
export function zoneMark(zone: string): string {
  const known = marks.get(zone);
  if (known !== undefined) return known;
  const mark = RANDOM + zones.length.toString(36).padStart(2, '0');
  zones.push(zone);
  marks.set(zone, mark);
  return mark;
}

/** <YYYY-MM-DD HH:mm:ss> for every marked time of the JSON text. */
export function showWallTimes(json: string): string {
  let shown = '';
  let from = 0;
  for (let at = json.indexOf(QUOTED); at >= 0; at = json.indexOf(QUOTED, from)) {
    const begin = at + 1;
    const marked = json.slice(begin, begin + LENGTH);
    shown += json.slice(from, begin) + (json[begin + LENGTH] === '"' ? wallText(marked) : marked);
    from = begin + LENGTH;
  }
  return from === 0 ? json : shown + json.slice(from);
}

function wallText(marked: string): string {
  const zone = zones[Number.parseInt(marked.slice(RANDOM.length, MARK_LENGTH), 36)];
  const shifted = Number(marked.slice(MARK_LENGTH));
  if (zone === undefined || !Number.isInteger(shifted)) return marked;
  const seconds = shifted - EPOCH_SHIFT;
  return dateAndTime(seconds + offsetAt(seconds, zone));
}

const DAY = 86_400;
const two = (number: number): string => (number < 10 ? `0${number}` : `${number}`);
let known = { day: Number.NaN, text: '' };

/** Most times of a list lie on the day of the one before. */
function dateAndTime(seconds: number): string {
  const day = Math.floor(seconds / DAY);
  if (day !== known.day) known = { day, text: new Date(day * DAY * 1000).toISOString().slice(0, 10) };
  const time = seconds - day * DAY;
  return `${known.text} ${two(Math.floor(time / 3600))}:${two(Math.floor((time % 3600) / 60))}:${two(time % 60)}`;
}

/** Seconds from one change of a zone's clock to the next, and what the clock is ahead of UTC in between. */
type Span = { from: number; to: number; offset: number };

// Temporal takes microseconds for a time, a known span next to nothing. Most lists lie in one or two of them.
const spansByZone = new Map<string, Span[]>();
const MOST_SPANS = 500;

function offsetAt(seconds: number, zone: string): number {
  const spans = spansByZone.get(zone) ?? [];
  for (const { from, to, offset } of spans) if (from <= seconds && seconds < to) return offset;
  const span = spanAt(seconds, zone);
  spansByZone.set(zone, [span, ...spans].slice(0, MOST_SPANS));
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
