import { join } from 'node:path';
import type { MailSettings } from '../cases/appointments/messages/email.ts';
import type { Config } from '../config.ts';

/** How this service sends mails. */
export const mailSettings = (config: Config): MailSettings => ({
  smtpUrl: config.SMTP_URL,
  from: config.MAIL_FROM,
  domain: config.MAIL_DOMAIN ?? config.MAIL_FROM.split('@').at(-1) ?? 'localhost',
  outbox: join(config.DATA_DIR, 'outbox'),
});
