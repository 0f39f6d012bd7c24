import { InvalidValue } from './errors.ts';

/** An exact decimal: `units` of 10^-scale. Binary floating point never touches an amount. */
export type Decimal = { units: bigint; scale: number };

export type DecimalInput = number | string;

export const DECIMAL_PATTERN = '^-?[0-9]+(\\.[0-9]+)?$';

const PLAIN = /^-?\d+(?:\.\d+)?$/;
const EXPONENT = /^(-?)(\d+)(?:\.(\d+))?e([+-]?\d+)$/i;
const FARTHEST_SHIFT = 400;
// To raise ten to a power takes longer than all the rest of a sum.
const TEN = Array.from({ length: 20 }, (_none, power) => 10n ** BigInt(power));
const ten = (power: number): bigint => TEN[power] ?? 10n ** BigInt(power);
// 9,999,999,999.99: what the amount columns hold.
const LARGEST = 9_999_999_999_99n;

/**
 * A JSON number is read by its shortest decimal text, which gives back what was written for up to 15 digits;
 * longer ones reach this function as the text of the body (see http/operation/body.ts).
 */
export function parseDecimal(input: DecimalInput, scale: number): Decimal {
  const { whole, fraction } = digitsOf(input);
  // Half away from zero looks at one digit past the scale; the others cannot change the result.
  const kept = fraction.length > scale ? fraction.slice(0, scale + 1) : fraction;
  return withinRange(rescale({ units: BigInt(whole + kept), scale: kept.length }, scale));
}

/** Refuses digits past the scale, where `parseDecimal` would round them away. */
export function parseExact(input: DecimalInput, scale: number): Decimal {
  if (/[1-9]/.test(digitsOf(input).fraction.slice(scale))) {
    throw new InvalidValue('format', `must not have more than ${scale} decimals`);
  }
  return parseDecimal(input, scale);
}

export function parseInteger(input: DecimalInput): Decimal {
  const { whole, fraction } = digitsOf(input);
  if (/[1-9]/.test(fraction)) throw new InvalidValue('type', 'must be a whole number');
  return { units: BigInt(whole), scale: 0 };
}

/** Of the whole part at most ten digits, with the sign. */
function digitsOf(input: DecimalInput): { whole: string; fraction: string } {
  if (input === Infinity || input === -Infinity) throw outOfRange();
  const text = typeof input === 'number' ? plainText(String(input)) : input;
  if (!PLAIN.test(text)) throw new InvalidValue('format', 'must be a plain decimal number');
  const point = text.indexOf('.');
  const whole = point < 0 ? text : text.slice(0, point);
  return { whole: whole.length > 10 ? shortened(whole) : whole, fraction: point < 0 ? '' : text.slice(point + 1) };
}

/** Judged by its length, before a large integer is made of a hostile number of digits. */
function shortened(whole: string): string {
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

/** Half away from zero, the way of the books and of PostgreSQL's round(). */
function rescale({ units, scale }: Decimal, wanted: number): Decimal {
  if (wanted >= scale) return { units: units * ten(wanted - scale), scale: wanted };
  const divisor = ten(scale - wanted);
  const half = units < 0n ? -(divisor / 2n) : divisor / 2n;
  return { units: (units + half) / divisor, scale: wanted };
}

function withinRange(decimal: Decimal): Decimal {
  const { units, scale } = decimal.scale < 2 ? rescale(decimal, 2) : decimal;
  const largest = scale === 2 ? LARGEST : LARGEST * ten(scale - 2);
  if (units > largest || units < -largest) throw outOfRange();
  return decimal;
}

const outOfRange = () => new InvalidValue('out_of_range', 'must lie between -9999999999.99 and 9999999999.99');

/** A JSON number without its exponent, digit by digit; other text, and one that shifts absurdly far, as it is. */
export function plainText(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent] = EXPONENT.exec(text) ?? [];
  const shift = Number(exponent);
  if (exponent === undefined || Math.abs(shift) > FARTHEST_SHIFT) return text;
  const digits = whole + fraction;
  const point = whole.length + shift;
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return point >= digits.length
    ? sign + digits.padEnd(point, '0')
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}
