import { hash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { comparedForm, PREFIX_BYTES } from '../src/company/credentials/factors/common-passwords.ts';
import { MIN_PASSWORD_LENGTH } from '../src/company/credentials/factors/password-rules.ts';

/**
 * Writes assets/common-passwords.bin from a list with one password per line: the sorted beginnings of the hashes of
 * those that are long enough to be chosen. assets/README.md says where the list comes from.
 */
const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('Usage: node scripts/common-passwords.ts <list>');
const passwords = readFileSync(path, 'utf8').split(/\r?\n/);
const prefixes = new Set(
  passwords
    .filter((password) => [...password].length >= MIN_PASSWORD_LENGTH)
    .map((password) => hash('sha256', comparedForm(password), 'hex').slice(0, PREFIX_BYTES * 2)),
);
writeFileSync(
  new URL('../assets/common-passwords.bin', import.meta.url),
  Buffer.from([...prefixes].sort().join(''), 'hex'),
);
console.log(`${prefixes.size} passwords`);
