import { readFileSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { resolve } from 'node:path';
import { parseSchedule } from './kernel/time/cron.ts';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const LOG_FORMATS = ['pretty', 'json'] as const;

const SMS_PROVIDERS = ['outbox', 'twilio', 'gateway'] as const;

type Setting<T, D extends string | undefined> = { read: (text: string) => T; defaultText: D; description: string };

const setting = <T, D extends string | undefined>(
  defaultText: D,
  description: string,
  read: (text: string) => T,
): Setting<T, D> => ({ defaultText, description, read });

/** A setting that can also be read from the file that `<NAME>_FILE` names, so that it is not in the environment. */
const secret = <S extends object>(definition: S): S & { secret: true } => ({ ...definition, secret: true });

/** Every setting of the service. A test compares the table in docs/settings.md with this one. */
export const SETTINGS = {
  HOST: setting('127.0.0.1', 'Address to listen on', (text) => text),
  PORT: setting('8080', 'Port to listen on; 0 picks a free one', (text) => wholeNumber(text, 0, 65_535)),
  PUBLIC_URL: setting(
    undefined,
    'URL at which callers reach the service, such as `https://records.example` or `https://company.example/records`; ' +
      'by default the address of each request',
    publicUrl,
  ),
  TRUSTED_PROXIES: setting(
    '',
    'Addresses or ranges of reverse proxies, such as `10.0.0.0/8`, separated by commas: the address of the caller is ' +
      'taken from the header `Forwarded` or `X-Forwarded-For` that they send. A range has at least /8, for IPv6 /7',
    addressRanges,
  ),
  DATA_DIR: setting('./data', 'Folder of the bundled database, `demo.json` and `outbox`', (text) => resolve(text)),
  DATABASE_URL: secret(
    setting(undefined, 'URL of an existing PostgreSQL 15 or later, instead of the bundled one', postgresUrl),
  ),
  DATABASE_DIRECT_URL: secret(
    setting(
      undefined,
      'The same database and role without the connection pooler; required if the pooler of `DATABASE_URL` works with ' +
        '`pool_mode = transaction`',
      postgresUrl,
    ),
  ),
  DATABASE_OWNER_URL: secret(
    setting(
      undefined,
      'The same database under the role that owns the tables, for migrations; the role of `DATABASE_URL` then owns ' +
        'nothing and cannot change the event log',
      postgresUrl,
    ),
  ),
  BACKUP_DIR: setting(
    undefined,
    'Folder for backups of the bundled database, better on another disk; if set, the service makes them by itself',
    (text) => resolve(text),
  ),
  BACKUP_SCHEDULE: setting(
    '0 3 * * *',
    'When to make a backup in `BACKUP_DIR`: minute, hour, day of the month, month and day of the week in UTC, as in ' +
      'a crontab, or `off`',
    (text) => (text === 'off' ? undefined : parseSchedule(text)),
  ),
  BACKUP_KEEP: setting('7', 'Number of backups to keep in `BACKUP_DIR`; older ones are removed', (text) =>
    wholeNumber(text, 1, 10_000),
  ),
  BACKUP_WAL: setting(
    'on',
    '`off` does not archive every change in `BACKUP_DIR`, so that a restore reaches the time of a backup only',
    (text) => oneOf(text, ['on', 'off']) === 'on',
  ),
  BACKUP_EMAIL: setting(undefined, 'Address that gets a mail when a backup or the archiving fails', emailAddress),
  DATABASE_POOL_SIZE: setting(
    '8',
    'Pool size N. A process opens up to 3.25N+4 connections: N for single statements, N for transactions, N/2 ' +
      'for lists, N/2 for lists of a company, N/4 for searches, 4 for streamed lists',
    (text) => wholeNumber(text, 1, 500),
  ),
  WEB_CONCURRENCY: setting('1', 'Number of processes that serve requests; each has its own connections', (text) =>
    wholeNumber(text, 1, 64),
  ),
  WORKER_CONCURRENCY: setting(
    '32',
    'Maximum emails, and as many SMS and webhooks, that this process sends concurrently; 0 leaves them to other ' +
      'workers',
    (text) => wholeNumber(text, 0, 500),
  ),
  SMTP_URL: secret(
    setting(
      undefined,
      'Mail server, such as `smtps://user:password@mail.example:465`; if unset, emails are written to ' +
        '`DATA_DIR/outbox`',
      smtpUrl,
    ),
  ),
  MAIL_FROM: setting('no-reply@localhost', 'Sender address of companies without their own', emailAddress),
  MAIL_DOMAIN: setting(
    undefined,
    'Domain in Message-ID and calendar entries; by default the domain of `MAIL_FROM`',
    domain,
  ),
  SMS_PROVIDER: setting(
    'outbox',
    `One of ${SMS_PROVIDERS.join(', ')}; \`outbox\` writes files to \`DATA_DIR/outbox\``,
    (text) => oneOf(text, SMS_PROVIDERS),
  ),
  TWILIO_ACCOUNT_SID: setting(undefined, 'Twilio account for `SMS_PROVIDER=twilio`', (text) => text),
  TWILIO_AUTH_TOKEN: secret(setting(undefined, 'Auth token of the Twilio account', (text) => text)),
  TWILIO_FROM: setting(
    undefined,
    'Sender for Twilio: a number, a sender name or a messaging service SID',
    (text) => text,
  ),
  TWILIO_BASE_URL: setting('https://api.twilio.com', 'Base URL of the Twilio API', httpUrl),
  SMS_GATEWAY_URL: setting(undefined, 'URL that `SMS_PROVIDER=gateway` posts to', httpUrl),
  SMS_GATEWAY_HEADERS: secret(setting('{}', 'Headers of the gateway request, as a JSON object', headers)),
  SMS_GATEWAY_BODY: setting(
    '{"to":"{{to}}","from":"{{from}}","text":"{{text}}","id":"{{id}}"}',
    'Body of the gateway request; `{{to}}`, `{{from}}`, `{{text}}` and `{{id}}` are filled in',
    (text) => text,
  ),
  SMS_GATEWAY_FROM: setting(undefined, 'Value of `{{from}}` in the gateway request', (text) => text),
  JITSI_URL: setting('https://meet.jit.si', 'Base URL of the Jitsi server', httpUrl),
  JITSI_APP_ID: setting(undefined, 'App id, if the Jitsi server requires signed tokens', (text) => text),
  JITSI_APP_SECRET: secret(setting(undefined, 'Secret that signs the Jitsi tokens', (text) => text)),
  ZOOM_API_URL: setting('https://api.zoom.us/v2', 'Base URL of the Zoom API', httpUrl),
  ZOOM_OAUTH_URL: setting('https://zoom.us/oauth/token', 'URL of the Zoom token endpoint', httpUrl),
  SECRETS_KEY: secret(
    setting(
      undefined,
      'Encrypts the secrets of video accounts and webhooks: 32 bytes in base64. Separate several keys with commas: ' +
        'the first encrypts, all decrypt',
      secretKeys,
    ),
  ),
  EVENT_RETENTION_DAYS: setting(
    undefined,
    'Days that events are kept, at least 30; by default they are kept forever',
    (text) => wholeNumber(text, 30, 100_000),
  ),
  WEBHOOK_ALLOW_PRIVATE_ADDRESSES: setting(
    'false',
    'Allows webhooks to private addresses and over plain http; use it only in a trusted network',
    (text) => oneOf(text, ['true', 'false']) === 'true',
  ),
  REQUESTS_PER_MINUTE: setting(
    undefined,
    'Maximum requests per minute of one credential in each process; no limit by default',
    (text) => wholeNumber(text, 1, 1_000_000),
  ),
  MAX_CONCURRENT_REQUESTS: setting(
    '200',
    'Maximum concurrent requests in each process; further ones are refused with 503',
    (text) => wholeNumber(text, 1, 100_000),
  ),
  MAX_CONNECTIONS: setting('5000', 'Maximum client connections to each process; further ones are closed', (text) =>
    wholeNumber(text, 1, 1_000_000),
  ),
  CORS_ORIGINS: setting(
    '',
    'Origins that may call from a browser, such as `https://app.example`, separated by commas',
    origins,
  ),
  DOCS: setting(
    'on',
    '`off` removes the API reference at `/docs`; `/openapi.json` stays',
    (text) => oneOf(text, ['on', 'off']) === 'on',
  ),
  OAUTH_TOKEN_SECONDS: setting('3600', 'Lifetime of an access token of an API client, 60 to 86400 seconds', (text) =>
    wholeNumber(text, 60, 86_400),
  ),
  LOG_FORMAT: setting(
    undefined,
    `One of ${LOG_FORMATS.join(', ')}; by default \`pretty\` on a terminal, otherwise \`json\``,
    (text) => oneOf(text, LOG_FORMATS),
  ),
  LOG_LEVEL: setting('info', `One of ${LOG_LEVELS.join(', ')}`, (text) => oneOf(text, LOG_LEVELS)),
} as const;

type Value<S> = S extends Setting<infer T, infer D> ? T | (D extends string ? never : undefined) : never;
export type Config = Readonly<{ [K in keyof typeof SETTINGS]: Value<(typeof SETTINGS)[K]> }>;

/** The URL that links for people begin with. Without PUBLIC_URL they work on this machine only. */
export const siteUrl = ({ PUBLIC_URL, PORT }: Pick<Config, 'PUBLIC_URL' | 'PORT'>): string =>
  PUBLIC_URL ?? `http://localhost:${PORT}`;

/** What prevents people from signing in, with advice; undefined if nothing does. */
export function signInAdvice(publicUrl: string | undefined): string | undefined {
  if (publicUrl === undefined) {
    return 'PUBLIC_URL is not set: people can sign in on this machine only, at http://localhost. Set it to an https:// URL.';
  }
  const { protocol, hostname } = new URL(publicUrl);
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (protocol !== 'https:' && !isLoopback) {
    return 'PUBLIC_URL is not an https:// URL: people cannot sign in, because their cookies could be stolen on the way.';
  }
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) {
    return 'PUBLIC_URL has an IP address: browsers create no passkeys for it. Use a name.';
  }
  return undefined;
}

