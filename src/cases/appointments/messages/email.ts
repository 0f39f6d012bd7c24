import { createTransport, type SendMailOptions } from 'nodemailer';
import type { Instant } from '../../../kernel/time/time.ts';
import { invite } from './invite.ts';
import type { EmailSender, Notice, Outgoing } from './message.ts';
import { writeToOutbox } from './outbox.ts';
import { Smtp, type SmtpTimes } from './smtp.ts';
import { wording } from './templates.ts';

export type MailSettings = {
  smtpUrl: string | undefined;
  /** Where a company has no address of its own. */
  from: string;
  /** In Message-ID and UID. */
  domain: string;
  outbox: string;
  times?: Partial<SmtpTimes>;
};

export function emailSender(settings: MailSettings): EmailSender {
  return settings.smtpUrl === undefined ? outboxSender(settings) : smtpSender(settings, settings.smtpUrl);
}

function smtpSender(settings: MailSettings, url: string): EmailSender {
  const smtp = new Smtp(url, settings.times);
  const handOver = async (mail: SendMailOptions, recipient: string, signal: AbortSignal) => {
    const response = await smtp.send(mail, signal);
    return { to: recipient, providerId: response.slice(0, 200) };
  };
  return {
    send: (message, now, signal) => handOver(compose(message, settings, now), message.recipient, signal),
    tell: (notice, now, signal) => handOver(composeNotice(notice, settings, now), notice.recipient, signal),
    close: () => smtp.close(),
  };
}

function outboxSender(settings: MailSettings): EmailSender {
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const write = async (mail: SendMailOptions, about: Pick<Outgoing, 'id' | 'due' | 'recipient'>) => {
    const { message: bytes } = await composer.sendMail(mail);
    const name = await writeToOutbox(settings.outbox, about, 'eml', bytes as Buffer);
    return { to: about.recipient, providerId: name };
  };
  return {
    send: (message, now) => write(compose(message, settings, now), message),
    tell: (notice, now) => write(composeNotice(notice, settings, now), notice),
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
    ...envelope(message.id, domain, now),
  };
}

const composeNotice = (
  { id, recipient, subject, text }: Notice,
  { from, domain }: MailSettings,
  now: Instant,
): SendMailOptions => ({
  from: { name: 'Case Records', address: from },
  to: { name: '', address: recipient },
  subject,
  text,
  ...envelope(id, domain, now),
});

const envelope = (id: string, domain: string, now: Instant): SendMailOptions => ({
  // The same for every attempt: where the answer to one was lost, mail systems can tell the second copy by it.
  messageId: `<${id}@${domain}>`,
  date: new Date(now.epochMilliseconds),
  headers: { 'Auto-Submitted': 'auto-generated' },
  disableFileAccess: true,
  disableUrlAccess: true,
});
