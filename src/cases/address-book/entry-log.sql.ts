import { inCase, recordLog } from '../../kernel/record-log.ts';
import { iso, json } from '../../kernel/sql.ts';
import { addressImage, person } from './entry-shapes.sql.ts';

/** A person with its address and its relationships, which change together with it alone. */
export const entryLog = recordLog({
  record: 'address_book_entry',
  verbs: ['created', 'updated', 'deleted', 'restored', 'tag_removed', 'custom_tag_removed'],
  path: '/cases/{caseId}/address-book/entry/{entryID}',
  params: { caseId: 'case', entryID: 'address book entry' },
  access: 'address_book:read',
  table: 'people',
  as: 'p',
  key: inCase('p'),
  image: json({
    ...person,
    address: `(SELECT ${addressImage} FROM addresses a
      WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id)`,
    customer_case_id: 'p.case_id',
    created_at: iso('p.created_at'),
    updated_at: iso('p.updated_at'),
    deleted_at: iso('p.deleted_at'),
  }),
});

/** The entry and its version, to be written onto with `isSeen`: $1 company, $2 case, $3 id. */
export const seen = (condition: string) => `seen AS MATERIALIZED (
  SELECT p.version, ${entryLog.image} AS before FROM people p
   WHERE p.company_id = $1 AND p.case_id = $2 AND p.id = $3 AND ${condition})`;
export const isSeen = 'p.company_id = $1 AND p.case_id = $2 AND p.id = $3 AND p.version = seen.version';
