import { externalIds } from '../../kernel/external-ids/statements.sql.ts';
import { interactionAudit } from './audit.sql.ts';

export const interactionIds = externalIds({
  noun: 'interaction',
  table: 'interactions',
  as: 'i',
  where: 'i.deleted_at IS NULL',
  update: (set) => interactionAudit.update({ action: 'updated', set, where: 'i.deleted_at IS NULL' }),
});
