import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export const SMS_PROVIDERS = ['outbox', 'twilio', 'gateway'] as const;

type Setting<T, D extends string | undefined> = { read: (text: string) => T; byDefault: D; description: string };

const setting = <T, D extends string | undefined>(
  byDefault: D,
  description: string,
  read: (text: string) => T,
): Setting<T, D> => ({ byDefault, description, read });

/** One that may come from a file that `<NAME>_FILE` names, so that it stands in no environment. */
const secret = <S extends object>(one: S): S & { secret: true } => ({ ...one, secret: true });

/** Every setting of the service. The README's table is held against this one. */
export const SETTINGS = {
  HOST: setting('127.0.0.1', 'Address to listen on', (text) => text),
  PORT: setting('8080', 'Port to listen on; 0 takes any free one', (text) => wholeNumber(text, 0, 65_535)),
  DATA_DIR: setting('./data', 'Folder of the bundled database, of `demo.json` and of `outbox`', (text) =>
    resolve(text),
  ),
  DATABASE_URL: secret(
    setting(undefined, 'An existing PostgreSQL 15 or later, instead of the bundled one', postgresUrl),
  ),
  DATABASE_OWNER_URL: secret(
    setting(
      undefined,
      'The same database under the role that owns its tables, for migrations; `DATABASE_URL` then names one that owns nothing and cannot change the event log',
      postgresUrl,
    ),
  ),
  DATABASE_POOL_SIZE: setting(
    '8',
    'Most connections for single statements; as many more for transactions, half as many each for lists and for searches, 4 for long lists',
    (text) => wholeNumber(text, 1, 500),
  ),
  WEB_CONCURRENCY: setting('1', 'Processes that answer requests; each opens its own connections', (text) =>
    wholeNumber(text, 1, 64),
  ),
  WORKER_CONCURRENCY: setting(
    '32',
    'Mails, and as many SMS and webhooks, this process sends at once; 0 leaves them to other workers',
    (text) => wholeNumber(text, 0, 500),
  ),
  SMTP_URL: secret(
    setting(
      undefined,
      'Mail server, such as `smtps://user:password@mail.example:465`; without one, mails become files in `DATA_DIR/outbox`',
      smtpUrl,
    ),
  ),
  MAIL_FROM: setting('no-reply@localhost', 'Sender address of companies that have none of their own', emailAddress),
  MAIL_DOMAIN: setting(undefined, 'Domain in Message-ID and calendar entries; by default that of `MAIL_FROM`', domain),
  SMS_PROVIDER: setting(
    'outbox',
    `One of ${SMS_PROVIDERS.join(', ')}; the first writes files in \`DATA_DIR/outbox\``,
    (text) => oneOf(text, SMS_PROVIDERS),
  ),
  TWILIO_ACCOUNT_SID: setting(undefined, 'Account of `SMS_PROVIDER=twilio`', (text) => text),
  TWILIO_AUTH_TOKEN: secret(setting(undefined, 'Its token', (text) => text)),
  TWILIO_FROM: setting(undefined, 'Its number, sender name or messaging service SID', (text) => text),
  TWILIO_BASE_URL: setting('https://api.twilio.com', 'Where its API is', httpUrl),
  SMS_GATEWAY_URL: setting(undefined, 'Address that `SMS_PROVIDER=gateway` posts to', httpUrl),
  SMS_GATEWAY_HEADERS: secret(setting('{}', 'Headers of that request, as a JSON object', headers)),
  SMS_GATEWAY_BODY: setting(
    '{"to":"{{to}}","from":"{{from}}","text":"{{text}}","id":"{{id}}"}',
    'Its body; `{{to}}`, `{{from}}`, `{{text}}` and `{{id}}` are filled in',
    (text) => text,
  ),
  SMS_GATEWAY_FROM: setting(undefined, 'What `{{from}}` stands for', (text) => text),
  JITSI_URL: setting('https://meet.jit.si', 'Server of meetings by Jitsi', httpUrl),
  JITSI_APP_ID: setting(undefined, 'App of that server, where it asks for signed tokens', (text) => text),
  JITSI_APP_SECRET: secret(setting(undefined, 'What its tokens are signed with', (text) => text)),
  ZOOM_API_URL: setting('https://api.zoom.us/v2', "Where Zoom's API is", httpUrl),
  ZOOM_OAUTH_URL: setting('https://zoom.us/oauth/token', 'Where Zoom gives access tokens', httpUrl),
  SECRETS_KEY: secret(
    setting(
      undefined,
      'Encrypts the secrets of video accounts and webhooks: 32 bytes in base64. Several by commas: the first encrypts, all decrypt',
      secretKeys,
    ),
  ),
  EVENT_RETENTION_DAYS: setting(undefined, 'How long the event log is kept, at least 30; by default for ever', (text) =>
    wholeNumber(text, 30, 100_000),
  ),
  WEBHOOK_ALLOW_PRIVATE_ADDRESSES: setting(
    'false',
    'Lets webhooks go to private addresses and over plain http; for networks without strangers',
    (text) => oneOf(text, ['true', 'false']) === 'true',
  ),
  REQUESTS_PER_MINUTE: setting(
    undefined,
    'Most requests of one credential in each process; no limit by default',
    (text) => wholeNumber(text, 1, 1_000_000),
  ),
  MAX_CONCURRENT_REQUESTS: setting(
    '200',
    'Most requests that each process works on at once; more are refused with 503',
    (text) => wholeNumber(text, 1, 100_000),
  ),
  MAX_CONNECTIONS: setting('5000', 'Most connections of callers to each process; more are closed', (text) =>
    wholeNumber(text, 1, 1_000_000),
  ),
  CORS_ORIGINS: setting(
    '',
    'Origins whose pages may call from a browser, such as `https://app.example`, by commas',
    origins,
  ),
  DOCS: setting(
    'on',
    '`off` leaves out the API reference at `/docs`; `/openapi.json` stays',
    (text) => oneOf(text, ['on', 'off']) === 'on',
  ),
  OAUTH_TOKEN_SECONDS: setting('3600', 'How long an access token of an API client works, 60 to 86400', (text) =>
    wholeNumber(text, 60, 86_400),
  ),
  LOG_LEVEL: setting('info', `One of ${LOG_LEVELS.join(', ')}`, (text) => oneOf(text, LOG_LEVELS)),
} as const;

