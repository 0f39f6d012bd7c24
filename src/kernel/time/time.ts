import { InvalidValue } from '../errors.ts';
import { isDay, parseEpochSeconds, writeTime, writeTwoDigits } from './civil-time.ts';
import { zoneOf } from './zone-offsets.ts';

export type Instant = Temporal.Instant;
export type Clock = () => Instant;

export const systemClock: Clock = () => Temporal.Now.instant();

/** The same in milliseconds, for what every request asks: an Instant takes microseconds to make. */
export const millisecondsOf = (clock: Clock): (() => number) =>
  clock === systemClock ? Date.now : () => clock().epochMilliseconds;

const WALL = /^\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?$/;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;
/** Than microseconds. */
const FINER = /\.\d{7}/;
const REJECT = { overflow: 'reject' } as const;
const DAY = /^(\d\d)\/(\d\d)\/(\d{4})$/;

/** Both forms of a request, for the schema; what they hold is judged by `parseTime`. */
export const TIME_PATTERN =
  '^\\d{4}-\\d\\d-\\d\\d( \\d\\d:\\d\\d(:\\d\\d)?|T\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?(Z|[+-]\\d\\d:\\d\\d))$';

// Four digits in every zone, so that every shape that goes out can come back in.
const FIRST_MS = Date.parse('1000-01-02T00:00:00Z');
const LAST_MS = Date.parse('9999-12-30T23:59:59.999Z');

/** Text without a zone is wall time in `zone`; skipped times move forward, repeated ones mean the first. */
export function parseTime(text: string, zone: string): Instant {
  const instant = readTime(text, zone);
  if (instant.epochMilliseconds < FIRST_MS || instant.epochMilliseconds > LAST_MS) {
    throw new InvalidValue('out_of_range', 'must lie between the years 1000 and 9999');
  }
  return instant;
}

function readTime(text: string, zone: string): Instant {
  const wall = WALL.test(text);
  if (!wall && !ISO.test(text)) throw new InvalidValue('format', 'must be a time such as 2026-03-29 14:30:00');
  // Temporal takes second 60 for 59; here it is no time of day.
  if (text.slice(17, 19) === '60') throw new InvalidValue('format', 'must be a real date and time of day');
  try {
    return wall ? readWall(text, zone) : readIso(text);
  } catch {
    throw new InvalidValue('format', 'must be a real date and time of day');
  }
}

/** Only what is unusual is left to Temporal, which takes four times as long. */
function readWall(text: string, zone: string): Instant {
  const wall = parseEpochSeconds(text);
  const second = wall === undefined ? undefined : zoneOf(zone).toEpoch(wall);
  return second === undefined
    ? Temporal.PlainDateTime.from(text, REJECT).toZonedDateTime(zone).toInstant()
    : Temporal.Instant.fromEpochMilliseconds(second * 1000);
}

function readIso(text: string): Instant {
  const instant = Temporal.Instant.from(text);
  return FINER.test(text) ? instant.round({ smallestUnit: 'microsecond', roundingMode: 'floor' }) : instant;
}

/** When something happened: not after now. */
export function parsePastTime(text: string, zone: string, now: Instant): Instant {
  const instant = parseTime(text, zone);
  if (Temporal.Instant.compare(instant, now) > 0) throw new InvalidValue('out_of_range', 'must not be in the future');
  return instant;
}

/** A day of birth, DD/MM/YYYY: a real day and not after today in `zone`. */
export function parseBirthday(text: string, zone: string, now: Instant): string {
  const [, day, month, year] = DAY.exec(text) ?? [];
  if (!day || !month || !year || !isDay(Number(year), Number(month), Number(day))) {
    throw new InvalidValue('format', 'must be a real day in the form DD/MM/YYYY');
  }
  if (Number(year) < 1000) throw new InvalidValue('out_of_range', 'must not be before the year 1000');
  const begins = Date.UTC(Number(year), Number(month) - 1, Number(day)) / 1000;
  if (begins > zoneOf(zone).toWall(Math.floor(now.epochMilliseconds / 1000))) {
    throw new InvalidValue('out_of_range', 'must not be in the future');
  }
  return `${year}-${month}-${day}`;
}

/** How an instant goes to PostgreSQL, whose timestamptz keeps microseconds. Not by Temporal, which takes twice as long. */
export function toSql(instant: Instant): string {
  const ms = instant.epochMilliseconds;
  if (ms < FIRST_MS || ms > LAST_MS) return instant.toString(MICROSECONDS);
  const seconds = Math.floor(ms / 1000);
  // What is left of the millisecond, before 1970 up to the next one.
  const rest = Number(instant.epochNanoseconds % 1_000_000n);
  const micros = (ms - seconds * 1000) * 1000 + Math.floor((rest < 0 ? rest + 1_000_000 : rest) / 1000);
  writeTime(written, 0, seconds);
  written[10] = T;
  writeTwoDigits(written, 20, Math.floor(micros / 10_000));
  writeTwoDigits(written, 22, Math.floor(micros / 100) % 100);
  writeTwoDigits(written, 24, micros % 100);
  return written.toString('latin1');
}

const MICROSECONDS = { fractionalSecondDigits: 6 } as const;
const written = Buffer.from('0000-00-00T00:00:00.000000Z');
const T = written[10] as number;
