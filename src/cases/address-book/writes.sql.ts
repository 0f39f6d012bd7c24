import { EXTERNAL_ID_INPUT, unlessTaken } from '../../kernel/external-ids/statements.sql.ts';
import { insertedWithInput } from '../../kernel/sql/input-table.ts';
import {
  isoTime,
  jsonLiteral,
  jsonObjectField,
  jsonObjectText,
  jsonRaw,
  jsonUnescaped,
  NULL,
  nullable,
  SPACED,
} from '../../kernel/sql/json.ts';
import { read, writeVariants } from '../../kernel/sql/statement.ts';
import { entryAudit } from './audit.sql.ts';
import { columns, details, names, pronouns, storedRelationship, version } from './projection.sql.ts';

/** What a request can set on a person. The names are those of the columns and of the fields of the request. */
const PERSON_INPUTS = {
  title: 'text?',
  first_names: 'text?',
  middle_names: 'text?',
  last_name: 'text?',
  known_as: 'text?',
  tel_1: 'text?',
  tel_2: 'text?',
  email: 'text?',
  gender: 'text?',
  dob: 'date?',
  marital_status: 'text?',
  occupation: 'text?',
  preferred_name: 'text?',
  alias: 'text?',
  them_pronoun: 'text?',
  they_pronoun: 'text?',
  their_pronoun: 'text?',
} as const;
export type PersonField = keyof typeof PERSON_INPUTS;
export const PERSON_FIELDS = Object.keys(PERSON_INPUTS) as PersonField[];

export const ADDRESS_FIELDS = ['address_1', 'address_2', 'address_3', 'postcode'] as const;

/**
 * SQL: the tags and customers that a request may name. Those of the company and the case are looked up; those that the
 * entry has already stay allowed after they were removed from the company. All customers of the case are read: with a
 * condition on their ids the planner may look for these among all customers of the company.
 */
type Key = { company_id: string; case_id: string; id: string };
const defaultTags = (tags: string) => `ARRAY(SELECT tag FROM default_tags WHERE tag = ANY (${tags}))`;
const companyTags = ({ company_id }: Key, tags: string) =>
  `ARRAY(SELECT tag FROM custom_tags WHERE company_id = ${company_id} AND tag = ANY (${tags}))`;
const caseCustomers = ({ company_id, case_id }: Key) => `ARRAY(
  SELECT u.id FROM customers u
   WHERE u.company_id = ${company_id} AND u.case_id = ${case_id} AND u.removed_at IS NULL)`;
const relatedCustomers = ({ company_id, case_id, id }: Key) => `ARRAY(
  SELECT r.customer_id FROM relationships r
   WHERE r.company_id = ${company_id} AND r.case_id = ${case_id} AND r.person_id = ${id})`;

/** SQL: rows of two arrays of the same length, as columns of `relationships`. */
const relationshipRows = (customers: string, words: string) =>
  `unnest(${customers}, ${words}) WITH ORDINALITY AS r (customer_id, word, position)`;

const created = jsonObjectText(
  {
    entity_id: jsonLiteral('person'),
    data: jsonObjectField({
      ...names,
      relationship: jsonRaw('p.relationship'),
      address: jsonUnescaped('p.address_id'),
      ...pronouns,
    }),
    customer_case_id: jsonUnescaped('p.case_id'),
    id: jsonUnescaped('p.id'),
    updated_at: jsonUnescaped(isoTime('p.updated_at')),
    created_at: jsonUnescaped(isoTime('p.created_at')),
  },
  SPACED,
);

/**
 * Returns no row if the case, a tag or a customer does not exist, or if another entry has the external id. `relationship`
 * is shown in the response.
 */
