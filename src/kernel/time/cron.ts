import type { Instant } from './time.ts';

/** Schedules in the five fields of a crontab: minute, hour, day of the month, month, day of the week. In UTC. */

type Field = { values: ReadonlySet<number>; isRestricted: boolean };

export type Schedule = { minute: Field; hour: Field; day: Field; month: Field; weekday: Field };

const FIELDS = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12 },
  { name: 'weekday', min: 0, max: 7 },
] as const;

const EXAMPLE = 'such as "0 3 * * *" for every day at 3:00 UTC';
/** Every date comes again within this time: 29 February on a given day of the week. */
const MAX_DAYS = 366 * 41;

/** Throws if the text is not a schedule, or fits no date. */
export function parseSchedule(text: string): Schedule {
  const words = text.trim().split(/\s+/);
  if (words.length !== FIELDS.length) throw new Error(`must have five fields, ${EXAMPLE}, not "${text}"`);
  const schedule = Object.fromEntries(
    FIELDS.map(({ name, min, max }, i) => [name, parseField(words[i] as string, min, max, text)]),
  ) as Schedule;
  if (!findDay(schedule, Temporal.PlainDate.from('2000-01-01').add({ days: MAX_DAYS }))) {
    throw new Error(`must fit a date, ${EXAMPLE}, not "${text}"`);
  }
  return schedule;
}

function parseField(word: string, min: number, max: number, text: string): Field {
  const values = new Set<number>();
  for (const part of word.split(',')) {
    const [, range = '', first = '', last, step = '1'] =
      /^(\*|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    const from = range === '*' ? min : Number(first);
    const to = range === '*' || (last === undefined && part.includes('/')) ? max : Number(last ?? first);
    if (range === '' || from < min || to > max || from > to || Number(step) === 0) {
      throw new Error(`must be a schedule, ${EXAMPLE}; "${part}" in "${text}" is not from ${min} to ${max}`);
    }
    for (let value = from; value <= to; value += Number(step)) values.add(value);
  }
  return { values, isRestricted: !word.startsWith('*') };
}

/** Returns the last time of the schedule that is not after `now`. */
export function previousRun(schedule: Schedule, now: Instant): Instant {
  const { year, month, day, hour, minute } = now.toZonedDateTimeISO('UTC');
  const today = new Temporal.PlainDate(year, month, day);
  const earliestToday = runsOf(schedule).find((run) => run.hour < hour || (run.hour === hour && run.minute <= minute));
  const date = isDay(schedule, today) && earliestToday ? today : findDay(schedule, today.subtract({ days: 1 }));
  const time = date?.equals(today) ? earliestToday : runsOf(schedule)[0];
  return (date as Temporal.PlainDate).toZonedDateTime({ timeZone: 'UTC', plainTime: time as Time }).toInstant();
}

type Time = { hour: number; minute: number };

/** The times of a day, latest first. */
const runsOf = ({ hour, minute }: Schedule): Time[] =>
  descending(hour).flatMap((h) => descending(minute).map((m) => ({ hour: h, minute: m })));

const descending = ({ values }: Field): number[] => [...values].sort((a, b) => b - a);

/** Returns the last day of the schedule that is not after `from`. */
function findDay(schedule: Schedule, from: Temporal.PlainDate): Temporal.PlainDate | undefined {
  for (let days = 0, date = from; days < MAX_DAYS; days++, date = date.subtract({ days: 1 })) {
    if (isDay(schedule, date)) return date;
  }
  return undefined;
}

/** As in cron, either of the two fields for days is enough if both are restricted. */
function isDay({ day, month, weekday }: Schedule, date: Temporal.PlainDate): boolean {
  const fitsDay = day.values.has(date.day);
  const fitsWeekday = weekday.values.has(date.dayOfWeek) || (date.dayOfWeek === 7 && weekday.values.has(0));
  const fits = day.isRestricted && weekday.isRestricted ? fitsDay || fitsWeekday : fitsDay && fitsWeekday;
  return month.values.has(date.month) && fits;
}
