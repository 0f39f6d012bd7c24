import assert from 'node:assert/strict';
import ical from 'ical.js';
import nodeIcal from 'node-ical';

/** The entry of a calendar file, as two independent parsers read it. */

type Entry = Record<string, string>;
type ParsedMail = { val?: string; params?: Record<string, string> };
// The declarations of node-ical lack some fields, and each field may be a text or an object with parameters.
type ParsedEvent = Record<string, unknown> & { start: Date; end: Date };

/** Asserts that both parsers read the same entry, and returns it. Fields without a value are left out. */
export function readCalendarFile(file: string): Entry {
  const entry = readByIcalJs(file);
  assert.deepEqual(readByNodeIcal(file), entry, 'both parsers read the same entry');
  return entry;
}

const text = (value: unknown): string => (value === null || value === undefined ? '' : String(value));
const addressOf = (value: unknown): string => text(value).replace(/^mailto:/i, '');
const filled = (fields: Entry): Entry => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));

function readByIcalJs(file: string): Entry {
  const calendar = ical.Component.fromString(file);
  const [component = assert.fail('no event')] = calendar.getAllSubcomponents('vevent');
  const event = new ical.Event(component);
  const organizer = component.getFirstProperty('organizer');
  return filled({
    METHOD: text(calendar.getFirstPropertyValue('method')),
    SUMMARY: text(event.summary),
    DTSTART: event.startDate.toJSDate().toISOString(),
    DTEND: event.endDate.toJSDate().toISOString(),
    LOCATION: text(event.location),
    URL: text(component.getFirstPropertyValue('url')),
    STATUS: text(component.getFirstPropertyValue('status')),
    SEQUENCE: text(event.sequence),
    UID: text(event.uid),
    ORGANIZER: `${text(organizer?.getFirstParameter('cn'))} <${addressOf(event.organizer)}>`,
    'SENT-BY': addressOf(organizer?.getFirstParameter('sent-by')),
    ATTENDEE: addressOf(event.attendees[0]?.getFirstValue()),
  });
}

function readByNodeIcal(file: string): Entry {
  const parsed = Object.values(nodeIcal.sync.parseICS(file)) as unknown as ParsedEvent[];
  const event = parsed.find(({ type }) => type === 'VEVENT') ?? assert.fail('no event');
  const value = (field: string) => {
    const content = event[field] as string | ParsedMail | undefined;
    return text(typeof content === 'object' ? content?.val : content);
  };
  const parameter = (name: string) =>
    text((event.organizer as ParsedMail | undefined)?.params?.[name]).replace(/^"|"$/g, '');
  return filled({
    METHOD: value('method'),
    SUMMARY: value('summary'),
    DTSTART: event.start.toISOString(),
    DTEND: event.end.toISOString(),
    LOCATION: value('location'),
    URL: value('url'),
    STATUS: value('status'),
    SEQUENCE: value('sequence'),
    UID: value('uid'),
    ORGANIZER: `${parameter('CN')} <${addressOf(value('organizer'))}>`,
    'SENT-BY': addressOf(parameter('SENT-BY')),
    ATTENDEE: addressOf(value('attendee')),
  });
}
