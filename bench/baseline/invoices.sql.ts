import type { InputType } from '../../src/kernel/sql/inputs.ts';
import {
  batchOf,
  batchOfLists,
  columns,
  fromInput,
  isoTime,
  JSON_NULL,
  jsonArray,
  jsonObject,
  jsonRaw,
  jsonString,
  jsonUnescaped,
  nullable,
  type Statement,
  toInstant,
  wallTime,
} from './sql.ts';

/** The time of the payment that reached the total. */
const datePaid = `CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
  SELECT min(y.paid_at)
    FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS reached FROM payments y
           WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id
             AND y.reversed_at IS NULL) y
   WHERE y.reached >= v.total) END`;
const status = `CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
  WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END`;

const common = {
  ref: JSON_NULL,
  notes: JSON_NULL,
  id: jsonUnescaped('v.id'),
  ...columns(jsonString, 'v', 'terms', 'payment_terms', 'invoice_number', 'recipients_name'),
  ...columns(jsonRaw, 'v', 'total', 'vat_amount'),
  subtotal: jsonRaw('v.sub_total'),
  customer_case_id: jsonUnescaped('v.case_id'),
  date_due: isoTime('v.date_due'),
  date_sent: nullable(isoTime('v.date_sent')),
};
/** Neither a new nor an updated invoice is paid: the service updates paid invoices with another statement. */
const record = jsonObject({ ...common, date_created: isoTime('v.date_created'), date_paid: JSON_NULL });

const item = jsonObject({
  id: jsonUnescaped('t.id'),
  description: jsonString('t.description'),
  ...columns(jsonRaw, 't', 'amount', 'quantity', 'rate', 'subtotal', 'vat_amount'),
  status: `CASE WHEN t.cancelled_at IS NOT NULL THEN '"cancelled"' WHEN s.status = 'Paid' THEN '"paid"'
    ELSE 'null' END`,
  paid_at: `CASE WHEN t.cancelled_at IS NULL THEN s.date_paid ELSE 'null' END`,
  case_invoice_id: jsonUnescaped('t.invoice_id'),
  customer_case_id: jsonUnescaped('t.case_id'),
  has_vat: jsonRaw('t.vat_amount <> 0'),
});

const element = jsonObject({
  ...common,
  date_created: wallTime('v.date_created', '$3'),
  date_paid: 's.date_paid',
  status: jsonUnescaped('s.status'),
  mail_sent: jsonRaw('v.date_sent IS NOT NULL'),
  payable_online: `'false'`,
  formatted_recurring_interval: JSON_NULL,
  items: 'i.items',
});

const listText = `SELECT ${jsonArray(element, 'v.date_created DESC, v.created_at DESC, v.id DESC')}
           FROM invoices v,
                LATERAL (SELECT ${status} AS status, ${nullable(isoTime(`(${datePaid})`))} AS date_paid OFFSET 0) s,
                LATERAL (
                  SELECT ${jsonArray(item, 't.position')} AS items FROM invoice_items t
                   WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id
                     AND t.cancelled_at IS NULL) i
          WHERE v.company_id = $1 AND v.case_id = $2`;

/** $1 company, $2 case, $3 zone. */
export const list: Statement = {
  name: 'baseline.invoices',
  text: listText,
  batch: batchOfLists(['uuid', 'uuid', 'text'], listText),
};

const recipients = `(
  SELECT coalesce(CASE WHEN cardinality(names) < 2 THEN names[1]
    ELSE array_to_string(names[:cardinality(names) - 1], ', ') || ' and ' || names[cardinality(names)] END, '')
  FROM (SELECT array_agg(concat_ws(' ', nullif(title, ''), nullif(first_names, ''), nullif(last_name, ''))
                 ORDER BY created_at, id) AS names
          FROM customers WHERE company_id = $1 AND case_id = $2 AND removed_at IS NULL) n)`;

