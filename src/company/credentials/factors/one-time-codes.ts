import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Instant } from '../../../kernel/time/time.ts';

/** Time-based one-time codes (RFC 6238) in the form that every authenticator app knows. */

const STEP_SECONDS = 30;
const DIGITS = 6;
const SECRET_BYTES = 20;
/** How many steps a clock may be ahead or behind. */
const MAX_DRIFT_STEPS = 1;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** RFC 4648, without padding. */
export function toBase32(bytes: Uint8Array): string {
  let bits = 0;
  let value = 0;
  let text = '';
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += ALPHABET[(value >> (bits - 5)) & 31];
  }
  return bits > 0 ? text + ALPHABET[(value << (5 - bits)) & 31] : text;
}

function fromBase32(text: string): Buffer {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const letter of text) {
    value = ((value << 5) | ALPHABET.indexOf(letter)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 0xff);
  }
  return Buffer.from(bytes);
}

export const newCodeSecret = (): string => toBase32(randomBytes(SECRET_BYTES));

/** The address that authenticator apps read. */
export function codeUri(secret: string, { company, email }: { company: string; email: string }): string {
  const issuer = `Case Records ${company}`;
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`;
}

export const stepAt = (now: Instant): number => Math.floor(now.epochMilliseconds / 1000 / STEP_SECONDS);

/** RFC 4226, section 5.3. */
export function codeOfStep(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const offset = (digest[digest.length - 1] as number) & 0xf;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** Returns the step that the code belongs to; undefined if it is not a code of about now. */
export function matchCode(secret: string, code: string, now: Instant): number | undefined {
  const sent = Buffer.from(code.replaceAll(' ', ''));
  const current = stepAt(now);
  for (let step = current - MAX_DRIFT_STEPS; step <= current + MAX_DRIFT_STEPS; step++) {
    const expected = Buffer.from(codeOfStep(secret, step));
    if (sent.length === expected.length && timingSafeEqual(sent, expected)) return step;
  }
  return undefined;
}
