import type { RowsOf } from '../../kernel/audit/row-audit-log.ts';
import { arrayText, bare, iso, json, jsonText, NULL, orNull, plain, text, wall } from '../../kernel/sql/statement.ts';

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
  `LATERAL (SELECT ${status} AS status, ${iso(`(${datePaid(payments)})`)} AS date_paid OFFSET 0) s`;
export const standing = standingBy('payments');

const common = {
  id: plain('v.id'),
  ref: NULL,
  notes: NULL,
  terms: text('v.terms'),
  date_due: plain(iso('v.date_due')),
  date_sent: orNull(plain(iso('v.date_sent'))),
  date_paid: orNull(plain('s.date_paid')),
  payment_terms: text('v.payment_terms'),
  subtotal: bare('v.sub_total'),
  total: bare('v.total'),
  invoice_number: text('v.invoice_number'),
  recipients_name: text('v.recipients_name'),
  vat_amount: bare('v.vat_amount'),
  customer_case_id: plain('v.case_id'),
};
/** Of creates and updates. `paidOn`: from `standing`, or nothing where it cannot have been paid in full. */
export const record = (paidOn: 's.date_paid' | 'null') =>
  json({ ...common, date_paid: paidOn, date_created: iso('v.date_created') });

const itemFields = {
  id: plain('t.id'),
  description: text('t.description'),
  amount: bare('t.amount'),
  quantity: bare('t.quantity'),
  rate: bare('t.rate'),
  subtotal: bare('t.subtotal'),
  vat_amount: bare('t.vat_amount'),
  status: orNull(plain(`CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END`)),
  paid_at: orNull(plain('CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END')),
  case_invoice_id: plain('t.invoice_id'),
  customer_case_id: plain('t.case_id'),
  has_vat: bare('t.vat_amount <> 0'),
};
export const item = json(itemFields);

/** `i`, which an element needs beside `v` and `s`. */
export const items = (showCancelled: string) => `LATERAL (
  SELECT ${arrayText(jsonText(itemFields), 't.position')} AS items FROM invoice_items t
   WHERE ${ofInvoice('t')} AND (${showCancelled} OR t.cancelled_at IS NULL)) i`;

const fields = (dateCreated: string) => ({
  ...common,
  date_created: plain(dateCreated),
  status: plain('s.status'),
  mail_sent: bare('v.date_sent IS NOT NULL'),
  payable_online: bare('false'),
  formatted_recurring_interval: NULL,
  items: { sql: 'i.items', text: 'i.items' },
});
const inZone = (zone: string) => fields(wall('v.date_created', zone));

/** Of the list, whose fields are specified. */
export const element = (zone: string) => jsonText(inZone(zone));

/** What can still be paid. */
export const outstanding = 'CASE WHEN v.cancelled_at IS NULL THEN greatest(v.total - v.paid, 0.00) ELSE 0.00 END';

/** As the additional operations show it. */
export const whole = (zone: string) =>
  jsonText({ ...inZone(zone), paid: bare('v.paid'), outstanding: bare(outstanding) });

export const payment = json({
  id: 'y.id',
  case_invoice_id: 'y.invoice_id',
  customer_case_id: 'y.case_id',
  amount: 'y.amount',
  paid_at: iso('y.paid_at'),
  reference: 'y.reference',
  created_at: iso('y.created_at'),
  reversed_at: iso('y.reversed_at'),
});

/** As its log shows it: all that is its own, cancelled items and reversed payments included. */
export const image = (rows: RowsOf) =>
  `(SELECT ${json({
    ...fields(iso('v.date_created')),
    items: `(SELECT coalesce(json_agg(${item} ORDER BY t.position), '[]') FROM ${rows('invoice_items')} t WHERE ${ofInvoice('t')})`,
    sender_id: 'v.sender_id',
    vat: 'v.vat',
    paid: 'v.paid',
    outstanding,
    payments: `(SELECT coalesce(json_agg(${payment} ORDER BY y.paid_at, y.id), '[]') FROM ${rows('payments')} y WHERE ${ofInvoice('y')})`,
    created_at: iso('v.created_at'),
    updated_at: iso('v.updated_at'),
    cancelled_at: iso('v.cancelled_at'),
  })} FROM ${standingBy(rows('payments'))})`;
