import { ALL_ROWS, MAX_FULL_SNAPSHOT_ROWS } from '../../kernel/audit/row-audit-log.ts';
import { forSeveral } from '../../kernel/sql/batch-statement.ts';
import { rowLimit, statement, statementVariants } from '../../kernel/sql/statement.ts';
import { invoiceAudit } from './audit.sql.ts';
import { itemCount, record, standing, unpaid } from './projection.sql.ts';

/** "Mr John Smith and Mrs Ann Smith": the customers of the case in the order in which they came. */
const recipients = `(
  SELECT coalesce(CASE WHEN cardinality(names) < 2 THEN names[1]
    ELSE array_to_string(names[:cardinality(names) - 1], ', ') || ' and ' || names[cardinality(names)] END, '')
  FROM (SELECT array_agg(concat_ws(' ', nullif(title, ''), nullif(first_names, ''), nullif(last_name, ''))
                 ORDER BY created_at, id) AS names
          FROM customers u
         WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL) n)`;

const LINES = ['uuid[]', 'text[]', 'numeric[]', 'numeric[]', 'numeric[]', 'numeric[]', 'numeric[]'];
/** The item arrays, one element per line, from parameter `first` on. */
const lines = (first: number) =>
  `unnest(${LINES.map((type, i) => `$${first + i}::${type}`).join(', ')})
   WITH ORDINALITY AS l (id, description, quantity, rate, amount, subtotal, vat_amount, position)`;

const ITEM_COLUMNS =
  'company_id, case_id, invoice_id, id, description, quantity, rate, amount, subtotal, vat_amount, position';

const FIGURES = [
  ...['uuid', 'uuid', 'uuid', 'text', 'uuid', 'timestamptz', 'timestamptz'],
  ...['numeric', 'numeric', 'numeric', 'numeric'],
];

const imageRows = `CASE WHEN v.item_count > ${MAX_FULL_SNAPSHOT_ROWS} THEN v.item_count END`;

/**
 * $1 company, $2 case, $3 id, $4 number, $5 sender, $6 created, $7 due, $8 vat, $9 sub_total, $10 vat_amount,
 * $11 total, $12 terms, $13 payment terms, $14 now, $15… the items, $22 origin. Nothing where the number is taken.
 */
export const insertInvoice = statement(
  'invoices.insert',
  forSeveral(
    'v',
    [...FIGURES, 'text', 'text', 'timestamptz', ...LINES, 'text'],
    (given) => `WITH ${given.insert(
      (first) => `INSERT INTO invoices (company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat,
           sub_total, vat_amount, total, terms, payment_terms, recipients_name, created_at, updated_at, item_count, payment_count)
         SELECT c.company_id, c.id, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, ${recipients}, $14, $14,
                cardinality($15::uuid[]), 0
           FROM ${first}cases c WHERE c.company_id = $1 AND c.id = $2
         ON CONFLICT ON CONSTRAINT invoices_number DO NOTHING
         RETURNING *`,
    )}, items AS (
       INSERT INTO invoice_items (${ITEM_COLUMNS})
       SELECT v.company_id, v.case_id, v.id, l.* FROM v, ${given.behind(lines(15))}
     ), e AS (
       ${given.behind(invoiceAudit.insertEvent('created', { from: 'v', at: '$14', origin: '$22', imageRows }))}
     )
     SELECT ${given.whose}${record('null')}::text FROM v`,
  ),
);

/**
 * The existing items go, new ones take their place, or new ones come behind them; and the invoice may be one that is paid.
 * Few are, and to look for the day costs a tenth of the statement also where there is none to be found.
 */
type UpdatePart = 'removed' | 'placed' | 'appended' | 'paid';
const UPDATED = [...FIGURES, 'text', 'timestamptz', 'text'];
/** The ids of the items that are sent. */
const IDS = '$15::uuid[]';

/**
 * As above, without the terms; $12 payment terms or null, $13 now, $14 origin, $15… the items, where there are any.
 * Nothing where it is paid and that is not among the parts, or where another update came between: the items below are those
 * of the version that was seen.
 */
export const updateInvoice = statementVariants<UpdatePart>('invoices.update', (parts) => {
  const ofInvoice = 't.company_id = $1 AND t.case_id = $2 AND t.invoice_id = $3';
  const removed = `removed AS (DELETE FROM invoice_items t USING v WHERE ${ofInvoice})`;
  const added = (after: string) => `added AS (
    INSERT INTO invoice_items (${ITEM_COLUMNS})
    SELECT v.company_id, v.case_id, v.id, l.id, l.description, l.quantity, l.rate, l.amount, l.subtotal,
           l.vat_amount, ${after} + l.position
      FROM v, ${lines(15)})`;
  const last = `(SELECT coalesce(max(t.position), 0) FROM invoice_items t WHERE ${ofInvoice})`;
  const besides = { removed, placed: added('0'), appended: added(last) };
  const ofItems = parts.filter((part) => part !== 'paid');
  const paid = parts.includes('paid');
  const adds = parts.includes('placed') || parts.includes('appended');
  const types = adds ? [...UPDATED, ...LINES] : UPDATED;
  const counts = [parts.includes('removed') ? '0' : itemCount('v'), ...(adds ? [`cardinality(${IDS})`] : [])];
  const touched = {
    ...(parts.includes('removed') && { changed: ALL_ROWS }),
    ...(adds && { added: IDS }),
  };
  return forSeveral(
    'v',
    types,
    (given) => `WITH ${invoiceAudit.auditedUpdate({
      verb: 'updated',
      set: `invoice_number = $4, sender_id = $5, date_created = $6, date_due = $7, vat = $8, sub_total = $9,
            vat_amount = $10, total = $11, payment_terms = coalesce($12, v.payment_terms)
            ${ofItems.length > 0 ? `, item_count = ${counts.join(' + ')}` : ''}`,
      touched: { invoice_items: touched },
      where: paid ? 'true' : unpaid('$11'),
      at: '$13',
      origin: '$14',
      given,
    })}${ofItems.map((part) => `, ${given.behind(besides[part])}`).join('')}
     SELECT ${given.whose}${paid ? `${record('s.date_paid')}::text FROM v, ${standing}` : `${record('null')}::text FROM v`}`,
  );
});

/** $1 company, $2 case, $3 invoice. A request has at most 1,000, but adds to those that are there. */
export const itemLimit = rowLimit(
  'items of an invoice',
  10_000,
  'FROM invoice_items WHERE company_id = $1 AND case_id = $2 AND invoice_id = $3',
);

/** $1 company, $2 case, $3 the invoice that is being changed or null, $4 number or null: what stands in the way. */
export const judgeInvoice = statement(
  'invoices.judge',
  `SELECT ($3::uuid IS NULL OR EXISTS (
            SELECT 1 FROM invoices v WHERE v.company_id = $1 AND v.case_id = $2 AND v.id = $3)) AS found,
          EXISTS (SELECT 1 FROM invoices v WHERE v.company_id = $1 AND v.case_id = $2 AND v.invoice_number = $4
                     AND v.id IS DISTINCT FROM $3) AS taken
     FROM cases c WHERE c.company_id = $1 AND c.id = $2`,
);
