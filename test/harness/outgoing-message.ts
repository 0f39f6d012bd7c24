import type { OutgoingMessage } from '../../src/cases/appointments/messages/message.ts';

/** A message about an appointment on Monday 29 June 2026, 14:30–15:30 in London. */
export const outgoing = (more: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  id: '0197b2a0-0000-7000-8000-000000000001',
  appointmentId: '0197b2a0-0000-7000-8000-000000000002',
  channel: 'email',
  kind: 'confirmation',
  due: Temporal.Instant.from('2026-06-01T09:00:00Z'),
  start: Temporal.Instant.from('2026-06-29T13:30:00Z'),
  end: Temporal.Instant.from('2026-06-29T14:30:00Z'),
  recipient: more.channel === 'sms' ? '07400 123456' : 'john@client.example',
  location: null,
  joinUrl: null,
  version: 1,
  company: 'Smith',
  timeZone: 'Europe/London',
  phoneRegion: 'GB',
  senderName: null,
  senderAddress: null,
  adviser: 'Alex Adviser',
  customer: { title: 'Mr', first_names: 'John', last_name: 'Smith' },
  earlier: null,
  organizer: null,
  contact: { email: null, phone: null, line: null },
  signature: null,
  ownTexts: null,
  ...more,
});

/** What the recipient was told earlier: Friday 26 June 2026, 10:00–11:00. */
export const EARLIER: NonNullable<OutgoingMessage['earlier']> = {
  start: Temporal.Instant.from('2026-06-26T09:00:00Z'),
  end: Temporal.Instant.from('2026-06-26T10:00:00Z'),
  location: null,
};
