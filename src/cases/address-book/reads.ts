import type { Context } from '../../kernel/context.ts';
import type { ShownRecord } from '../../kernel/database/database.ts';
import { notFound } from '../../kernel/errors.ts';
import type { Form } from '../../kernel/validation/form.ts';
import { likePattern } from '../../kernel/validation/paging.ts';
import { isTrue } from '../../kernel/validation/schema-types.ts';
import { type CaseList, readList, readText } from '../list.ts';
import * as sql from './reads.sql.ts';
import type { AddressBookQuery } from './schema.ts';

export { entryIds } from './external-ids.sql.ts';
export { currentVersion } from './reads.sql.ts';

export function listAddressBook(context: Context, caseId: string, query: Form<AddressBookQuery>): Promise<CaseList> {
  const name = readText(query, 'name');
  return readList(context, caseId, sql.addressBookLists, query, {
    element: {},
    filters: {
      name: name && likePattern(name),
      tag: readText(query, 'tag'),
      deleted: isTrue(query.body.deleted) || undefined,
    },
  });
}

export async function readEntry({ db, company }: Context, caseId: string, id: string): Promise<ShownRecord> {
  const record = await db.queryRecord(sql.readEntry({ company_id: company.id, case_id: caseId, id }));
  if (record === undefined) throw notFound('address book entry');
  return record;
}

type FoundEntry = { deleted: boolean; tags: boolean; custom_tags: boolean };

/** Returns undefined if there is no such entry; a deleted one is found. Also tells whether it has the tag. */
export const findEntry = (
  { db, company }: Context,
  caseId: string,
  id: string,
  tag: string | null = null,
): Promise<FoundEntry | undefined> =>
  db.queryFirst(sql.findEntry({ company_id: company.id, case_id: caseId, id, tag }));
