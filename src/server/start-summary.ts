import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { logFormat, logStart } from './log.ts';

/** What a start tells its operator. */

type Summary = Record<string, string>;

export type StartedService = {
  url: string;
  /** The demonstration company, if the token in its file works. `isNew`: this start created it. */
  demo: { token: string; case_id: string; isNew: boolean } | undefined;
};

export function logServiceStart(logger: Logger, config: Config, service: StartedService): void {
  logStart(logger, `Case Records listens on ${service.url}`, {
    ...addresses(config, service),
    ...settingsSummary(config),
    ...(logFormat(config) === 'pretty' && firstCall(config, service)),
  });
}

export function logWorkerStart(logger: Logger, config: Config): void {
  logStart(logger, 'Case Records worker is running', settingsSummary(config));
}

/** The output of a service usually ends up in a log, so a token is shown only on a terminal. */
function addresses({ PUBLIC_URL, DOCS }: Config, { url, demo }: StartedService): Summary {
  const pages = `${PUBLIC_URL ?? url}/docs`;
  const fragment = demo && process.stdout.isTTY ? `#token=${demo.token}&case=${demo.case_id}` : '';
  return { ...(PUBLIC_URL && { address: PUBLIC_URL }), ...(DOCS && { pages: pages + fragment }) };
}

/** The database, how messages go out, and what follows from settings that are not set. */
export function settingsSummary(config: Config): Summary {
  const outbox = join(config.DATA_DIR, 'outbox');
  const { SMTP_URL, SMS_PROVIDER, SECRETS_KEY } = config;
  return {
    database: databaseText(config),
    email: SMTP_URL === undefined ? `SMTP_URL is not set: written to ${outbox}` : `by ${hostOf(SMTP_URL)}`,
    sms: SMS_PROVIDER === 'outbox' ? `SMS_PROVIDER is not set: written to ${outbox}` : `by ${SMS_PROVIDER}`,
    ...(SECRETS_KEY === undefined && { secrets: 'SECRETS_KEY is not set: Zoom accounts and webhooks cannot be added' }),
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

function firstCall({ DATA_DIR }: Config, { url, demo }: StartedService): Summary {
  if (!demo?.isNew) return {};
  const file = join(DATA_DIR, 'demo.json');
  return {
    example: `A demonstration company was created; ${file} contains its token and identifiers. Try:
curl -s -X POST ${url}/cases/${demo.case_id}/interactions \\
  -H "Authorization: Bearer $(node -p 'require("${file}").token')" \\
  -H 'Content-Type: application/json' -d '{"type": "phone", "notes": "First call"}'`,
  };
}
