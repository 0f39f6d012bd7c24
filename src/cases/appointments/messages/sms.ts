import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js';
import { DeliveryFault, type Outgoing, type Sender } from './message.ts';
import { writeToOutbox } from './outbox.ts';
import { segments, smsText } from './sms-text.ts';

export type Sms = { id: string; to: string; text: string };

/** Hands one SMS over and gives the provider's own name for it. */
export type SmsProvider = (sms: Sms, signal: AbortSignal) => Promise<string | null>;

export const smsSender = (provider: SmsProvider): Sender => ({
  async send(message, _now, signal) {
    const sms = compose(message);
    return { to: sms.to, providerId: await provider(sms, signal) };
  },
  close() {},
});

export const smsOutboxSender = (folder: string): Sender => ({
  async send(message) {
    const sms = compose(message);
    const content = `${JSON.stringify({ ...sms, segments: segments(sms.text) }, null, 2)}\n`;
    return { to: sms.to, providerId: await writeToOutbox(folder, message, 'sms.json', content) };
  },
  close() {},
});

function compose(message: Outgoing): Sms {
  const number = parsePhoneNumberFromString(message.recipient, {
    defaultCountry: message.phoneRegion as CountryCode,
    extract: false,
  });
  if (!number?.isPossible()) throw new DeliveryFault('The number is no possible phone number.', { permanent: true });
  return { id: message.id, to: number.number, text: smsText(message) };
}
