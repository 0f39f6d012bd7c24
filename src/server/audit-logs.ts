import { entryLog } from '../cases/address-book/audit.sql.ts';
import { appointmentAuditLog } from '../cases/appointments/audit.sql.ts';
import { messageAuditLog } from '../cases/appointments/messages/audit.sql.ts';
import { interactionLog } from '../cases/interactions/writes.sql.ts';
import { invoiceLog } from '../cases/invoices/audit.sql.ts';
import { adviserLog } from '../company/advisers/audit.sql.ts';
import { caseLog } from '../company/cases/statements.sql.ts';
import { companyLog } from '../company/companies/statements.sql.ts';
import { clientLog } from '../company/credentials/clients/statements.sql.ts';
import { keyLog } from '../company/credentials/keys/statements.sql.ts';
import { customerLog } from '../company/customers/statements.sql.ts';
import { tagLog } from '../company/tags/statements.sql.ts';
import type { AuditLog } from '../kernel/audit/audit-log.ts';
import { endpointLog } from '../webhooks/endpoints/audit.sql.ts';

/** Of everything whose changes are logged. */
export const AUDIT_LOGS: readonly AuditLog[] = [
  adviserLog,
  appointmentAuditLog,
  caseLog,
  clientLog,
  companyLog,
  customerLog,
  endpointLog,
  entryLog,
  interactionLog,
  invoiceLog,
  keyLog,
  messageAuditLog,
  tagLog,
];
