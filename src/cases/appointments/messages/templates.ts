import type { Instant } from '../../../kernel/time/time.ts';
import type { Kind, OutgoingMessage } from './message.ts';

/** Pure functions that render the mails to clients, in the company's name and time zone. */

const LOCALE = 'en-GB';

/** "Monday 29 June 2026, 14:30–15:30 (British Summer Time)" */
export function formatPeriod({ start, end, timeZone }: Pick<OutgoingMessage, 'start' | 'end' | 'timeZone'>): string {
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
const formatStart = ({ start, timeZone }: Pick<OutgoingMessage, 'start' | 'timeZone'>): string =>
  `${formatDay(start, timeZone)}, ${formatTime(start, timeZone)}`;

const formatDay = (instant: Instant, zone: string): string => {
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

export function zoneName(instant: Instant, zone: string, style: 'short' | 'long'): string {
  const parts = formatter(zone, { timeZoneName: style }).formatToParts(instant.epochMilliseconds);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? zone;
}

const format = (instant: Instant, zone: string, options: Intl.DateTimeFormatOptions): string =>
  formatter(zone, options).format(instant.epochMilliseconds);

// Creating a formatter costs far more than using it.
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatter(timeZone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${timeZone} ${JSON.stringify(options)}`;
  let cached = formatters.get(key);
  if (!cached) {
    cached = new Intl.DateTimeFormat(LOCALE, { timeZone, ...options });
    formatters.set(key, cached);
  }
  return cached;
}

const SUBJECTS: Record<Kind, string> = {
  confirmation: 'Your appointment on',
  reminder: 'Reminder: your appointment on',
  cancellation: 'Cancelled: your appointment on',
};

const OPENINGS: Record<Kind, string> = {
  confirmation: 'your appointment has been booked:',
  reminder: 'this is a reminder of your appointment:',
  cancellation: 'your appointment has been cancelled:',
};

type Detail = { label: string; value: string; link?: boolean };

function detailsOf(message: OutgoingMessage): Detail[] {
  const details: Detail[] = [
    { label: 'When', value: formatPeriod(message) },
    { label: 'With', value: `${message.adviser}, ${message.company}` },
  ];
  if (message.location) details.push({ label: 'Where', value: message.location });
  if (message.joinUrl && message.kind !== 'cancellation') {
    details.push({ label: 'Join online', value: message.joinUrl, link: /^https?:\/\//i.test(message.joinUrl) });
  }
  return details;
}

const greeting = ({ customer }: OutgoingMessage): string => (customer ? `Dear ${customer},` : 'Hello,');

type RenderedEmail = { subject: string; text: string; html: string };

export function renderEmail(message: OutgoingMessage): RenderedEmail {
  const subject = `${SUBJECTS[message.kind]} ${formatStart(message)}`;
  const details = detailsOf(message);
  return { subject, text: textBody(message, details), html: htmlBody(message, details, subject) };
}

function textBody(message: OutgoingMessage, details: Detail[]): string {
  const lines = details.map(({ label, value }) => `${label}: ${value}`);
  return [greeting(message), '', OPENINGS[message.kind], '', ...lines, '', 'Kind regards,', message.company, ''].join(
    '\n',
  );
}

/** All values are escaped, and the mail loads nothing from other servers. */
function htmlBody(message: OutgoingMessage, details: Detail[], subject: string): string {
  const rows = details.map(({ label, value, link }) => {
    const text = escapeHtml(value).replaceAll('\n', '<br>');
    const cell = link ? `<a href="${escapeHtml(value)}">${text}</a>` : text;
    const heading = `<th align="left" valign="top" style="padding:4px 16px 4px 0">${label}</th>`;
    return `<tr>${heading}<td style="padding:4px 0">${cell}</td></tr>`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head>
<body style="font-family:sans-serif;line-height:1.5">
<p>${escapeHtml(greeting(message))}</p>
<p>${OPENINGS[message.kind]}</p>
<table role="presentation" style="border-collapse:collapse">
${rows.join('\n')}
</table>
<p>Kind regards,<br>${escapeHtml(message.company)}</p>
</body></html>
`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
