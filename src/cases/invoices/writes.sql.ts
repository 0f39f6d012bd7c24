import { ALL_ROWS, MAX_FULL_SNAPSHOT_ROWS } from '../../kernel/audit/row-audit-log.ts';
import { EXTERNAL_ID_INPUT, unlessTaken } from '../../kernel/external-ids/statements.sql.ts';
import { insertedWithInput } from '../../kernel/sql/input-table.ts';
import type { InputNames } from '../../kernel/sql/inputs.ts';
import { read, rowLimit, writeVariants } from '../../kernel/sql/statement.ts';
import { invoiceAudit } from './audit.sql.ts';
import { isNotPaidInFull, isPartOf, itemCount, lateralStatus, record, version } from './projection.sql.ts';

/** "Mr John Smith and Mrs Ann Smith": the customers of the case `c`, oldest first. */
const recipientsName = `(
  SELECT coalesce(CASE WHEN cardinality(names) < 2 THEN names[1]
    ELSE array_to_string(names[:cardinality(names) - 1], ', ') || ' and ' || names[cardinality(names)] END, '')
  FROM (SELECT array_agg(concat_ws(' ', nullif(title, ''), nullif(first_names, ''), nullif(last_name, ''))
                 ORDER BY created_at, id) AS names
          FROM customers u
         WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL) n)`;

const INVOICE_INPUTS = {
  company_id: 'uuid',
  case_id: 'uuid',
  id: 'uuid',
  invoice_number: 'text',
  sender_id: 'uuid',
  date_created: 'timestamptz',
  date_due: 'timestamptz',
  vat: 'numeric',
  sub_total: 'numeric',
  vat_amount: 'numeric',
  total: 'numeric',
  now: 'timestamptz',
  origin: 'json',
} as const;

/** The items: arrays of equal length with an element for each item. */
const ITEM_INPUTS = {
  item_ids: 'uuid[]',
  descriptions: 'text[]',
  quantities: 'numeric[]',
  rates: 'numeric[]',
  amounts: 'numeric[]',
  subtotals: 'numeric[]',
  vat_amounts: 'numeric[]',
} as const;

/** FROM: the items as rows `l`. `position` counts from 1. */
const inputItems = (input: InputNames<typeof ITEM_INPUTS>) =>
  `unnest(${input.item_ids}, ${input.descriptions}, ${input.quantities}, ${input.rates}, ${input.amounts},
          ${input.subtotals}, ${input.vat_amounts})
   WITH ORDINALITY AS l (id, description, quantity, rate, amount, subtotal, vat_amount, position)`;

const ITEM_COLUMNS =
  'company_id, case_id, invoice_id, id, description, quantity, rate, amount, subtotal, vat_amount, position';

/** Returns no row if the case does not exist, or if the invoice number or the external id is taken. */
export const insertInvoice = writeVariants('invoices.insert', {
  inputs: { ...INVOICE_INPUTS, terms: 'text', payment_terms: 'text', ...ITEM_INPUTS },
  parts: { external_id: EXTERNAL_ID_INPUT },
  batch: true,
  fromInput: (input, inputTable, has) => `
    WITH ${inputTable}, inserted AS (
      INSERT INTO invoices (company_id, case_id, id, invoice_number, sender_id, date_created, date_due,
        vat, sub_total, vat_amount, total, terms, payment_terms, recipients_name,
        created_at, updated_at, item_count, payment_count${has('external_id') ? ', external_id' : ''})
      SELECT c.company_id, c.id, ${input.id}, ${input.invoice_number}, ${input.sender_id}, ${input.date_created},
             ${input.date_due}, ${input.vat}, ${input.sub_total}, ${input.vat_amount}, ${input.total},
             ${input.terms}, ${input.payment_terms}, ${recipientsName},
             ${input.now}, ${input.now}, cardinality(${input.item_ids}), 0${has('external_id') ? `, ${input.external_id}` : ''}
        FROM input JOIN cases c ON c.company_id = ${input.company_id} AND c.id = ${input.case_id}${has('external_id') ? unlessTaken : '\n      ON CONFLICT ON CONSTRAINT invoices_number DO NOTHING'}
      RETURNING *
    ), ${insertedWithInput('v')}, items AS (
      INSERT INTO invoice_items (${ITEM_COLUMNS})
      SELECT v.company_id, v.case_id, v.id, l.* FROM v JOIN input USING (nth), ${inputItems(input)}
    ), event AS (
      ${invoiceAudit.insertEvent('created', {
        from: 'v',
        at: 'v.now',
        origin: 'v.origin',
        imageRows: `CASE WHEN v.item_count > ${MAX_FULL_SNAPSHOT_ROWS} THEN v.item_count END`,
      })}
    )`,
  answer: () => ({ json: record({ mayBePaid: false }), version, from: 'v' }),
});

