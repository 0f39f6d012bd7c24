import { iso, json } from '../../kernel/sql.ts';

/** The parts of a person `p` and an address `a` that the answers are made of. */

export const columns = (...names: string[]) => Object.fromEntries(names.map((name) => [name, `p.${name}`]));

export const names = columns('title', 'last_name', 'first_names');
export const pronouns = columns('their_pronoun', 'them_pronoun', 'they_pronoun');
export const details = {
  ...columns('middle_names', 'known_as', 'tel_1', 'tel_2', 'email', 'occupation', 'preferred_name', 'alias'),
  dob: `to_char(p.dob, 'DD/MM/YYYY')`,
};
export const relationshipOf = (rows: string) =>
  `(SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM ${rows})`;
export const storedRelationship = relationshipOf(
  'relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id',
);

export const person = {
  id: 'p.id',
  entity_id: `'person'`,
  data: json({
    ...names,
    gender: `coalesce(p.gender, '')`,
    marital_status: `coalesce(p.marital_status, '')`,
    ...details,
    ...pronouns,
    relationship: storedRelationship,
    address: 'p.address_id',
    tags: 'p.tags',
    custom_tags: 'p.custom_tags',
  }),
};
export const personItem = json(person);
export const entry = json({ ...person, created_at: iso('p.created_at'), updated_at: iso('p.updated_at') });

export const addressItem = json({
  id: 'a.id',
  entity_id: `'address'`,
  data: json({
    postcode: 'a.postcode',
    address_1: 'a.address_1',
    address_2: 'a.address_2',
    address_3: 'a.address_3',
  }),
});