export const insertEntry = writeVariants('address_book.insert', {
  inputs: {
    company_id: 'uuid',
    case_id: 'uuid',
    id: 'uuid',
    tags: 'text[]',
    custom_tags: 'text[]',
    customer_ids: 'uuid[]',
    relationship_words: 'text[]',
    relationship: 'json',
    address_id: 'uuid',
    address_1: 'text',
    address_2: 'text',
    address_3: 'text',
    postcode: 'text',
    ...PERSON_INPUTS,
    now: 'timestamptz',
    origin: 'json',
  },
  parts: { external_id: EXTERNAL_ID_INPUT },
  batch: true,
  fromInput: (input, inputTable, has) => `
    WITH ${inputTable}, inserted AS (
      INSERT INTO people
        (company_id, case_id, id, address_id, tags, custom_tags, created_at, updated_at, ${PERSON_FIELDS.join(', ')}${has('external_id') ? ', external_id' : ''})
      SELECT c.company_id, c.id, ${input.id}, ${input.address_id}, ${input.tags}, ${input.custom_tags}, ${input.now},
             ${input.now}, ${PERSON_FIELDS.map((field) => input[field]).join(', ')}${has('external_id') ? `, ${input.external_id}` : ''}
        FROM input JOIN cases c ON c.company_id = ${input.company_id} AND c.id = ${input.case_id}
       WHERE ${input.tags} <@ ${defaultTags(input.tags)}
         AND ${input.custom_tags} <@ ${companyTags(input, input.custom_tags)}
         AND ${input.customer_ids} <@ ${caseCustomers(input)}${has('external_id') ? unlessTaken : ''}
      RETURNING *
    ), ${insertedWithInput('p', ['customer_ids', 'relationship_words', 'relationship', ...ADDRESS_FIELDS])}, a AS (
      INSERT INTO addresses (company_id, case_id, id, created_at, updated_at, ${ADDRESS_FIELDS.join(', ')})
      SELECT p.company_id, p.case_id, p.address_id, p.now, p.now,
             ${ADDRESS_FIELDS.map((field) => `p.${field}`).join(', ')}
        FROM p
    ), r AS (
      INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
      SELECT p.company_id, p.case_id, p.id, r.*
        FROM p, ${relationshipRows('p.customer_ids', 'p.relationship_words')}
    ), event AS (
      ${entryAudit.insertEvent('created', { from: 'p', at: 'p.now', origin: 'p.origin' })}
    )`,
  answer: () => ({ json: created, version, from: 'p' }),
});

const updated = (relationship: string) =>
  jsonObjectText(
    {
      id: jsonUnescaped('p.id'),
      customer_case_id: jsonUnescaped('p.case_id'),
      entity_id: jsonLiteral('person'),
      data: jsonObjectField({
        ...names,
        relationship: jsonRaw(relationship),
        ...details,
        ...columns('gender', 'marital_status'),
        ...pronouns,
      }),
      created_at: jsonUnescaped(isoTime('p.created_at')),
      updated_at: jsonUnescaped(isoTime('p.updated_at')),
      customer_person_id: NULL,
      is_company_global: NULL,
      user_id: NULL,
      company_id: jsonUnescaped('p.company_id'),
      deleted_at: nullable(jsonUnescaped(isoTime('p.deleted_at'))),
      notes: NULL,
      copied_from_id: NULL,
      transferred_from_user_id: NULL,
      transferred_at: NULL,
      is_user_global: NULL,
      partner_record_id: NULL,
      partner_card_id: NULL,
      partner_person_id: NULL,
    },
    SPACED,
  );

/** SQL: the stored tags, then the new ones in the order in which they were sent. Usually none is new. */
const withAdded = (column: string, tags: string) =>
  `CASE WHEN ${tags} <@ p.${column} THEN p.${column} ELSE p.${column} || ARRAY(
     SELECT tag FROM unnest(${tags}) WITH ORDINALITY AS sent (tag, position)
      WHERE tag <> ALL (p.${column}) ORDER BY position) END`;

/** SQL: whether all are known. The others are looked up only if the entry does not have all of them. */
const areKnown = (sent: string, ofEntry: string, others: string) =>
  `(${sent} <@ ${ofEntry} OR ${sent} <@ (${others} || ${ofEntry}))`;

/**
 * Null leaves a field as it is; `cleared_fields` are set to null. `relationship` replaces the relationships and is shown in
 * the response. Returns no row if the entry does not exist or is deleted, a tag or a customer does not exist, or a
 * concurrent update won.
 */
