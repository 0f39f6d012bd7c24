import { externalIds } from '../../kernel/external-ids/statements.sql.ts';
import { invoiceAudit } from './audit.sql.ts';

export const invoiceIds = externalIds({
  noun: 'invoice',
  table: 'invoices',
  as: 'v',
  update: (set) => invoiceAudit.update({ action: 'updated', set }),
});
