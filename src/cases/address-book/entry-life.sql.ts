import { iso, json, statement } from '../../kernel/sql.ts';
import { entry } from './entry-shapes.sql.ts';

/** $1 company, $2 case, $3 id */
export const readEntry = statement(
  'address_book.read',
  `SELECT ${entry}::text FROM people p
    WHERE p.company_id = $1 AND p.case_id = $2 AND p.id = $3 AND p.deleted_at IS NULL`,
);

/** $1 company, $2 case, $3 id. A deleted one is found too. */
export const findEntry = statement(
  'address_book.find',
  `SELECT deleted_at IS NOT NULL AS deleted FROM people WHERE company_id = $1 AND case_id = $2 AND id = $3`,
);

/** $1 company, $2 case, $3 id, $4 now. The address is listed through its person and goes with it. */
export const deleteEntry = statement(
  'address_book.delete',
  `UPDATE people AS p SET deleted_at = $4, updated_at = $4, version = version + 1
    WHERE company_id = $1 AND case_id = $2 AND id = $3 AND deleted_at IS NULL
   RETURNING ${json({ id: 'p.id', deleted_at: iso('p.deleted_at') })}::text`,
);

/** $1 company, $2 case, $3 id, $4 now. Nothing where it is not deleted. */
export const restoreEntry = statement(
  'address_book.restore',
  `UPDATE people AS p SET deleted_at = NULL, updated_at = $4, version = version + 1
    WHERE company_id = $1 AND case_id = $2 AND id = $3 AND deleted_at IS NOT NULL
   RETURNING ${entry}::text`,
);

const removeFrom = (column: string) => `
  UPDATE people AS p SET ${column} = array_remove(${column}, $4), updated_at = $5, version = version + 1
   WHERE company_id = $1 AND case_id = $2 AND id = $3 AND deleted_at IS NULL AND $4 = ANY (${column})
  RETURNING ${entry}::text`;

/** $1 company, $2 case, $3 id, $4 tag, $5 now. Nothing where the entry does not have the tag. */
export const removeTag = {
  tags: statement('address_book.remove_tag', removeFrom('tags')),
  custom_tags: statement('address_book.remove_custom_tag', removeFrom('custom_tags')),
};
