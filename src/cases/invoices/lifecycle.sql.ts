import { type Statement, statement } from '../../kernel/sql/statement.ts';
import { invoiceAudit } from './audit.sql.ts';
import { item, items, ofInvoice, outstanding, standing, whole } from './projection.sql.ts';

/** $1 company, $2 case, $3 id, $4 zone, $5 whether cancelled items are shown */
export const readInvoice = statement(
  'invoices.read',
  `SELECT ${whole('$4')} FROM invoices v, ${standing}, ${items('$5')}
    WHERE v.company_id = $1 AND v.case_id = $2 AND v.id = $3`,
);

type Verb = Parameters<typeof invoiceAudit.insertEvent>[0];

/**
 * $1 company, $2 case, $3 id, $4 zone, $5 now, $6 origin. Written onto the version that was seen, because the answer shows the
 * items and payments of that one: nothing where `possible` does not hold, or where another change came between.
 */
const change = (name: string, verb: Verb, set: string, possible: string): Statement =>
  statement(
    name,
    `WITH ${invoiceAudit.auditedUpdate({ verb, set, where: possible, at: '$5', origin: '$6' })}
     SELECT ${whole('$4')} FROM v, ${standing}, ${items('false')}`,
  );

/** $7 when it was sent */
export const sendInvoice = change('invoices.send', 'sent', 'date_sent = $7', 'v.cancelled_at IS NULL');
export const cancelInvoice = change(
  'invoices.cancel',
  'cancelled',
  'cancelled_at = $5',
  'v.cancelled_at IS NULL AND v.paid = 0',
);
export const reinstateInvoice = change(
  'invoices.reinstate',
  'reinstated',
  'cancelled_at = NULL',
  'v.cancelled_at IS NOT NULL',
);

/** $1 company, $2 case, $3 id, $4 the amount of a payment or null: what stands in the way of a change. */
export const judgeChange = statement(
  'invoices.judge_change',
  `SELECT v.cancelled_at IS NOT NULL AS cancelled, v.paid > 0 AS has_payments,
          (${outstanding})::text AS outstanding, coalesce(v.paid + $4 > v.total, false) AS beyond
     FROM invoices v WHERE v.company_id = $1 AND v.case_id = $2 AND v.id = $3`,
);

/**
 * $1 company, $2 case, $3 invoice, $4 item, $5 now, $6 origin. Written onto the version that was seen, as an update is: nothing
 * where the item is not in the state that it is to leave, where the invoice is cancelled, or where another change came
 * between.
 */
const changeItem = (name: string, verb: Verb, cancelledAt: string, possible: string): Statement =>
  statement(
    name,
    `WITH ${invoiceAudit.auditedUpdate({
      verb,
      where: `v.cancelled_at IS NULL AND EXISTS (
        SELECT 1 FROM invoice_items t WHERE ${ofInvoice('t')} AND t.id = $4 AND t.cancelled_at ${possible})`,
      touched: { invoice_items: { changed: 'part.id = $4' } },
      at: '$5',
      origin: '$6',
    })}, t AS (
       UPDATE invoice_items t SET cancelled_at = ${cancelledAt} FROM v WHERE ${ofInvoice('t')} AND t.id = $4
       RETURNING t.*
     )
     SELECT ${item}::text FROM v, t, ${standing}`,
  );

export const cancelItem = changeItem('invoices.cancel_item', 'item_cancelled', '$5', 'IS NULL');
export const reinstateItem = changeItem('invoices.reinstate_item', 'item_reinstated', 'NULL', 'IS NOT NULL');

/** $1 company, $2 case, $3 invoice, $4 item */
export const findItem = statement(
  'invoices.find_item',
  `SELECT t.cancelled_at IS NOT NULL AS cancelled, v.cancelled_at IS NOT NULL AS invoice_cancelled
     FROM invoices v
     JOIN invoice_items t ON ${ofInvoice('t')}
    WHERE v.company_id = $1 AND v.case_id = $2 AND v.id = $3 AND t.id = $4`,
);
