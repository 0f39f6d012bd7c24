import { iso, json, statement } from '../../kernel/sql.ts';

const payment = json({
  id: 'y.id',
  case_invoice_id: 'y.invoice_id',
  customer_case_id: 'y.case_id',
  amount: 'y.amount',
  paid_at: iso('y.paid_at'),
  reference: 'y.reference',
  created_at: iso('y.created_at'),
  reversed_at: iso('y.reversed_at'),
});

/** $1 company, $2 case, $3 invoice */
export const listPayments = statement(
  'payments.list',
  `SELECT coalesce(json_agg(${payment} ORDER BY y.paid_at, y.id) FILTER (WHERE y.id IS NOT NULL), '[]')::text
     FROM invoices v
     LEFT JOIN payments y ON y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id
    WHERE v.company_id = $1 AND v.case_id = $2 AND v.id = $3
    GROUP BY v.id`,
);

/**
 * $1 company, $2 case, $3 invoice, $4 id, $5 amount, $6 paid at, $7 reference, $8 now. The sum is raised by the
 * amount and its condition is judged again after waiting for another payment, so none is lost and none goes beyond
 * the total, without a version and without trying again. Nothing where it is cancelled or less is outstanding.
 */
export const insertPayment = statement(
  'payments.insert',
  `WITH v AS (
     UPDATE invoices v SET paid = v.paid + $5, updated_at = $8, version = v.version + 1
      WHERE v.company_id = $1 AND v.case_id = $2 AND v.id = $3 AND v.cancelled_at IS NULL AND v.paid + $5 <= v.total
     RETURNING v.*
   ), y AS (
     INSERT INTO payments (company_id, case_id, invoice_id, id, amount, paid_at, reference, created_at)
     SELECT v.company_id, v.case_id, v.id, $4, $5, $6, $7, $8 FROM v
     RETURNING *
   )
   SELECT ${payment}::text FROM y`,
);

/** $1 company, $2 case, $3 invoice, $4 id, $5 now. Nothing where it is reversed already. */
export const reversePayment = statement(
  'payments.reverse',
  `WITH y AS (
     UPDATE payments SET reversed_at = $5
      WHERE company_id = $1 AND case_id = $2 AND invoice_id = $3 AND id = $4 AND reversed_at IS NULL
     RETURNING *
   ), v AS (
     UPDATE invoices v SET paid = v.paid - y.amount, updated_at = $5, version = v.version + 1 FROM y
      WHERE v.company_id = y.company_id AND v.case_id = y.case_id AND v.id = y.invoice_id
   )
   SELECT ${payment}::text FROM y`,
);

/** $1 company, $2 case, $3 invoice, $4 id */
export const findPayment = statement(
  'payments.find',
  'SELECT 1 FROM payments WHERE company_id = $1 AND case_id = $2 AND invoice_id = $3 AND id = $4',
);
