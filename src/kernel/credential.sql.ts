import { jsonObject } from './sql/json.ts';

/** SQL of the credential as JSON, from the columns of its type, id and name; null for the command line. */
export const credentialJson = (row: string, prefix: string): string =>
  `CASE WHEN ${row}.${prefix}_id IS NOT NULL THEN ${jsonObject({
    type: `${row}.${prefix}_type`,
    id: `${row}.${prefix}_id`,
    name: `${row}.${prefix}_name`,
  })} END`;

export const createdBy = (row: string): string => credentialJson(row, 'created_by');
