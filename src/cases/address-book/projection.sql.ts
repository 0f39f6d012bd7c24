import type { RowsOf } from '../../kernel/audit/row-audit-log.ts';
import { type Field, iso, json, jsonText, object, orNull, plain, text, word } from '../../kernel/sql/statement.ts';

/** The parts of a person `p` and an address `a` that the answers are made of. */

/** Columns that may be null. */
export const columns = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, orNull(text(`p.${name}`))]));

export const names = columns('title', 'last_name', 'first_names');
export const pronouns = columns('their_pronoun', 'them_pronoun', 'they_pronoun');
export const details = {
  ...columns('middle_names', 'known_as', 'tel_1', 'tel_2', 'email', 'occupation', 'preferred_name', 'alias'),
  dob: orNull(plain(`to_char(p.dob, 'DD/MM/YYYY')`)),
};
const relationshipOf = (rows: string) =>
  `(SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM ${rows})`;
export const itsRelationships = (part: string) =>
  `${part}.company_id = p.company_id AND ${part}.case_id = p.case_id AND ${part}.person_id = p.id`;
export const itsAddress = (part: string) =>
  `${part}.company_id = p.company_id AND ${part}.case_id = p.case_id AND ${part}.id = p.address_id`;
const stored = `relationships r WHERE ${itsRelationships('r')}`;
export const storedRelationship = relationshipOf(stored);
const relationshipText = `(SELECT '{' || coalesce(string_agg('"' || r.customer_id || '":' || ${text('r.word').text}, ','
  ORDER BY r.position), '') || '}' FROM ${stored})`;

const personWith = (relationship: Field) => ({
  id: plain('p.id'),
  entity_id: word('person'),
  data: object({
    ...names,
    gender: text(`coalesce(p.gender, '')`),
    marital_status: text(`coalesce(p.marital_status, '')`),
    ...details,
    ...pronouns,
    relationship,
    address: plain('p.address_id'),
    tags: text('p.tags'),
    custom_tags: text('p.custom_tags'),
  }),
});
const person = personWith({ sql: storedRelationship, text: relationshipText });
/** As text, in the list. */
export const personItem = jsonText(person);
export const entry = json({ ...person, created_at: iso('p.created_at'), updated_at: iso('p.updated_at') });

const address = {
  id: plain('a.id'),
  entity_id: word('address'),
  data: object({
    postcode: text('a.postcode'),
    address_1: text('a.address_1'),
    address_2: text('a.address_2'),
    address_3: text('a.address_3'),
  }),
};
/** As text, in the list. */
export const addressItem = jsonText(address);

/** As its log shows it. */
export const image = (rows: RowsOf) => {
  const relationship = relationshipOf(`${rows('relationships')} r WHERE ${itsRelationships('r')}`);
  return json({
    ...personWith({ sql: relationship, text: relationship }),
    address: `(SELECT ${json(address)} FROM ${rows('addresses')} a WHERE ${itsAddress('a')})`,
    customer_case_id: 'p.case_id',
    created_at: iso('p.created_at'),
    updated_at: iso('p.updated_at'),
    deleted_at: iso('p.deleted_at'),
  });
};
