import type { OutgoingMessage } from '../message.ts';

/** The sentence that tells clients how to change or cancel an appointment, or whom to ask once it is cancelled. */

type Contact = Pick<OutgoingMessage, 'channel' | 'kind' | 'contact' | 'senderAddress'>;

/** A company's own sentence says how to change or cancel, which fits no appointment that is cancelled. */
export function contactLine(message: Contact): string {
  const { kind, contact } = message;
  const isCancelled = kind === 'cancellation';
  if (contact.line !== null && !isCancelled) return contact.line;
  const ways = waysOf(message);
  if (ways.length === 0) return '';
  const purpose = isCancelled ? 'If you have questions' : 'To change or cancel this appointment';
  return `${purpose}, ${ways.join(' or ')}.`;
}

export function shortContactLine(message: Contact): string {
  const { kind, contact } = message;
  const isCancelled = kind === 'cancellation';
  if (contact.line !== null && !isCancelled) return contact.line;
  const way = contact.phone || contact.email || '';
  return way && `${isCancelled ? 'Questions' : 'Change or cancel'}: ${way}`;
}

/** Returns the ways in which the client reaches the company; none if that is unknown, rather than a wrong one. */
function waysOf({ channel, contact, senderAddress }: Contact): string[] {
  const call = contact.phone ? [`call ${contact.phone}`] : [];
  if (channel === 'sms') return [...call, ...(contact.email ? [`write to ${contact.email}`] : [])];
  const isRead = contact.email || (senderAddress && !NO_REPLY.test(senderAddress));
  return [...(isRead ? ['reply to this email'] : []), ...call];
}

const NO_REPLY = /^(?:no|do-?not|do_not)[-_.]?reply\b/i;
