import type { OutgoingMessage } from '../message.ts';
import { toGsm7 } from '../sms-segments.ts';
import { formatDay, formatPeriod, formatShortDay, formatStart, formatTime, zoneNames } from '../time-texts.ts';
import { contactLine, shortContactLine } from './contact-line.ts';

/** The fields that a template can use, with what they hold and a sample. The list is part of the API. */
export const FIELDS = {
  greeting: field(
    '"Dear" with title and last name of the client; "Hello," if the names are unknown.',
    'Dear Mr Smith,',
  ),
  client: field('Title and names of the client; empty if they are unknown.', 'Mr John Smith'),
  company: field('Name of the company.', 'Smith & Partners'),
  adviser: field('Name of the adviser.', 'Alex Adviser'),
  when: field('Start, end and time zone.', 'Monday 29 June 2026, 14:30–15:30 (British Summer Time)'),
  start: field('Date and time of the start.', 'Monday 29 June 2026, 14:30'),
  date: field('Date of the start.', 'Monday 29 June 2026'),
  short_date: field('Date of the start, short.', 'Mon 29 Jun'),
  start_time: field('Time of the start.', '14:30'),
  end_time: field('Time of the end; with its date if the appointment lasts a day or longer.', '15:30'),
  time_zone: field('Time zone; those of start and end if the clocks change in between.', 'British Summer Time'),
  short_time_zone: field('The same, short.', 'BST'),
  previous_when: field(
    'Start, end and time zone that the client was told last; empty if they are unchanged, or if the client was told none.',
    'Friday 26 June 2026, 10:00–11:00 (British Summer Time)',
  ),
  previous_start: field(
    'Start that the client was told last; empty if it is unchanged, or if the client was told none.',
    'Friday 26 June 2026, 10:00',
  ),
  previous_short_start: field('The same, short.', 'Fri 26 Jun, 10:00'),
  previous_location: field('Place that the client was told last; empty if it is unchanged.', '2 Station Road, Anytown'),
  location: field('Place of the appointment; empty if it has none. In an SMS on one line.', '1 High Street, Anytown'),
  join_url: field(
    'Link of the video meeting; empty without one, and in a cancellation.',
    'https://meet.example/room-1',
  ),
  contact_line: field(
    'How to change or cancel; after a cancellation, whom to ask. Made of the contact settings, unless the company has a sentence of its own.',
    'To change or cancel this appointment, reply to this email or call 020 7946 0018.',
  ),
  short_contact_line: field('The same, short.', 'Change or cancel: 020 7946 0018'),
  contact_email: field('Email address for clients; empty if it is not set.', 'office@smith.example'),
  contact_phone: field('Phone number for clients; empty if it is not set.', '020 7946 0018'),
  signature: field('How a mail ends.', 'Kind regards,\nSmith & Partners'),
} satisfies Record<string, Field>;

type Field = { description: string; sample: string };
export type FieldName = keyof typeof FIELDS;
export const FIELD_NAMES = Object.keys(FIELDS) as FieldName[];

/** Each text has to show one of each of these. */
export const DAY_FIELDS: readonly FieldName[] = ['when', 'start', 'date', 'short_date'];
export const TIME_FIELDS: readonly FieldName[] = ['when', 'start', 'start_time'];
/** Each text has to show these, if they have a value, except in a cancellation. */
export const PLACE_FIELDS: readonly FieldName[] = ['location', 'join_url'];

function field(description: string, sample: string): Field {
  return { description, sample };
}

/** Returns the values for the message. Those of an SMS are on one line, in GSM-7 as far as our own words are. */
export function fieldsOf(message: OutgoingMessage): Record<FieldName, string> {
  const { start, end, timeZone, company, adviser, earlier, contact } = message;
  const isSms = message.channel === 'sms';
  const place = (text: string | null) => (isSms ? toGsm7(oneLine(text ?? '')) : withLineFeeds(text ?? '').trim());
  const names = namesOf(message);
  const changes = changesOf(message);
  const previous = changes.time ? earlier : null;
  const previousStart = previous?.start.equals(start) ? null : previous?.start;
  const lastsDays = start.until(end).total('hours') >= 24;
  const endDay = lastsDays ? `${formatShortDay(end, timeZone)}, ` : '';
  return {
    greeting: names.salutation ? `Dear ${names.salutation},` : 'Hello,',
    client: names.full,
    company: isSms ? company.replace(/\s+/g, ' ').trim() : company,
    adviser,
    when: formatPeriod({ start, end }, timeZone),
    start: formatStart(start, timeZone),
    date: formatDay(start, timeZone),
    short_date: formatShortDay(start, timeZone),
    start_time: formatTime(start, timeZone),
    end_time: `${endDay}${formatTime(end, timeZone)}`,
    time_zone: zoneNames({ start, end }, timeZone, 'long'),
    short_time_zone: zoneNames({ start, end }, timeZone, 'short'),
    previous_when: previous ? formatPeriod(previous, timeZone) : '',
    previous_start: previousStart ? formatStart(previousStart, timeZone) : '',
    previous_short_start: previousStart
      ? `${formatShortDay(previousStart, timeZone)}, ${formatTime(previousStart, timeZone)}`
      : '',
    previous_location: changes.place ? place(earlier?.location ?? null) : '',
    location: place(message.location),
    join_url: message.kind === 'cancellation' ? '' : oneLine(message.joinUrl ?? ''),
    contact_line: contactLine(message),
    short_contact_line: shortContactLine(message),
    contact_email: contact.email ?? '',
    contact_phone: contact.phone ?? '',
    signature: withLineFeeds(message.signature ?? `Kind regards,\n${company}`),
  };
}

/** "Mr John Smith", and for the greeting "Mr Smith". Without a last name, or without a title, the names that there are. */
export function namesOf({ customer }: Pick<OutgoingMessage, 'customer'>): { full: string; salutation: string } {
  const clean = (name: string | null | undefined) => (name ?? '').replace(/\s+/g, ' ').trim();
  const [title, first, last] = [clean(customer?.title), clean(customer?.first_names), clean(customer?.last_name)];
  const join = (...names: string[]) => names.filter((name) => name !== '').join(' ');
  const full = join(title, first, last);
  return { full, salutation: title && last ? join(title, last) : join(first, last) };
}

/** Whether the message tells the recipient another time, or another place, than before. */
export function changesOf({ kind, earlier, start, end, location }: OutgoingMessage): { time: boolean; place: boolean } {
  if (kind === 'cancellation' || !earlier) return { time: false, place: false };
  return {
    time: !earlier.start.equals(start) || (earlier.end !== null && !earlier.end.equals(end)),
    place: (earlier.location ?? '').trim() !== (location ?? '').trim(),
  };
}

const withLineFeeds = (text: string): string => text.replace(/\r\n?/g, '\n');

/** Joins the lines of an address. Split and trim take linear time; a regex for blanks around line breaks would not. */
export const oneLine = (text: string): string =>
  text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(', ');
