/**
 * The index has the words of records by period: by half a month, by year before 2024, all before 2000 as one, and all from 2100
 * on. The name of a period is its first day.
 */

const FIRST_HALVES = Date.UTC(2024);
const FIRST_YEARS = Date.UTC(2000);
const EARLIEST = '00010101';
const LATEST = '21000101';
const SECOND_HALF_DAY = 16;

/** The period of a time, as the function `words_of_period` of the database has it. */
export function periodOf(at: Date): string {
  if (at.getTime() < FIRST_YEARS) return EARLIEST;
  if (at.getTime() < FIRST_HALVES) return `${at.getUTCFullYear()}0101`;
  if (at.getUTCFullYear() >= Number(LATEST.slice(0, 4))) return LATEST;
  const month = String(at.getUTCFullYear() * 100 + at.getUTCMonth() + 1);
  return month + (at.getUTCDate() < SECOND_HALF_DAY ? '01' : SECOND_HALF_DAY);
}

/** The first moment of a period. */
export const startOf = (period: string): Date =>
  new Date(`${period.slice(0, 4)}-${period.slice(4, 6)}-${period.slice(6)}T00:00:00.000Z`);

/** The periods from that of `newest` back to that of `oldest`. */
export function periodsBetween(newest: Date, oldest: Date): string[] {
  const periods: string[] = [];
  const last = periodOf(oldest);
  for (let period = periodOf(newest); ; period = periodOf(new Date(startOf(period).getTime() - 1))) {
    periods.push(period);
    if (period <= last) return periods;
  }
}
