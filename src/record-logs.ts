import { interactionLog } from './cases/interactions/interactions.sql.ts';
import { adviserLog } from './company/advisers/adviser-log.sql.ts';
import { caseLog } from './company/cases/cases.sql.ts';
import { customerLog } from './company/cases/customers.sql.ts';
import { companyLog } from './company/companies/companies.sql.ts';
import { clientLog } from './company/credentials/clients.sql.ts';
import { keyLog } from './company/credentials/keys.sql.ts';
import { tagLog } from './company/tags/tags.sql.ts';
import type { RecordLog } from './kernel/record-log.ts';

/** Of everything whose changes are logged. */
export const RECORD_LOGS: readonly RecordLog[] = [
  adviserLog,
  caseLog,
  clientLog,
  companyLog,
  customerLog,
  interactionLog,
  keyLog,
  tagLog,
];
