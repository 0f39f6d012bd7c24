import { InvalidValue } from '../errors.ts';

const EMAIL = /^[^\s@<>(),;:"[\]\\]+@(?:[^\s@<>(),;:"[\]\\.]+\.)+[^\s@<>(),;:"[\]\\.]+$/;

export function requireEmail(text: string): string {
  if (!EMAIL.test(text)) throw new InvalidValue('format', 'must be an email address');
  return text;
}
