import { rowAuditLog } from '../../kernel/audit/row-audit-log.ts';
import { image, isPartOf, itemCount, paymentCount } from './projection.sql.ts';

/** A change of an item or of a payment is a change of its invoice. */
export const invoiceAudit = rowAuditLog({
  record: 'invoice',
  actions: [
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
  parts: {
    invoice_items: { isPart: isPartOf, count: itemCount },
    payments: { isPart: isPartOf, count: paymentCount },
  },
  completeSnapshot: 'whole_invoice_entry',
  image,
});
