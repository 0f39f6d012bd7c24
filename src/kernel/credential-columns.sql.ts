import { jsonObject } from './sql/json.ts';

/** The columns of a credential: type, id, and name at that time. All of them are null for the command line. */
export const credentialColumns = (prefix: string): string => `${prefix}_type, ${prefix}_id, ${prefix}_name`;

export const MAKER_COLUMNS = credentialColumns('created_by');

/** SQL of the credential as JSON; null for the command line. */
export const credentialJson = (row: string, prefix: string): string =>
  `CASE WHEN ${row}.${prefix}_id IS NOT NULL THEN ${jsonObject({
    type: `${row}.${prefix}_type`,
    id: `${row}.${prefix}_id`,
    name: `${row}.${prefix}_name`,
  })} END`;

export const createdBy = (row: string): string => credentialJson(row, 'created_by');

/** Assignments of an UPDATE: the columns get the parameters from `$first` on if the condition holds. */
export const setCredentialIf = (condition: string, row: string, prefix: string, first: number): string =>
  ['type', 'id', 'name']
    .map((part) => `${prefix}_${part}`)
    .map((column, i) => `${column} = CASE WHEN ${condition} THEN $${first + i} ELSE ${row}.${column} END`)
    .join(', ');
