import { isoTime, jsonObject } from '../kernel/sql/json.ts';
import { read } from '../kernel/sql/statement.ts';

/** The texts of the records that can be searched, as they are now. The index and the fragments of hits come from them. */

type Source = {
  table: string;
  alias: string;
  /** SQL: the case of the record. */
  caseId: string;
  /** SQL: when it was. */
  at: string;
  /** SQL condition of the records that exist for a caller. */
  isLive: string;
  /** SQL of the texts by name, in the order in which fragments prefer them. */
  fields: Record<string, string>;
};

/** An invoice may have thousands of items. */
const MAX_ITEMS = 200;

const joined = (...columns: string[]) =>
  `concat_ws(' ', ${columns.map((column) => `nullif(${column}, '')`).join(', ')})`;
const inCase = (alias: string) => ({ alias, caseId: `${alias}.case_id` });

const SOURCES = {
  case: {
    ...{ table: 'cases', alias: 'c', caseId: 'c.id', at: 'c.created_at', isLive: 'true' },
    fields: {
      reference: 'c.reference',
      kind: '(SELECT k.name FROM case_kinds k WHERE k.company_id = c.company_id AND k.id = c.kind_id)',
      external_id: 'c.external_id',
    },
  },
  customer: {
    ...{ table: 'customers', ...inCase('u'), at: 'u.created_at', isLive: 'u.removed_at IS NULL' },
    fields: {
      name: joined('u.title', 'u.first_names', 'u.last_name'),
      email: 'u.email',
      phone: 'u.phone',
      external_id: 'u.external_id',
    },
  },
  entry: {
    ...{ table: 'people', ...inCase('p'), at: 'p.created_at', isLive: 'p.deleted_at IS NULL' },
    fields: {
      name: joined('p.title', 'p.first_names', 'p.middle_names', 'p.last_name'),
      other_names: joined('p.known_as', 'p.preferred_name', 'p.alias'),
      email: 'p.email',
      tel_1: 'p.tel_1',
      tel_2: 'p.tel_2',
      address: `(SELECT ${joined('a.address_1', 'a.address_2', 'a.address_3')} FROM addresses a
        WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id)`,
      postcode: `(SELECT a.postcode FROM addresses a
        WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id)`,
      occupation: 'p.occupation',
      external_id: 'p.external_id',
      tags: `array_to_string(p.tags || p.custom_tags, ' ')`,
    },
  },
  interaction: {
    ...{ table: 'interactions', ...inCase('i'), at: 'i.happened_at', isLive: 'i.deleted_at IS NULL' },
    fields: {
      notes: 'i.notes',
      sender: 'i.sender',
      recipient: 'i.recipient',
      type: 'i.type',
      external_id: 'i.external_id',
    },
  },
  invoice: {
    ...{ table: 'invoices', ...inCase('v'), at: 'v.date_created', isLive: 'true' },
    fields: {
      invoice_number: 'v.invoice_number',
      recipients_name: 'v.recipients_name',
      items: `(SELECT string_agg(t.description, E'\\n' ORDER BY t.position)
        FROM (SELECT t.description, t.position FROM invoice_items t
               WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id
                 AND t.cancelled_at IS NULL ORDER BY t.position LIMIT ${MAX_ITEMS}) t)`,
      total: 'v.total::text',
      external_id: 'v.external_id',
    },
  },
  appointment: {
    ...{ table: 'appointments', ...inCase('a'), at: 'a.start_at', isLive: 'a.deleted_at IS NULL' },
    fields: {
      notes: 'a.notes',
      location: 'a.location',
      type: 'a.type',
      email_recipient: 'a.email_recipient',
      sms_recipient: 'a.sms_recipient',
      adviser_email: 'a.adviser_email',
      external_id: 'a.external_id',
    },
  },
} satisfies Record<string, Source>;

export type Kind = keyof typeof SOURCES;
export const KINDS = Object.keys(SOURCES) as Kind[];

/** The fields by which people know a record: a hit in them comes before a hit in a text. */
export const IDENTITY_FIELDS: ReadonlySet<string> = new Set([
  ...['reference', 'name', 'other_names', 'email', 'phone', 'tel_1', 'tel_2', 'address', 'postcode'],
  ...['invoice_number', 'recipients_name', 'external_id'],
]);

