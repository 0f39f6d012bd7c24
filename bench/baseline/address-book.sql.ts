import type { InputType } from '../../src/kernel/sql/inputs.ts';
import {
  batchOf,
  batchOfLists,
  columns,
  fromInput,
  isoTime,
  JSON_NULL,
  jsonArray,
  jsonObject,
  jsonString,
  jsonUnescaped,
  nullable,
  nullableString,
  type Statement,
} from './sql.ts';

const MAIN_FIELDS = ['title', 'first_names', 'last_name', 'tel_1', 'email', 'gender', 'marital_status'] as const;
export const OTHER_FIELDS = ['middle_names', 'known_as', 'tel_2', 'occupation', 'preferred_name', 'alias'] as const;
export const PRONOUNS = ['their_pronoun', 'them_pronoun', 'they_pronoun'] as const;
/** The parameters of both writes from $10 on, in this order. The date of birth follows them. */
export const WRITABLE_FIELDS = [...MAIN_FIELDS, ...OTHER_FIELDS, ...PRONOUNS] as const;

const PERSON_WORD = `'"person"'`;
const names = columns(jsonString, 'p', 'title', 'last_name', 'first_names');
const details = {
  ...columns(nullableString, 'p', ...OTHER_FIELDS, 'tel_1', 'email'),
  dob: nullable(jsonUnescaped(`to_char(p.dob, 'DD/MM/YYYY')`)),
};
const pronouns = columns(nullableString, 'p', ...PRONOUNS);
const storedRelationship = `(
  SELECT '{' || coalesce(
           string_agg('"' || r.customer_id || '":' || ${jsonString('r.word')}, ',' ORDER BY r.position), '') || '}'
    FROM relationships r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id)`;

const person = jsonObject({
  id: jsonUnescaped('p.id'),
  entity_id: PERSON_WORD,
  data: jsonObject({
    ...names,
    gender: jsonString(`coalesce(p.gender, '')`),
    marital_status: jsonString(`coalesce(p.marital_status, '')`),
    ...details,
    ...pronouns,
    relationship: storedRelationship,
    address: jsonUnescaped('p.address_id'),
    ...columns(jsonString, 'p', 'tags', 'custom_tags'),
  }),
});
const address = jsonObject({
  id: jsonUnescaped('a.id'),
  entity_id: `'"address"'`,
  data: jsonObject(columns(jsonString, 'a', 'postcode', 'address_1', 'address_2', 'address_3')),
});

const listText = `SELECT ${jsonArray(`${person} || ',' || ${address}`, 'p.created_at, p.id')}
           FROM people p
          CROSS JOIN LATERAL (
            SELECT * FROM addresses a WHERE a.company_id = $1 AND a.case_id = $2 AND a.id = p.address_id LIMIT 1) a
          WHERE p.company_id = $1 AND p.case_id = $2 AND p.deleted_at IS NULL`;

/** Returns a person and an address for each row of people. $1 company, $2 case. */
export const list: Statement = {
  name: 'baseline.address_book',
  text: listText,
  batch: batchOfLists(['uuid', 'uuid'], listText),
};

const sentRelationships = 'unnest($6::uuid[], $7::text[]) WITH ORDINALITY AS r (customer_id, word, position)';
const parameters = WRITABLE_FIELDS.map((_field, i) => `$${10 + i}`);
const dob = `to_date($${10 + WRITABLE_FIELDS.length}, 'DD/MM/YYYY')`;
const sentRelationship = `$${11 + WRITABLE_FIELDS.length}::text`;

const TYPES: InputType[] = [
  ...(['uuid', 'uuid', 'uuid', 'text[]', 'text[]', 'uuid[]', 'text[]', 'json', 'uuid'] as const),
  ...WRITABLE_FIELDS.map(() => 'text' as const),
  ...(['text', 'text'] as const),
];
const SENT_ADDRESS = 'json_to_record($8) AS d (address_1 text, address_2 text, address_3 text, postcode text)';

const created = jsonObject({
  entity_id: PERSON_WORD,
  data: jsonObject({
    ...names,
    relationship: sentRelationship,
    address: jsonUnescaped('p.address_id'),
    ...pronouns,
  }),
  customer_case_id: jsonUnescaped('p.case_id'),
  id: jsonUnescaped('p.id'),
  updated_at: isoTime('p.updated_at'),
  created_at: isoTime('p.created_at'),
});

/**
 * $1 company, $2 case, $3 id, $4 tags, $5 custom tags, $6 and $7 relationships, $8 the address as JSON, $9 its id, then
 * the fields of WRITABLE_FIELDS, the date of birth, and the relationships as JSON.
 */
