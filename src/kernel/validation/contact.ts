import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js';
import { InvalidValue } from '../errors.ts';

const EMAIL = /^[^\s@<>(),;:"[\]\\]+@(?:[^\s@<>(),;:"[\]\\.]+\.)+[^\s@<>(),;:"[\]\\.]+$/;

export function requireEmail(text: string): string {
  if (!EMAIL.test(text)) throw new InvalidValue('format', 'must be an email address');
  return text;
}

/** Returns the number in E.164 form; undefined if the text cannot be a number of the region. */
export function phoneNumber(text: string, region: string): string | undefined {
  const number = parsePhoneNumberFromString(text, { defaultCountry: region as CountryCode, extract: false });
  return number?.isPossible() ? number.number : undefined;
}

export function requirePhone(text: string, region: string): string {
  const number = phoneNumber(text, region);
  if (number === undefined) throw new InvalidValue('format', 'must be a possible phone number');
  return number;
}
