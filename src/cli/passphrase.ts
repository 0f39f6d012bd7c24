import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { MIN_PASSPHRASE_LENGTH } from '../server/company-transfer/sealed-secrets.ts';
import type { Flags, Invocation } from './command.ts';

export const PASSPHRASE_FLAGS: Flags = {
  'passphrase-file': {
    type: 'string',
    placeholder: 'file',
    description: 'A file with the passphrase of the secrets; - for standard input.',
  },
  'without-secrets': { type: 'boolean', description: 'Leave the secrets of video accounts and webhooks out.' },
};

type PassphraseRequest = { question: string; repeat?: boolean };

/** Returns undefined if the secrets are to be left out, or if nobody can be asked. */
export async function readPassphrase(
  { flags, terminal }: Invocation,
  { question, repeat = false }: PassphraseRequest,
): Promise<string | undefined> {
  if (flags['without-secrets'] === true) return undefined;
  const file = flags['passphrase-file'];
  if (typeof file === 'string') return checked(await (file === '-' ? text(process.stdin) : readFile(file, 'utf8')));
  const typed = await terminal.askSecret?.(question);
  if (!typed) return undefined;
  const passphrase = checked(typed);
  if (repeat && (await terminal.askSecret?.('The same again: ')) !== typed) {
    throw new Error('The passphrase was not the same the second time. Nothing was done.');
  }
  return passphrase;
}

/** A file has a line break at its end. */
function checked(typed: string): string {
  const passphrase = typed.replace(/\r?\n$/, '');
  if (passphrase.length >= MIN_PASSPHRASE_LENGTH) return passphrase;
  throw new Error(`The passphrase must have at least ${MIN_PASSPHRASE_LENGTH} characters. Nothing was done.`);
}
