import type { Instant } from '../../../kernel/time/time.ts';
import type { Kind, Outgoing } from './message.ts';

/** What the messages say, in the company's name and in its zone. Pure. */

const LOCALE = 'en-GB';

/** "Monday 29 June 2026, 14:30–15:30 (British Summer Time)" */
export function spokenTimes({ start, end, timeZone }: Pick<Outgoing, 'start' | 'end' | 'timeZone'>): string {
  const sameDay = dayOf(start, timeZone) === dayOf(end, timeZone);
  const sameZone = zoneName(start, timeZone, 'long') === zoneName(end, timeZone, 'long');
  const first = `${dayOf(start, timeZone)}, ${timeOf(start, timeZone)}`;
  const last = sameDay ? timeOf(end, timeZone) : `${dayOf(end, timeZone)}, ${timeOf(end, timeZone)}`;
  const zone = (instant: Instant) => ` (${zoneName(instant, timeZone, 'long')})`;
  // While the clocks change the two ends have different names.
  if (!sameZone) return `${first}${zone(start)} – ${last}${zone(end)}`;
  return `${first}${sameDay ? '–' : ' – '}${last}${zone(start)}`;
}

/** "Monday 29 June 2026, 14:30" */
const spokenStart = ({ start, timeZone }: Pick<Outgoing, 'start' | 'timeZone'>): string =>
  `${dayOf(start, timeZone)}, ${timeOf(start, timeZone)}`;

const dayOf = (instant: Instant, zone: string): string => {
  const part = (options: Intl.DateTimeFormatOptions) => format(instant, zone, options);
  return `${part({ weekday: 'long' })} ${part({ day: 'numeric' })} ${part({ month: 'long' })} ${part({ year: 'numeric' })}`;
};

/** "Mon 29 Jun" */
export const shortDay = (instant: Instant, zone: string): string => {
  const part = (options: Intl.DateTimeFormatOptions) => format(instant, zone, options);
  return `${part({ weekday: 'short' })} ${part({ day: 'numeric' })} ${instant.toZonedDateTimeISO(zone).toPlainDate().toLocaleString(LOCALE, { month: 'long' }).slice(0, 3)}`;
};

export const timeOf = (instant: Instant, zone: string): string =>
  instant.toZonedDateTimeISO(zone).toPlainTime().toString({ smallestUnit: 'minute' });

export function zoneName(instant: Instant, zone: string, style: 'short' | 'long'): string {
  const parts = formatter(zone, { timeZoneName: style }).formatToParts(instant.epochMilliseconds);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? zone;
}

const format = (instant: Instant, zone: string, options: Intl.DateTimeFormatOptions): string =>
  formatter(zone, options).format(instant.epochMilliseconds);

// Making a formatter costs far more than using it.
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatter(timeZone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${timeZone} ${JSON.stringify(options)}`;
  let known = formatters.get(key);
  if (!known) {
    known = new Intl.DateTimeFormat(LOCALE, { timeZone, ...options });
    formatters.set(key, known);
  }
  return known;
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

type Line = { label: string; value: string; link?: boolean };

function lines(message: Outgoing): Line[] {
  const found: Line[] = [
    { label: 'When', value: spokenTimes(message) },
    { label: 'With', value: `${message.adviser}, ${message.company}` },
  ];
  if (message.location) found.push({ label: 'Where', value: message.location });
  if (message.joinUrl && message.kind !== 'cancellation') {
    found.push({ label: 'Join online', value: message.joinUrl, link: /^https?:\/\//i.test(message.joinUrl) });
  }
  return found;
}

const greeting = ({ customer }: Outgoing): string => (customer ? `Dear ${customer},` : 'Hello,');

export type Wording = { subject: string; text: string; html: string };

export function wording(message: Outgoing): Wording {
  const subject = `${SUBJECTS[message.kind]} ${spokenStart(message)}`;
  const facts = lines(message);
  return { subject, text: textBody(message, facts), html: htmlBody(message, facts, subject) };
}

function textBody(message: Outgoing, lines: Line[]): string {
  const facts = lines.map(({ label, value }) => `${label}: ${value}`);
  return [greeting(message), '', OPENINGS[message.kind], '', ...facts, '', 'Kind regards,', message.company, ''].join(
    '\n',
  );
}

/** Everything that was written by somebody is escaped, and nothing is fetched from anywhere. */
function htmlBody(message: Outgoing, lines: Line[], subject: string): string {
  const facts = lines.map(({ label, value, link }) => {
    const shown = escaped(value).replaceAll('\n', '<br>');
    const cell = link ? `<a href="${escaped(value)}">${shown}</a>` : shown;
    return `<tr><th align="left" valign="top" style="padding:4px 16px 4px 0">${label}</th><td style="padding:4px 0">${cell}</td></tr>`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escaped(subject)}</title></head>
<body style="font-family:sans-serif;line-height:1.5">
<p>${escaped(greeting(message))}</p>
<p>${OPENINGS[message.kind]}</p>
<table role="presentation" style="border-collapse:collapse">
${facts.join('\n')}
</table>
<p>Kind regards,<br>${escaped(message.company)}</p>
</body></html>
`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
