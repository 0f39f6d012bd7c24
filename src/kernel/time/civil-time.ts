export const SECONDS_PER_DAY = 86_400;
const [ZERO, DASH, SPACE, COLON] = [...Buffer.from('0- :')] as [number, number, number, number];

/**
 * Returns the seconds since 1970, in UTC, of <YYYY-MM-DD HH:mm> or <YYYY-MM-DD HH:mm:ss>. Returns undefined if there is
 * no such day or time, and for years before 100, which Date.UTC takes for years of the 20th century.
 */
export function parseEpochSeconds(text: string): number | undefined {
  const [year, month, day] = [
    twoDigitsAt(text, 0) * 100 + twoDigitsAt(text, 2),
    twoDigitsAt(text, 5),
    twoDigitsAt(text, 8),
  ];
  const [hour, minute, second] = [
    twoDigitsAt(text, 11),
    twoDigitsAt(text, 14),
    text.length > 16 ? twoDigitsAt(text, 17) : 0,
  ];
  if (year < 100 || !isDay(year, month, day)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  return Date.UTC(year, month - 1, day, hour, minute, second) / 1000;
}

const twoDigitsAt = (text: string, at: number): number =>
  (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO;

export const isDay = (year: number, month: number, day: number): boolean =>
  month >= 1 && month <= 12 && day >= 1 && day <= lastDay(year, month);

function lastDay(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

/**
 * Writes <YYYY-MM-DD HH:mm:ss>. With Date, a list of a hundred times would cost as much as the rest of its request.
 * `| 0` truncates in a third of the time of Math.floor, and no operand is negative.
 */
export function writeTime(bytes: Buffer, at: number, seconds: number): void {
  const days = Math.floor(seconds / SECONDS_PER_DAY);
  const time = (seconds - days * SECONDS_PER_DAY) | 0;
  // Days since 1 March of the year 0 in the Gregorian calendar: a leap day is then the last day of its year.
  const daysSinceZero = (days + 719_468) | 0;
  const era = (daysSinceZero / 146_097) | 0;
  const dayOfEra = daysSinceZero - era * 146_097;
  const yearOfEra =
    ((dayOfEra - ((dayOfEra / 1_460) | 0) + ((dayOfEra / 36_524) | 0) - ((dayOfEra / 146_096) | 0)) / 365) | 0;
  const dayOfYear = dayOfEra - (365 * yearOfEra + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0));
  const monthFromMarch = ((5 * dayOfYear + 2) / 153) | 0;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  writeTwoDigits(bytes, at, (year / 100) | 0);
  writeTwoDigits(bytes, at + 2, year % 100);
  bytes[at + 4] = DASH;
  writeTwoDigits(bytes, at + 5, month);
  bytes[at + 7] = DASH;
  writeTwoDigits(bytes, at + 8, dayOfYear - (((153 * monthFromMarch + 2) / 5) | 0) + 1);
  bytes[at + 10] = SPACE;
  writeTwoDigits(bytes, at + 11, (time / 3_600) | 0);
  bytes[at + 13] = COLON;
  writeTwoDigits(bytes, at + 14, ((time % 3_600) / 60) | 0);
  bytes[at + 16] = COLON;
  writeTwoDigits(bytes, at + 17, time % 60);
}

export function writeTwoDigits(bytes: Buffer, at: number, number: number): void {
  const tens = (number / 10) | 0;
  bytes[at] = ZERO + tens;
  bytes[at + 1] = ZERO + number - tens * 10;
}