/**
 * Null leaves the payment terms as they are. `remove_items` removes all existing items; `add_items` adds items after
 * the existing ones that remain.
 *
 * Without `allow_paid` the statement skips invoices that are paid in full. Few are, and looking for the date of payment
 * takes 10 % of the statement's time even if there is none.
 *
 * Returns no row if the invoice does not exist, is skipped, or was changed by a concurrent update. Fails with a
 * violation of invoices_number if the invoice number is taken.
 */
export const updateInvoice = writeVariants('invoices.update', {
  inputs: { ...INVOICE_INPUTS, payment_terms: 'text?' },
  parts: { remove_items: {}, add_items: ITEM_INPUTS, allow_paid: {} },
  batch: true,
  fromInput: (input, inputTable, has) => {
    const remaining = has('remove_items') ? '0' : itemCount('v');
    const newCount = has('add_items') ? `${remaining} + cardinality(${input.item_ids})` : remaining;
    const setItemCount = has('remove_items') || has('add_items') ? `, item_count = ${newCount}` : '';
    // With the key from `input`, a single request computes it once, and not for each item.
    const lastPosition = has('remove_items')
      ? '0'
      : `(SELECT coalesce(max(t.position), 0) FROM invoice_items t WHERE ${isPartOf('t', 'input')})`;
    const removedItems = `, removed AS (DELETE FROM invoice_items t USING v WHERE ${isPartOf('t')})`;
    const addedItems = () => `, added AS (
      INSERT INTO invoice_items (${ITEM_COLUMNS})
      SELECT v.company_id, v.case_id, v.id, l.id, l.description, l.quantity, l.rate, l.amount, l.subtotal,
             l.vat_amount, ${lastPosition} + l.position
        FROM v JOIN input USING (nth), ${inputItems(input)}
    )`;
    return `
    WITH ${inputTable}, ${invoiceAudit.update({
      action: 'updated',
      set: `invoice_number = ${input.invoice_number}, sender_id = ${input.sender_id},
            date_created = ${input.date_created}, date_due = ${input.date_due}, vat = ${input.vat},
            sub_total = ${input.sub_total}, vat_amount = ${input.vat_amount}, total = ${input.total},
            payment_terms = coalesce(${input.payment_terms}, v.payment_terms)${setItemCount}`,
      touched: {
        invoice_items: {
          ...(has('remove_items') && { changed: ALL_ROWS }),
          ...(has('add_items') && { added: input.item_ids }),
        },
      },
      where: has('allow_paid') ? 'true' : isNotPaidInFull(input.total),
    })}${has('remove_items') ? removedItems : ''}${has('add_items') ? addedItems() : ''}`;
  },
  answer: (_input, has) =>
    has('allow_paid')
      ? { json: record({ mayBePaid: true }), version, from: `v, ${lateralStatus}` }
      : { json: record({ mayBePaid: false }), version, from: 'v' },
});

/** A request has at most 1,000 items, but may add them to existing ones. */
export const itemLimit = rowLimit('items of an invoice', 10_000, {
  inputs: { company_id: 'uuid', case_id: 'uuid', id: 'uuid' },
  rows: (input) =>
    `FROM invoice_items
      WHERE company_id = ${input.company_id} AND case_id = ${input.case_id} AND invoice_id = ${input.id}`,
});

/**
 * Why an insert (`id` is null) or an update returned no row. Null as the number does not look for it. Returns no row if
 * the case does not exist.
 */
export const rejectionReasons = read('invoices.rejection_reasons', {
  inputs: { company_id: 'uuid', case_id: 'uuid', id: 'uuid?', invoice_number: 'text?' },
  sql: (input) => `
    SELECT (${input.id} IS NULL OR EXISTS (
             SELECT 1 FROM invoices v
              WHERE v.company_id = ${input.company_id} AND v.case_id = ${input.case_id}
                AND v.id = ${input.id})) AS found,
           EXISTS (
             SELECT 1 FROM invoices v
              WHERE v.company_id = ${input.company_id} AND v.case_id = ${input.case_id}
                AND v.invoice_number = ${input.invoice_number} AND v.id IS DISTINCT FROM ${input.id}) AS number_taken
      FROM cases c WHERE c.company_id = ${input.company_id} AND c.id = ${input.case_id}`,
});
