import { phoneNumber } from '../../../kernel/validation/phone.ts';
import { DeliveryError, type OutgoingMessage, type Sender } from './message.ts';
import { writeToOutbox } from './outbox.ts';
import { countSegments } from './sms-segments.ts';
import { renderSms } from './templates/render.ts';

export type Sms = { id: string; to: string; text: string };

/** Sends one SMS and returns the provider's identifier, or null if the provider returned none. */
export type SmsProvider = (sms: Sms, signal: AbortSignal) => Promise<string | null>;

export const smsSender = (provider: SmsProvider): Sender => ({
  async send(message, _now, signal) {
    const sms = composeSms(message);
    return { to: sms.to, providerId: await provider(sms, signal) };
  },
  close() {},
});

export const smsOutboxSender = (folder: string): Sender => ({
  async send(message) {
    const sms = composeSms(message);
    const content = `${JSON.stringify({ ...sms, segments: countSegments(sms.text) }, null, 2)}\n`;
    return { to: sms.to, providerId: await writeToOutbox(folder, message, 'sms.json', content) };
  },
  close() {},
});

function composeSms(message: OutgoingMessage): Sms {
  const to = phoneNumber(message.recipient, message.phoneRegion);
  if (to === undefined) throw new DeliveryError('The recipient is not a possible phone number.', { permanent: true });
  return { id: message.id, to, text: renderSms(message) };
}