export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/** Reads the settings from the environment. Throws one error with all faults. An empty variable counts as unset. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const faults: string[] = [];
  const isSet = (name: string) => env[name] || (SECRET_SETTINGS.includes(name) && env[`${name}_FILE`]);
  const entries = Object.entries(SETTINGS).map(([name, { read, defaultText }]) => {
    try {
      const text =
        (SECRET_SETTINGS.includes(name) ? readSecretFile(name, env) : undefined) ?? (env[name] || defaultText);
      return [name, text === undefined ? undefined : read(text)];
    } catch (error) {
      faults.push(`${name} ${(error as Error).message}`);
      return [name, undefined];
    }
  });
  const config = Object.freeze(Object.fromEntries(entries)) as Config;
  for (const name of REQUIRED_BY_SMS_PROVIDER[config.SMS_PROVIDER] ?? []) {
    if (!isSet(name)) faults.push(`${name} is required with SMS_PROVIDER=${config.SMS_PROVIDER}`);
  }
  if (config.DATABASE_OWNER_URL !== undefined && !isSet('DATABASE_URL')) {
    faults.push('DATABASE_OWNER_URL requires DATABASE_URL; set both or neither');
  }
  if (config.DATABASE_DIRECT_URL !== undefined && !isSet('DATABASE_URL')) {
    faults.push('DATABASE_DIRECT_URL requires DATABASE_URL; set both or neither');
  }
  if (config.BACKUP_DIR !== undefined && isSet('DATABASE_URL')) {
    faults.push('BACKUP_DIR is for the bundled database; back up the server of DATABASE_URL with pgBackRest or alike');
  }
  if (!isSet('JITSI_APP_ID') !== !isSet('JITSI_APP_SECRET')) {
    faults.push('JITSI_APP_ID and JITSI_APP_SECRET must be set together');
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

export const SECRET_SETTINGS: readonly string[] = Object.entries(SETTINGS)
  .filter(([, definition]) => 'secret' in definition)
  .map(([name]) => name);

/** Returns the content of the file that `<NAME>_FILE` names, without a trailing newline. */
function readSecretFile(name: string, env: Record<string, string | undefined>): string | undefined {
  const path = env[`${name}_FILE`];
  if (!path) return undefined;
  if (env[name]) throw new Error(`and ${name}_FILE are both set; unset one of them`);
  let text: string;
  try {
    text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new Error(`cannot be read from ${path}: ${(error as NodeJS.ErrnoException).code}`);
  }
  if (text === '') throw new Error(`cannot be read from ${path}: it is empty`);
  return text;
}

