import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { UnavailableError } from '../../../kernel/errors.ts';

/** Argon2id with the parameters that OWASP recommends: 19 MiB, two passes, one lane. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Half of the thread pool, which also reads files and resolves names, and 40 MB at most. */
const MAX_CONCURRENT = 2;
/** More would wait for seconds. Strangers must not be able to make the process hold any number of requests. */
const MAX_WAITING = 32;

type PasswordHashing = { hashPassword: typeof hashPassword; isPassword: typeof isPassword };

const HASHING: PasswordHashing = { hashPassword, isPassword };
let places = MAX_CONCURRENT + MAX_WAITING;

/**
 * Takes one of the places for password checks until `work` ends. Throws before `work` if there is none, so that an
 * attempt that cannot be made is not counted as one.
 */
export async function withPasswordHashing<T>(work: (hashing: PasswordHashing) => Promise<T>): Promise<T> {
  if (places === 0) throw new UnavailableError('Too many passwords are being checked. Try again later.');
  places -= 1;
  try {
    return await work(HASHING);
  } finally {
    places += 1;
  }
}

let running = 0;
const waiting: (() => void)[] = [];

async function derive(password: string, salt: Buffer): Promise<Buffer> {
  if (running >= MAX_CONCURRENT) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    return await promisify(argon2)('argon2id', { message: password, nonce: salt, tagLength: HASH_BYTES, ...COST });
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

const encoded = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');
const PREFIX = `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$`;

/** Returns the hash of a new password in the usual form, which names the algorithm and its parameters. */
async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  return `${PREFIX}${encoded(salt)}$${encoded(await derive(password, salt))}`;
}

/** Stands for the hash of an unknown account, so that refusing it takes as long. No password has it. */
const NO_PASSWORD = `${PREFIX}${encoded(randomBytes(SALT_BYTES))}$${encoded(randomBytes(HASH_BYTES))}`;

/** Takes the same time whether there is a hash or not. */
async function isPassword(password: string, hash: string | null | undefined): Promise<boolean> {
  const [, , , , salt = '', expected = ''] = (hash ?? NO_PASSWORD).split('$');
  const actual = await derive(password, Buffer.from(salt, 'base64'));
  const wanted = Buffer.from(expected, 'base64');
  return wanted.length === actual.length && timingSafeEqual(wanted, actual) && hash != null;
}
