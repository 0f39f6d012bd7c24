/** Amounts are decimal text. They are formatted and added without binary floating point. */

const formats = new Map<string | null, Intl.NumberFormat>();

function formatOf(currency: string | null): Intl.NumberFormat {
  const known = formats.get(currency);
  if (known) return known;
  // Rates have four decimals. None of those that are not zero is left out.
  const options: Intl.NumberFormatOptions = {
    maximumFractionDigits: 4,
    ...(currency ? { style: 'currency', currency } : { minimumFractionDigits: 2 }),
  };
  const format = new Intl.NumberFormat('en-GB', options);
  formats.set(currency, format);
  return format;
}

/** Browsers format decimal text digit by digit. */
export const formatMoney = (amount: number | string, currency: string | null): string =>
  formatOf(currency).format(String(amount) as `${number}`);

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;
const AMOUNT_DIGITS = 2;

/** A decimal with a fixed number of digits after the point, as a whole number of its last digit. */
export function parseDecimal(text: number | string, digits = AMOUNT_DIGITS): bigint | undefined {
  const [, sign, whole, fraction = ''] = DECIMAL.exec(String(text).trim()) ?? [];
  if (whole === undefined || fraction.replace(/0+$/, '').length > digits) return undefined;
  const value = BigInt(whole + fraction.slice(0, digits).padEnd(digits, '0'));
  return sign ? -value : value;
}

export function decimalText(value: bigint, digits = AMOUNT_DIGITS): string {
  const text = (value < 0n ? -value : value).toString().padStart(digits + 1, '0');
  return `${value < 0n ? '-' : ''}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** Divides and rounds half away from zero, as the service does. */
export function divideRounded(dividend: bigint, divisor: bigint): bigint {
  const half = divisor / 2n;
  return dividend < 0n ? -((-dividend + half) / divisor) : (dividend + half) / divisor;
}

export const isZero = (amount: number | string): boolean => /^-?0+(?:\.0*)?$/.test(String(amount));
