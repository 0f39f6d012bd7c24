import { rowAuditLog } from '../../kernel/audit/row-audit-log.ts';
import { image } from './projection.sql.ts';

export const interactionAudit = rowAuditLog({
  record: 'interaction',
  actions: ['created', 'updated', 'deleted', 'restored'],
  path: '/cases/{caseId}/interactions/{interactionId}',
  params: { caseId: 'case', interactionId: 'interaction' },
  access: 'interactions:read',
  table: 'interactions',
  as: 'i',
  image: () => image,
});