const insertItems = `INSERT INTO invoice_items (company_id, case_id, invoice_id, id, position, description, quantity,
    rate, amount, subtotal, vat_amount)
  SELECT $1, $2, $3, uuidv7(), l.position, l.description, l.quantity, l.rate, l.amount,
         l.quantity * l.rate, l.amount - l.quantity * l.rate
    FROM unnest($14::text[], $15::numeric[], $16::numeric[], $17::numeric[])
         WITH ORDINALITY AS l (description, quantity, rate, amount, position)`;

const insertItemsOfBatch = fromInput(insertItems).replace('FROM unnest', 'FROM input, unnest');

const ITEM_TYPES: InputType[] = ['text[]', 'numeric[]', 'numeric[]', 'numeric[]'];
const TYPES: InputType[] = [
  ...(['uuid', 'uuid', 'uuid', 'text', 'uuid', 'text', 'text'] as const),
  ...(['numeric', 'numeric', 'numeric', 'numeric', 'text', 'text'] as const),
  ...ITEM_TYPES,
];

/**
 * $1 company, $2 case, $3 id, $4 number, $5 sender, $6 created, $7 due, $8 vat, $9 sub_total, $10 vat_amount,
 * $11 total, $12 payment terms, $13 zone, $14… the items, $18 terms.
 */
export const create: Statement = {
  name: 'baseline.create_invoice',
  text: `WITH v AS (
           INSERT INTO invoices (company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat,
             sub_total, vat_amount, total, terms, payment_terms, recipients_name, created_at, updated_at)
           VALUES ($1, $2, $3, $4, $5, ${toInstant('$6', '$13')}, ${toInstant('$7', '$13')}, $8, $9, $10, $11, $18, $12,
                   ${recipients}, now(), now())
           RETURNING *
         ), items AS (
           ${insertItems}
         )
         SELECT ${record} FROM v`,
  batch: batchOf(
    [...TYPES, 'text'],
    `, v AS (
       INSERT INTO invoices (company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat,
         sub_total, vat_amount, total, terms, payment_terms, recipients_name, created_at, updated_at)
       SELECT p1, p2, p3, p4, p5, ${toInstant('p6', 'p13')}, ${toInstant('p7', 'p13')}, p8, p9, p10, p11, p18, p12,
              ${fromInput(recipients)}, now(), now()
         FROM input
       RETURNING *
     ), items AS (
       ${insertItemsOfBatch}
     )
     SELECT input.nth, ${record} FROM v JOIN input ON input.p3 = v.id`,
  ),
};

/** The parameters of `create` without $18. The items that are sent replace the existing ones. */
export const update: Statement = {
  name: 'baseline.update_invoice',
  text: `WITH v AS (
           UPDATE invoices
              SET invoice_number = $4, sender_id = $5, date_created = ${toInstant('$6', '$13')},
                  date_due = ${toInstant('$7', '$13')}, vat = $8, sub_total = $9, vat_amount = $10, total = $11,
                  payment_terms = $12, updated_at = now(), version = version + 1
            WHERE company_id = $1 AND case_id = $2 AND id = $3 AND NOT (paid > 0 AND paid >= $11)
           RETURNING *
         ), removed AS (
           DELETE FROM invoice_items WHERE company_id = $1 AND case_id = $2 AND invoice_id = $3
         ), items AS (
           ${insertItems}
         )
         SELECT ${record} FROM v`,
  batch: batchOf(
    TYPES,
    `, v AS (
       UPDATE invoices v
          SET invoice_number = p4, sender_id = p5, date_created = ${toInstant('p6', 'p13')},
              date_due = ${toInstant('p7', 'p13')}, vat = p8, sub_total = p9, vat_amount = p10, total = p11,
              payment_terms = p12, updated_at = now(), version = version + 1
         FROM input
        WHERE v.company_id = p1 AND v.case_id = p2 AND v.id = p3 AND NOT (v.paid > 0 AND v.paid >= p11)
       RETURNING v.*, input.nth
     ), removed AS (
       DELETE FROM invoice_items t USING input
        WHERE t.company_id = p1 AND t.case_id = p2 AND t.invoice_id = p3
     ), items AS (
       ${insertItemsOfBatch}
     )
     SELECT v.nth, ${record} FROM v`,
  ),
};
