import assert from 'node:assert/strict';
import { startApp, type TestCompany } from './app.ts';
import { assertRefused, ok, storedRows } from './assert.ts';
import { invoiceBody } from './bodies.ts';
import type { Answer, Caller } from './http.ts';

export const app = await startApp();

export const WRITE_KEYS = [
  ...['customer_case_id', 'date_created', 'date_due', 'date_paid', 'date_sent', 'id', 'invoice_number', 'notes'],
  ...['payment_terms', 'recipients_name', 'ref', 'subtotal', 'terms', 'total', 'vat_amount'],
];
export const NOW = '2026-06-01T09:00:00.000000Z';

export type Fields = Record<string, unknown>;

export const invoice = (fields: Fields = {}) => invoiceBody({ items: [line('A'), line('B')], ...fields });

export const line = (description: string) => ({ description, quantity: 1, rate: 50, amount: 60 });

/** Makes an invoice and returns its path. */
export const make = async (company: TestCompany, fields: Fields = {}, path = company.path): Promise<string> =>
  `${path}/invoices/${(await ok(company.post(`${path}/invoices`, invoice(fields)))).id}`;

export const pay = (company: Caller, path: string, amount: unknown, fields: Fields = {}) =>
  company.post(`${path}/payments`, { amount, ...fields });

export const read = (company: Caller, path: string) => ok(company.get(`${path}?show_cancelled_items=true`));

/** What an invoice shows of its payments: status, date_paid, and status and paid_at of every item. */
export async function shown(company: Caller, path: string): Promise<unknown> {
  const { status, date_paid, items } = await read(company, path);
  return { status, date_paid, items: items.map((item: Fields) => [item.status, item.paid_at]) };
}

export const UNPAID = {
  date_paid: null,
  items: [
    [null, null],
    [null, null],
  ],
};
export const paidAt = (time: string) => ({
  status: 'Paid',
  date_paid: time,
  items: [
    ['paid', time],
    ['paid', time],
  ],
});

export const stored = (company: TestCompany) => storedRows(app, company, 'invoices', 'invoice_items', 'payments');

/** The request must be refused with these faults and change nothing. */
export async function assertRefusedUnchanged(
  company: TestCompany,
  request: () => Promise<Answer>,
  faults: Record<string, string>,
) {
  const before = await stored(company);
  assertRefused(await request(), faults);
  assert.deepEqual(await stored(company), before);
}

// Reading one

/** The invoice as the list shows it. */
export const listed = ({ paid, outstanding, external_id, sender_id, vat, ...element }: Fields) => element;
export const cancelled = async (company: TestCompany, path: string) => void (await ok(company.post(`${path}/cancel`)));