const REQUIRED_BY_SMS_PROVIDER: Record<string, readonly (keyof Config)[]> = {
  twilio: ['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN', 'TWILIO_FROM'],
  gateway: ['SMS_GATEWAY_URL'],
};

function wholeNumber(text: string, min: number, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new Error(`must be a whole number from ${min} to ${max}, not "${text}"`);
  }
  return value;
}

function oneOf<T extends string>(text: string, values: readonly T[]): T {
  const found = values.find((value) => value === text);
  if (!found) throw new Error(`must be one of ${values.join(', ')}, not "${text}"`);
  return found;
}

function origins(text: string): string[] {
  const parts = text.split(',').map((origin) => origin.trim());
  const invalid = parts.find((origin) => origin !== '' && URL.parse(origin)?.origin !== origin);
  if (invalid !== undefined) throw new Error(`must be origins such as https://app.example, not "${invalid}"`);
  return parts.filter((origin) => origin !== '');
}

function addressRanges(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim());
  for (const part of parts.filter((range) => range !== '')) {
    const [address = '', bits, rest] = part.split('/');
    const maxBits = isIP(address) === 6 ? 128 : 32;
    if (isIP(address) === 0 || address.includes('%') || rest !== undefined || !isPrefixLength(bits, maxBits)) {
      throw new Error(`must be addresses or ranges such as 10.0.0.0/8, not "${part}"`);
    }
    const minBits = bits === undefined ? 0 : minPrefixLength(address, Number(bits));
    if (Number(bits) < minBits) {
      throw new Error(
        `must not have a range as wide as "${part}": callers in it could forge their address. Use /${minBits} or more`,
      );
    }
  }
  return parts.filter((part) => part !== '');
}

