import { isoTime } from '../kernel/sql/json.ts';
import { read } from '../kernel/sql/statement.ts';

/** Stands for the number of the company in the queries that the process writes. No word contains it. */
export const COMPANY_PLACEHOLDER = '@';

/** Hits that are found by what a record is known by: enough to rank them, few enough to read them all. */
const MAX_IDENTITY_CANDIDATES = 200;
/** A frequent word is found among the newest records, so its many others are not looked at. */
const NEWEST_RECORDS = 600;
const MAX_FURTHER_CANDIDATES = 500;

const QUERIES = ['identity', 'identity_exact', 'own', 'own_exact', 'anywhere'] as const;

const matchesQuery = (query: (typeof QUERIES)[number]) => `d.words @@ (SELECT ${query} FROM q)`;

/** SQL: better hits have a greater rank: whole words before beginnings, names and numbers before texts. */
const rank = (['identity_exact', 'identity', 'own_exact', 'own'] as const)
  .map((query, i) => `(${matchesQuery(query)})::int * ${2 ** (3 - i)}`)
  .join(' + ');
const candidate = `d.kind, d.case_id, d.id, d.at, ${rank} AS rank`;

/**
 * Returns the best hits, and whether the index is complete; no row if the company is not indexed at all. The queries
 * contain the number of the company, so the index finds no documents of others; the condition on the company is not one
 * that an index could use instead.
 */
export const findDocuments = read('search.find_documents', {
  inputs: {
    company_id: 'uuid',
    ...(Object.fromEntries(QUERIES.map((query) => [query, 'text'])) as Record<(typeof QUERIES)[number], 'text'>),
    kinds: 'text[]',
    limit: 'int',
  },
  pool: 'search',
  sql: (input) => {
    const isOfCompany = `d.company_id IS NOT DISTINCT FROM ${input.company_id}`;
    const numbered = (query: (typeof QUERIES)[number]) =>
      `replace(${input[query]}, '${COMPANY_PLACEHOLDER}', p.company_number::text)::tsquery AS ${query}`;
    return `
    WITH q AS MATERIALIZED (
      SELECT p.built_to IS NULL AS complete, ${QUERIES.map(numbered).join(',\n             ')}
        FROM search_progress p WHERE p.company_id = ${input.company_id}
    ), known AS MATERIALIZED (
      SELECT ${candidate} FROM search_documents d
       WHERE ${matchesQuery('identity')} AND ${isOfCompany} LIMIT ${MAX_IDENTITY_CANDIDATES}
    ), newest AS MATERIALIZED (
      SELECT ${candidate}
        FROM unnest(${input.kinds}) AS k (kind) CROSS JOIN LATERAL (
          SELECT n.* FROM search_documents n WHERE n.company_id = ${input.company_id} AND n.kind = k.kind
           ORDER BY n.at DESC, n.id DESC LIMIT ${NEWEST_RECORDS} / cardinality(${input.kinds})) d
       WHERE ${matchesQuery('anywhere')}
    ), further AS (
      SELECT ${candidate} FROM search_documents d
       WHERE (SELECT count(*) FROM known) + (SELECT count(*) FROM newest) < ${input.limit}
         AND ${matchesQuery('anywhere')} AND ${isOfCompany} LIMIT ${MAX_FURTHER_CANDIDATES}
    ), best AS (
      SELECT * FROM known UNION SELECT * FROM newest UNION SELECT * FROM further
       ORDER BY rank DESC, at DESC, id DESC LIMIT ${input.limit}
    )
    SELECT q.complete, b.kind, b.case_id, b.id, ${isoTime('b.at')} AS at
      FROM q LEFT JOIN best b ON true ORDER BY b.rank DESC, b.at DESC, b.id DESC`;
  },
});
