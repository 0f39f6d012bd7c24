import { forSeveral } from '../../kernel/sql/batch-statement.ts';
import { isoTime, jsonObject, statement, statementVariants } from '../../kernel/sql/statement.ts';
import { entryAudit } from './audit.sql.ts';
import { columns, details, names, pronouns, storedRelationship } from './projection.sql.ts';

/** What a request can set on a person; the names are the columns' and the wire's. */
export const PERSON_FIELDS = [
  'title',
  'first_names',
  'middle_names',
  'last_name',
  'known_as',
  'tel_1',
  'tel_2',
  'email',
  'gender',
  'dob',
  'marital_status',
  'occupation',
  'preferred_name',
  'alias',
  'them_pronoun',
  'they_pronoun',
  'their_pronoun',
] as const;

export const ADDRESS_FIELDS = ['address_1', 'address_2', 'address_3', 'postcode'] as const;

const fields = PERSON_FIELDS.join(', ');
const parameters = (first: number, names: readonly string[]) => names.map((_name, i) => `$${first + i}`).join(', ');

/**
 * What a request can name: what the company or the case has, and what the entry has already, also where it was removed
 * from the company since.
 */
const defaultTags = 'ARRAY(SELECT tag FROM default_tags WHERE tag = ANY ($4::text[]))';
const companyTags = 'ARRAY(SELECT tag FROM custom_tags WHERE company_id = $1 AND tag = ANY ($5::text[]))';
const caseCustomers = (sent: string) => `ARRAY(
  SELECT id FROM customers WHERE company_id = $1 AND case_id = $2 AND id = ANY (${sent}::uuid[]) AND removed_at IS NULL)`;
const relatedCustomers = `ARRAY(
  SELECT r.customer_id FROM relationships r WHERE r.company_id = $1 AND r.case_id = $2 AND r.person_id = $3)`;

const sentRelationships = (customers: string, words: string) =>
  `unnest(${customers}::uuid[], ${words}::text[]) WITH ORDINALITY AS r (customer_id, word, position)`;

const created = jsonObject({
  entity_id: `'person'`,
  data: jsonObject({
    ...names,
    relationship: `$${15 + PERSON_FIELDS.length}::json`,
    address: 'p.address_id',
    ...pronouns,
  }),
  customer_case_id: 'p.case_id',
  id: 'p.id',
  updated_at: isoTime('p.updated_at'),
  created_at: isoTime('p.created_at'),
});

const PERSON = PERSON_FIELDS.map((field) => (field === 'dob' ? 'date' : 'text'));
const ADDRESS = ADDRESS_FIELDS.map(() => 'text');
const CREATED = [
  ...['uuid', 'uuid', 'uuid', 'text[]', 'text[]', 'uuid[]', 'text[]', 'uuid', 'timestamptz', 'text'],
  ...[...ADDRESS, ...PERSON, 'text'],
];

/**
 * $1 company, $2 case, $3 id, $4 tags, $5 custom tags, $6 and $7 relationships, $8 the address's id, $9 now, $10 origin,
 * $11… the address's fields, $15… the person's, then the relationships as the answer shows them
 */
export const insertEntry = statement(
  'address_book.insert',
  forSeveral(
    'p',
    CREATED,
    ({ insert, behind, whose }) => `WITH ${insert(
      (
        first,
      ) => `INSERT INTO people (company_id, case_id, id, address_id, tags, custom_tags, created_at, updated_at, ${fields})
         SELECT c.company_id, c.id, $3, $8, $4, $5, $9, $9, ${parameters(15, PERSON_FIELDS)} FROM ${first}cases c
          WHERE c.company_id = $1 AND c.id = $2
            AND $4 <@ ${defaultTags} AND $5 <@ ${companyTags} AND $6 <@ ${caseCustomers('$6')}
         RETURNING *`,
    )}, ${behind(`a AS (
       INSERT INTO addresses (company_id, case_id, id, created_at, updated_at, ${ADDRESS_FIELDS.join(', ')})
       SELECT p.company_id, p.case_id, p.address_id, $9, $9, ${parameters(11, ADDRESS_FIELDS)} FROM p
     ), r AS (
       INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
       SELECT p.company_id, p.case_id, p.id, r.* FROM p, ${sentRelationships('$6', '$7')}
     ), e AS (
       ${entryAudit.insertEvent('created', { from: 'p', at: '$9', origin: '$10' })}
     )`)}
     SELECT ${whose}${behind(created)}::text FROM p`,
  ),
);

const updated = (relationship: string) =>
  jsonObject({
    id: 'p.id',
    customer_case_id: 'p.case_id',
    entity_id: `'person'`,
    data: jsonObject({
      ...names,
      relationship,
      ...details,
      ...columns('gender', 'marital_status'),
      ...pronouns,
    }),
    created_at: isoTime('p.created_at'),
    updated_at: isoTime('p.updated_at'),
    customer_person_id: 'null',
    is_company_global: 'null',
    user_id: 'null',
    company_id: 'p.company_id',
    deleted_at: isoTime('p.deleted_at'),
    notes: 'null',
    copied_from_id: 'null',
    transferred_from_user_id: 'null',
    transferred_at: 'null',
    is_user_global: 'null',
    partner_record_id: 'null',
    partner_card_id: 'null',
    partner_person_id: 'null',
  });

