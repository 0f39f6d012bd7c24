import type { OutgoingMessage } from '../message.ts';
import { formatPeriod, zoneName } from '../templates.ts';

/** The fields of the templates: what they hold, and a value to try a template out with. */
export const FIELDS: Record<string, { description: string; sample: string }> = {
  customer: { description: 'The name of the client.', sample: 'Mr John Smith' },
  start: { description: 'Start and end.', sample: 'Monday 29 June 2026, 14:30–15:30 (British Summer Time)' },
  adviser: { description: 'The adviser.', sample: 'Alex Adviser' },
  company: { description: 'The company.', sample: 'Smith & Partners' },
  location: { description: 'The place.', sample: '1 High Street, London' },
  join_url: { description: 'The link of the meeting.', sample: 'https://meet.example/abc' },
  zone: { description: 'The time zone.', sample: 'BST' },
};

export const FIELD_NAMES: readonly string[] = Object.keys(FIELDS);

/** Each of these fields says when the appointment starts. */
export const START_FIELDS = ['start'] as const;

export const fieldsOf = (message: OutgoingMessage): Record<string, string> => ({
  customer: message.customer ?? '',
  start: formatPeriod(message),
  adviser: message.adviser,
  company: message.company,
  location: message.location ?? '',
  join_url: message.joinUrl ?? '',
  zone: zoneName(message.start, message.timeZone, 'short'),
});
