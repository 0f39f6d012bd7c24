import ical, { ICalAttendeeRole, ICalAttendeeStatus, ICalCalendarMethod, ICalEventStatus } from 'ical-generator';
import type { Instant } from '../../../kernel/time/time.ts';
import type { Outgoing } from './message.ts';

export type Invite = { method: 'REQUEST' | 'CANCEL'; content: string };

/**
 * The entry for the client's calendar. The same UID for every message of an appointment and a SEQUENCE that rises
 * with each of its changes: a calendar moves the entry, or takes it out, and never shows two.
 */
export function invite(
  message: Outgoing,
  from: { name: string; address: string },
  domain: string,
  now: Instant,
): Invite | undefined {
  if (message.kind === 'reminder') return undefined;
  const cancelled = message.kind === 'cancellation';
  const calendar = ical({
    prodId: { company: 'case-records', product: 'case-records', language: 'EN' },
    method: cancelled ? ICalCalendarMethod.CANCEL : ICalCalendarMethod.REQUEST,
  });
  calendar.createEvent({
    id: `${message.appointmentId}@${domain}`,
    sequence: message.version,
    stamp: date(now),
    start: date(message.start),
    end: date(message.end),
    summary: oneLine(`Appointment with ${message.company}`),
    status: cancelled ? ICalEventStatus.CANCELLED : ICalEventStatus.CONFIRMED,
    organizer: { name: oneLine(from.name), email: from.address },
    attendees: [
      {
        email: message.recipient,
        ...(message.customer && { name: oneLine(message.customer) }),
        role: ICalAttendeeRole.REQ,
        status: ICalAttendeeStatus.ACCEPTED,
        rsvp: false,
      },
    ],
    ...(message.location && { location: message.location }),
    ...(message.joinUrl && !cancelled && { url: oneLine(message.joinUrl), description: message.joinUrl }),
  });
  return { method: cancelled ? 'CANCEL' : 'REQUEST', content: calendar.toString() };
}

const date = (instant: Instant) => new Date(instant.epochMilliseconds);

// The generator escapes the end of a line; in a name, a subject or an address it has no place at all.
const oneLine = (text: string) => text.replace(/[\r\n]+/g, ' ');
