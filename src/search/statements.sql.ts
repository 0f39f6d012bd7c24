import { isoTime } from '../kernel/sql/json.ts';
import { type Query, read } from '../kernel/sql/statement.ts';

/** Stands for the number of the company in the queries that the process writes. No word contains it. */
export const COMPANY_PLACEHOLDER = '@';

/** Of hits in names and numbers: enough to rank them, few enough to read them all. */
const MAX_KNOWN = 200;
const MAX_FURTHER = 500;
/** A frequent word is found among the newest records, so its many others are not looked at. */
const NEWEST_RECORDS = 600;
/** With this many hits among them, a page of hits is likely to be among ten times as many. */
const MIN_FREQUENT_HITS = 3;
const RECENT_RECORDS = 6_000;
/** A name that so many of the newest records are known by is so frequent that the index need not be asked for more. */
const MIN_FREQUENT_NAMES = 5;
const MIN_IDENTITY_RANK = 4;

const QUERIES = ['identity_exact', 'identity_begun', 'own_exact', 'own_begun', 'anywhere_prefix'] as const;
const CONDITIONS = ['identity_words', 'identity_words_begun', 'words', 'words_begun', 'words_prefix'] as const;

/** More words of a search are the last condition together. */
export const MAX_CONDITIONS = 4;

const matchesQuery = (query: string) => `d.words @@ (SELECT ${query} FROM q)`;

/** SQL: better hits have a greater rank: whole words before beginnings, names and numbers before texts. */
const rank = (['identity_exact', 'identity_begun', 'own_exact', 'own_begun'] as const)
  .map((query, i) => `(${matchesQuery(query)})::int * ${2 ** (3 - i)}`)
  .join(' + ');
const candidate = `d.kind, d.case_id, d.id, d.at, ${rank} AS rank`;

/**
 * Returns the best hits, and whether the index is complete; no row if the company is not indexed at all. A step that reads
 * more of the index is only taken if the steps before it have found too little. The queries contain the number of the
 * company, so the index finds no documents of others; the condition on the company is not one that an index could use.
 *
 * Each word is a condition of its own (`words @@ … AND words @@ …`): the index skips to where conditions meet, while within one
 * it goes through the shortest list that it needs. The same condition twice would be read twice.
 */
function findDocumentsBy(conditions: number) {
  const ofTexts = <Name extends string, Type extends string>(names: readonly Name[], type: Type) =>
    Object.fromEntries(names.map((name) => [name, type])) as Record<Name, Type>;
  return read(`search.find_documents_by_${conditions}`, {
    inputs: {
      company_id: 'uuid',
      ...ofTexts(QUERIES, 'text'),
      ...ofTexts(CONDITIONS, 'text[]'),
      kinds: 'text[]',
      limit: 'int',
    },
    pool: 'search',
    sql: (input) => {
      const isOfCompany = `d.company_id IS NOT DISTINCT FROM ${input.company_id}`;
      const numbers = Array.from({ length: conditions }, (_, i) => i + 1);
      const indexed = (words: (typeof CONDITIONS)[number], max: number, isNeeded: string) => `SELECT ${candidate}
        FROM search_documents d WHERE ${isNeeded}
         AND ${numbers.map((n) => matchesQuery(`${words}_${n}`)).join(' AND ')}
         AND ${isOfCompany} LIMIT ${max}`;
      const latest = (records: number, isNeeded = 'true') => `SELECT ${candidate}
        FROM unnest(${input.kinds}) AS k (kind) CROSS JOIN LATERAL (
          SELECT n.* FROM search_documents n WHERE n.company_id = ${input.company_id} AND n.kind = k.kind
           ORDER BY n.at DESC, n.id DESC LIMIT ${records} / cardinality(${input.kinds})) d
       WHERE ${isNeeded} AND ${matchesQuery('anywhere_prefix')}`;
      /** Whether these steps have found less than a page. */
      const isShort = (...steps: string[]) =>
        `${steps.map((step) => `(SELECT count(*) FROM ${step})`).join(' + ')} < ${input.limit}`;
      const numbered = (text: string, name: string) =>
        `replace(${text}, '${COMPANY_PLACEHOLDER}', p.company_number::text)::tsquery AS ${name}`;
      const queries = [
        ...QUERIES.map((name) => numbered(input[name], name)),
        ...CONDITIONS.flatMap((name) => numbers.map((n) => numbered(`(${input[name]})[${n}]`, `${name}_${n}`))),
      ];
      return `
    WITH q AS MATERIALIZED (
      SELECT p.built_to IS NULL AS complete, ${queries.join(',\n             ')}
        FROM search_progress p WHERE p.company_id = ${input.company_id}
    ), newest AS MATERIALIZED (
      ${latest(NEWEST_RECORDS)}
    ), known AS MATERIALIZED (
      ${indexed('identity_words', MAX_KNOWN, `(SELECT count(*) FROM newest WHERE rank >= ${MIN_IDENTITY_RANK}) < ${MIN_FREQUENT_NAMES}`)}
    ), recent AS MATERIALIZED (
      ${latest(RECENT_RECORDS, `(SELECT count(*) BETWEEN ${MIN_FREQUENT_HITS} AND ${input.limit} - 1 FROM newest)`)}
    ), first AS MATERIALIZED (
      SELECT * FROM known UNION SELECT * FROM newest UNION SELECT * FROM recent
    ), whole AS MATERIALIZED (
      ${indexed('words', MAX_FURTHER, isShort('first'))}
    ), known_begun AS MATERIALIZED (
      ${indexed('identity_words_begun', MAX_KNOWN, isShort('first', 'whole'))}
    ), begun AS MATERIALIZED (
      ${indexed('words_begun', MAX_FURTHER, isShort('first', 'whole', 'known_begun'))}
    ), found AS MATERIALIZED (
      SELECT * FROM first UNION SELECT * FROM whole UNION SELECT * FROM known_begun UNION SELECT * FROM begun
    ), prefixed AS MATERIALIZED (
      ${indexed('words_prefix', MAX_FURTHER, 'NOT EXISTS (SELECT FROM found)')}
    ), best AS (
      SELECT * FROM found UNION ALL SELECT * FROM prefixed ORDER BY rank DESC, at DESC, id DESC LIMIT ${input.limit}
    )
    SELECT q.complete, b.kind, b.case_id, b.id, ${isoTime('b.at')} AS at
      FROM q LEFT JOIN best b ON true ORDER BY b.rank DESC, b.at DESC, b.id DESC`;
    },
  });
}

/** The statements of searches with one condition, two, and so on. */
export const searchStatements = Array.from({ length: MAX_CONDITIONS }, (_, i) => findDocumentsBy(i + 1));

type Values = Parameters<(typeof searchStatements)[number]>[0];

export function findDocuments(values: Values): Query {
  const statement = searchStatements[values.words.length - 1];
  if (!statement) throw new Error(`A search has no statement for ${values.words.length} conditions.`);
  return statement(values);
}
