import { InvalidValue } from '../errors.ts';
import { isDay, parseEpochSeconds, writeTime, writeTwoDigits } from './civil-time.ts';
import { zoneOf } from './zone-offsets.ts';

export type Instant = Temporal.Instant;
export type Clock = () => Instant;

export const systemClock: Clock = () => Temporal.Now.instant();

/** The clock in milliseconds, for code that runs in every request: creating an Instant takes microseconds. */
export const millisecondsOf = (clock: Clock): (() => number) =>
  clock === systemClock ? Date.now : () => clock().epochMilliseconds;

const WALL = /^\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?$/;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;
const FINER_THAN_MICROSECONDS = /\.\d{7}/;
const REJECT = { overflow: 'reject' } as const;
const BIRTHDAY = /^(\d\d)\/(\d\d)\/(\d{4})$/;

/** Both forms that a request may use, for the schema. `parseTime` checks the date and the time of day. */
export const TIME_PATTERN =
  '^\\d{4}-\\d\\d-\\d\\d( \\d\\d:\\d\\d(:\\d\\d)?|T\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?(Z|[+-]\\d\\d:\\d\\d))$';

// Times within these bounds have a four-digit year in every zone, so every time in a response is valid in a request.
const MIN_MS = Date.parse('1000-01-02T00:00:00Z');
const MAX_MS = Date.parse('9999-12-30T23:59:59.999Z');

/** Text without a zone is wall time in `zone`. A skipped time moves forward; a repeated time means the first one. */
export function parseTime(text: string, zone: string): Instant {
  const instant = readTime(text, zone);
  if (instant.epochMilliseconds < MIN_MS || instant.epochMilliseconds > MAX_MS) {
    throw new InvalidValue('out_of_range', 'must lie between the years 1000 and 9999');
  }
  return instant;
}

function readTime(text: string, zone: string): Instant {
  const wall = WALL.test(text);
  if (!wall && !ISO.test(text)) throw new InvalidValue('format', 'must be a time such as 2026-03-29 14:30:00');
  // Temporal reads second 60 as 59; here it is invalid.
  if (text.slice(17, 19) === '60') throw new InvalidValue('format', 'must be a real date and time of day');
  try {
    return wall ? readWall(text, zone) : readIso(text);
  } catch {
    throw new InvalidValue('format', 'must be a real date and time of day');
  }
}

/** Uses Temporal, which takes four times as long, only for unusual times. */
function readWall(text: string, zone: string): Instant {
  const wall = parseEpochSeconds(text);
  const second = wall === undefined ? undefined : zoneOf(zone).toEpoch(wall);
  return second === undefined
    ? Temporal.PlainDateTime.from(text, REJECT).toZonedDateTime(zone).toInstant()
    : Temporal.Instant.fromEpochMilliseconds(second * 1000);
}

function readIso(text: string): Instant {
  const instant = Temporal.Instant.from(text);
  return FINER_THAN_MICROSECONDS.test(text)
    ? instant.round({ smallestUnit: 'microsecond', roundingMode: 'floor' })
    : instant;
}

/** Parses a time that must not be in the future. */
export function parsePastTime(text: string, zone: string, now: Instant): Instant {
  const instant = parseTime(text, zone);
  if (Temporal.Instant.compare(instant, now) > 0) throw new InvalidValue('out_of_range', 'must not be in the future');
  return instant;
}

/** Parses DD/MM/YYYY, which must be a real day and not after today in `zone`. Returns YYYY-MM-DD. */
export function parseBirthday(text: string, zone: string, now: Instant): string {
  const [, day, month, year] = BIRTHDAY.exec(text) ?? [];
  if (!day || !month || !year || !isDay(Number(year), Number(month), Number(day))) {
    throw new InvalidValue('format', 'must be a real day in the form DD/MM/YYYY');
  }
  if (Number(year) < 1000) throw new InvalidValue('out_of_range', 'must not be before the year 1000');
  const startOfDay = Date.UTC(Number(year), Number(month) - 1, Number(day)) / 1000;
  if (startOfDay > zoneOf(zone).toWall(Math.floor(now.epochMilliseconds / 1000))) {
    throw new InvalidValue('out_of_range', 'must not be in the future');
  }
  return `${year}-${month}-${day}`;
}

const WALL_TIME_LENGTH = 'YYYY-MM-DD HH:mm:ss'.length;

/** Formats an instant as the wall time of a zone, to the second. */
export function toWallTime(instant: Instant, zone: string): string {
  const seconds = Math.floor(instant.epochMilliseconds / 1000);
  const bytes = Buffer.alloc(WALL_TIME_LENGTH);
  writeTime(bytes, 0, seconds + zoneOf(zone).offsetAt(seconds));
  return bytes.toString('latin1');
}

/** The calendar day of an instant in a zone, as YYYY-MM-DD. */
export const toDay = (instant: Instant, zone: string): string => toWallTime(instant, zone).slice(0, 10);

/** The first instant of the day in a zone. A day need not begin at midnight. */
export const startOfDay = (instant: Instant, zone: string): Instant =>
  instant.toZonedDateTimeISO(zone).startOfDay().toInstant();

/** Formats an instant for PostgreSQL, whose timestamptz has microseconds. Temporal would take twice as long. */
export function toSql(instant: Instant): string {
  const ms = instant.epochMilliseconds;
  if (ms < MIN_MS || ms > MAX_MS) return instant.toString(MICROSECONDS);
  const seconds = Math.floor(ms / 1000);
  // Nanoseconds beyond the millisecond; negative before 1970.
  const rest = Number(instant.epochNanoseconds % 1_000_000n);
  const micros = (ms - seconds * 1000) * 1000 + Math.floor((rest < 0 ? rest + 1_000_000 : rest) / 1000);
  writeTime(buffer, 0, seconds);
  buffer[10] = T;
  writeTwoDigits(buffer, 20, Math.floor(micros / 10_000));
  writeTwoDigits(buffer, 22, Math.floor(micros / 100) % 100);
  writeTwoDigits(buffer, 24, micros % 100);
  return buffer.toString('latin1');
}

const MICROSECONDS = { fractionalSecondDigits: 6 } as const;
const buffer = Buffer.from('0000-00-00T00:00:00.000000Z');
const T = buffer[10] as number;
