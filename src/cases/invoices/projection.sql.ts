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
  SPACED,
  wallTime,
} from '../../kernel/sql/json.ts';

/** What responses show of an invoice `v`, its items `t` and its payments `y`. */

/** SQL: the status of an invoice. An index has the same text. */
export const status = `CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
  WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END`;

/** The statuses of invoices that can still be paid, unless nothing is outstanding: a total may be zero or negative. */
export const OPEN_STATUSES = ['Not Paid', 'Part Paid'] as const;
export const openStatuses = OPEN_STATUSES.map((word) => `'${word}'`).join(', ');
export const hasOutstanding = 'v.total > v.paid';

/** Changes with everything that an invoice shows, also with its items and payments. */
export const version = 'v.version::text';

/** The condition that an item or a payment belongs to the invoice. Both arguments are aliases. */
export const isPartOf = (part: string, invoice = 'v') =>
  `${part}.company_id = ${invoice}.company_id AND ${part}.case_id = ${invoice}.case_id AND ` +
  `${part}.invoice_id = ${invoice}.id`;

/** About how long an invoice without items, and an item, are in a list. */
export const INVOICE_BYTES = 600;
export const ITEM_BYTES = 450;

/** The stored number of items. It is null for invoices written before the column existed; their items are counted. */
export const itemCount = (invoice: string) => `coalesce(${invoice}.item_count, (
  SELECT count(*)::int FROM invoice_items c WHERE ${isPartOf('c', invoice)}))`;
/** The stored number of payments, or their count if it is null. */
export const paymentCount = (invoice: string) => `coalesce(${invoice}.payment_count, (
  SELECT count(*)::int FROM payments c WHERE ${isPartOf('c', invoice)}))`;

const isPaidInFull = (total: string) => `v.paid > 0 AND v.paid >= ${total}`;
/** The condition that the invoice has no date of payment. */
export const isNotPaidInFull = (total: string) => `NOT (${isPaidInFull(total)})`;

/** The time of the payment that reached the total. Payments count in the order in which they were made. */
const datePaid = (payments: string) => `CASE WHEN v.cancelled_at IS NULL AND ${isPaidInFull('v.total')} THEN (
  SELECT min(y.paid_at)
    FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM ${payments} y
           WHERE ${isPartOf('y')} AND y.reversed_at IS NULL) y
   WHERE y.paid_so_far >= v.total) END`;

/** OFFSET 0 keeps the planner from evaluating the columns again for every item. */
const lateralStatusFrom = (payments: string) =>
  `LATERAL (SELECT ${status} AS status, ${isoTime(`(${datePaid(payments)})`)} AS date_paid OFFSET 0) s`;
/** FROM: the status and the date of payment of `v`, as `s`. */
export const lateralStatus = lateralStatusFrom('payments');

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

/** The response of a create and an update, as text. An invoice that cannot be paid in full needs no `lateralStatus`. */
export const record = ({ mayBePaid }: { mayBePaid: boolean }) =>
  jsonObjectText(
    { ...common, ...(!mayBePaid && { date_paid: NULL }), date_created: jsonUnescaped(isoTime('v.date_created')) },
    SPACED,
  );

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

/** FROM: the items of `v` as the text of a JSON array, as `i`. Needs `lateralStatus`. */
export const lateralItems = (showCancelled: string, showItems = '') => `LATERAL (
  SELECT ${jsonArrayText(jsonObjectText(itemFields), 't.position')} AS items FROM invoice_items t
   WHERE ${showItems && `${showItems} AND `}${isPartOf('t')} AND (${showCancelled} OR t.cancelled_at IS NULL)) i`;

export const elementFields = (dateCreated: string) => ({
  ...common,
  date_created: jsonUnescaped(dateCreated),
  status: jsonUnescaped('s.status'),
  mail_sent: jsonRaw('v.date_sent IS NOT NULL'),
  payable_online: jsonRaw('false'),
  formatted_recurring_interval: NULL,
  items: jsonWithText('i.items', 'i.items'),
});

/**
 * The element of a list, as text. Its fields are specified. `zone` is a placeholder (`zonePlaceholder`). Needs
 * `lateralStatus` and `lateralItems`.
 */
export const element = (zone: string) => jsonObjectText(elementFields(wallTime('v.date_created', zone)));

/** The amount that can still be paid. */
export const outstanding = 'CASE WHEN v.cancelled_at IS NULL THEN greatest(v.total - v.paid, 0.00) ELSE 0.00 END';

/** What an update must send again, but no specified response shows. */
export const sentFields = { sender_id: jsonUnescaped('v.sender_id'), vat: jsonRaw('v.vat') };

/** The response of the additional operations: an element with the amounts that are paid and outstanding. */
export const elementWithBalance = (zone: string) =>
  jsonObjectText({
    ...elementFields(wallTime('v.date_created', zone)),
    ...sentFields,
    external_id: nullable(jsonString('v.external_id')),
    paid: jsonRaw('v.paid'),
    outstanding: jsonRaw(outstanding),
  });

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

/** The image in the audit log, with cancelled items and reversed payments. */
export const image = (rows: RowSource) =>
  `(SELECT ${jsonObject({
    ...elementFields(isoTime('v.date_created')),
    items: `(SELECT coalesce(json_agg(${item} ORDER BY t.position), '[]')
               FROM ${rows('invoice_items')} t WHERE ${isPartOf('t')})`,
    external_id: 'v.external_id',
    sender_id: 'v.sender_id',
    vat: 'v.vat',
    paid: 'v.paid',
    outstanding,
    payments: `(SELECT coalesce(json_agg(${payment} ORDER BY y.paid_at, y.id), '[]')
                  FROM ${rows('payments')} y WHERE ${isPartOf('y')})`,
    created_at: isoTime('v.created_at'),
    updated_at: isoTime('v.updated_at'),
    cancelled_at: isoTime('v.cancelled_at'),
  })} FROM ${lateralStatusFrom(rows('payments'))})`;
