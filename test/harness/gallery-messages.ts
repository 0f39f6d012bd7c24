import type { OutgoingMessage } from '../../src/cases/appointments/messages/message.ts';
import { EARLIER, outgoing } from './outgoing-message.ts';

/** One message of each kind and channel, and those that are hard to show, as the gallery of messages has them. */

type GalleryMessage = { name: string; title: string; note: string; message: OutgoingMessage };

const ORGANIZER = { name: 'Smith & Partners', address: 'office@smith.example' };
const PLACE = '1 High Street\nAnytown AB1 2CD';
const SMITH: Partial<OutgoingMessage> = {
  company: 'Smith & Partners',
  adviser: 'Paul Phone',
  senderAddress: ORGANIZER.address,
  location: PLACE,
  contact: { email: 'appointments@smith.example', phone: '020 7946 0018', line: null },
};
const LINK = 'https://meet.example/smith-and-partners-7f3k2p';
const MOVED = { ...EARLIER, location: PLACE };
const SAME_TIME = { start: outgoing().start, end: outgoing().end };
const LONG_NAME = 'Kancelaria Radców Prawnych Świętochłowski, Żółkiewski i Wspólnicy';
const NO_CONTACT = { email: null, phone: null, line: null };

const smith = (more: Partial<OutgoingMessage>) => outgoing({ ...SMITH, ...more });
const smsOf = (more: Partial<OutgoingMessage>) => smith({ channel: 'sms', ...more });

const OWN_MAIL = `{{greeting}}

We look forward to seeing you on {{when}}.

{{#location}}
You find us here:
{{location}}
{{/location}}
{{#join_url}}
Join: {{join_url}}
{{/join_url}}

{{contact_line}}

{{signature}}
`;

export const MAILS: GalleryMessage[] = [
  {
    name: 'confirmation',
    title: 'Confirmation',
    note: 'With a place, a video meeting, and both contacts for clients.',
    message: smith({ organizer: ORGANIZER, joinUrl: LINK }),
  },
  {
    name: 'confirmation-plain',
    title: 'Confirmation of a company without settings',
    note: 'The recipient is no customer of the case. Nothing is said that could be wrong.',
    message: outgoing({
      company: 'Smith & Partners',
      customer: null,
      organizer: { name: 'Smith & Partners', address: 'no-reply@service.example' },
    }),
  },
  {
    name: 'change',
    title: 'Change of the time',
    note: 'The old time is the one that this client was told last. The company has another sender address by now.',
    message: smith({ organizer: { ...ORGANIZER, address: 'hello@smith.example' }, version: 4, earlier: MOVED }),
  },
  {
    name: 'change-of-place',
    title: 'Change of the place',
    note: 'A confirmation that is sent again after only the place has changed.',
    message: smith({
      organizer: ORGANIZER,
      version: 3,
      earlier: { ...SAME_TIME, location: '2 Station Road, Anytown' },
    }),
  },
  {
    name: 'reminder',
    title: 'Reminder',
    note: 'The entry in the calendar is up to date, so the mail has none.',
    message: smith({ kind: 'reminder', joinUrl: LINK, earlier: { ...SAME_TIME, location: PLACE } }),
  },
  {
    name: 'reminder-moved',
    title: 'Reminder after a move that was not confirmed',
    note: 'It names the old time and updates the entry in the calendar.',
    message: smith({ kind: 'reminder', organizer: ORGANIZER, version: 5, earlier: MOVED }),
  },
  {
    name: 'cancellation',
    title: 'Cancellation',
    note: 'It names the time that the client was told, and removes the entry from the calendar.',
    message: smith({ kind: 'cancellation', organizer: ORGANIZER, version: 6, earlier: MOVED }),
  },
  {
    name: 'own-words',
    title: 'Confirmation in the words of a company',
    note: 'Subject and text are templates of the company; the signature is a setting.',
    message: smith({
      organizer: ORGANIZER,
      signature: 'Warm regards,\nJane, for Smith & Partners\nhttps://www.smith.example',
      ownTexts: {
        confirmation: {
          subject: 'See you on {{short_date}} at {{start_time}}',
          email_text: OWN_MAIL,
          sms_text: null,
        },
      },
    }),
  },
  {
    name: 'long-words',
    title: 'Long names, a long link, two days in New York',
    note: 'Nothing makes a narrow screen scroll sideways.',
    message: outgoing({
      company: LONG_NAME,
      adviser: 'Włodzimierz Brzęczyszczykiewicz-Świętopełkowski',
      customer: { title: 'Prof. Dr', first_names: 'Anna Maria', last_name: 'Wolfeschlegelsteinhausenbergerdorff' },
      timeZone: 'America/New_York',
      start: Temporal.Instant.from('2026-06-30T02:30:00Z'),
      end: Temporal.Instant.from('2026-06-30T04:30:00Z'),
      location:
        'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkgesellschaftshaus, ulica Świętokrzyska 14, Kraków',
      joinUrl: `https://meet.example/room?pwd=${'k7Qz'.repeat(30)}&uname=anna`,
      contact: { email: null, phone: '+1 (212) 555-0100, ext. 7', line: null },
      organizer: { name: LONG_NAME, address: 'kancelaria@radcowie.example' },
    }),
  },
];

export const TEXT_MESSAGES: GalleryMessage[] = [
  {
    name: 'sms-confirmation',
    title: 'Confirmation',
    note: 'With a place, a link and both contacts.',
    message: smsOf({ joinUrl: LINK }),
  },
  {
    name: 'sms-shortened',
    title: 'Confirmation in fewer words',
    note: 'Our own words are shortened, because that saves a segment.',
    message: smsOf({ location: `Room 3\n${PLACE}`, contact: { email: null, phone: '020 7946 0018', line: null } }),
  },
  { name: 'sms-change', title: 'Change', note: 'With the old and the new time.', message: smsOf({ earlier: MOVED }) },
  { name: 'sms-reminder', title: 'Reminder', note: 'The place is on one line.', message: smsOf({ kind: 'reminder' }) },
  {
    name: 'sms-cancellation',
    title: 'Cancellation',
    note: 'It goes to each number that a message about the appointment has reached.',
    message: smsOf({ kind: 'cancellation', earlier: MOVED }),
  },
  {
    name: 'sms-new-york',
    title: 'Reminder in another zone',
    note: 'A zone is abbreviated as its people do.',
    message: smsOf({
      kind: 'reminder',
      timeZone: 'America/New_York',
      location: 'Suite 1200',
      contact: NO_CONTACT,
    }),
  },
  {
    name: 'sms-long-name',
    title: 'Letters beyond the usual ones',
    note: 'Letters outside GSM-7 need more segments. Three are spent before anything is left out.',
    message: smsOf({
      company: 'Kancelaria Świętochłowski i Wspólnicy',
      timeZone: 'Europe/Warsaw',
      location: 'ulica Świętokrzyska 14, Kraków',
      contact: { email: null, phone: '+48 12 345 67 89', line: null },
    }),
  },
  {
    name: 'sms-beyond',
    title: 'More than three segments',
    note: 'End, zone and contact are left out; the place and the link never are.',
    message: smsOf({
      company: LONG_NAME,
      timeZone: 'Europe/Warsaw',
      location: 'Budynek Biurowy „Przy Świętokrzyskiej”, trzecie piętro, pokój 312, ulica Świętokrzyska 14, Kraków',
      joinUrl: LINK,
      contact: { email: null, phone: '+48 12 345 67 89', line: null },
    }),
  },
];
