import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** How much of each hash the list has. One in 100,000 other passwords is refused by chance. */
export const PREFIX_BYTES = 4;

const FILE = new URL('../../../../assets/common-passwords.bin', import.meta.url);
let prefixes: Buffer | undefined;

export const comparedForm = (password: string): string => password.toLowerCase();

/** Whether the password is one of the 44,000 most common ones of its length; letter case does not matter. */
export function isCommonPassword(password: string): boolean {
  prefixes ??= readFileSync(FILE);
  const wanted = hash('sha256', comparedForm(password), 'buffer').readUInt32BE(0);
  let low = 0;
  let high = prefixes.length / PREFIX_BYTES;
  while (low < high) {
    const middle = (low + high) >> 1;
    const found = prefixes.readUInt32BE(middle * PREFIX_BYTES);
    if (found === wanted) return true;
    if (found < wanted) low = middle + 1;
    else high = middle;
  }
  return false;
}
