import type { Instant } from '../../../kernel/time/time.ts';

/** Times as clients read them: pure functions of the instants and the company's time zone. */

const LOCALE = 'en-GB';

export type Period = { start: Instant; end: Instant | null };

/** "Monday 29 June 2026, 14:30–15:30 (British Summer Time)"; without an end "Monday 29 June 2026, 14:30 (…)". */
export function formatPeriod({ start, end }: Period, timeZone: string): string {
  if (!end) return `${formatStart(start, timeZone)} (${zoneName(start, timeZone, 'long')})`;
  const sameDay = formatDay(start, timeZone) === formatDay(end, timeZone);
  const sameZone = zoneName(start, timeZone, 'long') === zoneName(end, timeZone, 'long');
  const first = `${formatDay(start, timeZone)}, ${formatTime(start, timeZone)}`;
  const last = sameDay ? formatTime(end, timeZone) : `${formatDay(end, timeZone)}, ${formatTime(end, timeZone)}`;
  const zone = (instant: Instant) => ` (${zoneName(instant, timeZone, 'long')})`;
  // Across a clock change the start and the end have different zone names.
  if (!sameZone) return `${first}${zone(start)} – ${last}${zone(end)}`;
  return `${first}${sameDay ? '–' : ' – '}${last}${zone(start)}`;
}

/** "Monday 29 June 2026, 14:30" */
export const formatStart = (start: Instant, timeZone: string): string =>
  `${formatDay(start, timeZone)}, ${formatTime(start, timeZone)}`;

/** "Monday 29 June 2026" */
export const formatDay = (instant: Instant, zone: string): string => {
  const part = (options: Intl.DateTimeFormatOptions) => format(instant, zone, options);
  const month = part({ month: 'long' });
  return `${part({ weekday: 'long' })} ${part({ day: 'numeric' })} ${month} ${part({ year: 'numeric' })}`;
};

/** "Mon 29 Jun" */
export const formatShortDay = (instant: Instant, zone: string): string => {
  const part = (options: Intl.DateTimeFormatOptions) => format(instant, zone, options);
  // The short form of a month has three letters or, in September, four.
  const month = part({ month: 'long' }).slice(0, 3);
  return `${part({ weekday: 'short' })} ${part({ day: 'numeric' })} ${month}`;
};

export const formatTime = (instant: Instant, zone: string): string =>
  instant.toZonedDateTimeISO(zone).toPlainTime().toString({ smallestUnit: 'minute' });

/**
 * Each English locale abbreviates the zones of its own region: New York is GMT-4 in Britain and EDT in America. No two
 * of them abbreviate a zone differently.
 */
const ZONE_LOCALES = [LOCALE, 'en-US', 'en-CA', 'en-AU', 'en-NZ', 'en-IE', 'en-IN', 'en-ZA', 'en-HK', 'en-SG'];

/** "British Summer Time" or "BST"; a zone without an abbreviation has its offset, such as "GMT+3". */
export function zoneName(instant: Instant, zone: string, style: 'short' | 'long'): string {
  const nameIn = (locale: string) => {
    const parts = formatter(zone, { timeZoneName: style }, locale).formatToParts(instant.epochMilliseconds);
    return parts.find(({ type }) => type === 'timeZoneName')?.value ?? zone;
  };
  const own = style === 'short' && ZONE_LOCALES.find((locale) => !/^GMT[+-]/.test(nameIn(locale)));
  return nameIn(own || LOCALE);
}

/** "BST"; "BST/GMT" if the clocks change between start and end, because the end could else be before the start. */
export function zoneNames(
  { start, end }: { start: Instant; end: Instant },
  zone: string,
  style: 'short' | 'long',
): string {
  return [...new Set([start, end].map((instant) => zoneName(instant, zone, style)))].join('/');
}

const format = (instant: Instant, zone: string, options: Intl.DateTimeFormatOptions): string =>
  formatter(zone, options).format(instant.epochMilliseconds);

// Creating a formatter costs far more than using it.
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatter(timeZone: string, options: Intl.DateTimeFormatOptions, locale = LOCALE): Intl.DateTimeFormat {
  const key = `${locale} ${timeZone} ${JSON.stringify(options)}`;
  let cached = formatters.get(key);
  if (!cached) {
    cached = new Intl.DateTimeFormat(locale, { timeZone, ...options });
    formatters.set(key, cached);
  }
  return cached;
}
