import type pg from 'pg';
import type { CompanyTable } from '../company-tables.ts';

/** A table whose rows are exported: one of a company, or that of the companies themselves. */
export type ExportedTable = CompanyTable | 'companies';

/** The column that says to which company a row belongs. */
export const companyColumn = (table: ExportedTable): string => (table === 'companies' ? 'id' : 'company_id');

/** The leases of workers, the progress of a removal and the import belong to the database in which they are. */
const LOCAL_COLUMNS = ['lease_by', 'lease_until', 'removal_started_at', 'imported_at'];
/** Encrypted under SECRETS_KEY, which another service does not have. */
export const SECRET_COLUMN = /^sealed_(?:previous_)?secret$/;

export type TableColumns = {
  /** The columns that an export contains. */
  exported: readonly string[];
  primaryKey: readonly string[];
  /** The columns that an insert must give a value. */
  required: readonly string[];
};

export async function readColumns(client: pg.Client, table: ExportedTable): Promise<TableColumns> {
  const { rows } = await client.query<{ name: string; key: number; generated: boolean; required: boolean }>(
    `SELECT a.attname AS name, coalesce(array_position(i.indkey::int2[], a.attnum), -1)::int AS key,
            a.attgenerated <> '' AS generated, a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' AS required
       FROM pg_attribute a JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
      WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped
      ORDER BY a.attnum`,
    [table],
  );
  const isExported = (name: string) => !LOCAL_COLUMNS.includes(name) && !SECRET_COLUMN.test(name);
  const names = (chosen: typeof rows) => chosen.map(({ name }) => name);
  return {
    exported: names(rows.filter(({ name, generated }) => !generated && isExported(name))),
    primaryKey: names(rows.filter(({ key }) => key >= 0).sort((a, b) => a.key - b.key)),
    required: names(rows.filter(({ required }) => required)),
  };
}

/**
 * SQL: one line of JSON with these columns of the row `alias`. Stored JSON may have line breaks between its tokens;
 * within a string JSON has none. `values`: SQL of columns that are not shown as they are stored.
 */
export const lineOf = (alias: string, columns: readonly string[], values: Record<string, string> = {}): string =>
  `(SELECT replace(row_to_json(x)::text, E'\\n', ' ')
      FROM (SELECT ${columns.map((column) => `${values[column] ?? `${alias}.${column}`} AS ${column}`).join(', ')}) x)`;

/** Rows must look the same wherever they are written, and no time limit may end the work. */
export async function prepareSession(client: pg.Client): Promise<void> {
  await client.query(
    `SELECT set_config(s.name, s.setting, false)
       FROM (VALUES ('TimeZone', 'UTC'), ('bytea_output', 'hex'), ('extra_float_digits', '1'), ('statement_timeout', '0'),
                    ('transaction_timeout', '0'), ('idle_in_transaction_session_timeout', '0')) s (name, setting)
       JOIN pg_settings p ON p.name = s.name`,
  );
}
