import type { Static } from 'typebox';
import { CURSOR_QUERY } from '../../../kernel/validation/paging.ts';
import { Type } from '../../../kernel/validation/type.ts';
import { COMPANY_FIELDS, externalIdFilter, sortBy } from '../../company-list.schema.ts';
import { Address, AddressBookQuery, Entry } from '../schema.ts';

const prefix = (description: string, example: string, maxLength: number) =>
  Type.Optional(Type.String({ maxLength, description, examples: [example] }));

const CompanyEntriesFilters = {
  name: prefix(
    'Only people whose last name begins with this text, ignoring case and accents. After a comma the first names begin.',
    'doe, ja',
    200,
  ),
  email: prefix('Only people whose email begins with this text, ignoring case and accents.', 'jane.doe@', 254),
  phone: prefix(
    'Only people with this phone number, in any notation: its last nine digits count.',
    '07400 123456',
    100,
  ),
  tag: AddressBookQuery.properties.tag,
  external_id: externalIdFilter,
  sort: sortBy(['name', 'email'], 'name'),
};

export const CompanyEntriesQuery = Type.Object({ ...CompanyEntriesFilters, ...CURSOR_QUERY });
export type CompanyEntriesQuery = Static<typeof CompanyEntriesQuery>;

export const CompanyEntriesCsvQuery = Type.Object(CompanyEntriesFilters);
export type CompanyEntriesCsvQuery = Static<typeof CompanyEntriesCsvQuery>;

export const CompanyEntries = Type.Array(
  Type.Object(
    { ...Entry.properties, address: Address, ...COMPANY_FIELDS },
    { title: 'CompanyEntry', additionalProperties: false },
  ),
);