const entries = Object.entries(SOURCES) as [Kind, Source][];
const idOf = ({ alias }: Source) => `${alias}.id`;

/** What is still to come counts from when it was written, so that the newest records are no months of appointments. */
const since = ({ at, alias }: Source) => `least(${at}, ${alias}.created_at)`;

const MAX_CONTEXT_CUSTOMERS = 20;

/**
 * Returns the texts of these records that exist, and on request the reference of their case and the names of its customers,
 * under which all of its records are found. `fields` is JSON with a text or null for each field. `since` is the time that
 * hits are ordered by. The cases are looked for one by one (`OFFSET 0`): PostgreSQL may otherwise read all cases of the
 * company.
 */
export const loadDocuments = read('search.load_documents', {
  inputs: { company_id: 'uuid', kinds: 'text[]', case_ids: 'uuid[]', ids: 'uuid[]', with_cases: 'boolean' },
  sql: (input) => `
    WITH k AS MATERIALIZED (
      SELECT * FROM unnest(${input.kinds}, ${input.case_ids}, ${input.ids}) AS k (kind, case_id, id)
    ), contexts AS MATERIALIZED (
      SELECT c.id AS case_id, c.reference,
             (SELECT string_agg(n.name, E'\\n')
                FROM (SELECT ${joined('u.title', 'u.first_names', 'u.last_name')} AS name FROM customers u
                       WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL
                       ORDER BY u.created_at, u.id LIMIT ${MAX_CONTEXT_CUSTOMERS}) n) AS customers
        FROM (SELECT DISTINCT case_id FROM k WHERE ${input.with_cases}) k
       CROSS JOIN LATERAL (
         SELECT c.* FROM cases c WHERE c.company_id = ${input.company_id} AND c.id = k.case_id OFFSET 0) c
    )
    SELECT d.*, c.reference, c.customers
      FROM (
    ${entries
      .map(
        ([
          kind,
          source,
        ]) => `SELECT k.kind, k.case_id, k.id, ${isoTime(source.at)} AS at, ${isoTime(since(source))} AS since, ${jsonObject(source.fields)}::text AS fields
      FROM k JOIN ${source.table} ${source.alias} ON ${source.alias}.company_id = ${input.company_id}
        AND ${source.caseId} = k.case_id AND ${idOf(source)} = k.id AND ${source.isLive}
     WHERE k.kind = '${kind}'`,
      )
      .join('\n     UNION ALL\n    ')}) d
      LEFT JOIN contexts c ON c.case_id = d.case_id`,
});

const FIRST_ID = `'00000000-0000-0000-0000-000000000000'::uuid`;
const LAST_ID = `'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid`;

/**
 * Returns the keys of the next records of a case that are in the index or belong there, in the order of kind and id. Each
 * table is read from the key where the page begins, so a page of a large case costs no more than one of a small case.
 */
export const listCaseDocuments = read('search.list_case_documents', {
  inputs: { company_id: 'uuid', case_id: 'uuid', after_kind: 'text', after_id: 'uuid', limit: 'int' },
  sql: (input) => `
    SELECT k.kind, k.case_id, k.id FROM (
      ${entries
        .map(
          ([kind, source]) => `(SELECT '${kind}' AS kind, ${source.caseId} AS case_id, ${idOf(source)} AS id
        FROM ${source.table} ${source.alias}
       WHERE ${source.alias}.company_id = ${input.company_id} AND ${source.caseId} = ${input.case_id} AND ${source.isLive}
         AND ${idOf(source)} > CASE WHEN ${input.after_kind} < '${kind}' THEN ${FIRST_ID}
                                WHEN ${input.after_kind} = '${kind}' THEN ${input.after_id} ELSE ${LAST_ID} END
       ORDER BY ${idOf(source)} LIMIT ${input.limit})`,
        )
        .join('\n       UNION ALL\n      ')}
       UNION
      (SELECT d.kind, d.case_id, d.id FROM search_documents d
        WHERE d.company_id = ${input.company_id} AND d.case_id = ${input.case_id}
          AND (d.kind, d.id) > (${input.after_kind}, ${input.after_id})
        ORDER BY d.kind, d.id LIMIT ${input.limit})) k
     ORDER BY k.kind, k.id LIMIT ${input.limit}`,
});
