import { createTransport, type SendMailOptions } from 'nodemailer';
import type { PlainMail } from '../../../kernel/plain-mail.ts';
import type { Instant } from '../../../kernel/time/time.ts';
import { calendarInvite } from './calendar-invite.ts';
import type { EmailSender, OutgoingMessage } from './message.ts';
import { writeToOutbox } from './outbox.ts';
import { Smtp, type SmtpTimeouts } from './smtp.ts';
import { namesOf } from './templates/fields.ts';
import { renderEmail } from './templates/render.ts';

export type MailSettings = {
  smtpUrl: string | undefined;
  /** Sender address for companies without one of their own. */
  from: string;
  /** Domain of Message-ID and of calendar UIDs. */
  domain: string;
  outbox: string;
  timeouts?: Partial<SmtpTimeouts>;
};

export function emailSender(settings: MailSettings): EmailSender {
  return settings.smtpUrl === undefined ? outboxSender(settings) : smtpSender(settings, settings.smtpUrl);
}

function smtpSender(settings: MailSettings, url: string): EmailSender {
  const smtp = new Smtp(url, settings.timeouts);
  const deliver = async (mail: SendMailOptions, recipient: string, signal: AbortSignal) => {
    const response = await smtp.send(mail, signal);
    return { to: recipient, providerId: response.slice(0, 200) };
  };
  return {
    send: (message, now, signal) => deliver(composeEmail(message, settings, now), message.recipient, signal),
    sendPlain: (mail, now, signal) => deliver(composePlain(mail, settings, now), mail.recipient, signal),
    close: () => smtp.close(),
  };
}

function outboxSender(settings: MailSettings): EmailSender {
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const write = async (mail: SendMailOptions, message: Pick<OutgoingMessage, 'id' | 'due' | 'recipient'>) => {
    const composed = await composer.sendMail(mail);
    const name = await writeToOutbox(settings.outbox, message, 'eml', composed.message as Buffer);
    return { to: message.recipient, providerId: name };
  };
  return {
    send: (message, now) => write(composeEmail(message, settings, now), message),
    sendPlain: (mail, now) => write(composePlain(mail, settings, now), mail),
    close: () => composer.close(),
  };
}

/** Addresses are objects: nodemailer parses text as a list, so a comma in a name would split it into two addresses. */
function composeEmail(
  message: OutgoingMessage,
  { from: defaultAddress, domain }: Pick<MailSettings, 'from' | 'domain'>,
  now: Instant,
): SendMailOptions {
  const from = { name: message.senderName ?? message.company, address: message.senderAddress ?? defaultAddress };
  const calendar = calendarInvite(message, from.address, domain, now);
  const { email: contactEmail } = message.contact;
  return {
    from,
    ...(contactEmail && { replyTo: { name: from.name, address: contactEmail } }),
    to: { name: namesOf(message).full, address: message.recipient },
    ...renderEmail(message),
    ...(calendar && { icalEvent: { method: calendar.method, content: calendar.content } }),
    ...commonFields(message.id, domain, now),
  };
}

const SERVICE: PlainMail['sender'] = { name: 'Case Records', address: null };

const composePlain = (
  { id, recipient, subject, text, html, sender = SERVICE }: PlainMail,
  { from, domain }: MailSettings,
  now: Instant,
): SendMailOptions => ({
  from: { name: sender.name, address: sender.address ?? from },
  ...(sender.replyTo && { replyTo: { name: sender.name, address: sender.replyTo } }),
  to: { name: '', address: recipient },
  subject,
  text,
  ...(html !== undefined && { html }),
  ...commonFields(id, domain, now),
});

const commonFields = (id: string, domain: string, now: Instant): SendMailOptions => ({
  // The same for every attempt: if the response to one was lost, mail systems recognise the second copy by it.
  messageId: `<${id}@${domain}>`,
  date: new Date(now.epochMilliseconds),
  headers: { 'Auto-Submitted': 'auto-generated' },
  disableFileAccess: true,
  disableUrlAccess: true,
});
