import { rowAuditLog } from '../../kernel/audit/row-audit-log.ts';
import { image, isAddressOf, isRelationshipOf } from './projection.sql.ts';

/** A person with its address and its relationships, which only change together with it. */
export const entryAudit = rowAuditLog({
  record: 'address_book_entry',
  actions: ['created', 'updated', 'deleted', 'restored', 'tag_removed', 'custom_tag_removed'],
  path: '/cases/{caseId}/address-book/entry/{entryID}',
  params: { caseId: 'case', entryID: 'address book entry' },
  access: 'address_book:read',
  table: 'people',
  as: 'p',
  parts: { addresses: { isPart: isAddressOf }, relationships: { isPart: isRelationshipOf } },
  image,
});
