import { InvalidValue } from '../errors.ts';

/** No control character and no end of a line: it stands in a mail's header, in a list, on a terminal. */
export function assertSingleLine(text: string): void {
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)) {
    throw new InvalidValue('invalid_character', 'must not contain control characters or line breaks');
  }
}

/** Something that can be seen, on one line. Whether it may be empty is for the schema to say. */
export function assertVisible(text: string): void {
  assertSingleLine(text);
  if (text !== '' && /^[\s\p{Cf}]*$/u.test(text)) throw new InvalidValue('too_short', 'must not be blank');
}
