import type { Context } from '../../../kernel/context.ts';
import { pgArrayLiteral } from '../../../kernel/sql/inputs.ts';
import { zonePlaceholder } from '../../../kernel/time/wall-time-placeholders.ts';
import type { Form } from '../../../kernel/validation/form.ts';
import { type CompanyPage, directionOf, readCompanyPage, sortOf, timesBetween } from '../../company-list.ts';
import { readCsv, recordColumns } from '../../company-list-csv.ts';
import { readInstant, readText } from '../../list.ts';
import { INTERACTION_TYPES } from '../schema.ts';
import { type CompanyInteractionsCsvQuery, CompanyInteractionsQuery } from './schema.ts';
import { companyInteractions } from './statements.sql.ts';

export const listCompanyInteractions = (
  context: Context,
  query: Form<CompanyInteractionsQuery>,
): Promise<CompanyPage> =>
  readCompanyPage(context, query, CompanyInteractionsQuery.properties, requestOf(context, query));

const CSV_COLUMNS = recordColumns(...['type', 'when', 'when_utc', 'sender', 'recipient', 'notes']);

/** Reads nothing until the first part is asked for. */
export async function exportInteractions(
  context: Context,
  query: Form<CompanyInteractionsCsvQuery>,
): Promise<AsyncGenerator<string>> {
  const request = requestOf(context, query);
  query.check();
  return readCsv(context, request, CSV_COLUMNS);
}

function requestOf(context: Context, query: Form<CompanyInteractionsCsvQuery>) {
  const { type } = query.body;
  const sort = sortOf(query, '-when');
  const external_id = readText(query, 'external_id');
  return {
    name: 'interactions',
    lists: companyInteractions,
    walk: external_id === undefined ? ('when' as const) : ('external_id' as const),
    direction: directionOf(sort),
    range: timesBetween(readInstant(context, query, 'from'), readInstant(context, query, 'to')),
    filters: {
      zone: zonePlaceholder(context.company.timeZone),
      types: pgArrayLiteral(type === undefined ? INTERACTION_TYPES : [type]),
      external_id,
    },
    meetsOthers: external_id !== undefined,
  };
}
