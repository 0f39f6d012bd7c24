import ical, { ICalAttendeeRole, ICalAttendeeStatus, ICalCalendarMethod, ICalEventStatus } from 'ical-generator';
import type { Instant } from '../../../kernel/time/time.ts';
import type { OutgoingMessage } from './message.ts';

type CalendarInvite = { method: 'REQUEST' | 'CANCEL'; content: string };

/**
 * Returns the calendar invitation of a confirmation or cancellation, and undefined for a reminder. All messages of an
 * appointment share a UID, and SEQUENCE increases with every change, so a calendar moves or removes its entry and never
 * shows two.
 */
export function calendarInvite(
  message: OutgoingMessage,
  from: { name: string; address: string },
  domain: string,
  now: Instant,
): CalendarInvite | undefined {
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

// ical-generator escapes line breaks, but names, summaries and URLs must not contain any.
const oneLine = (text: string) => text.replace(/[\r\n]+/g, ' ');
