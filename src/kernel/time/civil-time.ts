export const DAY = 86_400;
const [ZERO, DASH, SPACE, COLON] = [...Buffer.from('0- :')] as [number, number, number, number];

/**
 * The seconds since 1970, in UTC, of <YYYY-MM-DD HH:mm> or <YYYY-MM-DD HH:mm:ss>; undefined where there is no such day or
 * time of day, and before the year 100, which Date.UTC takes for one of the last century.
 */
export function parseEpochSeconds(text: string): number | undefined {
  const [year, month, day] = [twoAt(text, 0) * 100 + twoAt(text, 2), twoAt(text, 5), twoAt(text, 8)];
  const [hour, minute, second] = [twoAt(text, 11), twoAt(text, 14), text.length > 16 ? twoAt(text, 17) : 0];
  if (year < 100 || !isDay(year, month, day)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  return Date.UTC(year, month - 1, day, hour, minute, second) / 1000;
}

const twoAt = (text: string, at: number): number => (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO;

export const isDay = (year: number, month: number, day: number): boolean =>
  month >= 1 && month <= 12 && day >= 1 && day <= lastDay(year, month);

function lastDay(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

/**
 * <YYYY-MM-DD HH:mm:ss>. Not by Date: a list of a hundred times would cost as much as all the rest of its request. Whole
 * numbers are cut off by `| 0`, which takes a third of the time of Math.floor; there are none below zero.
 */
export function writeTime(bytes: Buffer, at: number, seconds: number): void {
  const days = Math.floor(seconds / DAY);
  const time = (seconds - days * DAY) | 0;
  // Years from the 1st of March on, so that the odd day is the last one; of the Gregorian calendar, from the year 0.
  const since = (days + 719_468) | 0;
  const era = (since / 146_097) | 0;
  const ofEra = since - era * 146_097;
  const yearOfEra = ((ofEra - ((ofEra / 1_460) | 0) + ((ofEra / 36_524) | 0) - ((ofEra / 146_096) | 0)) / 365) | 0;
  const dayOfYear = ofEra - (365 * yearOfEra + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0));
  const fromMarch = ((5 * dayOfYear + 2) / 153) | 0;
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  writeTwoDigits(bytes, at, (year / 100) | 0);
  writeTwoDigits(bytes, at + 2, year % 100);
  bytes[at + 4] = DASH;
  writeTwoDigits(bytes, at + 5, month);
  bytes[at + 7] = DASH;
  writeTwoDigits(bytes, at + 8, dayOfYear - (((153 * fromMarch + 2) / 5) | 0) + 1);
  bytes[at + 10] = SPACE;
  writeTwoDigits(bytes, at + 11, (time / 3_600) | 0);
  bytes[at + 13] = COLON;
  writeTwoDigits(bytes, at + 14, ((time % 3_600) / 60) | 0);
  bytes[at + 16] = COLON;
  writeTwoDigits(bytes, at + 17, time % 60);
}

/** Two digits. */
export function writeTwoDigits(bytes: Buffer, at: number, number: number): void {
  const tens = (number / 10) | 0;
  bytes[at] = ZERO + tens;
  bytes[at + 1] = ZERO + number - tens * 10;
}
