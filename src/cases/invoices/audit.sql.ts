import { rowAuditLog } from '../../kernel/audit/row-audit-log.ts';
import { image, itemCount, ofInvoice, paymentCount } from './projection.sql.ts';

/** An invoice with its items and payments, which change together with it alone. */
export const invoiceAudit = rowAuditLog({
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
  parts: {
    invoice_items: { isPart: ofInvoice, count: itemCount },
    payments: { isPart: ofInvoice, count: paymentCount },
  },
  completeSnapshot: 'whole_invoice_entry',
  image,
});
