import { array, columns, iso, NULL, object, orNull, plain, type Statement, text, textOrNull } from './sql.ts';

const PERSON = ['title', 'first_names', 'last_name', 'tel_1', 'email', 'gender', 'marital_status'] as const;
export const REST = ['middle_names', 'known_as', 'tel_2', 'occupation', 'preferred_name', 'alias'] as const;
export const PRONOUNS = ['their_pronoun', 'them_pronoun', 'they_pronoun'] as const;
/** In the order of the parameters of both writes, which follow $9. The day of birth comes after them. */
export const SENT = [...PERSON, ...REST, ...PRONOUNS] as const;

const PERSON_WORD = `'"person"'`;
const names = columns(text, 'p', 'title', 'last_name', 'first_names');
const details = {
  ...columns(textOrNull, 'p', ...REST, 'tel_1', 'email'),
  dob: orNull(plain(`to_char(p.dob, 'DD/MM/YYYY')`)),
};
const pronouns = columns(textOrNull, 'p', ...PRONOUNS);
const storedRelationship = `(
  SELECT '{' || coalesce(string_agg('"' || r.customer_id || '":' || ${text('r.word')}, ',' ORDER BY r.position), '') || '}'
    FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id)`;

const person = object({
  id: plain('p.id'),
  entity_id: PERSON_WORD,
  data: object({
    ...names,
    gender: text(`coalesce(p.gender, '')`),
    marital_status: text(`coalesce(p.marital_status, '')`),
    ...details,
    ...pronouns,
    relationship: storedRelationship,
    address: plain('p.address_id'),
    ...columns(text, 'p', 'tags', 'custom_tags'),
  }),
});
const address = object({
  id: plain('a.id'),
  entity_id: `'"address"'`,
  data: object(columns(text, 'a', 'postcode', 'address_1', 'address_2', 'address_3')),
});

/** One pass over the people, two texts for each: $1 company, $2 case. */
export const list: Statement = {
  name: 'floor.address_book',
  text: `SELECT ${array(`${person} || ',' || ${address}`, 'p.created_at, p.id')}
           FROM people p
          CROSS JOIN LATERAL (
            SELECT * FROM addresses a WHERE a.company_id = $1 AND a.case_id = $2 AND a.id = p.address_id LIMIT 1) a
          WHERE p.company_id = $1 AND p.case_id = $2 AND p.deleted_at IS NULL`,
};

const sentRelationships = 'unnest($6::uuid[], $7::text[]) WITH ORDINALITY AS r (customer_id, word, position)';
const parameters = SENT.map((_field, i) => `$${10 + i}`);
const dob = `to_date($${10 + SENT.length}, 'DD/MM/YYYY')`;
const sentRelationship = `$${11 + SENT.length}::text`;

/**
 * $1 company, $2 case, $3 id, $4 tags, $5 custom tags, $6 and $7 relationships, $8 the address as JSON, $9 its id, then the fields of
 * SENT, the day of birth, and the relationships as JSON.
 */
export const create: Statement = {
  name: 'floor.create_entry',
  text: `WITH a AS (
           INSERT INTO addresses (company_id, case_id, id, address_1, address_2, address_3, postcode, created_at, updated_at)
           SELECT $1, $2, $9, coalesce(d.address_1, ''), coalesce(d.address_2, ''), coalesce(d.address_3, ''),
                  coalesce(d.postcode, ''), now(), now()
             FROM json_to_record($8) AS d (address_1 text, address_2 text, address_3 text, postcode text)
         ), p AS (
           INSERT INTO people (company_id, case_id, id, address_id, ${SENT.join(', ')}, dob, tags, custom_tags, created_at, updated_at)
           VALUES ($1, $2, $3, $9, ${parameters.join(', ')}, ${dob}, $4, $5, now(), now())
           RETURNING *
         ), r AS (
           INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
           SELECT $1, $2, $3, r.* FROM ${sentRelationships}
         )
         SELECT ${object({
           entity_id: PERSON_WORD,
           data: object({
             ...names,
             relationship: sentRelationship,
             address: plain('p.address_id'),
             ...pronouns,
           }),
           customer_case_id: plain('p.case_id'),
           id: plain('p.id'),
           updated_at: iso('p.updated_at'),
           created_at: iso('p.created_at'),
         })} FROM p`,
};

const added = (column: string, sent: string) =>
  `${column} || ARRAY(SELECT t FROM unnest(${sent}::text[]) t WHERE t <> ALL (${column}))`;
const NOT_KEPT = [
  'customer_person_id',
  'is_company_global',
  'user_id',
  'notes',
  'copied_from_id',
  'transferred_from_user_id',
  'transferred_at',
  'is_user_global',
  'partner_record_id',
  'partner_card_id',
  'partner_person_id',
];

/** As above without $9. Every request that is measured sends an address and a relationship. */
export const update: Statement = {
  name: 'floor.update_entry',
  text: `WITH p AS (
           UPDATE people
              SET ${SENT.map((field, i) => `${field} = coalesce(${parameters[i]}, ${field})`).join(', ')},
                  dob = coalesce(${dob}, dob), tags = ${added('tags', '$4')}, custom_tags = ${added('custom_tags', '$5')},
                  updated_at = now(), version = version + 1
            WHERE company_id = $1 AND case_id = $2 AND id = $3 AND deleted_at IS NULL
           RETURNING *
         ), a AS (
           UPDATE addresses a
              SET address_1 = coalesce(d.address_1, a.address_1), address_2 = coalesce(d.address_2, a.address_2),
                  address_3 = coalesce(d.address_3, a.address_3), postcode = coalesce(d.postcode, a.postcode),
                  updated_at = now()
             FROM p, json_to_record($8) AS d (address_1 text, address_2 text, address_3 text, postcode text)
            WHERE a.company_id = $1 AND a.case_id = $2 AND a.id = p.address_id
         ), gone AS (
           DELETE FROM relationships
            WHERE company_id = $1 AND case_id = $2 AND person_id = $3 AND customer_id <> ALL ($6)
         ), r AS (
           INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
           SELECT $1, $2, $3, r.* FROM ${sentRelationships}
           ON CONFLICT (company_id, case_id, person_id, customer_id)
           DO UPDATE SET word = excluded.word, position = excluded.position
         )
         SELECT ${object({
           id: plain('p.id'),
           customer_case_id: plain('p.case_id'),
           entity_id: PERSON_WORD,
           data: object({
             ...names,
             relationship: sentRelationship,
             ...details,
             ...columns(textOrNull, 'p', 'gender', 'marital_status'),
             ...pronouns,
           }),
           created_at: iso('p.created_at'),
           updated_at: iso('p.updated_at'),
           company_id: plain('p.company_id'),
           deleted_at: orNull(iso('p.deleted_at')),
           ...Object.fromEntries(NOT_KEPT.map((field) => [field, NULL])),
         })} FROM p, (SELECT $9::uuid) unused`,
};
