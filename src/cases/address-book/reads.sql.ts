import { sameKey } from '../../kernel/sql/input-table.ts';
import { read } from '../../kernel/sql/statement.ts';
import { caseLists } from '../list.sql.ts';
import { addressItem, entry, personItem, version } from './projection.sql.ts';

/**
 * Joins the address `a` of each person. A plain join made the generic plan join all addresses of the case, or of all
 * companies while there were few.
 */
const joinAddress = (input: { company_id: string; case_id: string }) => `CROSS JOIN LATERAL (
  SELECT a.* FROM addresses a
   WHERE a.company_id = ${input.company_id} AND a.case_id = ${input.case_id} AND a.id = p.address_id LIMIT 1) a`;

/** A person is listed before its address. `name` is a LIKE pattern. */
export const addressBookLists = caseLists('address_book', {
  table: 'people',
  alias: 'p',
  joins: joinAddress,
  defaultFilter: 'p.deleted_at IS NULL',
  elementInputs: {},
  filterInputs: { name: 'text?', tag: 'text?', deleted: 'boolean?' },
  matches: (
    input,
  ) => `(${input.name} IS NULL OR lower(concat_ws(' ', p.title, p.first_names, p.middle_names, p.last_name,
      p.known_as, p.preferred_name, p.alias)) LIKE lower(${input.name}))
    AND (${input.tag} IS NULL OR ${input.tag} = ANY (p.tags || p.custom_tags))
    AND (p.deleted_at IS NOT NULL) = coalesce(${input.deleted}, false)`,
  element: () => `${personItem} || ',' || ${addressItem}`,
  order: 'p.created_at, p.id',
  entries: {
    rows: (input, condition) =>
      `FROM people p ${joinAddress(input)}
        CROSS JOIN LATERAL (VALUES (1, ${personItem}), (2, ${addressItem})) AS i (rank, item)
        WHERE p.company_id = ${input.company_id} AND p.case_id = ${input.case_id} AND ${condition}`,
    element: 'i.item',
    order: 'p.created_at, p.id, i.rank',
  },
  batch: true,
});

export const readEntry = read('address_book.read', {
  inputs: { company_id: 'uuid', case_id: 'uuid', id: 'uuid' },
  sql: (input) => `
    SELECT ${version}, ${entry}::text FROM people p
     WHERE p.company_id = ${input.company_id} AND p.case_id = ${input.case_id} AND p.id = ${input.id}
       AND p.deleted_at IS NULL`,
});

/** SQL: the version that `readEntry` would show for the key in `input`. */
export const currentVersion = `(
        SELECT ${version} FROM people p WHERE ${sameKey('p', 'input')} AND p.deleted_at IS NULL)`;

/** Whether the entry is deleted, and has the tag. Also returns a deleted entry. */
export const findEntry = read('address_book.find', {
  inputs: { company_id: 'uuid', case_id: 'uuid', id: 'uuid', tag: 'text?' },
  sql: (input) => `
    SELECT deleted_at IS NOT NULL AS deleted, coalesce(${input.tag} = ANY (tags), false) AS tags,
           coalesce(${input.tag} = ANY (custom_tags), false) AS custom_tags
      FROM people WHERE company_id = ${input.company_id} AND case_id = ${input.case_id} AND id = ${input.id}`,
});
