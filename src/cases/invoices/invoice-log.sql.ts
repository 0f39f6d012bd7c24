import { inCase, recordLog } from '../../kernel/record-log.ts';
import { image } from './invoice-shapes.sql.ts';

/** An invoice with its items and payments, which change together with it alone. */
export const invoiceLog = recordLog({
  record: 'invoice',
  verbs: [
    'created',
    'updated',
    'sent',
    'cancelled',
    'reinstated',
    'item_cancelled',
    'item_reinstated',
    'payment_recorded',
    'payment_reversed',
  ],
  path: '/cases/{caseId}/invoices/{invoiceId}',
  params: { caseId: 'case', invoiceId: 'invoice' },
  access: 'invoices:read',
  table: 'invoices',
  as: 'v',
  key: inCase('v'),
  image,
});

/**
 * The invoice and its version, to be written onto with `isSeen`: $1 company, $2 case, $3 id. `beside`: what the
 * condition needs.
 */
export const seen = (condition: string, beside = '') => `seen AS MATERIALIZED (
  SELECT v.version, ${invoiceLog.image} AS before FROM invoices v ${beside}
   WHERE v.company_id = $1 AND v.case_id = $2 AND v.id = $3 AND ${condition})`;
export const isSeen = 'v.company_id = $1 AND v.case_id = $2 AND v.id = $3 AND v.version = seen.version';
