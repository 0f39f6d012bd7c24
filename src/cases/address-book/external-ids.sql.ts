import { externalIds } from '../../kernel/external-ids/statements.sql.ts';
import { entryAudit } from './audit.sql.ts';

export const entryIds = externalIds({
  noun: 'address book entry',
  table: 'people',
  as: 'p',
  where: 'p.deleted_at IS NULL',
  update: (set) => entryAudit.update({ action: 'updated', set, where: 'p.deleted_at IS NULL' }),
});