const MIN_IPV4_BITS = 8;
const MIN_IPV6_BITS = 7; // fc00::/7 are the private addresses.
const IPV4_MAPPED_BITS = 96;

/** An IPv6 range that contains IPv4-mapped addresses also matches IPv4 addresses, so it must be as narrow as theirs. */
function minPrefixLength(address: string, bits: number): number {
  if (isIP(address) === 4) return MIN_IPV4_BITS;
  const range = new BlockList();
  range.addSubnet(address, Math.min(bits, IPV4_MAPPED_BITS), 'ipv6');
  return range.check('::ffff:0:0', 'ipv6') ? IPV4_MAPPED_BITS + MIN_IPV4_BITS : MIN_IPV6_BITS;
}

const isPrefixLength = (bits: string | undefined, max: number): boolean =>
  bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= max);

// The URL may contain a password, so the error text does not repeat it.
function postgresUrl(text: string): string {
  if (!/^postgres(ql)?:$/.test(URL.parse(text)?.protocol ?? '')) {
    throw new Error('must be a URL such as postgresql://user:password@host:5432/database');
  }
  return text;
}

function smtpUrl(text: string): string {
  if (!/^smtps?:$/.test(URL.parse(text)?.protocol ?? '')) {
    throw new Error('must be a URL such as smtps://user:password@mail.example:465');
  }
  return text;
}

function httpUrl(text: string): string {
  if (!/^https?:$/.test(URL.parse(text)?.protocol ?? ''))
    throw new Error('must be a URL that begins with https:// or http://');
  return text;
}

/** Returns the URL in its normal form without trailing slashes, so that paths can be appended. */
function publicUrl(text: string): string {
  const { origin, pathname, search, hash, username, password } = new URL(httpUrl(text));
  if (search || hash || username || password) throw new Error('must have no query, fragment or password');
  let path = pathname;
  while (path.endsWith('/')) path = path.slice(0, -1);
  return origin + path;
}

function emailAddress(text: string): string {
  if (!/^[^\s@<>",;]+@[^\s@<>",;]+$/.test(text)) throw new Error('must be an email address without a name');
  return text;
}

function domain(text: string): string {
  if (!/^[A-Za-z0-9.-]+$/.test(text)) throw new Error('must be a domain such as company.example');
  return text;
}

function secretKeys(text: string): readonly Buffer[] {
  return text.split(',').map((word) => {
    const key = Buffer.from(word.trim(), 'base64');
    if (key.length !== 32 || !/^[A-Za-z0-9+/_-]{43}=?$/.test(word.trim())) {
      throw new Error('must be 32 bytes in base64, such as "openssl rand -base64 32" prints');
    }
    return key;
  });
}

function headers(text: string): Record<string, string> {
  const fault = () => new Error('must be a JSON object of strings, such as {"Authorization": "Bearer …"}');
  let value: unknown;
  try {
    value = JSON.parse(text);
    new Headers(value as Record<string, string>);
  } catch {
    throw fault();
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject || !Object.values(value as object).every((entry) => typeof entry === 'string')) throw fault();
  // The values filled into the body are escaped for these two types only; in another they could inject content.
  const type = new Headers(value as Record<string, string>).get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== undefined && !['application/json', 'application/x-www-form-urlencoded'].includes(type)) {
    throw new Error('may set the Content-Type only to application/json or application/x-www-form-urlencoded');
  }
  return value as Record<string, string>;
}
