import { InvalidValue } from '../../kernel/errors.ts';
import { type Decimal, multiply, parseDecimal, parseInteger, subtract, toText } from '../../kernel/money.ts';
import type { Form } from '../../kernel/validation/form.ts';
import type { InvoiceBody } from './schema.ts';

/** Computes the amounts of an invoice, in this file only: every response reads the stored amounts. */

const AMOUNT_DECIMALS = 2;
const RATE_DECIMALS = 4;

export type InvoiceTotals = { vat: string; subTotal: string; total: string; vatAmount: string };

export type InvoiceLine = {
  description: string;
  quantity: string;
  rate: string;
  amount: string;
  subtotal: string;
  vatAmount: string;
};

/**
 * Returns undefined, and adds a fault to the form, if a figure is invalid. Figures that do not add up are stored as
 * they were sent.
 */
export function readTotals(form: Form<InvoiceBody>): InvoiceTotals | undefined {
  const { body } = form;
  const vat = form.read('vat', body.vat, (value) => parseDecimal(value, RATE_DECIMALS));
  const subTotal = form.read('sub_total', body.sub_total, (value) => parseDecimal(value, AMOUNT_DECIMALS));
  const total = form.read('total', body.total, (value) => parseDecimal(value, AMOUNT_DECIMALS));
  const sentVatAmount = form.read('vat_amount', body.vat_amount, (value) => parseDecimal(value, AMOUNT_DECIMALS));
  if (!vat || !subTotal || !total) return undefined;
  const vatAmount = sentVatAmount ?? form.read('vat_amount', total, () => subtract(total, subTotal));
  return (
    vatAmount && { vat: toText(vat), subTotal: toText(subTotal), total: toText(total), vatAmount: toText(vatAmount) }
  );
}

/** Returns the lines that have no fault, and adds the faults of the others to the form. */
export function readLines(form: Form<InvoiceBody>): InvoiceLine[] {
  const { items } = form.body;
  return Array.isArray(items) ? items.flatMap((item, i) => readLine(form, `items[${i}]`, item) ?? []) : [];
}

type Item = NonNullable<InvoiceBody['items']>[number];

/** Returns undefined if the line has a fault. The item may then be of any type. */
function readLine(form: Form<InvoiceBody>, field: string, item: Item): InvoiceLine | undefined {
  if (form.hasFault(field) && typeof item !== 'object') return undefined;
  const quantity = form.read(`${field}.quantity`, item?.quantity, parseInteger);
  const rate = form.read(`${field}.rate`, item?.rate, (value) => parseDecimal(value, RATE_DECIMALS));
  const amount = form.read(`${field}.amount`, item?.amount, (value) => parseDecimal(value, AMOUNT_DECIMALS));
  if (!quantity || !rate || !amount) return undefined;
  const figures = form.read(`${field}.amount`, amount, () => lineFigures(quantity, rate, amount));
  if (!figures) return undefined;
  return {
    description: item.description,
    quantity: toText(quantity),
    rate: toText(rate),
    amount: toText(amount),
    subtotal: toText(figures.subtotal),
    vatAmount: toText(figures.vatAmount),
  };
}

function lineFigures(quantity: Decimal, rate: Decimal, amount: Decimal): { subtotal: Decimal; vatAmount: Decimal } {
  try {
    const subtotal = multiply(quantity, rate, AMOUNT_DECIMALS);
    return { subtotal, vatAmount: subtract(amount, subtotal) };
  } catch {
    throw new InvalidValue('out_of_range', 'quantity × rate, and amount minus that, must be within ±9999999999.99');
  }
}
