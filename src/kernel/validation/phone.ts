import { createRequire } from 'node:module';
import type * as libphonenumber from 'libphonenumber-js';
import { InvalidValue } from '../errors.ts';

let library: typeof libphonenumber | undefined;

/** Loads the library, which takes 0.1 s of CPU time: the service does so when it starts, a command only if needed. */
export function phoneLibrary(): typeof libphonenumber {
  library ??= createRequire(import.meta.url)('libphonenumber-js') as typeof libphonenumber;
  return library;
}

/** Returns the number in E.164 form; undefined if the text cannot be a number of the region. */
export const phoneNumber = (text: string, region: string): string | undefined => parsePhone(text, region)?.e164;

/** Returns the number in E.164 form, and without its country and the zero before it. */
export function parsePhone(text: string, region: string): { e164: string; national: string } | undefined {
  const options = { defaultCountry: region as libphonenumber.CountryCode, extract: false };
  const number = phoneLibrary().parsePhoneNumberFromString(text, options);
  return number?.isPossible() ? { e164: number.number, national: number.nationalNumber } : undefined;
}

export function requirePhone(text: string, region: string): string {
  const number = phoneNumber(text, region);
  if (number === undefined) throw new InvalidValue('format', 'must be a possible phone number');
  return number;
}

export const isPhoneRegion = (region: string): boolean => phoneLibrary().isSupportedCountry(region);
