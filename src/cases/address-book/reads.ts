import type { Context } from '../../kernel/context.ts';
import type { Form } from '../../kernel/validation/form.ts';
import { likePattern } from '../../kernel/validation/paging.ts';
import { isTrue } from '../../kernel/validation/schema-types.ts';
import { type CaseList, readList, readText } from '../list.ts';
import { addressBookLists } from './reads.sql.ts';
import type { AddressBookQuery } from './schema.ts';

export function listAddressBook(context: Context, caseId: string, query: Form<AddressBookQuery>): Promise<CaseList> {
  const name = readText(query, 'name');
  return readList(context, caseId, addressBookLists, query, {
    element: {},
    filters: {
      name: name && likePattern(name),
      tag: readText(query, 'tag'),
      deleted: isTrue(query.body.deleted) || undefined,
    },
  });
}
