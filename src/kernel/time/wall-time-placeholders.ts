import { randomBytes, randomInt } from 'node:crypto';
import { writeTime } from './civil-time.ts';
import { type Zone, zoneOf } from './zone-offsets.ts';

/**
 * PostgreSQL's time zone database may be older than Node's, and an hour off. So statements return a wall time as a
 * placeholder for its zone, which is an input, followed by the seconds since 1970. `renderWallTimes` replaces it by the
 * text, which has the same length. A placeholder has 34 random bits, ten of them from its zone, so that no text of a
 * caller is mistaken for one. Its first character is rare in texts, because every response is searched for it.
 */
const PREFIX = `\x7f${randomBytes(3).toString('base64url')}`;
const ZONE_END = PREFIX.length + 2;
const LENGTH = ZONE_END + 12;
/** Added to the seconds, so that every second of the years 1000 to 9999 has twelve digits. */
export const EPOCH_SHIFT = 140_000_000_000;

/** A zone has two digits from 0 to W, which JSON does not escape. There are fewer zones than such numbers. */
const RADIX = 40;
const [QUOTE, ZERO] = [...Buffer.from('"0')] as [number, number];
const PREFIX_BYTES = Buffer.from(PREFIX);
const FIRST_BYTE = PREFIX_BYTES[0] as number;

/** The zone of each number. */
const zones: (Zone | undefined)[] = new Array(RADIX * RADIX).fill(undefined);
const placeholders = new Map<string, string>();

/** Returns the placeholder that a statement gets for a zone. */
export function zonePlaceholder(zone: string): string {
  const known = placeholders.get(zone);
  if (known !== undefined) return known;
  const unused = [...zones.keys()].filter((number) => zones[number] === undefined);
  const number = unused[randomInt(unused.length)] as number;
  const placeholder = PREFIX + String.fromCharCode(ZERO + Math.floor(number / RADIX), ZERO + (number % RADIX));
  zones[number] = zoneOf(zone);
  placeholders.set(zone, placeholder);
  return placeholder;
}

/** Reused for every text that fits, to spare the garbage collector. */
const scratch = Buffer.allocUnsafeSlow(524_288);

/** Replaces every placeholder of the JSON text by <YYYY-MM-DD HH:mm:ss>. */
export function renderWallTimes(json: string): string {
  if (!json.includes(PREFIX)) return json;
  const length = Buffer.byteLength(json);
  const bytes = length > scratch.length ? Buffer.allocUnsafeSlow(length) : scratch.subarray(0, length);
  bytes.write(json);
  for (let at = bytes.indexOf(FIRST_BYTE); at >= 0; at = bytes.indexOf(FIRST_BYTE, at + 1)) {
    if (!hasPrefix(bytes, at) || bytes[at - 1] !== QUOTE || bytes[at + LENGTH] !== QUOTE) continue;
    const zone = zones[parseDigits(bytes, at + PREFIX.length, at + ZONE_END, RADIX)];
    const millions = parseDigits(bytes, at + ZONE_END, at + ZONE_END + 6, 10);
    const rest = parseDigits(bytes, at + ZONE_END + 6, at + LENGTH, 10);
    if (zone === undefined || millions < 0 || rest < 0) continue;
    const seconds = millions * 1_000_000 + rest - EPOCH_SHIFT;
    writeTime(bytes, at, seconds + zone.offsetAt(seconds));
  }
  return bytes.toString();
}

function hasPrefix(bytes: Buffer, at: number): boolean {
  for (let i = 1; i < PREFIX_BYTES.length; i++) if (bytes[at + i] !== PREFIX_BYTES[i]) return false;
  return true;
}

/** Parses digits, which are consecutive characters from 0 on. Returns -1 if there is any other character. */
function parseDigits(bytes: Buffer, from: number, to: number, radix: number): number {
  let number = 0;
  for (let i = from; i < to; i++) {
    const digit = (bytes[i] as number) - ZERO;
    if (digit < 0 || digit >= radix) return -1;
    number = number * radix + digit;
  }
  return number;
}
