import type { DatabaseGauge } from '../../../kernel/metrics.ts';
import { toSql } from '../../../kernel/time/time.ts';
import { companiesToBuild } from './keeping.sql.ts';

export const INVOICE_SUMS_GAUGE: DatabaseGauge = {
  name: 'invoice_sums_companies_to_build',
  help: 'Companies without kept sums of open invoices, so that asking for these sums reads each of the invoices.',
  read: (db, now) => db.queryRows(companiesToBuild({ now: toSql(now) })),
};
