import { phoneNumber } from '../../../kernel/validation/phone.ts';
import { DeliveryError, type OutgoingMessage, type SmsSender, type TextMessage } from './message.ts';
import { writeToOutbox } from './outbox.ts';
import { countSegments } from './sms-segments.ts';
import { renderSms } from './templates/render.ts';

export type Sms = { id: string; to: string; text: string };

/** Sends one SMS and returns the provider's identifier, or null if the provider returned none. */
export type SmsProvider = (sms: Sms, signal: AbortSignal) => Promise<string | null>;

export function smsSender(provider: SmsProvider): SmsSender {
  const sendText: SmsSender['sendText'] = async ({ id, recipient, text }, signal) => ({
    to: recipient,
    providerId: await provider({ id, to: recipient, text }, signal),
  });
  return { send: async (message, _now, signal) => sendText(composeSms(message), signal), sendText, close() {} };
}

export function smsOutboxSender(folder: string): SmsSender {
  const sendText: SmsSender['sendText'] = async ({ id, due, recipient, text }) => {
    const content = `${JSON.stringify({ id, to: recipient, text, segments: countSegments(text) }, null, 2)}\n`;
    return { to: recipient, providerId: await writeToOutbox(folder, { id, due }, 'sms.json', content) };
  };
  return { send: async (message, _now, signal) => sendText(composeSms(message), signal), sendText, close() {} };
}

function composeSms(message: OutgoingMessage): TextMessage {
  const recipient = phoneNumber(message.recipient, message.phoneRegion);
  if (recipient === undefined) {
    throw new DeliveryError('The recipient is not a possible phone number.', { permanent: true });
  }
  return { id: message.id, due: message.due, recipient, text: renderSms(message) };
}
