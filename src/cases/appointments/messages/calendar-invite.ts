import ical, { ICalAttendeeRole, ICalAttendeeStatus, ICalCalendarMethod, ICalEventStatus } from 'ical-generator';
import type { Instant } from '../../../kernel/time/time.ts';
import type { OutgoingMessage } from './message.ts';
import { namesOf } from './templates/fields.ts';

type CalendarInvite = { method: 'REQUEST' | 'CANCEL'; content: string };

/**
 * Returns the calendar invitation of a mail that has one. All messages of an appointment share a UID and an organizer,
 * and SEQUENCE increases with every change, so a calendar moves or removes its entry and never shows two. If the company
 * has another sender address by now, that one sends on the organizer's behalf.
 */
export function calendarInvite(
  message: OutgoingMessage,
  senderAddress: string,
  domain: string,
  now: Instant,
): CalendarInvite | undefined {
  const { organizer } = message;
  if (!organizer) return undefined;
  const cancelled = message.kind === 'cancellation';
  const name = namesOf(message).full;
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
    organizer: {
      name: oneLine(organizer.name),
      email: organizer.address,
      ...(organizer.address !== senderAddress && { sentBy: senderAddress }),
    },
    attendees: [
      {
        email: message.recipient,
        ...(name && { name }),
        role: ICalAttendeeRole.REQ,
        status: ICalAttendeeStatus.ACCEPTED,
        rsvp: false,
      },
    ],
    ...(message.location && { location: message.location }),
    ...(message.joinUrl && !cancelled && { url: oneLine(message.joinUrl), description: message.joinUrl }),
  });
  return { method: cancelled ? 'CANCEL' : 'REQUEST', content: `${calendar.toString().trimEnd()}\r\n` };
}

const date = (instant: Instant) => new Date(instant.epochMilliseconds);

// ical-generator escapes line breaks, but names, summaries and URLs must not contain any.
const oneLine = (text: string) => text.replace(/[\r\n]+/g, ' ');
