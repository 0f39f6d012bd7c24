import { parsePhone } from '../kernel/validation/phone.ts';

/** Phone numbers in texts, however they were typed: `07700 900123`, `+44 (0)7700-900123`, `900123`. */

const RUN = /(?<![\p{L}\p{N}])\+?\(?\d(?:[\p{Zs}\t()./-]{0,3}\d)+(?![\p{L}\p{N}])/gu;
const GROUP = /\+?\(?\d+\)?/g;
/** Shorter ones may be house numbers or amounts. */
const MIN_STORED_DIGITS = 7;
const MIN_TYPED_DIGITS = 4;
const MAX_DIGITS = 20;
/** A number with its country has no more (E.164). */
const MAX_PHONE_DIGITS = 15;
/** After so many digits, a zero or a bracket begins the next number. */
const MIN_WHOLE_DIGITS = 9;

/** It takes some 0.1 ms to read a number, and a text may be nothing but digits. Further numbers are found as words. */
export const MAX_NUMBERS = 100;

export type DigitRun = { index: number; text: string };

/** Returns the parts of a text that may be phone numbers, up to the last of the numbers that are read. */
export function digitRuns(text: string, region: string): DigitRun[] {
  const runs: DigitRun[] = [];
  let numbers = 0;
  for (const { index, 0: run } of text.matchAll(RUN)) {
    for (const phone of phonesIn(run, region)) {
      if (digitsOf(phone.text).length >= MIN_STORED_DIGITS) numbers++;
      if (numbers > MAX_NUMBERS) return runs;
      runs.push({ index: index + phone.index, text: phone.text });
    }
  }
  return runs;
}

/** Separates numbers that stand side by side: `020 7946 0958 / 07700 900123`. `030/1234567` is one number. */
function* phonesIn(run: string, region: string): Generator<DigitRun> {
  if (!run.includes('/') && digitsOf(run).length <= MAX_PHONE_DIGITS) {
    yield { index: 0, text: run };
    return;
  }
  let phone: DigitRun | undefined;
  let isPossible = false;
  for (const { index, 0: group } of run.matchAll(GROUP)) {
    if (phone && mayGoOn(phone.text, group)) {
      const between = run.slice(phone.index + phone.text.length, index);
      const longer = phone.text + between + group;
      const isLongerPossible = isPossiblePhone(longer, region);
      const isOneNumber = between.includes('/') ? between === '/' && isLongerPossible : isLongerPossible;
      if (!isPossible || isOneNumber) {
        phone.text = longer;
        isPossible = isLongerPossible;
        continue;
      }
    }
    if (phone) yield phone;
    phone = { index, text: group };
    isPossible = isPossiblePhone(group, region);
  }
  if (phone) yield phone;
}

function mayGoOn(phone: string, group: string): boolean {
  const { length } = digitsOf(phone);
  return length + digitsOf(group).length <= MAX_PHONE_DIGITS && (length < MIN_WHOLE_DIGITS || !/^[(0]/.test(group));
}

const isPossiblePhone = (text: string, region: string): boolean =>
  digitsOf(text).length >= MIN_STORED_DIGITS && parsePhone(text, region) !== undefined;

/** Without the zero of `+44 (0)7700`. */
const digitsOf = (run: string) => run.replace('(0)', '').replaceAll(/\D/g, '');
const withoutZeros = (digits: string) => digits.replace(/^0+(?=\d)/, '');
const reversed = (digits: string) => [...digits].reverse().join('');

/** What a number begins with when it is typed, and its digits from the last one to the first. */
export type PhoneWords = { starts: readonly string[]; ends: readonly string[] };

/** The parts of a text that may be phone numbers, and the words under which those that are long enough are found. */
export const storedPhones = (text: string, region: string): (DigitRun & PhoneWords)[] =>
  digitRuns(text, region).map((run) => ({ ...run, ...storedPhone(run.text, region) }));

/** Digits that are long enough to be stored as a number. */
function storedDigits(run: string): string | undefined {
  const digits = withoutZeros(digitsOf(run));
  return digits.length < MIN_STORED_DIGITS || digits.length > MAX_DIGITS ? undefined : digits;
}

/** Whether a stored number ends so. Its last digits are the same in every notation, so it need not be read. */
export const endsWith = (run: string, end: string): boolean => storedDigits(run)?.endsWith(reversed(end)) === true;

export function storedPhone(run: string, region: string): PhoneWords {
  const digits = storedDigits(run);
  if (digits === undefined) return { starts: [], ends: [] };
  const { e164, national } = parsePhone(run, region) ?? { e164: `+${digits}`, national: digits };
  const international = e164.slice(1);
  return { starts: [...new Set([digits, national, international])], ends: [reversed(international)] };
}

/** The ways in which a typed number can match; undefined if it has too few digits or too many. */
export function typedPhone(run: string, region: string): PhoneWords | undefined {
  const digits = digitsOf(run);
  if (digits.length < MIN_TYPED_DIGITS || digits.length > MAX_DIGITS) return undefined;
  const international = parsePhone(run, region)?.e164.slice(1);
  const starts = [...new Set([withoutZeros(digits), ...(international ? [international] : [])])];
  // The last digits of a number may begin with a zero. Without zeros there may be too few of them.
  const ends = [...new Set([digits, ...starts])].filter(({ length }) => length >= MIN_TYPED_DIGITS);
  return { starts, ends: ends.map(reversed) };
}
