import { parsePhone } from '../kernel/validation/phone.ts';

/** Phone numbers in texts, however they were typed: `07700 900123`, `+44 (0)7700-900123`, `900123`. */

const RUN = /(?<![\p{L}\p{N}])\+?\(?\d(?:[\s()./-]{0,3}\d)+(?![\p{L}\p{N}])/gu;
/** Shorter ones may be house numbers or amounts. */
const MIN_STORED_DIGITS = 7;
const MIN_TYPED_DIGITS = 4;
const MAX_DIGITS = 20;

export type DigitRun = { index: number; text: string };

/** The parts of a text that may be phone numbers. */
export const digitRuns = (text: string): DigitRun[] =>
  [...text.matchAll(RUN)].map(({ index, 0: run }) => ({ index, text: run }));

/** Without the zero of `+44 (0)7700`. */
const digitsOf = (run: string) => run.replace('(0)', '').replaceAll(/\D/g, '');
const withoutZeros = (digits: string) => digits.replace(/^0+(?=\d)/, '');
const reversed = (digits: string) => [...digits].reverse().join('');

/** What a number begins with when it is typed, and its digits from the last one to the first. */
export type PhoneWords = { starts: string[]; ends: string[] };

/** The words under which the phone numbers of a text are found. */
export function storedPhones(text: string, region: string): PhoneWords {
  const words: PhoneWords = { starts: [], ends: [] };
  for (const run of digitRuns(text)) {
    const digits = withoutZeros(digitsOf(run.text));
    if (digits.length < MIN_STORED_DIGITS || digits.length > MAX_DIGITS) continue;
    const { e164, national } = parsePhone(run.text, region) ?? { e164: `+${digits}`, national: digits };
    const international = e164.slice(1);
    words.starts.push(...new Set([digits, national, international]));
    words.ends.push(reversed(international));
  }
  return words;
}

/** The ways in which a typed number can match; undefined if it has too few digits or too many. */
export function typedPhone(run: string, region: string): PhoneWords | undefined {
  const digits = digitsOf(run);
  if (digits.length < MIN_TYPED_DIGITS || digits.length > MAX_DIGITS) return undefined;
  const international = parsePhone(run, region)?.e164.slice(1);
  const starts = [...new Set([withoutZeros(digits), ...(international ? [international] : [])])];
  // The last digits of a number may begin with a zero.
  return { starts, ends: [...new Set([digits, ...starts])].map(reversed) };
}
