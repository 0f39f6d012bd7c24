import { randomBytes } from 'node:crypto';
import { writeTime } from './calendar.ts';
import { type Zone, zoneOf } from './zones.ts';

/**
 * Statements write a wall time as the mark of its zone, which is a parameter, and the seconds since 1970; it is turned
 * into text here. So one time zone database, that of Temporal, reads and shows: PostgreSQL's own may be older, and an
 * hour off. A mark has 36 random bits, so that no text of a caller is taken for one, and is as long as what takes its
 * place. It begins with a character that hardly any text holds, because it is looked for in every answer.
 */
const MARK = `\x7f${randomBytes(5).toString('base64url').slice(0, 6)}`;
const MARK_LENGTH = MARK.length + 2;
const LENGTH = MARK_LENGTH + 10;
/** Gives every second of the years 1000 to 9999 ten hexadecimal digits. */
export const EPOCH_SHIFT = 140_000_000_000;

/** The two digits of a zone go from 0 to W: nothing that JSON escapes, and more than there are zones. */
const RADIX = 40;
const HALF_DIGITS = 5;
const [QUOTE, ZERO, NINE, LOWER_A] = [...Buffer.from('"09a')] as [number, number, number, number];
const MARK_BYTES = Buffer.from(MARK);
const FIRST = MARK_BYTES[0] as number;

const zones: Zone[] = [];
const marks = new Map<string, string>();

/** What a statement is given for a zone. */
export function zoneMark(zone: string): string {
  const known = marks.get(zone);
  if (known !== undefined) return known;
  const mark = MARK + String.fromCharCode(ZERO + Math.floor(zones.length / RADIX), ZERO + (zones.length % RADIX));
  zones.push(zoneOf(zone));
  marks.set(zone, mark);
  return mark;
}

/** Used by one text after the other: new memory for each would only be cleared away again. What is larger has its own. */
const scratch = Buffer.allocUnsafeSlow(524_288);

/** <YYYY-MM-DD HH:mm:ss> for every marked time of the JSON text. */
export function showWallTimes(json: string): string {
  if (!json.includes(MARK)) return json;
  const length = Buffer.byteLength(json);
  const bytes = length > scratch.length ? Buffer.allocUnsafeSlow(length) : scratch.subarray(0, length);
  bytes.write(json);
  for (let at = bytes.indexOf(FIRST); at >= 0; at = bytes.indexOf(FIRST, at + 1)) {
    if (!isMark(bytes, at) || bytes[at - 1] !== QUOTE || bytes[at + LENGTH] !== QUOTE) continue;
    const zone = zones[zoneNumberIn(bytes, at + MARK.length)];
    const high = hexadecimalIn(bytes, at + MARK_LENGTH);
    const low = hexadecimalIn(bytes, at + MARK_LENGTH + HALF_DIGITS);
    if (zone === undefined || high < 0 || low < 0) continue;
    const seconds = high * 16 ** HALF_DIGITS + low - EPOCH_SHIFT;
    writeTime(bytes, at, seconds + zone.offsetAt(seconds));
  }
  return bytes.toString();
}

function isMark(bytes: Buffer, at: number): boolean {
  for (let i = 1; i < MARK_BYTES.length; i++) if (bytes[at + i] !== MARK_BYTES[i]) return false;
  return true;
}

/** Returns -1 if the two digits are not those of a zone. */
function zoneNumberIn(bytes: Buffer, at: number): number {
  const high = (bytes[at] as number) - ZERO;
  const low = (bytes[at + 1] as number) - ZERO;
  return high < 0 || high >= RADIX || low < 0 || low >= RADIX ? -1 : high * RADIX + low;
}

/** Returns the five digits as a number, so few that it stays a small one; -1 if there is anything else among them. */
function hexadecimalIn(bytes: Buffer, at: number): number {
  let number = 0;
  for (let i = at; i < at + HALF_DIGITS; i++) {
    const byte = bytes[i] as number;
    const digit = byte <= NINE ? byte - ZERO : byte - LOWER_A + 10;
    if (digit < 0 || digit > 15 || (byte > NINE && digit < 10)) return -1;
    number = number * 16 + digit;
  }
  return number;
}
