import { createHash, randomBytes } from 'node:crypto';

/** The prefix lets readers and secret scanners recognise a leaked token. */
export const newToken = (): string => `cr_${randomBytes(32).toString('base64url')}`;
export const newClientSecret = (): string => `crs_${randomBytes(32).toString('base64url')}`;

/** The stored form of a secret. A secret has 256 random bits, so a slow hash would add nothing. */
export const secretHash = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** Adds the secret to the JSON of a record. The database never receives it, so it cannot appear in a database log. */
export const withSecret = (record: string, name: string, secret: string): string =>
  `${record.slice(0, -1)}, "${name}" : "${secret}"}`;

/** Headers of an answer that shows a secret. */
export const NO_STORE_HEADERS = { 'cache-control': 'no-store' };
