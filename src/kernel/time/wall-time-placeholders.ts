import { randomBytes, randomInt } from 'node:crypto';
import { writeTime } from './civil-time.ts';
import { type Zone, zoneOf } from './zone-offsets.ts';

/**
 * Statements write a wall time as the mark of its zone, which is a parameter, and the seconds since 1970; it is turned
 * into text here. So one time zone database, that of Temporal, reads and shows: PostgreSQL's own may be older, and an
 * hour off. A mark is as long as what takes its place, and has 34 random bits, ten of them of its zone, so that no text of
 * a caller is taken for one. It begins with a character that hardly any text holds: it is looked for in every answer.
 */
const MARK = `\x7f${randomBytes(3).toString('base64url')}`;
const MARK_LENGTH = MARK.length + 2;
const LENGTH = MARK_LENGTH + 12;
/** Gives every second of the years 1000 to 9999 twelve digits. */
export const EPOCH_SHIFT = 140_000_000_000;

/** The two digits of a zone go from 0 to W: nothing that JSON escapes, and more than there are zones. */
const RADIX = 40;
const [QUOTE, ZERO] = [...Buffer.from('"0')] as [number, number];
const MARK_BYTES = Buffer.from(MARK);
const FIRST = MARK_BYTES[0] as number;

/** By the number that the two digits of its mark make. */
const zones: (Zone | undefined)[] = new Array(RADIX * RADIX).fill(undefined);
const marks = new Map<string, string>();

/** What a statement is given for a zone. */
export function zonePlaceholder(zone: string): string {
  const known = marks.get(zone);
  if (known !== undefined) return known;
  const free = [...zones.keys()].filter((number) => zones[number] === undefined);
  const number = free[randomInt(free.length)] as number;
  const mark = MARK + String.fromCharCode(ZERO + Math.floor(number / RADIX), ZERO + (number % RADIX));
  zones[number] = zoneOf(zone);
  marks.set(zone, mark);
  return mark;
}

/** Used by one text after the other: new memory for each would only be cleared away again. What is larger has its own. */
const scratch = Buffer.allocUnsafeSlow(524_288);

/** <YYYY-MM-DD HH:mm:ss> for every marked time of the JSON text. */
export function renderWallTimes(json: string): string {
  if (!json.includes(MARK)) return json;
  const length = Buffer.byteLength(json);
  const bytes = length > scratch.length ? Buffer.allocUnsafeSlow(length) : scratch.subarray(0, length);
  bytes.write(json);
  for (let at = bytes.indexOf(FIRST); at >= 0; at = bytes.indexOf(FIRST, at + 1)) {
    if (!isMark(bytes, at) || bytes[at - 1] !== QUOTE || bytes[at + LENGTH] !== QUOTE) continue;
    const zone = zones[numberIn(bytes, at + MARK.length, at + MARK_LENGTH, RADIX)];
    const millions = numberIn(bytes, at + MARK_LENGTH, at + MARK_LENGTH + 6, 10);
    const rest = numberIn(bytes, at + MARK_LENGTH + 6, at + LENGTH, 10);
    if (zone === undefined || millions < 0 || rest < 0) continue;
    const seconds = millions * 1_000_000 + rest - EPOCH_SHIFT;
    writeTime(bytes, at, seconds + zone.offsetAt(seconds));
  }
  return bytes.toString();
}

function isMark(bytes: Buffer, at: number): boolean {
  for (let i = 1; i < MARK_BYTES.length; i++) if (bytes[at + i] !== MARK_BYTES[i]) return false;
  return true;
}

/** Of digits that follow each other from 0 on, and so few that it stays a small number; -1 where there is anything else. */
function numberIn(bytes: Buffer, from: number, to: number, radix: number): number {
  let number = 0;
  for (let i = from; i < to; i++) {
    const digit = (bytes[i] as number) - ZERO;
    if (digit < 0 || digit >= radix) return -1;
    number = number * radix + digit;
  }
  return number;
}
