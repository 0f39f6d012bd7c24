import { join } from 'node:path';
import { isatty } from 'node:tty';
import type { Logger } from 'pino';
import { type Config, signInAdvice } from '../config.ts';
import { logFormat, logStart } from './log.ts';

/** What a start tells its operator. */

type Summary = Record<string, string>;

export type StartedService = {
  url: string;
  /** The demonstration company, if the token in its file works. `isNew`: this start created it. */
  demo: { token: string; case_id: string; isNew: boolean; signIn: string | undefined } | undefined;
};

export function logServiceStart(logger: Logger, config: Config, service: StartedService): void {
  logStart(logger, `Case Records listens on ${service.url}`, {
    ...addresses(config, service),
    ...settingsSummary(config),
    // Without PUBLIC_URL the service is for this machine, and nothing is wrong with it.
    ...(config.PUBLIC_URL && signInAdvice(config.PUBLIC_URL) && { 'sign-in': signInAdvice(config.PUBLIC_URL) ?? '' }),
    ...(service.demo?.isNew && { demo: demoText(config) }),
    ...(service.demo?.signIn && { 'sign in': `${service.demo.signIn}\nWorks once, within an hour, on this machine` }),
    ...(logFormat(config) === 'pretty' && firstCall(config, service)),
  });
}

export function logWorkerStart(logger: Logger, config: Config): void {
  logStart(logger, 'Case Records worker is running', settingsSummary(config));
}

function addresses(config: Config, service: StartedService): Summary {
  const { PUBLIC_URL, DOCS } = config;
  return { ...(PUBLIC_URL && { address: PUBLIC_URL }), ...(DOCS && { pages: pagesText(config, service) }) };
}

/** Whether a person reads the output at a terminal. */
export const isShownToPerson = (config: Config): boolean => logFormat(config) === 'pretty' && isatty(0) && isatty(1);

/**
 * The output of a service usually ends up in a log, even that of some terminals. So a token is shown only when it is
 * new, and only to a person.
 */
function pagesText(config: Config, { url, demo }: StartedService): string {
  const pages = `${config.PUBLIC_URL ?? url}/docs`;
  if (!demo || logFormat(config) !== 'pretty') return pages;
  if (demo.isNew && isShownToPerson(config)) return `${pages}#token=${demo.token}&case=${demo.case_id}`;
  return `${pages}
Print the link that fills in a token: node -p 'require("${demoFile(config)}").docs_url'`;
}

const demoText = (config: Config): string =>
  `A demonstration company was created. Its token is in ${demoFile(config)}
Before production, remove it:
${COMMAND} company remove "Demonstration & Partners"`;

/** A program that npm started is usually not on the PATH. */
const COMMAND = process.env.npm_command === undefined ? 'case-records' : 'npx case-records';

const demoFile = ({ DATA_DIR }: Config): string => join(DATA_DIR, 'demo.json');

/** The database, how messages go out, and what follows from settings that are not set. */
export function settingsSummary(config: Config): Summary {
  const outbox = join(config.DATA_DIR, 'outbox');
  const { SMTP_URL, SMS_PROVIDER, SECRETS_KEY } = config;
  return {
    database: databaseText(config),
    email: SMTP_URL === undefined ? `SMTP_URL is not set: written to ${outbox}` : `by ${hostOf(SMTP_URL)}`,
    sms: SMS_PROVIDER === 'outbox' ? `SMS_PROVIDER is outbox: written to ${outbox}` : `by ${SMS_PROVIDER}`,
    ...(SECRETS_KEY === undefined && {
      secrets: 'SECRETS_KEY is not set: Zoom accounts and webhooks cannot be added',
    }),
  };
}

/** The address of the database without user and password. */
function databaseText({ DATABASE_URL, DATA_DIR }: Config): string {
  if (DATABASE_URL === undefined) return `bundled PostgreSQL in ${join(DATA_DIR, 'postgres')}`;
  const { pathname, searchParams } = new URL(DATABASE_URL);
  const host = hostOf(DATABASE_URL) || searchParams.get('host') || 'localhost';
  return `${decoded(pathname.slice(1)) || 'default database'} on ${host}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A percent sign that encodes nothing.
  }
}

const hostOf = (url: string): string => new URL(url).host;

function firstCall(config: Config, { url, demo }: StartedService): Summary {
  if (!demo?.isNew) return {};
  const file = demoFile(config);
  return {
    example: `curl -sS -w '\\n' -X POST ${url}/cases/${demo.case_id}/interactions \\
  -H "Authorization: Bearer $(node -p 'require("${file}").token')" \\
  -H 'Content-Type: application/json' -d '{"type": "phone", "notes": "First call"}'`,
  };
}
