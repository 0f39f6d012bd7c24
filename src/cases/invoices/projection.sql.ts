import type { RowSource } from '../../kernel/audit/row-audit-log.ts';
import {
  isoTime,
  jsonArrayText,
  jsonObject,
  jsonObjectText,
  jsonRaw,
  jsonString,
  jsonUnescaped,
  jsonWithText,
  NULL,
  nullable,
  wallTime,
} from '../../kernel/sql/statement.ts';

/** The parts of an invoice `v` with its items `t` that the answers are made of, and where the two stand. */

const status = `CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
  WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END`;

/** Where a table of parts of the invoice is read. */
export const ofInvoice = (part: string, invoice = 'v') =>
  `${part}.company_id = ${invoice}.company_id AND ${part}.case_id = ${invoice}.case_id AND ${part}.invoice_id = ${invoice}.id`;

/** How many there are; counted for an invoice of a release that did not note it down. */
export const itemCount = (invoice: string) => `coalesce(${invoice}.item_count, (
  SELECT count(*)::int FROM invoice_items c WHERE ${ofInvoice('c', invoice)}))`;
export const paymentCount = (invoice: string) => `coalesce(${invoice}.payment_count, (
  SELECT count(*)::int FROM payments c WHERE ${ofInvoice('c', invoice)}))`;

const reached = (total: string) => `v.paid > 0 AND v.paid >= ${total}`;
/** Has no day of payment, whatever else it is. */
export const unpaid = (total: string) => `NOT (${reached(total)})`;

/** The time of the payment with which the total was reached, in the order in which they were made. */
const datePaid = (payments: string) => `CASE WHEN v.cancelled_at IS NULL AND ${reached('v.total')} THEN (
  SELECT min(y.paid_at)
    FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS reached FROM ${payments} y
           WHERE ${ofInvoice('y')} AND y.reversed_at IS NULL) y
   WHERE y.reached >= v.total) END`;

/** `s`, which the shapes below need beside `v`. OFFSET 0 keeps it from being worked out again for every item. */
const standingBy = (payments: string) =>
  `LATERAL (SELECT ${status} AS status, ${isoTime(`(${datePaid(payments)})`)} AS date_paid OFFSET 0) s`;
export const standing = standingBy('payments');

const common = {
  id: jsonUnescaped('v.id'),
  ref: NULL,
  notes: NULL,
  terms: jsonString('v.terms'),
  date_due: jsonUnescaped(isoTime('v.date_due')),
  date_sent: nullable(jsonUnescaped(isoTime('v.date_sent'))),
  date_paid: nullable(jsonUnescaped('s.date_paid')),
  payment_terms: jsonString('v.payment_terms'),
  subtotal: jsonRaw('v.sub_total'),
  total: jsonRaw('v.total'),
  invoice_number: jsonString('v.invoice_number'),
  recipients_name: jsonString('v.recipients_name'),
  vat_amount: jsonRaw('v.vat_amount'),
  customer_case_id: jsonUnescaped('v.case_id'),
};
/** Of creates and updates. `paidOn`: from `standing`, or nothing where it cannot have been paid in full. */
export const record = (paidOn: 's.date_paid' | 'null') =>
  jsonObject({ ...common, date_paid: paidOn, date_created: isoTime('v.date_created') });

const itemFields = {
  id: jsonUnescaped('t.id'),
  description: jsonString('t.description'),
  amount: jsonRaw('t.amount'),
  quantity: jsonRaw('t.quantity'),
  rate: jsonRaw('t.rate'),
  subtotal: jsonRaw('t.subtotal'),
  vat_amount: jsonRaw('t.vat_amount'),
  status: nullable(
    jsonUnescaped(`CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END`),
  ),
  paid_at: nullable(jsonUnescaped('CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END')),
  case_invoice_id: jsonUnescaped('t.invoice_id'),
  customer_case_id: jsonUnescaped('t.case_id'),
  has_vat: jsonRaw('t.vat_amount <> 0'),
};
export const item = jsonObject(itemFields);

/** `i`, which an element needs beside `v` and `s`. */
export const items = (showCancelled: string) => `LATERAL (
  SELECT ${jsonArrayText(jsonObjectText(itemFields), 't.position')} AS items FROM invoice_items t
   WHERE ${ofInvoice('t')} AND (${showCancelled} OR t.cancelled_at IS NULL)) i`;

const fields = (dateCreated: string) => ({
  ...common,
  date_created: jsonUnescaped(dateCreated),
  status: jsonUnescaped('s.status'),
  mail_sent: jsonRaw('v.date_sent IS NOT NULL'),
  payable_online: jsonRaw('false'),
  formatted_recurring_interval: NULL,
  items: jsonWithText('i.items', 'i.items'),
});
const inZone = (zone: string) => fields(wallTime('v.date_created', zone));

/** Of the list, whose fields are specified. */
export const element = (zone: string) => jsonObjectText(inZone(zone));

/** What can still be paid. */
export const outstanding = 'CASE WHEN v.cancelled_at IS NULL THEN greatest(v.total - v.paid, 0.00) ELSE 0.00 END';

/** As the additional operations show it. */
export const whole = (zone: string) =>
  jsonObjectText({ ...inZone(zone), paid: jsonRaw('v.paid'), outstanding: jsonRaw(outstanding) });

export const payment = jsonObject({
  id: 'y.id',
  case_invoice_id: 'y.invoice_id',
  customer_case_id: 'y.case_id',
  amount: 'y.amount',
  paid_at: isoTime('y.paid_at'),
  reference: 'y.reference',
  created_at: isoTime('y.created_at'),
  reversed_at: isoTime('y.reversed_at'),
});

/** As its log shows it: all that is its own, cancelled items and reversed payments included. */
export const image = (rows: RowSource) =>
  `(SELECT ${jsonObject({
    ...fields(isoTime('v.date_created')),
    items: `(SELECT coalesce(json_agg(${item} ORDER BY t.position), '[]') FROM ${rows('invoice_items')} t WHERE ${ofInvoice('t')})`,
    sender_id: 'v.sender_id',
    vat: 'v.vat',
    paid: 'v.paid',
    outstanding,
    payments: `(SELECT coalesce(json_agg(${payment} ORDER BY y.paid_at, y.id), '[]') FROM ${rows('payments')} y WHERE ${ofInvoice('y')})`,
    created_at: isoTime('v.created_at'),
    updated_at: isoTime('v.updated_at'),
    cancelled_at: isoTime('v.cancelled_at'),
  })} FROM ${standingBy(rows('payments'))})`;
