import { isoTime, jsonObject, statement } from '../../kernel/sql/statement.ts';
import { entryAudit } from './audit.sql.ts';
import { entry } from './projection.sql.ts';

/** $1 company, $2 case, $3 id */
export const readEntry = statement(
  'address_book.read',
  `SELECT ${entry}::text FROM people p
    WHERE p.company_id = $1 AND p.case_id = $2 AND p.id = $3 AND p.deleted_at IS NULL`,
);

/** $1 company, $2 case, $3 id, $4 a tag or null. A deleted one is found too. */
export const findEntry = statement(
  'address_book.find',
  `SELECT deleted_at IS NOT NULL AS deleted, coalesce($4 = ANY (tags), false) AS tags,
          coalesce($4 = ANY (custom_tags), false) AS custom_tags
     FROM people WHERE company_id = $1 AND case_id = $2 AND id = $3`,
);

/**
 * $1 company, $2 case, $3 id, $4 now, $5 origin. The address is listed through its person and goes with it. Nothing
 * where another change came between.
 */
export const deleteEntry = statement(
  'address_book.delete',
  `WITH ${entryAudit.auditedUpdate({
    verb: 'deleted',
    set: 'deleted_at = $4',
    where: 'p.deleted_at IS NULL',
    at: '$4',
    origin: '$5',
  })}
   SELECT ${jsonObject({ id: 'p.id', deleted_at: isoTime('p.deleted_at') })}::text FROM p`,
);

/** $1 company, $2 case, $3 id, $4 now, $5 origin. Nothing where it is not deleted. */
export const restoreEntry = statement(
  'address_book.restore',
  `WITH ${entryAudit.auditedUpdate({
    verb: 'restored',
    set: 'deleted_at = NULL',
    where: 'p.deleted_at IS NOT NULL',
    at: '$4',
    origin: '$5',
  })}
   SELECT ${entry}::text FROM p`,
);

const removeFrom = (column: string, verb: 'tag_removed' | 'custom_tag_removed') => `
  WITH ${entryAudit.auditedUpdate({
    verb,
    set: `${column} = array_remove(p.${column}, $4)`,
    where: `p.deleted_at IS NULL AND $4 = ANY (p.${column})`,
    at: '$5',
    origin: '$6',
  })}
  SELECT ${entry}::text FROM p`;

/** $1 company, $2 case, $3 id, $4 tag, $5 now, $6 origin. Nothing where the entry does not have the tag. */
export const removeTag = {
  tags: statement('address_book.remove_tag', removeFrom('tags', 'tag_removed')),
  custom_tags: statement('address_book.remove_custom_tag', removeFrom('custom_tags', 'custom_tag_removed')),
};
