/** Times are shown in the zone of the company. Fields for times have wall times of that zone, as the service reads them. */

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = timeZone + JSON.stringify(options);
  const known = formats.get(key);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, ...options });
  formats.set(key, format);
  return format;
}

export const formatDate = (at: string, timeZone: string): string =>
  formatOf(timeZone, { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' }).format(new Date(at));

export const formatTime = (at: string, timeZone: string): string =>
  formatOf(timeZone, { hour: '2-digit', minute: '2-digit' }).format(new Date(at));

export const zoneAbbreviation = (at: string, timeZone: string): string =>
  formatOf(timeZone, { timeZoneName: 'short' })
    .formatToParts(new Date(at))
    .find(({ type }) => type === 'timeZoneName')?.value ?? timeZone;

export const isOtherZone = (timeZone: string): boolean => Intl.DateTimeFormat().resolvedOptions().timeZone !== timeZone;

/** Returns the wall time of an instant for a field: `2026-06-01T09:30`. */
export function wallTime(at: string, timeZone: string): string {
  const options = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const;
  const parts = formatOf(timeZone, { ...options, hourCycle: 'h23' }).formatToParts(new Date(at));
  const part = (name: string) => parts.find(({ type }) => type === name)?.value ?? '';
  return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}`;
}

/** Returns the value of a field for a request: `2026-06-01 09:30`. */
export const toRequestTime = (field: string): string => field.replace('T', ' ');

/** Returns a wall time of an answer for a field. Seconds stay if there are any, so that saving does not change them. */
export const toFieldTime = (wall: string): string => wall.replace(' ', 'T').replace(/:00$/, '');

/** Returns the day of an instant as `2026-06-01`. */
export const dayOf = (at: string, timeZone: string): string => wallTime(at, timeZone).slice(0, 10);

/** Returns another day, counted on the calendar. */
export function addDays(day: string, days: number): string {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}

/** Whether the text is a day of the calendar that can be shown, with the days around it. */
export const isDay = (text: string | null): text is string =>
  text !== null && /^[12]\d{3}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && addDays(text, 0) === text;
