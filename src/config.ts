import { resolve } from 'node:path';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

type Setting<T, D extends string | undefined> = { read: (text: string) => T; byDefault: D; description: string };

const setting = <T, D extends string | undefined>(
  byDefault: D,
  description: string,
  read: (text: string) => T,
): Setting<T, D> => ({ byDefault, description, read });

/** Every setting of the service. The README's table is held against this one. */
export const SETTINGS = {
  HOST: setting('127.0.0.1', 'Address to listen on', (text) => text),
  PORT: setting('8080', 'Port to listen on; 0 takes any free one', (text) => wholeNumber(text, 0, 65_535)),
  DATA_DIR: setting('./data', 'Folder of the bundled database and of `demo.json`', (text) => resolve(text)),
  DATABASE_URL: setting(undefined, 'An existing PostgreSQL 15 or later, instead of the bundled one', postgresUrl),
  DATABASE_POOL_SIZE: setting('8', 'Most connections to the database', (text) => wholeNumber(text, 1, 500)),
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
  const entries = Object.entries(SETTINGS).map(([name, { read, byDefault }]) => {
    const text = env[name] || byDefault;
    if (text === undefined) return [name, undefined];
    try {
      return [name, read(text)];
    } catch (error) {
      faults.push(`${name} ${(error as Error).message}`);
      return [name, undefined];
    }
  });
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.freeze(Object.fromEntries(entries)) as Config;
}

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

// The text itself is not repeated in the fault: it may hold a password.
function postgresUrl(text: string): string {
  if (!/^postgres(ql)?:$/.test(URL.parse(text)?.protocol ?? '')) {
    throw new Error('must be an address such as postgresql://user:password@host:5432/database');
  }
  return text;
}
