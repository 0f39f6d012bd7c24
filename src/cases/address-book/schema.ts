import type { Static } from 'typebox';
import { externalId } from '../../kernel/external-ids/schema.ts';
import { PAGE_QUERY } from '../../kernel/validation/paging.ts';
import { instant, nullable, optional, queryFlag, text } from '../../kernel/validation/schema-types.ts';
import { Type } from '../../kernel/validation/type.ts';

const MAX_TAGS = 100;
const MOST_RELATIONSHIPS = 100;

const tagList = (description: string) =>
  optional(Type.Array(text({ maxLength: 100 }), { maxItems: MAX_TAGS, description, examples: [['next-of-kin']] }));

const AddressBody = Type.Object(
  {
    address_1: optional(text({ examples: ['1 High Street'] })),
    address_2: optional(text()),
    address_3: optional(text()),
    postcode: optional(text({ examples: ['AB1 2CD'] })),
  },
  { title: 'AddressBody' },
);

export const EntryBody = Type.Object(
  {
    entity_id: Type.Unsafe<'person'>({ type: 'string', enum: ['person'] }),
    title: text({ examples: ['Mrs'] }),
    first_names: text({ examples: ['Jane'] }),
    middle_names: optional(text()),
    last_name: text({ examples: ['Doe'] }),
    known_as: optional(text()),
    tel_1: optional(text()),
    tel_2: optional(text()),
    email: optional(text({ maxLength: 254, examples: ['jane.doe@client.example'] })),
    gender: optional(text()),
    dob: optional(text({ description: 'DD/MM/YYYY, not in the future.', examples: ['31/01/1970'] })),
    marital_status: optional(text({ description: 'An addition to the specification.' })),
    relationship: optional(
      Type.Record(Type.String(), Type.String({ minLength: 1, maxLength: 100 }), {
        maxProperties: MOST_RELATIONSHIPS,
        description: 'Customer identifier of the case to a relationship word. An update replaces all relationships.',
      }),
    ),
    occupation: optional(text()),
    preferred_name: optional(text()),
    alias: optional(text()),
    address: optional(AddressBody),
    tags: tagList('Default tags of the system. An update only adds.'),
    custom_tags: tagList('Custom tags of the company. An update only adds.'),
    them_pronoun: optional(text()),
    they_pronoun: optional(text()),
    their_pronoun: optional(text()),
  },
  {
    title: 'AddressBookEntryBody',
    examples: [
      {
        entity_id: 'person',
        title: 'Mrs',
        first_names: 'Jane',
        last_name: 'Doe',
        email: 'jane.doe@client.example',
        dob: '31/01/1970',
        address: { address_1: '1 High Street', postcode: 'AB1 2CD' },
        tags: ['executor'],
      },
    ],
  },
);
export type EntryBody = Static<typeof EntryBody>;

const string = Type.String();
const stringOrNull = nullable(string);

const names = { title: string, last_name: string, first_names: string };
const relationship = Type.Record(Type.String(), Type.String());
const pronouns = { their_pronoun: stringOrNull, them_pronoun: stringOrNull, they_pronoun: stringOrNull };
const details = {
  middle_names: stringOrNull,
  known_as: stringOrNull,
  tel_1: stringOrNull,
  tel_2: stringOrNull,
  email: stringOrNull,
  dob: nullable(Type.String({ description: 'DD/MM/YYYY' })),
  occupation: stringOrNull,
  preferred_name: stringOrNull,
  alias: stringOrNull,
};

const closed = { additionalProperties: false };

export const EntryCreated = Type.Object(
  {
    entity_id: Type.Unsafe<'person'>({ type: 'string', enum: ['person'] }),
    data: Type.Object({ ...names, relationship, address: string, ...pronouns }, { title: 'PersonCreated', ...closed }),
    customer_case_id: string,
    id: string,
    updated_at: instant(),
    created_at: instant(),
  },
  { title: 'AddressBookEntryCreated', ...closed },
);

export const EntryUpdated = Type.Object(
  {
    id: string,
    customer_case_id: string,
    entity_id: Type.Unsafe<'person'>({ type: 'string', enum: ['person'] }),
    data: Type.Object(
      { ...names, relationship, ...details, gender: stringOrNull, marital_status: stringOrNull, ...pronouns },
      { title: 'PersonUpdated', ...closed },
    ),
    created_at: instant(),
    updated_at: instant(),
    customer_person_id: stringOrNull,
    is_company_global: nullable(Type.Boolean()),
    user_id: stringOrNull,
    company_id: stringOrNull,
    deleted_at: nullable(instant()),
    notes: stringOrNull,
    copied_from_id: stringOrNull,
    transferred_from_user_id: stringOrNull,
    transferred_at: nullable(instant()),
    is_user_global: nullable(Type.Boolean()),
    partner_record_id: stringOrNull,
    partner_card_id: stringOrNull,
    partner_person_id: stringOrNull,
  },
  { title: 'AddressBookEntryUpdated', ...closed },
);

const person = {
  id: string,
  entity_id: Type.Unsafe<'person'>({ type: 'string', enum: ['person'] }),
  data: Type.Object(
    {
      ...names,
      gender: string,
      marital_status: string,
      ...details,
      ...pronouns,
      relationship,
      address: Type.String({ description: "Identifier of the person's address item." }),
      tags: Type.Array(string),
      custom_tags: Type.Array(string),
    },
    { title: 'Person', ...closed },
  ),
};
const PersonItem = Type.Object(person, { title: 'AddressBookPerson', ...closed });

export const Entry = Type.Object(
  { ...person, external_id: externalId, created_at: instant(), updated_at: instant() },
  { title: 'AddressBookEntry', ...closed },
);

export const Address = Type.Object(
  { postcode: string, address_1: string, address_2: string, address_3: string },
  { title: 'Address', ...closed },
);

const AddressItem = Type.Object(
  { id: string, entity_id: Type.Unsafe<'address'>({ type: 'string', enum: ['address'] }), data: Address },
  { title: 'AddressBookAddress', ...closed },
);

export const AddressBookQuery = Type.Object({
  name: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'Only people whose names contain this text, ignoring case, and their addresses.',
      examples: ['doe'],
    }),
  ),
  tag: Type.Optional(
    Type.String({ maxLength: 100, description: 'Only people with this tag or custom tag.', examples: ['executor'] }),
  ),
  deleted: queryFlag({ description: 'Only deleted entries, for example to restore one.' }),
  ...PAGE_QUERY,
});
export type AddressBookQuery = Static<typeof AddressBookQuery>;

export const AddressBook = Type.Array(Type.Union([PersonItem, AddressItem]));
