import { InvalidValue } from '../../../kernel/errors.ts';
import { isCommonPassword } from './common-passwords.ts';

export const MIN_PASSWORD_LENGTH = 12;
export const MAX_PASSWORD_LENGTH = 128;

/** Words that say nothing secret about any user of the service. */
const SERVICE_WORDS = ['case records', 'password', 'passwort', 'qwerty'];
/** What has to be left of a password without the words that others can guess. */
const MIN_REMAINDER_LENGTH = 6;

/**
 * Throws if the password is too easy to guess. There are no rules about its characters. `contextWords` are those that
 * others connect with the user: the email, the name, the company.
 */
export function assertStrongPassword(password: string, contextWords: readonly string[]): void {
  const length = [...password].length;
  if (length < MIN_PASSWORD_LENGTH)
    throw new InvalidValue('too_short', `must have at least ${MIN_PASSWORD_LENGTH} characters`);
  if (length > MAX_PASSWORD_LENGTH)
    throw new InvalidValue('too_long', `must not be longer than ${MAX_PASSWORD_LENGTH} characters`);
  if (isCommonPassword(password)) throw new InvalidValue('not_allowed', 'is one of the most common passwords');
  let rest = compact(password);
  for (const word of [...contextWords, ...SERVICE_WORDS].flatMap(partsOf)) rest = rest.replaceAll(word, '');
  if (rest.length < Math.min(MIN_REMAINDER_LENGTH, compact(password).length)) {
    throw new InvalidValue(
      'not_allowed',
      'consists of the name, the email, the company or other words that are easy to guess',
    );
  }
}

const compact = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

/** The whole text and its words, without those that are so short that they are in many passwords. */
const partsOf = (text: string): string[] =>
  [text, ...text.split(/[^\p{L}\p{N}]+/u)].map(compact).filter((word) => word.length >= 4);
