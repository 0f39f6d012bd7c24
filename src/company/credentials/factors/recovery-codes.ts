import { randomBytes } from 'node:crypto';
import { secretHash } from '../secrets.ts';
import { toBase32 } from './one-time-codes.ts';

/** Codes to print, each of which replaces a lost factor once. */

const COUNT = 10;
/** 120 bits: too many to guess, so a fast hash is enough. */
const CODE_BYTES = 15;

export const newRecoveryCodes = (): string[] =>
  Array.from({ length: COUNT }, () => (toBase32(randomBytes(CODE_BYTES)).toLowerCase().match(/.{6}/g) ?? []).join('-'));

/** The stored form of a code. How it was typed does not matter. */
export const recoveryCodeHash = (code: string): Buffer => secretHash(code.toLowerCase().replaceAll(/[^a-z2-7]/g, ''));
