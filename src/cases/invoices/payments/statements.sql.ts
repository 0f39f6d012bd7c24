import { rowLimit, statement } from '../../../kernel/sql/statement.ts';
import { invoiceAudit } from '../audit.sql.ts';
import { ofInvoice, payment, paymentCount } from '../projection.sql.ts';

/** $1 company, $2 case, $3 invoice */
export const listPayments = statement(
  'payments.list',
  `SELECT coalesce(json_agg(${payment} ORDER BY y.paid_at, y.id) FILTER (WHERE y.id IS NOT NULL), '[]')::text
     FROM invoices v
     LEFT JOIN payments y ON ${ofInvoice('y')}
    WHERE v.company_id = $1 AND v.case_id = $2 AND v.id = $3
    GROUP BY v.id`,
);

/** $1 company, $2 case, $3 invoice. Reversed payments count as well. */
export const paymentLimit = rowLimit(
  'payments of an invoice',
  1_000,
  'FROM payments WHERE company_id = $1 AND case_id = $2 AND invoice_id = $3',
);

/** $1 company, $2 case, $3 invoice. Nobody else changes it until the transaction ends. */
export const holdInvoice = statement(
  'payments.hold_invoice',
  'SELECT 1 FROM invoices WHERE company_id = $1 AND case_id = $2 AND id = $3 FOR NO KEY UPDATE',
);

/**
 * $1 company, $2 case, $3 invoice, $4 id, $5 amount, $6 paid at, $7 reference, $8 now, $9 origin. Written onto the
 * version that was seen: nothing where it is cancelled, less is outstanding, or another change came between.
 */
export const insertPayment = statement(
  'payments.insert',
  `WITH ${invoiceAudit.auditedUpdate({
    verb: 'payment_recorded',
    set: `paid = v.paid + $5, payment_count = ${paymentCount('v')} + 1`,
    touched: { payments: { added: 'ARRAY[$4]::uuid[]' } },
    where: 'v.cancelled_at IS NULL AND v.paid + $5 <= v.total',
    at: '$8',
    origin: '$9',
  })}, y AS (
     INSERT INTO payments (company_id, case_id, invoice_id, id, amount, paid_at, reference, created_at)
     SELECT v.company_id, v.case_id, v.id, $4, $5, $6, $7, $8 FROM v
     RETURNING *
   )
   SELECT ${payment}::text FROM y`,
);

/** $1 company, $2 case, $3 invoice, $4 id, $5 now, $6 origin. Nothing where it is reversed already, either. */
export const reversePayment = statement(
  'payments.reverse',
  `WITH ${invoiceAudit.auditedUpdate({
    verb: 'payment_reversed',
    set: `paid = v.paid - (SELECT y.amount FROM payments y
                            WHERE y.company_id = $1 AND y.case_id = $2 AND y.invoice_id = $3 AND y.id = $4)`,
    where: `EXISTS (SELECT 1 FROM payments y WHERE ${ofInvoice('y')} AND y.id = $4 AND y.reversed_at IS NULL)`,
    touched: { payments: { changed: 'part.id = $4' } },
    at: '$5',
    origin: '$6',
  })}, y AS (
     UPDATE payments y SET reversed_at = $5 FROM v WHERE ${ofInvoice('y')} AND y.id = $4
     RETURNING y.*
   )
   SELECT ${payment}::text FROM y`,
);

/** $1 company, $2 case, $3 invoice, $4 id */
export const findPayment = statement(
  'payments.find',
  `SELECT reversed_at IS NOT NULL AS reversed FROM payments
    WHERE company_id = $1 AND case_id = $2 AND invoice_id = $3 AND id = $4`,
);