type Value<S> = S extends Setting<infer T, infer D> ? T | (D extends string ? never : undefined) : never;
export type Config = Readonly<{ [K in keyof typeof SETTINGS]: Value<(typeof SETTINGS)[K]> }>;

export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/** One frozen object from the environment, or every fault in it at once. An empty variable counts as unset. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const faults: string[] = [];
  const sent = (name: string) => env[name] || (SECRET_SETTINGS.includes(name) && env[`${name}_FILE`]);
  const entries = Object.entries(SETTINGS).map(([name, { read, byDefault }]) => {
    try {
      const text = (SECRET_SETTINGS.includes(name) ? fromFile(name, env) : undefined) ?? (env[name] || byDefault);
      return [name, text === undefined ? undefined : read(text)];
    } catch (error) {
      faults.push(`${name} ${(error as Error).message}`);
      return [name, undefined];
    }
  });
  const config = Object.freeze(Object.fromEntries(entries)) as Config;
  for (const name of NEEDED[config.SMS_PROVIDER] ?? []) {
    if (!sent(name)) faults.push(`${name} is needed with SMS_PROVIDER=${config.SMS_PROVIDER}`);
  }
  if (config.DATABASE_OWNER_URL !== undefined && !sent('DATABASE_URL')) {
    faults.push('DATABASE_OWNER_URL is of no use without DATABASE_URL');
  }
  if (!sent('JITSI_APP_ID') !== !sent('JITSI_APP_SECRET')) {
    faults.push('JITSI_APP_ID and JITSI_APP_SECRET are needed together');
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

export const SECRET_SETTINGS: readonly string[] = Object.entries(SETTINGS)
  .filter(([, one]) => 'secret' in one)
  .map(([name]) => name);

/** What stands in the file that `<NAME>_FILE` names, without the end of its last line. */
function fromFile(name: string, env: Record<string, string | undefined>): string | undefined {
  const path = env[`${name}_FILE`];
  if (!path) return undefined;
  if (env[name]) throw new Error(`and ${name}_FILE are both set`);
  let text: string;
  try {
    text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new Error(`cannot be read from ${path}: ${(error as NodeJS.ErrnoException).code}`);
  }
  if (text === '') throw new Error(`cannot be read from ${path}: it is empty`);
  return text;
}

