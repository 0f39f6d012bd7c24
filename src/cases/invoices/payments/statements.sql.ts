import { read, rowLimit, write } from '../../../kernel/sql/statement.ts';
import { invoiceAudit } from '../audit.sql.ts';
import { isPartOf, outstanding, payment, paymentCount, version } from '../projection.sql.ts';

/** The `id` of every statement is the invoice: a payment is a part of it, and changes its version. */
const INVOICE_KEY = { company_id: 'uuid', case_id: 'uuid', id: 'uuid' } as const;

/** Returns no row if the invoice does not exist. */
export const listPayments = read('payments.list', {
  inputs: INVOICE_KEY,
  sql: (input) => `
    SELECT coalesce(json_agg(${payment} ORDER BY y.paid_at, y.id) FILTER (WHERE y.id IS NOT NULL), '[]')::text
      FROM invoices v
      LEFT JOIN payments y ON ${isPartOf('y')}
     WHERE v.company_id = ${input.company_id} AND v.case_id = ${input.case_id} AND v.id = ${input.id}
     GROUP BY v.id`,
});

/** Reversed payments count as well. */
export const paymentLimit = rowLimit('payments of an invoice', 1_000, {
  inputs: INVOICE_KEY,
  rows: (input) =>
    `FROM payments WHERE company_id = ${input.company_id} AND case_id = ${input.case_id} AND invoice_id = ${input.id}`,
});

/** No other request can change the invoice until the transaction ends. */
export const lockInvoice = write('payments.lock_invoice', {
  inputs: INVOICE_KEY,
  sql: (input) => `
    SELECT 1 FROM invoices
     WHERE company_id = ${input.company_id} AND case_id = ${input.case_id} AND id = ${input.id}
       FOR NO KEY UPDATE`,
});

/**
 * Returns no row if the invoice does not exist, is cancelled, has less outstanding, or was changed by a concurrent
 * update.
 */
export const insertPayment = write('payments.insert', {
  inputs: {
    ...INVOICE_KEY,
    payment_id: 'uuid',
    amount: 'numeric',
    paid_at: 'timestamptz',
    reference: 'text?',
    now: 'timestamptz',
    origin: 'json',
  },
  fromInput: (input, inputTable) => `
    WITH ${inputTable}, ${invoiceAudit.update({
      action: 'payment_recorded',
      set: `paid = v.paid + ${input.amount}, payment_count = ${paymentCount('v')} + 1`,
      touched: { payments: { added: `ARRAY[${input.payment_id}]` } },
      where: `v.cancelled_at IS NULL AND v.paid + ${input.amount} <= v.total`,
    })}, y AS (
      INSERT INTO payments (company_id, case_id, invoice_id, id, amount, paid_at, reference, created_at)
      SELECT v.company_id, v.case_id, v.id, ${input.payment_id}, ${input.amount}, ${input.paid_at},
             ${input.reference}, ${input.now}
        FROM v JOIN input USING (nth)
      RETURNING *
    )`,
  answer: () => ({ json: `${payment}::text`, version, from: 'v, y' }),
});

/** What a payment may be refused for. Without an amount only the state of the invoice is looked at. */
export const rejectionReasons = read('payments.rejection_reasons', {
  inputs: { ...INVOICE_KEY, amount: 'numeric?' },
  sql: (input) => `
    SELECT v.cancelled_at IS NOT NULL AS cancelled, (${outstanding})::text AS outstanding,
           coalesce(v.paid + ${input.amount} > v.total, false) AS exceeds_total
      FROM invoices v
     WHERE v.company_id = ${input.company_id} AND v.case_id = ${input.case_id} AND v.id = ${input.id}`,
});

/**
 * Returns no row if the payment does not exist or is reversed, or if the invoice was changed by a concurrent update.
 */
export const reversePayment = write('payments.reverse', {
  inputs: { ...INVOICE_KEY, payment_id: 'uuid', now: 'timestamptz', origin: 'json' },
  fromInput: (input, inputTable) => `
    WITH ${inputTable}, ${invoiceAudit.update({
      action: 'payment_reversed',
      set: `paid = v.paid - (
              SELECT y.amount FROM payments y WHERE ${isPartOf('y', 'input')} AND y.id = ${input.payment_id})`,
      where: `EXISTS (
        SELECT 1 FROM payments y WHERE ${isPartOf('y')} AND y.id = ${input.payment_id} AND y.reversed_at IS NULL)`,
      touched: { payments: { changed: `part.id = ${input.payment_id}` } },
    })}, y AS (
      UPDATE payments y SET reversed_at = ${input.now} FROM v JOIN input USING (nth)
       WHERE ${isPartOf('y')} AND y.id = ${input.payment_id}
      RETURNING y.*
    )`,
  answer: () => ({ json: `${payment}::text`, version, from: 'v, y' }),
});

export const findPayment = read('payments.find', {
  inputs: { ...INVOICE_KEY, payment_id: 'uuid' },
  sql: (input) => `
    SELECT reversed_at IS NOT NULL AS reversed FROM payments
     WHERE company_id = ${input.company_id} AND case_id = ${input.case_id} AND invoice_id = ${input.id}
       AND id = ${input.payment_id}`,
});
