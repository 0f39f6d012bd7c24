import { createTransport, type SendMailOptions } from 'nodemailer';
import type { Instant } from '../kernel/time.ts';
import { invite } from './invite.ts';
import { writeToOutbox } from './outbox.ts';
import type { Outgoing, Sender } from './outgoing.ts';
import { Smtp, type SmtpTimes } from './smtp.ts';
import { wording } from './wording.ts';

export type MailSettings = {
  smtpUrl: string | undefined;
  /** Where a company has no address of its own. */
  from: string;
  /** In Message-ID and UID. */
  domain: string;
  outbox: string;
  times?: Partial<SmtpTimes>;
};

export function emailSender(settings: MailSettings): Sender {
  return settings.smtpUrl === undefined ? outboxSender(settings) : smtpSender(settings, settings.smtpUrl);
}

function smtpSender(settings: MailSettings, url: string): Sender {
  const smtp = new Smtp(url, settings.times);
  return {
    async send(message, now, signal) {
      const response = await smtp.send(compose(message, settings, now), signal);
      return { to: message.recipient, providerId: response.slice(0, 200) };
    },
    close: () => smtp.close(),
  };
}

function outboxSender(settings: MailSettings): Sender {
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  return {
    async send(message, now) {
      const { message: bytes } = await composer.sendMail(compose(message, settings, now));
      const name = await writeToOutbox(settings.outbox, message, 'eml', bytes as Buffer);
      return { to: message.recipient, providerId: name };
    },
    close: () => composer.close(),
  };
}

/** Addresses go as objects: text would be read as a list, and a comma in a name would make two of it. */
export function compose(
  message: Outgoing,
  { from: fallback, domain }: Pick<MailSettings, 'from' | 'domain'>,
  now: Instant,
): SendMailOptions {
  const from = { name: message.senderName ?? message.company, address: message.senderAddress ?? fallback };
  const entry = invite(message, from, domain, now);
  return {
    from,
    to: { name: message.customer ?? '', address: message.recipient },
    ...wording(message),
    ...(entry && { icalEvent: { method: entry.method, content: entry.content } }),
    // The same for every attempt: where the answer to one was lost, mail systems can tell the second copy by it.
    messageId: `<${message.id}@${domain}>`,
    date: new Date(now.epochMilliseconds),
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