const NEEDED: Record<string, readonly (keyof Config)[]> = {
  twilio: ['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN', 'TWILIO_FROM'],
  gateway: ['SMS_GATEWAY_URL'],
};

function wholeNumber(text: string, least: number, most: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new Error(`must be a whole number from ${least} to ${most}, not "${text}"`);
  }
  return value;
}

function oneOf<T extends string>(text: string, values: readonly T[]): T {
  const found = values.find((value) => value === text);
  if (!found) throw new Error(`must be one of ${values.join(', ')}, not "${text}"`);
  return found;
}

function origins(text: string): string[] {
  const found = text.split(',').map((origin) => origin.trim());
  const wrong = found.find((origin) => origin !== '' && URL.parse(origin)?.origin !== origin);
  if (wrong !== undefined) throw new Error(`must be origins such as https://app.example, not "${wrong}"`);
  return found.filter((origin) => origin !== '');
}

// The text itself is not repeated in the fault: it may hold a password.
function postgresUrl(text: string): string {
  if (!/^postgres(ql)?:$/.test(URL.parse(text)?.protocol ?? '')) {
    throw new Error('must be an address such as postgresql://user:password@host:5432/database');
  }
  return text;
}

function smtpUrl(text: string): string {
  if (!/^smtps?:$/.test(URL.parse(text)?.protocol ?? '')) {
    throw new Error('must be an address such as smtps://user:password@mail.example:465');
  }
  return text;
}

function httpUrl(text: string): string {
  if (!/^https?:$/.test(URL.parse(text)?.protocol ?? ''))
    throw new Error('must be an address that begins with https://');
  return text;
}

function emailAddress(text: string): string {
  if (!/^[^\s@<>",;]+@[^\s@<>",;]+$/.test(text)) throw new Error('must be an email address without a name');
  return text;
}

function domain(text: string): string {
  if (!/^[A-Za-z0-9.-]+$/.test(text)) throw new Error('must be a domain such as firm.example');
  return text;
}

function secretKeys(text: string): readonly Buffer[] {
  return text.split(',').map((word) => {
    const key = Buffer.from(word.trim(), 'base64');
    if (key.length !== 32 || !/^[A-Za-z0-9+/_-]{43}=?$/.test(word.trim())) {
      throw new Error('must be 32 bytes in base64, such as "openssl rand -base64 32" gives');
    }
    return key;
  });
}

function headers(text: string): Record<string, string> {
  const fault = () => new Error('must be a JSON object of texts, such as {"Authorization": "Bearer …"}');
  let value: unknown;
  try {
    value = JSON.parse(text);
    new Headers(value as Record<string, string>);
  } catch {
    throw fault();
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject || !Object.values(value as object).every((one) => typeof one === 'string')) throw fault();
  // What is put into the body is escaped for these two; in any other it could break out of its place.
  const type = new Headers(value as Record<string, string>).get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== undefined && !['application/json', 'application/x-www-form-urlencoded'].includes(type)) {
    throw new Error('may name the Content-Type application/json or application/x-www-form-urlencoded, and no other');
  }
  return value as Record<string, string>;
}
