import type { Context } from '../kernel/context.ts';
import { type CsvCell, CsvNumber, csvLine } from '../kernel/csv.ts';
import { renderWallTimes } from '../kernel/time/wall-time-placeholders.ts';
import { type CompanyListRequest, readAllPages } from './company-list.ts';

/** Where the values of the columns are in a record, such as `data.last_name`. */
export type CsvColumns = readonly string[];

const CASE_ID = 'case.id';

/** The columns of a record, between those that the records of all lists have. */
export const recordColumns = (...columns: string[]): CsvColumns => [
  ...['id', CASE_ID, 'case.reference'],
  ...columns,
  ...['external_id', 'created_at', 'updated_at'],
];

/** The last word, except that other lists call the id of a case `customer_case_id`. */
const headerOf = (path: string): string => (path === CASE_ID ? 'customer_case_id' : (path.split('.').at(-1) ?? ''));

/** Few enough that a page of long records is held easily, and enough that a page costs more than a statement. */
const PAGE_RECORDS = 250;

/**
 * Yields the whole list as CSV, a text for each page. A page is read when it is asked for, with a deadline of its own,
 * so a slow reader holds neither memory nor a connection.
 */
export async function* readCsv<W extends string, Filters extends object>(
  context: Context,
  request: CompanyListRequest<W, Filters>,
  columns: CsvColumns,
): AsyncGenerator<string> {
  const { company, db } = context;
  const paths = columns.map((path) => path.split('.'));
  let before = csvLine([...columns.map(headerOf), 'time_zone']);
  for await (const json of readAllPages({ ...context, db: db.database }, request, PAGE_RECORDS)) {
    const records: unknown[] = JSON.parse(renderWallTimes(json), withExactNumbers);
    const lines = records.map((record) => csvLine([...paths.map((path) => cellAt(record, path)), company.timeZone]));
    yield before + lines.join('');
    before = '';
  }
}

/** The digits that the database has written: a JavaScript number would drop the zeros of an amount. */
const withExactNumbers = (_key: string, value: unknown, context?: { source: string }) =>
  typeof value === 'number' ? new CsvNumber(context?.source ?? String(value)) : value;

function cellAt(record: unknown, path: readonly string[]): CsvCell {
  const value = path.reduce<unknown>((part, name) => (part as Record<string, unknown>)[name], record);
  return Array.isArray(value) ? value.join(' ') : (value as CsvCell);
}
