import type { RowSource } from '../../kernel/audit/row-audit-log.ts';
import {
  isoTime,
  type JsonField,
  jsonFieldText,
  jsonLiteral,
  jsonObject,
  jsonObjectField,
  jsonObjectText,
  jsonString,
  jsonUnescaped,
  jsonWithText,
  nullable,
} from '../../kernel/sql/json.ts';

/** What responses show of a person `p` and its address `a`. */

/** Fields for columns that may be null. */
export const columns = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, nullable(jsonString(`p.${name}`))]));

/** Changes with everything that an entry shows: its address and its relationships only change with it. */
export const version = 'p.version::text';

export const names = columns('title', 'last_name', 'first_names');
export const pronouns = columns('their_pronoun', 'them_pronoun', 'they_pronoun');
export const details = {
  ...columns('middle_names', 'known_as', 'tel_1', 'tel_2', 'email', 'occupation', 'preferred_name', 'alias'),
  dob: nullable(jsonUnescaped(`to_char(p.dob, 'DD/MM/YYYY')`)),
};
const relationshipOf = (rows: string) =>
  `(SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM ${rows})`;
export const isRelationshipOf = (part: string) =>
  `${part}.company_id = p.company_id AND ${part}.case_id = p.case_id AND ${part}.person_id = p.id`;
export const isAddressOf = (part: string) =>
  `${part}.company_id = p.company_id AND ${part}.case_id = p.case_id AND ${part}.id = p.address_id`;
const stored = `relationships r WHERE ${isRelationshipOf('r')}`;
export const storedRelationship = relationshipOf(stored);
const relationshipText = `(SELECT '{' || coalesce(string_agg('"' || r.customer_id || '":' || ${jsonFieldText(jsonString('r.word'))}, ','
  ORDER BY r.position), '') || '}' FROM ${stored})`;

const personWith = (relationship: JsonField) => ({
  id: jsonUnescaped('p.id'),
  entity_id: jsonLiteral('person'),
  data: jsonObjectField({
    ...names,
    gender: jsonString(`coalesce(p.gender, '')`),
    marital_status: jsonString(`coalesce(p.marital_status, '')`),
    ...details,
    ...pronouns,
    relationship,
    address: jsonUnescaped('p.address_id'),
    tags: jsonString('p.tags'),
    custom_tags: jsonString('p.custom_tags'),
  }),
});
export const person = personWith(jsonWithText(storedRelationship, relationshipText));
/** The item in the list, as text. */
export const personItem = jsonObjectText(person);
export const entry = jsonObject({
  ...person,
  external_id: 'p.external_id',
  created_at: isoTime('p.created_at'),
  updated_at: isoTime('p.updated_at'),
});

/** SQL: about how many bytes a person with its address has in a list. Tags and relationships grow with each update. */
export const PERSON_BYTES = `1500 + octet_length(array_to_string(p.tags || p.custom_tags, '   '))
  + (SELECT coalesce(sum(octet_length(r.word) + 45), 0) FROM ${stored})`;

export const addressData = jsonObjectField({
  postcode: jsonString('a.postcode'),
  address_1: jsonString('a.address_1'),
  address_2: jsonString('a.address_2'),
  address_3: jsonString('a.address_3'),
});
const address = { id: jsonUnescaped('a.id'), entity_id: jsonLiteral('address'), data: addressData };
/** The item in the list, as text. */
export const addressItem = jsonObjectText(address);

/** What events and histories show. */
export const image = (rows: RowSource) => {
  const relationship = relationshipOf(`${rows('relationships')} r WHERE ${isRelationshipOf('r')}`);
  return jsonObject({
    ...personWith(jsonWithText(relationship, relationship)),
    address: `(SELECT ${jsonObject(address)} FROM ${rows('addresses')} a WHERE ${isAddressOf('a')})`,
    customer_case_id: 'p.case_id',
    external_id: 'p.external_id',
    created_at: isoTime('p.created_at'),
    updated_at: isoTime('p.updated_at'),
    deleted_at: isoTime('p.deleted_at'),
  });
};
