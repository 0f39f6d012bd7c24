import type { Context } from '../../../kernel/context.ts';
import { InvalidValue } from '../../../kernel/errors.ts';
import type { Form } from '../../../kernel/validation/form.ts';
import { type CompanyPage, directionOf, readCompanyPage, textsBeginningWith } from '../../company-list.ts';
import { readText } from '../../list.ts';
import { CompanyEntriesQuery } from './schema.ts';
import { companyEntries } from './statements.sql.ts';

export const listCompanyEntries = (context: Context, query: Form<CompanyEntriesQuery>): Promise<CompanyPage> =>
  readCompanyPage(context, query, CompanyEntriesQuery.properties, requestOf(query));

function requestOf(query: Form<CompanyEntriesQuery>) {
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
  const { sort = email !== undefined && name === undefined ? 'email' : 'name' } = query.body;
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
