import { json } from '../../kernel/sql.ts';

export const MAKER_COLUMNS = 'created_by_type, created_by_id, created_by_name';

/** Null for what the command line made, and the demonstration. */
export const createdBy = (row: string): string =>
  `CASE WHEN ${row}.created_by_id IS NOT NULL THEN ${json({
    type: `${row}.created_by_type`,
    id: `${row}.created_by_id`,
    name: `${row}.created_by_name`,
  })} END`;