/** The tags that are there, then the new ones in the order in which they were sent; as a rule there are none. */
const withAdded = (column: string, sent: string) =>
  `CASE WHEN ${sent} <@ p.${column} THEN p.${column} ELSE p.${column} || ARRAY(
     SELECT tag FROM unnest(${sent}::text[]) WITH ORDINALITY AS sent (tag, position)
      WHERE tag <> ALL (p.${column}) ORDER BY position) END`;

/** Looks for the others only where the entry has not got all that were sent. */
const isKnown = (sent: string, own: string, others: string) =>
  `(${sent} <@ ${own} OR ${sent} <@ (${others} || ${own}))`;

const UPDATED = ['uuid', 'uuid', 'uuid', 'text[]', 'text[]', 'timestamptz', 'text', ...PERSON];

/** A bit for each of the person's fields, in their order. */
export const fieldBits = (has: (field: (typeof PERSON_FIELDS)[number]) => boolean): number =>
  PERSON_FIELDS.reduce((bits, field, i) => (has(field) ? bits | (1 << i) : bits), 0);

/**
 * $1 company, $2 case, $3 id, $4 tags, $5 custom tags, $6 now, $7 origin, $8… the person's fields, where null is one that stays;
 * then what the parts take: which of those fields are cleared (`fieldBits`), the relationships (customers, words, and as the
 * answer shows them), the address's fields, where null is one that stays. Nothing where another update came between.
 */
export const updateEntry = statementVariants<'cleared' | 'relationship' | 'address'>('address_book.update', (parts) => {
  const types = [...UPDATED];
  const take = (part: (typeof parts)[number], taken: string[]) =>
    parts.includes(part) ? taken.map((type) => `$${types.push(type)}`) : [];
  const [cleared] = take('cleared', ['int']);
  const [customers = '', words = '', shown] = take('relationship', ['uuid[]', 'text[]', 'text']);
  const address = take('address', ADDRESS);
  const besides = {
    relationship: `gone AS (
      DELETE FROM relationships r USING p
       WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id
         AND r.customer_id <> ALL (${customers})
    ), r AS (
      INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
      SELECT p.company_id, p.case_id, p.id, r.* FROM p, ${sentRelationships(customers, words)}
      ON CONFLICT (company_id, case_id, person_id, customer_id)
      DO UPDATE SET word = excluded.word, position = excluded.position)`,
    address: `a AS (
      UPDATE addresses a
         SET ${ADDRESS_FIELDS.map((field, i) => `${field} = coalesce(${address[i]}, a.${field})`).join(', ')}, updated_at = $6
        FROM p WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id)`,
  };
  const known = `${isKnown('$4', 'p.tags', defaultTags)} AND ${isKnown('$5', 'p.custom_tags', companyTags)}
    ${shown ? `AND ${isKnown(customers, relatedCustomers, caseCustomers(customers))}` : ''}`;
  const changed = PERSON_FIELDS.map((field, i) => {
    const value = `coalesce($${8 + i}, p.${field})`;
    return `${field} = ${cleared ? `CASE WHEN ${cleared}::int & ${1 << i} <> 0 THEN NULL ELSE ${value} END` : value}`;
  });
  return forSeveral(
    'p',
    types,
    (given) => `WITH ${entryAudit.auditedUpdate({
      verb: 'updated',
      set: `${changed.join(', ')}, tags = ${withAdded('tags', '$4')}, custom_tags = ${withAdded('custom_tags', '$5')}`,
      where: `p.deleted_at IS NULL AND ${known}`,
      at: '$6',
      origin: '$7',
      given,
    })}${parts.map((part) => (part === 'cleared' ? '' : `, ${given.behind(besides[part])}`)).join('')}
     SELECT ${given.whose}${given.behind(updated(shown ? `${shown}::json` : storedRelationship))}::text FROM p`,
  );
});

const unknown = (sent: string, known: string) =>
  `ARRAY(SELECT sent FROM unnest(${sent}) AS sent WHERE sent <> ALL (${known}))`;
const own = (column: string) =>
  `(SELECT p.${column} FROM people p WHERE p.company_id = $1 AND p.case_id = $2 AND p.id = $3)`;

/** $1 company, $2 case, $3 id or null for a create, $4 tags, $5 custom tags, $6 customers: what stands in the way. */
export const judgeEntry = statement(
  'address_book.judge',
  `SELECT ($3::uuid IS NULL OR EXISTS (
            SELECT 1 FROM people p
             WHERE p.company_id = $1 AND p.case_id = $2 AND p.id = $3 AND p.deleted_at IS NULL)) AS found,
          ${unknown('$4::text[]', `${defaultTags} || ${own('tags')}`)} AS tags,
          ${unknown('$5::text[]', `${companyTags} || ${own('custom_tags')}`)} AS custom_tags,
          ${unknown('$6::uuid[]', `${caseCustomers('$6')} || ${relatedCustomers}`)} AS customers
     FROM cases c WHERE c.company_id = $1 AND c.id = $2`,
);
