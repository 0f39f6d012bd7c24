import { entryLog } from './cases/address-book/entry-log.sql.ts';
import { appointmentLog } from './cases/appointments/appointment-log.sql.ts';
import { interactionLog } from './cases/interactions/interactions.sql.ts';
import { invoiceLog } from './cases/invoices/invoice-log.sql.ts';
import { adviserLog } from './company/advisers/adviser-log.sql.ts';
import { caseLog } from './company/cases/cases.sql.ts';
import { customerLog } from './company/cases/customers.sql.ts';
import { companyLog } from './company/companies/companies.sql.ts';
import { clientLog } from './company/credentials/clients.sql.ts';
import { keyLog } from './company/credentials/keys.sql.ts';
import { tagLog } from './company/tags/tags.sql.ts';
import type { RecordLog } from './kernel/record-log.ts';
import { messageLog } from './messages/message-log.sql.ts';
import { endpointLog } from './webhooks/endpoint-log.sql.ts';

/** Of everything whose changes are logged. */
export const RECORD_LOGS: readonly RecordLog[] = [
  adviserLog,
  appointmentLog,
  caseLog,
  clientLog,
  companyLog,
  customerLog,
  endpointLog,
  entryLog,
  interactionLog,
  invoiceLog,
  keyLog,
  messageLog,
  tagLog,
];