export const updateEntry = writeVariants('address_book.update', {
  inputs: {
    company_id: 'uuid',
    case_id: 'uuid',
    id: 'uuid',
    tags: 'text[]',
    custom_tags: 'text[]',
    ...PERSON_INPUTS,
    now: 'timestamptz',
    origin: 'json',
  },
  parts: {
    cleared: { cleared_fields: 'text[]' },
    relationship: { customer_ids: 'uuid[]', relationship_words: 'text[]', relationship: 'json' },
    address: { address_1: 'text?', address_2: 'text?', address_3: 'text?', postcode: 'text?' },
  },
  batch: true,
  fromInput: (input, inputTable, has) => {
    const assignments = PERSON_FIELDS.map((field) => {
      const value = `coalesce(${input[field]}, p.${field})`;
      if (!has('cleared')) return `${field} = ${value}`;
      return `${field} = CASE WHEN '${field}' = ANY (${input.cleared_fields}) THEN NULL ELSE ${value} END`;
    });
    const tagsAreKnown = `${areKnown(input.tags, 'p.tags', defaultTags(input.tags))}
      AND ${areKnown(input.custom_tags, 'p.custom_tags', companyTags(input, input.custom_tags))}`;
    const customersAreKnown = () => areKnown(input.customer_ids, relatedCustomers(input), caseCustomers(input));
    const replaceRelationships = () => `, removed AS (
      DELETE FROM relationships r USING p JOIN input USING (nth)
       WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id
         AND r.customer_id <> ALL (${input.customer_ids})
    ), r AS (
      INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
      SELECT p.company_id, p.case_id, p.id, r.*
        FROM p JOIN input USING (nth), ${relationshipRows(input.customer_ids, input.relationship_words)}
      ON CONFLICT (company_id, case_id, person_id, customer_id)
      DO UPDATE SET word = excluded.word, position = excluded.position)`;
    const updateAddress = () => `, a AS (
      UPDATE addresses a
         SET ${ADDRESS_FIELDS.map((field) => `${field} = coalesce(${input[field]}, a.${field})`).join(', ')},
             updated_at = p.now
        FROM p JOIN input USING (nth)
       WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id)`;
    return `
    WITH ${inputTable}, ${entryAudit.update({
      action: 'updated',
      set: `${assignments.join(', ')}, tags = ${withAdded('tags', input.tags)},
            custom_tags = ${withAdded('custom_tags', input.custom_tags)}`,
      where: `p.deleted_at IS NULL AND ${tagsAreKnown} ${has('relationship') ? `AND ${customersAreKnown()}` : ''}`,
    })}${has('relationship') ? replaceRelationships() : ''}${has('address') ? updateAddress() : ''}`;
  },
  answer: (input, has) =>
    has('relationship')
      ? { json: updated(input.relationship), version, from: 'p JOIN input USING (nth)' }
      : { json: updated(storedRelationship), version, from: 'p' },
});

const unknownOf = (sent: string, known: string) =>
  `ARRAY(SELECT sent FROM unnest(${sent}) AS sent WHERE sent <> ALL (${known}))`;

/** Why nothing was written: what does not exist. `id` is null for a create. Returns no row if the case does not exist. */
export const entryRejectionReasons = read('address_book.rejection_reasons', {
  inputs: {
    company_id: 'uuid',
    case_id: 'uuid',
    id: 'uuid?',
    tags: 'text[]',
    custom_tags: 'text[]',
    customer_ids: 'uuid[]?',
  },
  sql: (input) => {
    const ofEntry = (column: string) => `(
      SELECT p.${column} FROM people p
       WHERE p.company_id = ${input.company_id} AND p.case_id = ${input.case_id} AND p.id = ${input.id})`;
    const knownTags = `${defaultTags(input.tags)} || ${ofEntry('tags')}`;
    const knownCustomTags = `${companyTags(input, input.custom_tags)} || ${ofEntry('custom_tags')}`;
    const knownCustomers = `${caseCustomers(input)} || ${relatedCustomers(input)}`;
    return `
    SELECT (${input.id} IS NULL OR EXISTS (
              SELECT 1 FROM people p
               WHERE p.company_id = ${input.company_id} AND p.case_id = ${input.case_id} AND p.id = ${input.id}
                 AND p.deleted_at IS NULL)) AS found,
           ${unknownOf(input.tags, knownTags)} AS tags,
           ${unknownOf(input.custom_tags, knownCustomTags)} AS custom_tags,
           ${unknownOf(input.customer_ids, knownCustomers)} AS customers
      FROM cases c WHERE c.company_id = ${input.company_id} AND c.id = ${input.case_id}`;
  },
});
