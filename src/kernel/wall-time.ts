import { randomBytes } from 'node:crypto';

/**
 * Statements write a wall time as the mark of its zone, which is a parameter, and the seconds since 1970; it is turned
 * into text here. So one time zone database, that of Temporal, reads and shows: PostgreSQL's own may be older, and an
 * hour off. A mark is random, so no text of a caller can be taken for one, and as long as what takes its place. It begins
 * with a character that hardly any text holds: it is looked for in every answer.
 */
const MARK = `\x7f${randomBytes(3).toString('base64url')}`;
const MARK_LENGTH = MARK.length + 2;
const LENGTH = MARK_LENGTH + 12;
/** Gives every second of the years 1000 to 9999 twelve digits. */
export const EPOCH_SHIFT = 140_000_000_000;

/** The two digits of a zone go from 0 to W: nothing that JSON escapes, and more than there are zones. */
const RADIX = 40;
const [QUOTE, ZERO, DASH, SPACE, COLON] = [...Buffer.from('"0- :')] as [number, number, number, number, number];
const MARK_BYTES = Buffer.from(MARK);
const FIRST = MARK_BYTES[0] as number;

const zones: Zone[] = [];
const marks = new Map<string, string>();

/** What a statement is given for a zone. */
export function zoneMark(zone: string): string {
  const known = marks.get(zone);
  if (known !== undefined) return known;
  const mark = MARK + String.fromCharCode(ZERO + Math.floor(zones.length / RADIX), ZERO + (zones.length % RADIX));
  zones.push(new Zone(zone));
  marks.set(zone, mark);
  return mark;
}

/** Used by one text after the other: new memory for each would only be cleared away again. */
let scratch = Buffer.allocUnsafeSlow(65_536);

/** <YYYY-MM-DD HH:mm:ss> for every marked time of the JSON text. */
export function showWallTimes(json: string): string {
  if (!json.includes(MARK)) return json;
  const length = Buffer.byteLength(json);
  if (scratch.length < length) scratch = Buffer.allocUnsafeSlow(length);
  const bytes = scratch;
  bytes.write(json);
  for (let at = bytes.indexOf(FIRST); at >= 0 && at < length; at = bytes.indexOf(FIRST, at + 1)) {
    if (!isMark(bytes, at) || bytes[at - 1] !== QUOTE || bytes[at + LENGTH] !== QUOTE) continue;
    const zone = zones[numberIn(bytes, at + MARK.length, at + MARK_LENGTH, RADIX)];
    const shifted = numberIn(bytes, at + MARK_LENGTH, at + LENGTH, 10);
    if (zone === undefined || Number.isNaN(shifted)) continue;
    const seconds = shifted - EPOCH_SHIFT;
    writeTime(bytes, at, seconds + zone.offsetAt(seconds));
  }
  return bytes.toString('utf8', 0, length);
}

function isMark(bytes: Buffer, at: number): boolean {
  for (let i = 1; i < MARK_BYTES.length; i++) if (bytes[at + i] !== MARK_BYTES[i]) return false;
  return true;
}

/** Of digits that follow each other from 0 on; NaN where there is anything else. */
function numberIn(bytes: Buffer, from: number, to: number, radix: number): number {
  let number = 0;
  for (let i = from; i < to; i++) {
    const digit = (bytes[i] as number) - ZERO;
    if (!(digit >= 0 && digit < radix)) return Number.NaN;
    number = number * radix + digit;
  }
  return number;
}

const DAY = 86_400;

/** Not by Date: a list of a hundred times would cost as much as all the rest of its request. */
function writeTime(bytes: Buffer, at: number, seconds: number): void {
  const days = Math.floor(seconds / DAY);
  const time = seconds - days * DAY;
  // Years from the 1st of March on, so that the odd day is the last one; of the Gregorian calendar, from the year 0.
  const since = days + 719_468;
  const era = Math.floor(since / 146_097);
  const ofEra = since - era * 146_097;
  const yearOfEra = Math.floor(
    (ofEra - Math.floor(ofEra / 1_460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  );
  const dayOfYear = ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  writeTwo(bytes, at, Math.floor(year / 100));
  writeTwo(bytes, at + 2, year % 100);
  bytes[at + 4] = DASH;
  writeTwo(bytes, at + 5, month);
  bytes[at + 7] = DASH;
  writeTwo(bytes, at + 8, dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1);
  bytes[at + 10] = SPACE;
  writeTwo(bytes, at + 11, Math.floor(time / 3_600));
  bytes[at + 13] = COLON;
  writeTwo(bytes, at + 14, Math.floor((time % 3_600) / 60));
  bytes[at + 16] = COLON;
  writeTwo(bytes, at + 17, time % 60);
}

function writeTwo(bytes: Buffer, at: number, number: number): void {
  bytes[at] = ZERO + Math.floor(number / 10);
  bytes[at + 1] = ZERO + (number % 10);
}

/** Seconds from one change of a zone's clock to the next, and what the clock is ahead of UTC in between. */
type Span = { from: number; to: number; offset: number };

const MOST_SPANS = 500;

/** Temporal takes microseconds for a time, a known span next to nothing. Most lists lie in one or two of them. */
class Zone {
  readonly #name: string;
  #spans: Span[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  offsetAt(seconds: number): number {
    for (const { from, to, offset } of this.#spans) if (from <= seconds && seconds < to) return offset;
    const span = spanAt(seconds, this.#name);
    this.#spans = [span, ...this.#spans].slice(0, MOST_SPANS);
    return span.offset;
  }
}

function spanAt(seconds: number, zone: string): Span {
  const time = Temporal.Instant.fromEpochMilliseconds(seconds * 1000).toZonedDateTimeISO(zone);
  const edge = (change: Temporal.ZonedDateTime | null) => change && change.epochMilliseconds / 1000;
  // 'previous' looks before the time itself, which may be the very second of the change.
  const from = edge(time.add({ seconds: 1 }).getTimeZoneTransition('previous')) ?? -Infinity;
  const to = edge(time.getTimeZoneTransition('next')) ?? Infinity;
  return { from, to, offset: time.offsetNanoseconds / 1e9 };
}
