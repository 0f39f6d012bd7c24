import type { TSchema } from 'typebox';
import { DECIMAL_PATTERN, plainText } from '../../kernel/money.ts';

/** A double preserves only 15 digits, so longer numbers are read as text. */
export const LONG_NUMBER = /\d[\d.]{15}/;
const MIN_LENGTH = 16;
/**
 * A number far beyond any amount, or too small to matter, stays a number: without its exponent, a number of 20
 * characters could take 400.
 */
const MAX_ADDED_DIGITS = 40;
const DECIMAL = new RegExp(DECIMAL_PATTERN);
const [QUOTE, BACKSLASH, PLUS, MINUS, POINT, ZERO, NINE, UPPER_E, LOWER_E] = [...'"\\+-.09Ee'].map((character) =>
  character.charCodeAt(0),
) as [number, number, number, number, number, number, number, number, number];

const withDecimals = new WeakMap<TSchema, boolean>();

/** Whether a body of this schema has amounts, whose digits must be preserved. */
export function hasDecimals(schema: TSchema): boolean {
  const known = withDecimals.get(schema) ?? JSON.stringify(schema).includes(JSON.stringify(DECIMAL_PATTERN));
  withDecimals.set(schema, known);
  return known;
}

/**
 * Returns the JSON text with its long numbers as strings, so that parsing it keeps every digit. JSON.parse with a
 * reviver does the same, but takes up to 55 times as long as without: it calls a function for each value of the body.
 */
export function quoteLongNumbers(json: string): string {
  let quoted = '';
  let copied = 0;
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i);
    if (code === QUOTE) {
      i = endOfString(json, i);
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const start = i;
      while (isPartOfNumber(json.charCodeAt(i + 1))) i++;
      const source = json.slice(start, i + 1);
      const plain = source.length < MIN_LENGTH ? source : plainText(source);
      if (source.length < MIN_LENGTH || plain.length > source.length + MAX_ADDED_DIGITS || !DECIMAL.test(plain))
        continue;
      quoted += `${json.slice(copied, start)}"${plain}"`;
      copied = i + 1;
    }
  }
  return quoted + json.slice(copied);
}

/** Returns the index of the closing quote. */
function endOfString(json: string, start: number): number {
  let i = start + 1;
  for (let code = json.charCodeAt(i); code !== QUOTE; code = json.charCodeAt(i)) i += code === BACKSLASH ? 2 : 1;
  return i;
}

const isPartOfNumber = (code: number): boolean =>
  (code >= ZERO && code <= NINE) ||
  code === POINT ||
  code === PLUS ||
  code === MINUS ||
  code === UPPER_E ||
  code === LOWER_E;
