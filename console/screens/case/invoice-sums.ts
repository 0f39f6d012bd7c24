import { decimalText, divideRounded, parseDecimal } from '../../components/money.ts';
import type { Values } from '../../service/form.ts';

/** The sums of an invoice, exactly: amounts have two decimals, rates and percentages four. */

const RATE_DIGITS = 4;
const RATE_SCALE = 10n ** 4n;
const AMOUNT_PER_RATE = 10n ** 2n;
const PERCENT_SCALE = 100n * RATE_SCALE;

export type Item = { description: string; quantity: string; rate: string };

/** Returns how many rows the form has. */
export function countItems(values: Values): number {
  let count = 0;
  while (`items[${count}].description` in values) count++;
  return count;
}

export const itemAt = (values: Values, row: number): Item => ({
  description: String(values[`items[${row}].description`] ?? ''),
  quantity: String(values[`items[${row}].quantity`] ?? ''),
  rate: String(values[`items[${row}].rate`] ?? ''),
});

export type Sums = { amounts: string[]; net: string; vat: string; total: string };

/** Returns the sums; a part that is not a number counts as nothing. The service finds it, as a fault of its field. */
export function sumsOf(values: Values): Sums {
  const percent = parseDecimal(String(values.vat || '0'), RATE_DIGITS) ?? 0n;
  let net = 0n;
  let vat = 0n;
  const amounts: string[] = [];
  for (let row = 0; row < countItems(values); row++) {
    const { quantity, rate } = itemAt(values, row);
    const whole = (parseDecimal(quantity || '0', 0) ?? 0n) * (parseDecimal(rate || '0', RATE_DIGITS) ?? 0n);
    const netOfRow = divideRounded(whole, AMOUNT_PER_RATE);
    const vatOfRow = divideRounded(netOfRow * percent, PERCENT_SCALE);
    amounts.push(decimalText(netOfRow + vatOfRow));
    net += netOfRow;
    vat += vatOfRow;
  }
  return { amounts, net: decimalText(net), vat: decimalText(vat), total: decimalText(net + vat) };
}
