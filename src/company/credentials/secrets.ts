import { createHash, randomBytes } from 'node:crypto';

/** The prefix tells a reader, and the scanners of code hosts, what has leaked. */
export const newToken = (): string => `cr_${randomBytes(32).toString('base64url')}`;
export const newClientSecret = (): string => `crs_${randomBytes(32).toString('base64url')}`;

/** What is stored of a secret. It has 256 bits by chance: nothing is gained by a slow hash. */
export const secretHash = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** Adds the secret here rather than in the statement: the database, and whatever it logs, never sees it. */
export const withSecret = (record: string, name: string, secret: string): string =>
  `${record.slice(0, -1)}, "${name}" : "${secret}"}`;

/** Of an answer that shows a secret. */
export const NO_STORE_HEADERS = { 'cache-control': 'no-store' };
