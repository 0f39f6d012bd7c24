import { externalIds } from '../../kernel/external-ids/statements.sql.ts';
import { appointmentAudit } from './audit.sql.ts';

export const appointmentIds = externalIds({
  noun: 'appointment',
  table: 'appointments',
  as: 'a',
  where: 'a.deleted_at IS NULL',
  update: (set) => appointmentAudit.update({ action: 'updated', set, where: 'a.deleted_at IS NULL' }),
});
