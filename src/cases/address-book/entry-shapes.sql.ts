import { iso, json, jsonText, object, orNull, plain, text, word } from '../../kernel/sql.ts';

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
export const relationshipOf = (rows: string) =>
  `(SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM ${rows})`;
const stored = 'relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id';
export const storedRelationship = relationshipOf(stored);
const relationshipText = `(SELECT '{' || coalesce(string_agg('"' || r.customer_id || '":' || ${text('r.word').text}, ','
  ORDER BY r.position), '') || '}' FROM ${stored})`;

export const person = {
  id: plain('p.id'),
  entity_id: word('person'),
  data: object({
    ...names,
    gender: text(`coalesce(p.gender, '')`),
    marital_status: text(`coalesce(p.marital_status, '')`),
    ...details,
    ...pronouns,
    relationship: { sql: storedRelationship, text: relationshipText },
    address: plain('p.address_id'),
    tags: text('p.tags'),
    custom_tags: text('p.custom_tags'),
  }),
};
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
export const addressImage = json(address);
