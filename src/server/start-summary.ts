import { join } from 'node:path';
import type { Config } from '../config.ts';

/** What a start tells its operator: the database, how messages go out, and what follows from settings that are not set. */
export function startSummary(config: Config): Record<string, string> {
  const outbox = join(config.DATA_DIR, 'outbox');
  return {
    database: databaseText(config),
    email:
      config.SMTP_URL === undefined ? `SMTP_URL is not set: written to ${outbox}` : `by ${hostOf(config.SMTP_URL)}`,
    sms:
      config.SMS_PROVIDER === 'outbox' ? `SMS_PROVIDER is not set: written to ${outbox}` : `by ${config.SMS_PROVIDER}`,
    ...(config.SECRETS_KEY === undefined && {
      secrets: 'SECRETS_KEY is not set: Zoom accounts and webhooks cannot be added',
    }),
  };
}

/** The address of the database without user and password. */
function databaseText({ DATABASE_URL, DATA_DIR }: Config): string {
  if (DATABASE_URL === undefined) return `bundled PostgreSQL in ${join(DATA_DIR, 'postgres')}`;
  const { pathname, searchParams } = new URL(DATABASE_URL);
  const host = hostOf(DATABASE_URL) || searchParams.get('host') || 'localhost';
  return `${decodeURIComponent(pathname.slice(1)) || 'default database'} on ${host}`;
}

const hostOf = (url: string): string => new URL(url).host;
