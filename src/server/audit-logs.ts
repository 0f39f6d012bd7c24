import { entryAudit } from '../cases/address-book/audit.sql.ts';
import { appointmentAudit } from '../cases/appointments/audit.sql.ts';
import { messageAudit } from '../cases/appointments/messages/audit.sql.ts';
import { interactionAudit } from '../cases/interactions/audit.sql.ts';
import { invoiceAudit } from '../cases/invoices/audit.sql.ts';
import { adviserLog } from '../company/advisers/audit.sql.ts';
import { caseLog } from '../company/cases/statements.sql.ts';
import { companyLog } from '../company/companies/statements.sql.ts';
import { clientLog } from '../company/credentials/clients/statements.sql.ts';
import { keyLog } from '../company/credentials/keys/statements.sql.ts';
import { customerLog } from '../company/customers/statements.sql.ts';
import { tagLog } from '../company/tags/statements.sql.ts';
import type { AuditLog } from '../kernel/audit/audit-log.ts';
import { endpointAuditLog } from '../webhooks/endpoints/audit.sql.ts';

/** The audit logs of all record types whose changes are recorded as events. */
export const AUDIT_LOGS: readonly AuditLog[] = [
  adviserLog,
  appointmentAudit,
  caseLog,
  clientLog,
  companyLog,
  customerLog,
  endpointAuditLog,
  entryAudit,
  interactionAudit,
  invoiceAudit,
  keyLog,
  messageAudit,
  tagLog,
];
