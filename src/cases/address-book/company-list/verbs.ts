import type { Context } from '../../../kernel/context.ts';
import { InvalidValue } from '../../../kernel/errors.ts';
import type { Form } from '../../../kernel/validation/form.ts';
import { type CompanyPage, directionOf, readCompanyPage, sortOf, textsBeginningWith } from '../../company-list.ts';
import { readCsv, recordColumns } from '../../company-list-csv.ts';
import { readText } from '../../list.ts';
import { type CompanyEntriesCsvQuery, CompanyEntriesQuery } from './schema.ts';
import { companyEntries } from './statements.sql.ts';

export const listCompanyEntries = (context: Context, query: Form<CompanyEntriesQuery>): Promise<CompanyPage> =>
  readCompanyPage(context, query, CompanyEntriesQuery.properties, requestOf(query));

const CSV_COLUMNS = recordColumns(
  ...['data.title', 'data.first_names', 'data.middle_names', 'data.last_name', 'data.known_as', 'data.email'],
  ...['data.tel_1', 'data.tel_2', 'data.gender', 'data.dob', 'data.marital_status', 'data.occupation'],
  ...[
    'address.address_1',
    'address.address_2',
    'address.address_3',
    'address.postcode',
    'data.tags',
    'data.custom_tags',
  ],
);

/** Reads nothing until the first part is asked for. */
export async function exportEntries(
  context: Context,
  query: Form<CompanyEntriesCsvQuery>,
): Promise<AsyncGenerator<string>> {
  const request = requestOf(query);
  query.check();
  return readCsv(context, request, CSV_COLUMNS);
}

function requestOf(query: Form<CompanyEntriesCsvQuery>) {
  const filters = {
    name: readText(query, 'name'),
    email: readText(query, 'email'),
    phone: query.read('phone', readText(query, 'phone'), (phone) => {
      if (!/[0-9]/.test(phone)) throw new InvalidValue('format', 'must have digits');
      return phone;
    }),
    tag: readText(query, 'tag'),
    external_id: readText(query, 'external_id'),
  };
  const { name, email, phone, tag, external_id } = filters;
  // A filter by email alone is served by the index that sorts by it.
  const sort = sortOf(query, email !== undefined && name === undefined ? 'email' : 'name');
  const field = sort.replace('-', '') as 'name' | 'email';
  const walk = external_id !== undefined ? 'external_id' : phone !== undefined && field === 'name' ? 'phone' : field;
  return {
    name: 'address-book',
    lists: companyEntries,
    walk: walk as 'name' | 'email' | 'phone' | 'external_id',
    direction: directionOf(sort),
    range: textsBeginningWith(walk === 'email' ? email : name),
    filters,
    meetsOthers:
      external_id !== undefined ||
      tag !== undefined ||
      (walk === 'email' ? name !== undefined || phone !== undefined : email !== undefined),
  };
}