export const create: Statement = {
  name: 'baseline.create_entry',
  text: `WITH a AS (
           INSERT INTO addresses (company_id, case_id, id, address_1, address_2, address_3, postcode, created_at,
             updated_at)
           SELECT $1, $2, $9, coalesce(d.address_1, ''), coalesce(d.address_2, ''), coalesce(d.address_3, ''),
                  coalesce(d.postcode, ''), now(), now()
             FROM ${SENT_ADDRESS}
         ), p AS (
           INSERT INTO people (company_id, case_id, id, address_id, ${WRITABLE_FIELDS.join(', ')}, dob, tags,
             custom_tags, created_at, updated_at)
           VALUES ($1, $2, $3, $9, ${parameters.join(', ')}, ${dob}, $4, $5, now(), now())
           RETURNING *
         ), r AS (
           INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
           SELECT $1, $2, $3, r.* FROM ${sentRelationships}
         )
         SELECT ${created} FROM p`,
  batch: batchOf(
    TYPES,
    fromInput(`, a AS (
      INSERT INTO addresses (company_id, case_id, id, address_1, address_2, address_3, postcode, created_at, updated_at)
      SELECT $1, $2, $9, coalesce(d.address_1, ''), coalesce(d.address_2, ''), coalesce(d.address_3, ''),
             coalesce(d.postcode, ''), now(), now()
        FROM input, ${SENT_ADDRESS}
    ), p AS (
      INSERT INTO people (company_id, case_id, id, address_id, ${WRITABLE_FIELDS.join(', ')}, dob, tags, custom_tags,
        created_at, updated_at)
      SELECT $1, $2, $3, $9, ${parameters.join(', ')}, ${dob}, $4, $5, now(), now() FROM input
      RETURNING *
    ), r AS (
      INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
      SELECT $1, $2, $3, r.* FROM input, ${sentRelationships}
    )
    SELECT input.nth, ${created} FROM p JOIN input ON input.p3 = p.id`),
  ),
};

const appendMissing = (column: string, sent: string) =>
  `${column} || ARRAY(SELECT t FROM unnest(${sent}::text[]) t WHERE t <> ALL (${column}))`;
const ALWAYS_NULL_FIELDS = [
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

const updated = jsonObject({
  id: jsonUnescaped('p.id'),
  customer_case_id: jsonUnescaped('p.case_id'),
  entity_id: PERSON_WORD,
  data: jsonObject({
    ...names,
    relationship: sentRelationship,
    ...details,
    ...columns(nullableString, 'p', 'gender', 'marital_status'),
    ...pronouns,
  }),
  created_at: isoTime('p.created_at'),
  updated_at: isoTime('p.updated_at'),
  company_id: jsonUnescaped('p.company_id'),
  deleted_at: nullable(isoTime('p.deleted_at')),
  ...Object.fromEntries(ALWAYS_NULL_FIELDS.map((field) => [field, JSON_NULL])),
});

/** The parameters of `create`; $9 is unused. Every measured request sends an address and a relationship. */
export const update: Statement = {
  name: 'baseline.update_entry',
  text: `WITH p AS (
           UPDATE people
              SET ${WRITABLE_FIELDS.map((field, i) => `${field} = coalesce(${parameters[i]}, ${field})`).join(', ')},
                  dob = coalesce(${dob}, dob), tags = ${appendMissing('tags', '$4')},
                  custom_tags = ${appendMissing('custom_tags', '$5')}, updated_at = now(), version = version + 1
            WHERE company_id = $1 AND case_id = $2 AND id = $3 AND deleted_at IS NULL
           RETURNING *
         ), a AS (
           UPDATE addresses a
              SET address_1 = coalesce(d.address_1, a.address_1), address_2 = coalesce(d.address_2, a.address_2),
                  address_3 = coalesce(d.address_3, a.address_3), postcode = coalesce(d.postcode, a.postcode),
                  updated_at = now()
             FROM p, ${SENT_ADDRESS}
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
         SELECT ${updated} FROM p, (SELECT $9::uuid) unused`,
  batch: batchOf(
    TYPES,
    fromInput(`, p AS (
      UPDATE people p
         SET ${WRITABLE_FIELDS.map((field, i) => `${field} = coalesce(${parameters[i]}, ${field})`).join(', ')},
             dob = coalesce(${dob}, dob), tags = ${appendMissing('tags', '$4')},
             custom_tags = ${appendMissing('custom_tags', '$5')}, updated_at = now(), version = version + 1
        FROM input
       WHERE p.company_id = $1 AND p.case_id = $2 AND p.id = $3 AND p.deleted_at IS NULL
      RETURNING p.*
    ), a AS (
      UPDATE addresses a
         SET address_1 = coalesce(d.address_1, a.address_1), address_2 = coalesce(d.address_2, a.address_2),
             address_3 = coalesce(d.address_3, a.address_3), postcode = coalesce(d.postcode, a.postcode),
             updated_at = now()
        FROM p JOIN input ON $3 = p.id, ${SENT_ADDRESS}
       WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id
    ), gone AS (
      DELETE FROM relationships r USING input
       WHERE r.company_id = $1 AND r.case_id = $2 AND r.person_id = $3 AND r.customer_id <> ALL ($6)
    ), r AS (
      INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
      SELECT $1, $2, $3, r.* FROM input, ${sentRelationships}
      ON CONFLICT (company_id, case_id, person_id, customer_id)
      DO UPDATE SET word = excluded.word, position = excluded.position
    )
    SELECT input.nth, ${updated} FROM p JOIN input ON $3 = p.id`),
  ),
};
