import { entryAudit } from '../cases/address-book/audit.sql.ts';
import { appointmentAudit } from '../cases/appointments/audit.sql.ts';
import { messageAudit } from '../cases/appointments/messages/audit.sql.ts';
import { templateAudit } from '../cases/appointments/messages/templates/statements.sql.ts';
import { interactionAudit } from '../cases/interactions/audit.sql.ts';
import { invoiceAudit } from '../cases/invoices/audit.sql.ts';
import { adviserAudit } from '../company/advisers/audit.sql.ts';
import { caseKindAudit } from '../company/case-kinds/statements.sql.ts';
import { caseAudit } from '../company/cases/statements.sql.ts';
import { companyAudit } from '../company/companies/statements.sql.ts';
import { clientAudit } from '../company/credentials/clients/statements.sql.ts';
import { keyAudit } from '../company/credentials/keys/statements.sql.ts';
import { userAudit } from '../company/credentials/users/audit.sql.ts';
import { customerAudit } from '../company/customers/statements.sql.ts';
import { tagAudit } from '../company/tags/statements.sql.ts';
import type { AuditLog } from '../kernel/audit/audit-log.ts';
import { endpointAudit } from '../webhooks/endpoints/audit.sql.ts';

/** The audit logs of all record types whose changes are recorded as events. */
export const AUDIT_LOGS: readonly AuditLog[] = [
  adviserAudit,
  appointmentAudit,
  caseAudit,
  caseKindAudit,
  clientAudit,
  companyAudit,
  customerAudit,
  endpointAudit,
  entryAudit,
  interactionAudit,
  invoiceAudit,
  keyAudit,
  messageAudit,
  templateAudit,
  tagAudit,
  userAudit,
];
