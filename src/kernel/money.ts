import { InvalidValue } from './errors.ts';

/** An exact decimal: `units` × 10^-scale. Amounts are never held in binary floating point. */
export type Decimal = { units: bigint; scale: number };

export type DecimalInput = number | string;

export const DECIMAL_PATTERN = '^-?[0-9]+(\\.[0-9]+)?$';

const PLAIN = /^-?\d+(?:\.\d+)?$/;
const EXPONENT = /^(-?)(\d+)(?:\.(\d+))?e([+-]?\d+)$/i;
const MAX_EXPONENT = 400;
// Computing a power of ten would take longer than the rest of a calculation.
const POWERS_OF_TEN = Array.from({ length: 20 }, (_none, power) => 10n ** BigInt(power));
const powerOfTen = (power: number): bigint => POWERS_OF_TEN[power] ?? 10n ** BigInt(power);
// 9,999,999,999.99, the largest value of the amount columns.
const MAX_CENTS = 9_999_999_999_99n;

/**
 * Rounds half away from zero. A JSON number is read by its shortest decimal text, which is exact up to 15 digits;
 * longer ones arrive as the text of the body (see http/operation/long-numbers.ts).
 */
export function parseDecimal(input: DecimalInput, scale: number): Decimal {
  const { whole, fraction } = splitDigits(input);
  // Rounding half away from zero needs one digit past the scale.
  const kept = fraction.length > scale ? fraction.slice(0, scale + 1) : fraction;
  return withinRange(rescale({ units: BigInt(whole + kept), scale: kept.length }, scale));
}

/** Like `parseDecimal`, but rejects digits past the scale instead of rounding. */
export function parseExactDecimal(input: DecimalInput, scale: number): Decimal {
  if (/[1-9]/.test(splitDigits(input).fraction.slice(scale))) {
    throw new InvalidValue('format', `must not have more than ${scale} decimals`);
  }
  return parseDecimal(input, scale);
}

export function parseInteger(input: DecimalInput): Decimal {
  const { whole, fraction } = splitDigits(input);
  if (/[1-9]/.test(fraction)) throw new InvalidValue('type', 'must be a whole number');
  return { units: BigInt(whole), scale: 0 };
}

/** Splits the number. The whole part has its sign and at most ten digits. */
function splitDigits(input: DecimalInput): { whole: string; fraction: string } {
  if (input === Infinity || input === -Infinity) throw outOfRange();
  const text = typeof input === 'number' ? plainText(String(input)) : input;
  if (!PLAIN.test(text)) throw new InvalidValue('format', 'must be a plain decimal number');
  const point = text.indexOf('.');
  const whole = point < 0 ? text : text.slice(0, point);
  return {
    whole: whole.length > 10 ? withoutLeadingZeros(whole) : whole,
    fraction: point < 0 ? '' : text.slice(point + 1),
  };
}

/** Checks the length first: a hostile request could send a number with thousands of digits. */
function withoutLeadingZeros(whole: string): string {
  const digits = whole.replace(/^-?0*/, '');
  if (digits.length > 10) throw outOfRange();
  return `${whole.startsWith('-') ? '-' : ''}${digits || '0'}`;
}

export const multiply = (a: Decimal, b: Decimal, scale: number): Decimal =>
  withinRange(rescale({ units: a.units * b.units, scale: a.scale + b.scale }, scale));

/** Both sides must have the same scale. */
export const subtract = (a: Decimal, b: Decimal): Decimal => withinRange({ units: a.units - b.units, scale: a.scale });

export function toText({ units, scale }: Decimal): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0');
  const sign = units < 0n ? '-' : '';
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** Rounds half away from zero, as bookkeeping and PostgreSQL's round() do. */
function rescale({ units, scale }: Decimal, target: number): Decimal {
  if (target >= scale) return { units: units * powerOfTen(target - scale), scale: target };
  const divisor = powerOfTen(scale - target);
  const half = units < 0n ? -(divisor / 2n) : divisor / 2n;
  return { units: (units + half) / divisor, scale: target };
}

function withinRange(decimal: Decimal): Decimal {
  const { units, scale } = decimal.scale < 2 ? rescale(decimal, 2) : decimal;
  const max = scale === 2 ? MAX_CENTS : MAX_CENTS * powerOfTen(scale - 2);
  if (units > max || units < -max) throw outOfRange();
  return decimal;
}

const outOfRange = () => new InvalidValue('out_of_range', 'must lie between -9999999999.99 and 9999999999.99');

/** Writes a JSON number without its exponent. Returns other text, and numbers with an absurd exponent, unchanged. */
export function plainText(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent] = EXPONENT.exec(text) ?? [];
  const shift = Number(exponent);
  if (exponent === undefined || Math.abs(shift) > MAX_EXPONENT) return text;
  const digits = whole + fraction;
  const point = whole.length + shift;
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return point >= digits.length
    ? sign + digits.padEnd(point, '0')
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}
