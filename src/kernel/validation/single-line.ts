import { InvalidValue } from '../errors.ts';

/** Rejects control characters and line breaks: the text appears in mail headers, in lists and on terminals. */
export function assertSingleLine(text: string): void {
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)) {
    throw new InvalidValue('invalid_character', 'must not contain control characters or line breaks');
  }
}

/** Rejects control characters except line breaks. */
export function assertPrintable(text: string): void {
  for (const line of text.split(/\r?\n/)) {
    if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(line)) {
      throw new InvalidValue('invalid_character', 'must not contain control characters');
    }
  }
}

/** Rejects a text without visible characters. Whether it may be empty is decided by the schema. */
export function assertVisible(text: string): void {
  assertSingleLine(text);
  if (text !== '' && /^[\s\p{Cf}]*$/u.test(text)) throw new InvalidValue('too_short', 'must not be blank');
}
