import { type CompanyPage, directionOf, readCompanyPage, sortOf, timesBetween } from '../../../cases/company-list.ts';
import { readCsv } from '../../../cases/company-list-csv.ts';
import { readText } from '../../../cases/list.ts';
import type { Context } from '../../../kernel/context.ts';
import type { Form } from '../../../kernel/validation/form.ts';
import { CASE_STATES } from '../schema.ts';
import { type CompanyCasesCsvQuery, CompanyCasesQuery } from './schema.ts';
import { companyCases } from './statements.sql.ts';

export const findCases = (context: Context, query: Form<CompanyCasesQuery>): Promise<CompanyPage> =>
  readCompanyPage(context, query, CompanyCasesQuery.properties, requestOf(query));

const CSV_COLUMNS = [
  ...['id', 'reference', 'kind_id', 'kind', 'state', 'opened_at', 'closed_at', 'responsible_adviser_id'],
  ...['external_id', 'created_at', 'updated_at'],
];

/** Reads nothing until the first part is asked for. */
export async function exportCases(
  context: Context,
  query: Form<CompanyCasesCsvQuery>,
): Promise<AsyncGenerator<string>> {
  const request = requestOf(query);
  query.check();
  return readCsv(context, request, CSV_COLUMNS);
}

function requestOf(query: Form<CompanyCasesCsvQuery>) {
  const { state, kind_id, responsible_adviser_id } = query.body;
  const sort = sortOf(query, '-opened_at');
  const external_id = readText(query, 'external_id');
  const key = sort.replace('-', '') as 'opened_at' | 'updated_at';
  const walk = responsible_adviser_id !== undefined ? `adviser_${key}` : kind_id !== undefined ? `kind_${key}` : key;
  return {
    name: 'cases',
    lists: companyCases,
    walk: external_id !== undefined ? ('external_id' as const) : (walk as `${'adviser_' | 'kind_' | ''}${typeof key}`),
    direction: directionOf(sort),
    range: timesBetween(),
    filters: { states: state === undefined ? CASE_STATES : [state], kind_id, responsible_adviser_id, external_id },
    meetsOthers: external_id !== undefined || (responsible_adviser_id !== undefined && kind_id !== undefined),
  };
}
